"""`kubewright cel eval`: output, exit codes, files, and the schema of a CRD."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from kubewright.cli.app import app

SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "min": {"type": "integer"},
                "at": {"type": "string", "format": "date-time"},
                "ports": {"type": "array", "items": {"type": "object", "properties": {"port": {"type": "integer"}}}},
            },
        }
    },
}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "spec": {"versions": [{"name": "v1", "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}]},
}


@pytest.fixture
def crd(tmp_path: Path) -> str:
    path = tmp_path / "crd.yaml"
    path.write_text(yaml.safe_dump(CRD))
    return str(path)


def run(*args: str, given: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["cel", "eval", *args], input=given)
    return result.exit_code, result.stdout, result.stderr


def test_the_value_comes_as_json_and_then_the_cost() -> None:
    code, out, _ = run("x.map(n, n * 2)", "--var", "x=[1, 2]")
    assert (code, out) == (0, "[2, 4]\ncost: 30\n")


def test_self_is_read_from_a_file_or_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "self.yaml"
    file.write_text("min: 1\nmax: 2\n")
    assert run("self.min <= self.max", "--self", str(file))[1] == "true\ncost: 5\n"
    assert run("self.min > oldSelf.min", "--self", "-", "--old-self", str(file), given='{"min": 5}')[1].startswith(
        "true"
    )


def test_a_compile_error_shows_the_caret_and_exits_with_2() -> None:
    code, out, err = run("1 + 'a'")
    assert (code, out) == (2, "")
    assert "found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^" in err


def test_an_evaluation_error_exits_with_1() -> None:
    code, out, err = run("1 / 0")
    assert (code, out) == (1, "")
    assert err == "error: division by zero\ncost: 1\n"


def test_a_crd_types_self_at_a_path(crd: str, tmp_path: Path) -> None:
    file = tmp_path / "self.yaml"
    file.write_text("min: 1\nat: 2020-01-02T03:04:05Z\n")
    assert run("self.at.getFullYear()", "--self", str(file), "--crd", crd, "--path", "spec")[1].startswith("2020\n")
    assert "undefined field 'nope'" in run("self.nope", "--self", str(file), "--crd", crd, "--path", "spec")[2]
    assert run("self.port == 1", "--crd", crd, "--path", "spec.ports[*]", "--self", "-", given='{"port": 1}')[0] == 0


def test_a_path_that_leads_nowhere_names_the_fields(crd: str) -> None:
    code, _, err = run("true", "--crd", crd, "--path", "spec.nope")
    assert code == 2
    assert "nope" in err
    assert "ports" in err


def test_a_variable_without_a_value_names_the_option(crd: str) -> None:
    assert run("self.min > 1", "--crd", crd, "--path", "spec") == (
        1,
        "",
        "error: the expression reads self: give --self FILE\n",
    )
    assert run("1 + 1", "--crd", crd, "--path", "spec")[0] == 0


@pytest.mark.parametrize("option", ["--self", "--old-self", "--crd"])
def test_a_file_that_cannot_be_read_is_named(option: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.yaml"
    code, _, err = run("true", option, str(missing))
    assert code == 2
    # The box that it is said in breaks long paths anywhere.
    assert "missing.yaml" in re.sub(r"[\s\u2502]", "", err)
    broken = tmp_path / "broken.yaml"
    broken.write_bytes(b"\xff\xfe{")
    assert run("true", option, str(broken))[0] == 2


GOLDEN = Path(__file__).parent / "golden" / "cel_eval.yaml"


@pytest.mark.parametrize("case", yaml.safe_load(GOLDEN.read_text(encoding="utf-8")), ids=lambda case: case["args"][0])
def test_output_and_exit_code_are_the_golden_ones(case: dict[str, Any], crd: str) -> None:
    """`golden/cel_eval.yaml` is written by hand: arguments, standard input, what comes out."""
    args = [arg.replace("$CRD", crd) for arg in case["args"]]
    code, out, err = run(*args, given=case.get("in"))
    assert (code, out, err) == (case.get("exit", 0), case.get("out", ""), case.get("err", ""))


@pytest.mark.parametrize(
    "text",
    [
        "spec: 5",
        "spec: [1]",
        "spec: {versions: 5}",
        "spec: {versions: [5]}",
        "spec: {versions: [{name: v1, storage: true, schema: 7}]}",
        "spec: {versions: [{name: v1, storage: true, schema: {openAPIV3Schema: 7}}]}",
        "spec: {versions: [{name: v1, storage: true, schema: {openAPIV3Schema: {properties: {a: 3}}}}]}",
        "spec: {versions: [{name: v1, storage: true, schema: {openAPIV3Schema: {type: string, pattern: '('}}}]}",
    ],
)
def test_what_is_no_crd_is_an_error_of_the_option(text: str, tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    for head in ("", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"):
        file.write_text(head + text)
        code, _, error = run("true", "--crd", str(file))
        assert code == 2
        assert "--crd" in error


def test_the_crd_is_found_in_a_folder_and_beside_other_documents(crd: str, tmp_path: Path) -> None:
    folder = tmp_path / "crds"
    folder.mkdir()
    one = Path(crd).read_text()
    (folder / "a.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n" + one)
    args = ("self.port == 1", "--path", "spec.ports[*]", "--self", "-", "--crd", str(folder))
    assert run(*args, given='{"port": 1}')[0] == 0
    (folder / "b.yaml").write_text(one)
    code, _, error = run(*args, given='{"port": 1}')
    assert code == 2
    assert "and has 2" in re.sub(r"[\s\u2502]+", " ", error)


@pytest.mark.parametrize("text", ["[" * 5_000 + "]" * 5_000, "[ " * 5_000, '!!python/object/apply:os.getcwd ""'])
def test_data_that_is_no_data_is_an_error_of_the_option(text: str, tmp_path: Path) -> None:
    file = tmp_path / "self"
    file.write_text(text)
    assert run("self", "--self", str(file))[0] == 2


def test_half_a_surrogate_is_shown_as_a_server_reads_it() -> None:
    assert run("x", "--var", 'x="a\\ud800"')[1].startswith('"a\ufffd"')


def test_a_value_that_is_not_of_its_type_is_an_error_where_it_is_read(crd: str, tmp_path: Path) -> None:
    file = tmp_path / "self.json"
    file.write_text('{"spec": {"min": 2.0}}')
    assert run("has(self.spec)", "--self", str(file), "--crd", crd)[0] == 0
    code, _, error = run("self.spec.min > 1", "--self", str(file), "--crd", crd)
    assert (code, error.splitlines()[0]) == (1, "error: invalid data, expected int, got float64")
