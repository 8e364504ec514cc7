"""Where documents come from, and what is said when there are none."""

from __future__ import annotations

import io
import sys
import types
from pathlib import Path

import orjson
import pytest
import yaml
from typer.testing import CliRunner

from kubewright.cli.app import app
from kubewright.generate import GenerateError, generate, generate_models, load_documents

DATA = Path(__file__).with_name("testdata")
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Web, plural: webs}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""


def web_crd() -> dict[str, object]:
    crd: dict[str, object] = yaml.safe_load(CRD)
    return crd


def test_a_folder_is_read_with_all_below_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "crd.yml").write_text(CRD)
    (tmp_path / "a" / "shop.json").write_bytes((DATA / "shop.openapi.json").read_bytes())
    (tmp_path / "README.md").write_text("{{ not read }}")
    documents = load_documents(tmp_path)
    assert len(documents.crds) == 1
    assert len(documents.openapi) == 1


def test_what_is_no_crd_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "bundle.yaml").write_text(f"kind: Namespace\napiVersion: v1\n---\n{CRD}\n---\n")
    assert len(load_documents(tmp_path / "bundle.yaml").crds) == 1


@pytest.mark.parametrize("kind", ["List", "CustomResourceDefinitionList"])
def test_the_items_of_a_list_are_taken(tmp_path: Path, kind: str) -> None:
    item = web_crd()
    api_version = "v1" if kind == "List" else item.pop("apiVersion")
    (tmp_path / "list.json").write_bytes(orjson.dumps({"apiVersion": api_version, "kind": kind, "items": [item]}))
    assert list(generate(load_documents(tmp_path))) == ["example/__init__.py", "example/v1.py"]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(CRD.encode())))
    assert len(load_documents("-").crds) == 1


def test_the_documents_of_a_server_are_fetched_by_its_index() -> None:
    answers = {
        "/openapi/v3": {
            "paths": {
                "api": {"serverRelativeURL": "/openapi/v3/api?hash=1"},
                "apis/shop.example.com": {"serverRelativeURL": "/openapi/v3/apis/shop.example.com?hash=2"},
                "apis/shop.example.com/v1": {"serverRelativeURL": "/openapi/v3/apis/shop.example.com/v1?hash=3"},
                "version": {"serverRelativeURL": "/openapi/v3/version?hash=4"},
            }
        },
        "/openapi/v3/apis/shop.example.com/v1?hash=3": orjson.loads((DATA / "shop.openapi.json").read_bytes()),
    }
    asked: list[str] = []

    def fetch(path: str) -> bytes:
        asked.append(path)
        return orjson.dumps(answers[path])

    assert len(load_documents("https://k8s.example.com", fetch=fetch).openapi) == 1
    assert asked == list(answers)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: Namespace\n", "has no OpenAPI v3 document and no CustomResourceDefinition"),
        ("a: b: c\n", "is not YAML: mapping values are not allowed"),
        ('{"openapi": ', "is not YAML"),
        ('{"swagger": "2.0"}', "has no OpenAPI v3 document"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "input.yaml"
    path.write_text(text)
    with pytest.raises(GenerateError, match=said) as caught:
        load_documents(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(GenerateError, match=r"/nowhere/crd.yaml: cannot be read: No such file"):
        load_documents("/nowhere/crd.yaml")


def test_a_server_that_does_not_answer_is_named_with_the_cure() -> None:
    with pytest.raises(GenerateError, match=r"http://127.0.0.1:1/openapi/v3: .*refused; check the address"):
        load_documents("http://127.0.0.1:1")


def test_an_answer_that_is_not_json_is_named() -> None:
    with pytest.raises(GenerateError, match=r"https://k8s/openapi/v3: the answer is not JSON"):
        load_documents("https://k8s", fetch=lambda path: b"<html>")


def test_a_crd_of_the_old_version_is_refused_with_the_cure(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(CRD.replace("/v1\n", "/v1beta1\n"))
    with pytest.raises(GenerateError, match=r"webs.example.com: apiVersion 'apiextensions.k8s.io/v1beta1' is not"):
        generate(load_documents(tmp_path))


def test_a_crd_without_names_is_refused_with_the_missing_part(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(CRD.replace("plural: webs", "singular: web"))
    with pytest.raises(GenerateError, match=r"webs.example.com: spec lacks 'plural'"):
        generate(load_documents(tmp_path))


def test_a_dangling_reference_is_named() -> None:
    document = orjson.loads((DATA / "shop.openapi.json").read_bytes())
    del document["components"]["schemas"]["io.k8s.api.shop.v1.Address"]
    documents = load_documents("https://k8s", fetch=lambda path: orjson.dumps(_index_of(document, path)))
    with pytest.raises(GenerateError, match=r"#/components/schemas/io.k8s.api.shop.v1.Address: no such schema"):
        generate(documents)


def _index_of(document: object, path: str) -> object:
    return document if "apis" in path else {"paths": {"apis/shop.example.com/v1": {"serverRelativeURL": "/apis"}}}


def test_an_api_group_that_has_no_kinds_is_answered_with_those_that_have() -> None:
    with pytest.raises(GenerateError, match=r"groups with kinds in the documents: shop\.example\.com\. Name"):
        generate(load_documents(DATA / "shop.openapi.json"), groups=["other.example.com"])


def test_only_the_files_that_change_are_written(tmp_path: Path) -> None:
    source = tmp_path / "crd.yaml"
    source.write_text(CRD)
    out = tmp_path / "apis"
    files = [out / "__init__.py", out / "example" / "__init__.py", out / "example" / "v1.py"]
    assert [change.path for change in generate_models(source, out, check=True)] == files
    assert not out.exists()
    assert [change.path for change in generate_models(source, out)] == files
    assert generate_models(source, out) == []
    files[2].write_text("changed")
    (out / "__init__.py").write_text("# mine")
    (change,) = generate_models(source, out, check=True)
    assert change.path == files[2]
    assert files[2].read_text() == "changed"
    assert [change.path for change in generate_models(source, out)] == [files[2]]
    assert (out / "__init__.py").read_text() == "# mine"


def test_a_check_shows_the_difference(tmp_path: Path) -> None:
    source = tmp_path / "crd.yaml"
    source.write_text(CRD)
    out = tmp_path / "apis"
    (missing, *_) = generate_models(source, out, check=True)
    assert str(missing) == f"{out / '__init__.py'}: is missing"
    generate_models(source, out)
    module = out / "example" / "v1.py"
    module.write_text(module.read_text() + "# by hand\n")
    (change,) = generate_models(source, out, check=True)
    assert str(change) == f"{module}: is not what would be generated"
    assert change.diff.startswith(f"--- {module}\n+++ generated\n")
    assert "\n-# by hand\n" in change.diff


def test_the_command_prints_it_and_ends_with_1(tmp_path: Path) -> None:
    source = tmp_path / "crd.yaml"
    source.write_text(CRD)
    command = ["generate", "models", "--from", str(source), "-o", str(tmp_path / "apis")]
    assert CliRunner().invoke(app, command).exit_code == 0
    (tmp_path / "apis" / "example" / "v1.py").write_text("# by hand\n")
    result = CliRunner().invoke(app, [*command, "--check"])
    assert result.exit_code == 1
    assert "v1.py: is not what would be generated" in result.output
    assert "-# by hand" in result.output
    assert CliRunner().invoke(app, command).exit_code == 0
    assert CliRunner().invoke(app, [*command, "--check"]).exit_code == 0


@pytest.mark.parametrize(
    ("spec", "rule"),
    [
        ("5", "spec: is of type integer"),
        ("{group: a.b, names: {kind: A, plural: as}, versions: [{name: v1, schema: 5}]}", "schema: is of type integer"),
        ("{group: '', names: {kind: A, plural: as}, versions: [{name: v1}]}", "must not be empty"),
        ("{group: a.b, names: {kind: A, plural: as}, versions: [{name: ''}]}", "must not be empty"),
    ],
)
def test_a_crd_of_another_shape_is_told_with_its_field(spec: str, rule: str, tmp_path: Path) -> None:
    head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.a.b}\n"
    (tmp_path / "crd.yaml").write_text(f"{head}spec: {spec}\n")
    with pytest.raises(GenerateError, match=rule):
        generate_models(tmp_path / "crd.yaml", tmp_path / "out")
