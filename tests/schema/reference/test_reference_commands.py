"""The commands `schema json` and `docs api`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import reference_kinds
from typer.testing import CliRunner, Result

from kubewright.cli.app import app
from kubewright.schema import crds_of_module, to_yaml

MODULE = Path(reference_kinds.__file__)
SMALL = '''
from kubewright.model import Model, Resource, resource

class Spec(Model):
    size: int = 1

@resource(group="small.example.com", version="v1")
class Small(Resource[Spec]):
    """A small kind."""
'''


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small_kind.py"
    path.write_text(SMALL)
    return path


def test_the_schema_of_the_only_kind_is_printed(small: Path) -> None:
    result = run("schema", "json", small)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["properties"]["spec"]["properties"]["size"]["default"] == 1


def test_of_several_kinds_a_folder_is_asked_for() -> None:
    result = run("schema", "json", MODULE)
    assert result.exit_code == 2
    assert "give a folder" in result.output


def test_schemas_are_written_for_each_kind_and_version(tmp_path: Path) -> None:
    assert run("schema", "json", MODULE, "-o", tmp_path / "s").exit_code == 0
    found = sorted(str(path.relative_to(tmp_path / "s")) for path in (tmp_path / "s").rglob("*.json"))
    folder = "reference.example.com"
    assert found == ["all.json", f"{folder}/flat_v1.json", f"{folder}/web_v1.json", f"{folder}/web_v1beta1.json"]


def test_crds_in_files_do_as_well_as_classes(tmp_path: Path) -> None:
    (tmp_path / "crds.yaml").write_text(to_yaml(*crds_of_module(reference_kinds)))
    assert run("docs", "api", tmp_path / "crds.yaml").stdout == run("docs", "api", MODULE).stdout
    assert run("docs", "api", tmp_path).stdout == run("docs", "api", MODULE).stdout


def test_docs_are_printed_as_markdown_or_html(small: Path) -> None:
    assert run("docs", "api", small, "--title", "Small things").stdout.startswith("# Small things\n")
    assert run("docs", "api", small, "--format", "html").stdout.startswith("<!doctype html>")
    assert run("docs", "api", small, "--format", "pdf").exit_code == 2


def test_docs_are_written_and_checked(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert run("docs", "api", small, "-o", folder, "--check").exit_code == 1
    assert run("docs", "api", small, "-o", folder).exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["api.html", "api.md"]
    assert run("docs", "api", small, "-o", folder, "--check").exit_code == 0
    (folder / "api.md").write_text("old")
    again = run("docs", "api", small, "-o", folder, "--check")
    assert again.exit_code == 1
    assert "api.md: is not what would be generated" in again.output


def test_what_is_no_crd_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: Pod\napiVersion: v1\n")
    result = run("docs", "api", tmp_path / "a.yaml")
    assert "has no CustomResourceDefinition" in str(result.exception)


@pytest.mark.parametrize(
    "spec", ["{}", "5", "{group: a.b, names: {kind: A, plural: as, shortNames: a}, versions: [5]}"]
)
def test_a_crd_that_no_server_takes_is_refused_with_the_servers_words(tmp_path: Path, spec: str) -> None:
    from kubewright.cli.load import LoadError
    from kubewright.cli.reference import crds_of_target

    path = tmp_path / "crd.yaml"
    head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.a.b}\n"
    path.write_text(f"{head}spec: {spec}\n")
    with pytest.raises(LoadError):
        crds_of_target(str(path))
