"""`validate` on files: lines, kinds, strictness, what is shown."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import broken_crds
import pytest
from broken_crds import GROUP, good, made

from kubewright.schema import to_yaml
from kubewright.schema.checking import Report, validate

WIDGET = f"""\
apiVersion: {GROUP}/v1
kind: Widget
metadata:
  name: a
spec:
  size: 1
  ports:
  - port: 80
"""


@pytest.fixture
def crd(tmp_path: Path) -> Path:
    path = tmp_path / "crds" / "widgets.yaml"
    path.parent.mkdir()
    crd = good()
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["size"]["default"] = 3
    path.write_text(to_yaml(crd))
    return path


def check(tmp_path: Path, crd: Path, text: str, **options: Any) -> Report:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    return validate([file], crds=[crd.parent], **options)


def test_a_valid_object_is_valid(tmp_path: Path, crd: Path) -> None:
    report = check(tmp_path, crd, WIDGET)
    assert report.is_valid
    assert list(report.lines()) == ["1 valid, 0 invalid"]


def test_an_error_has_its_line(tmp_path: Path, crd: Path) -> None:
    report = check(tmp_path, crd, "---\n# first\n" + WIDGET.replace("80", "'80'"))
    assert not report.is_valid
    (line, counts) = report.lines()
    assert line == (
        f'{tmp_path}/a.yaml:10: Widget a: spec.ports[0].port: Invalid value: "string": spec.ports[0].port in body'
        ' must be of type integer: "string"'
    )
    assert counts == "0 valid, 1 invalid"


def test_the_message_is_that_of_the_server(tmp_path: Path, crd: Path) -> None:
    report = check(tmp_path, crd, WIDGET.replace("size: 1", "size: a"))
    assert report.findings[0].message == (
        f'Widget.{GROUP} "a" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer:'
        ' "string"'
    )


def test_documents_are_told_apart_by_their_lines(tmp_path: Path, crd: Path) -> None:
    text = WIDGET + "---\n" + WIDGET.replace("name: a", "name: B").replace("size: 1", "size: 1.5")
    report = check(tmp_path, crd, text)
    assert [finding.verdict for finding in report.findings] == ["valid", "invalid"]
    assert [(note.line, note.field) for note in report.findings[1].notes] == [
        (10, ""),
        (13, "metadata.name"),
        (15, "spec.size"),
    ]


def test_unknown_fields_are_errors_only_where_it_is_strict(tmp_path: Path, crd: Path) -> None:
    text = WIDGET + "  colour: red\n"
    loose, strict = check(tmp_path, crd, text), check(tmp_path, crd, text, strict=True)
    assert loose.is_valid
    assert not strict.is_valid
    assert strict.findings[0].message == 'strict decoding error: unknown field "spec.colour"'
    for report, severity in ((loose, "warning"), (strict, "error")):
        (note,) = report.findings[0].notes
        assert (note.severity, note.text, note.line) == (severity, 'unknown field "spec.colour"', 9)


def test_the_stored_object_is_pruned_and_defaulted(tmp_path: Path, crd: Path) -> None:
    report = check(tmp_path, crd, WIDGET.replace("size: 1", "colour: red"))
    assert report.findings[0].object == {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Widget",
        "metadata": {"name": "a"},
        "spec": {"ports": [{"port": 80}], "size": 3},
    }


def test_a_built_in_kind_is_told_and_not_judged(tmp_path: Path, crd: Path) -> None:
    report = check(tmp_path, crd, WIDGET + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert (report.is_valid, report.missing) == (True, ())
    assert list(report.lines()) == ["1 valid, 0 invalid, 1 not checked (built-in: v1 ConfigMap)"]


def test_a_kind_without_a_crd_is_named(tmp_path: Path, crd: Path) -> None:
    text = WIDGET + "---\napiVersion: example.org/v1\nkind: Web\n---\napiVersion: apps/v1\nkind: Deploymnt\n"
    report = check(tmp_path, crd, text)
    assert (report.is_valid, report.missing) == (True, ("apps/v1 Deploymnt", "example.org/v1 Web"))
    assert [finding.verdict for finding in report.findings] == ["valid", "unknown", "unknown"]
    *lines, summary = report.lines()
    assert "Web: warning: is not checked: there is no CRD of Web in example.org" in lines[0]
    assert summary == "1 valid, 0 invalid, 2 not checked (without a CRD: apps/v1 Deploymnt, example.org/v1 Web)"


def test_a_version_that_is_not_served_names_those_that_are(tmp_path: Path, crd: Path) -> None:
    report = check(tmp_path, crd, WIDGET.replace("/v1\n", "/v7\n"))
    assert report.findings[0].message == (
        f'no matches for kind "Widget" in version "{GROUP}/v7"; its CRD serves v1, v1beta1'
    )


def test_crds_among_the_files_are_checked_and_used(tmp_path: Path, crd: Path) -> None:
    file = tmp_path / "both.yaml"
    file.write_text(crd.read_text() + WIDGET.join(["---\n", ""]))
    report = validate([file])
    assert [(finding.kind, finding.verdict) for finding in report.findings] == [
        ("CustomResourceDefinition", "valid"),
        ("Widget", "valid"),
    ]


def test_a_broken_crd_is_told_by_line_and_rule(tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(to_yaml(made(broken_crds.BROKEN["a category with a dot"])))
    report = validate([file])
    assert not report.is_valid
    (note,) = report.findings[0].notes
    assert note.field == "spec.names.categories[0]"
    assert file.read_text().splitlines()[note.line - 1].strip() == "- a.b"


def test_objects_of_a_crd_that_cannot_be_used_say_so(tmp_path: Path) -> None:
    file = tmp_path / "both.yaml"
    file.write_text(to_yaml(made(broken_crds.BROKEN["a pattern that looks ahead"])) + "---\n" + WIDGET)
    report = validate([file])
    assert [finding.verdict for finding in report.findings] == ["invalid", "invalid"]
    assert "invalid or unsupported Perl syntax: `(?=`" in report.findings[1].message


def test_old_crds_are_sent_to_the_converter(tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(to_yaml(good() | {"apiVersion": "apiextensions.k8s.io/v1beta1"}))
    assert "kubewright convert crd" in validate([file]).findings[0].message


def test_an_object_that_is_there_twice_is_told(tmp_path: Path, crd: Path) -> None:
    report = check(tmp_path, crd, WIDGET + "---\n" + WIDGET)
    assert report.is_valid
    (note,) = report.findings[1].notes
    assert note.text == f"is there a second time; the first is {tmp_path}/a.yaml:4"


def test_rules_that_nobody_evaluates_are_noted(tmp_path: Path) -> None:
    crd = made(broken_crds.FINE["a rule"])
    file = tmp_path / "both.yaml"
    file.write_text(to_yaml(crd) + "---\n" + WIDGET)
    report = validate([file])
    (note,) = report.findings[1].notes
    assert (note.severity, note.text) == ("note", "1 rule was not evaluated: spec.field: self.a != 'x'")


def test_what_is_no_manifest_does_not_hide_the_rest(tmp_path: Path, crd: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: [1\n")
    (tmp_path / "list.json").write_text('{"apiVersion": "v1", "kind": "List", "items": [{"kind": "A"}, 3]}')
    (tmp_path / "a.yaml").write_text(WIDGET)
    report = validate([tmp_path], crds=[crd])
    assert not report.is_valid
    assert [note.file.rpartition("/")[2] for note in report.unreadable] == ["bad.yaml", "list.json", "list.json"]
    assert [finding.name for finding in report.findings if finding.kind == "Widget"] == ["a"]


def test_items_of_a_list_have_their_lines(tmp_path: Path, crd: Path) -> None:
    item = "\n".join("  " + line for line in WIDGET.splitlines()).replace("  apiV", "- apiV", 1).replace("80", "x")
    report = check(tmp_path, crd, f"apiVersion: v1\nkind: List\nitems:\n{item}\n")
    assert [note.line for note in report.findings[0].notes] == [11]


def test_standard_input_is_read(crd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WIDGET.encode())))
    assert validate(["-"], crds=[crd]).is_valid


def test_deep_objects_are_refused_and_not_followed(tmp_path: Path) -> None:
    crd = made(broken_crds.field({"x-kubernetes-preserve-unknown-fields": True}))
    file = tmp_path / "deep.json"
    deep: Any = 1
    for _ in range(240):
        deep = [deep]
    widget = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"field": deep}}
    file.write_text(json.dumps(widget))
    (tmp_path / "crd.yaml").write_text(to_yaml(crd))
    report = validate([file], crds=[tmp_path / "crd.yaml"])
    assert report.findings[0].message == "Widget is nested deeper than 200 levels"


def test_the_report_is_json(tmp_path: Path, crd: Path) -> None:
    report = check(tmp_path, crd, WIDGET.replace("size: 1", "size: a"))
    shown = json.loads(json.dumps(report.as_json()))
    assert shown["valid"] is False
    assert shown["objects"][0]["errors"] == [
        {
            "field": "spec.size",
            "file": f"{tmp_path}/a.yaml",
            "line": 6,
            "reason": "FieldValueTypeInvalid",
            "text": 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
        }
    ]


def test_unknown_fields_of_crds_are_told(tmp_path: Path) -> None:
    crd = good()
    broken_crds.spec_of(crd)["size"]["minimun"] = 1
    broken_crds.spec_of(crd)["ports"]["items"]["maximun"] = 1
    file = tmp_path / "crd.yaml"
    file.write_text(to_yaml(crd))
    assert validate([file]).is_valid
    report = validate([file], strict=True)
    assert not report.is_valid
    path = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties"
    assert [(note.severity, note.text) for note in report.findings[0].notes] == [
        ("error", f'unknown field "{path}.size.minimun"'),
        ("warning", f'unknown field "{path}.ports.items.maximun", which a server drops without a word'),
    ]
