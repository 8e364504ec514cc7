"""The commands `validate`, `diff` and `convert crd`: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import broken_crds
import pytest
from broken_crds import GROUP, good, made, rule
from typer.testing import CliRunner, Result

from kubewright.cli.app import app
from kubewright.schema import to_yaml

WIDGET: dict[str, Any] = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 1}}


def run(*arguments: Any, text: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], input=text)


@pytest.fixture
def crd(tmp_path: Path) -> Path:
    path = tmp_path / "crd.yaml"
    path.write_text(to_yaml(good()))
    return path


def written(path: Path, *objects: Any) -> Path:
    path.write_text(to_yaml(*objects))
    return path


def test_validate_ends_with_0_when_all_is_valid(tmp_path: Path, crd: Path) -> None:
    result = run("validate", "--crd", crd, written(tmp_path / "a.yaml", WIDGET))
    assert (result.exit_code, result.output) == (0, "1 valid, 0 invalid\n")


def test_validate_ends_with_1_when_one_is_invalid(tmp_path: Path, crd: Path) -> None:
    file = written(tmp_path / "a.yaml", WIDGET, WIDGET | {"metadata": {"name": "b"}, "spec": {"size": "x"}})
    result = run("validate", "--crd", crd, file)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        f'{file}:14: Widget b: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
        "1 valid, 1 invalid",
    ]


def test_validate_ends_with_3_when_a_kind_has_no_crd_unless_that_is_allowed(tmp_path: Path, crd: Path) -> None:
    other = WIDGET | {"kind": "Gadget"}
    file = written(tmp_path / "a.yaml", WIDGET, other)
    result = run("validate", "--crd", crd, file)
    assert result.exit_code == 3
    assert "give the CRDs with --crd, or let such objects pass with --ignore-missing-crds" in result.stderr
    assert run("validate", "--ignore-missing-crds", "--crd", crd, file).exit_code == 0
    assert json.loads(run("validate", "-o", "json", "--crd", crd, file).stdout)["missing"] == [f"{GROUP}/v1 Gadget"]
    written(file, other, WIDGET | {"spec": {"size": "x"}})
    assert run("validate", "--crd", crd, file).exit_code == 1


def test_validate_of_nothing_is_an_error_as_what_made_it_may_have_failed(tmp_path: Path, crd: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.yaml").write_text("# nothing\n---\n")
    for nothing in (tmp_path / "empty", tmp_path / "empty.yaml"):
        result = run("validate", "--crd", crd, nothing)
        assert result.exit_code == 1
        assert "no objects in what was given" in result.stderr


def test_validate_is_strict_as_kubectl_is(tmp_path: Path, crd: Path) -> None:
    file = written(tmp_path / "a.yaml", WIDGET | {"spec": {"sise": 1}})
    assert run("validate", "--crd", crd, file).exit_code == 1
    loose = run("validate", "--no-strict", "--crd", crd, file)
    assert loose.exit_code == 0
    assert 'warning: unknown field "spec.sise"' in loose.output


def test_validate_shows_what_would_be_stored(tmp_path: Path) -> None:
    crd = good()
    broken_crds.spec_of(crd)["size"]["default"] = 7
    file = written(tmp_path / "a.yaml", WIDGET | {"spec": {"zz": 1}})
    result = run("validate", "--show", "--no-strict", "--crd", written(tmp_path / "crd.yaml", crd), file)
    assert result.stdout == to_yaml(WIDGET | {"spec": {"size": 7}})


def test_validate_prints_json(tmp_path: Path, crd: Path) -> None:
    file = written(tmp_path / "a.yaml", WIDGET)
    shown = json.loads(run("validate", "-o", "json", "--show", "--crd", crd, file).stdout)
    assert shown["valid"] is True
    assert shown["stored"] == [WIDGET]


def test_validate_evaluates_rules(tmp_path: Path) -> None:
    crd = written(tmp_path / "crd.yaml", made(rule(rule="self.a != 'x'", message="no x", fieldPath=".a")))
    file = written(tmp_path / "a.yaml", WIDGET | {"spec": {"field": {"a": "x"}}})
    result = run("validate", "--crd", crd, file)
    assert result.exit_code == 1
    assert (
        'spec.field.a: Invalid value: "x": no x' in result.output
        or "spec.field.a: Invalid value: no x" in result.output
    )


def test_validate_compiles_the_rules_of_crds(tmp_path: Path) -> None:
    result = run("validate", written(tmp_path / "crd.yaml", made(rule(rule="self.b != 'x'"))))
    assert result.exit_code == 1
    assert "undefined field 'b'" in result.output


def test_validate_reads_standard_input(crd: Path) -> None:
    assert run("validate", "--crd", crd, "-", text=to_yaml(WIDGET)).exit_code == 0


def test_an_unknown_form_of_output_is_refused(crd: Path) -> None:
    result = run("validate", "-o", "xml", crd)
    assert result.exit_code == 2
    assert "'xml' is not one of text, json" in result.output


def test_diff_ends_with_1_when_something_breaks(tmp_path: Path, crd: Path) -> None:
    new = written(tmp_path / "new.yaml", made(lambda crd: broken_crds.spec_of(crd).pop("size")))
    result = run("diff", crd, new)
    assert result.exit_code == 1
    assert "BREAKS: widgets.broken.example.com v1 .spec.size: was removed" in result.output
    assert run("diff", crd, crd).exit_code == 0
    shown = json.loads(run("diff", "-o", "json", crd, new).stdout)
    assert [change["rule"] for change in shown["changes"]] == ["field-removed"]


def test_convert_prints_yaml_and_says_what_it_assumed(tmp_path: Path) -> None:
    old = good()
    old["apiVersion"] = "apiextensions.k8s.io/v1beta1"
    old["spec"]["preserveUnknownFields"] = False
    file = written(tmp_path / "old.yaml", old)
    result = run("convert", "crd", file)
    assert result.exit_code == 0
    assert result.stdout == to_yaml(good())
    assert run("convert", "crd", file, "-o", tmp_path / "new.yaml").exit_code == 0
    assert (tmp_path / "new.yaml").read_text() == to_yaml(good())


def test_convert_where_there_is_no_crd_says_so_and_exits_with_1(tmp_path: Path) -> None:
    file = written(tmp_path / "a.yaml", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})
    result = run("convert", "crd", file)
    assert result.exit_code == 1
    assert "a.yaml: no CustomResourceDefinition is there to be converted" in result.stderr
