"""What `kubewright run TARGET` says to a target that leads to no operator, or runs one by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubewright import Operator
from kubewright.cli.load import LoadError, load_module, load_operator
from kubewright.client import KubeConfigError
from kubewright.operator import RunAtImport, only_importing

CONTROLLER = """
from kubewright import Model, Operator, Resource, controller, resource

class Spec(Model):
    size: int = 0

@resource(group="example.com", version="v1")
class Thing(Resource[Spec]):
    "Something."

@controller(Thing)
async def reconcile(thing, ctx): ...
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("", "'' names no module"),
        (":operator", "':operator' names no module"),
        (".", ".: a folder"),
        ("..", "..: a folder"),
        ("./there", "./there: a folder"),
        ("not there", "not there: neither a file nor the name of a module"),
        ("absent.yaml", "absent.yaml: not a Python file"),
        ("found.yaml", "found.yaml: not a Python file"),
        ("there/found.yaml", "there/found.yaml: not a Python file"),
        ("absent_for_sure", "absent_for_sure: no such module"),
    ],
)
def test_what_names_no_module_is_refused_with_the_cure(folder: Path, target: str, problem: str) -> None:
    (folder / "there").mkdir()
    for name in ("found.yaml", "there/found.yaml", "there/__init__.py"):
        (folder / name).write_text("")
    (folder / "there" / "found.py").write_text("raise AssertionError('imported')")
    with pytest.raises(LoadError) as caught:
        load_operator(target)
    assert str(caught.value).startswith(problem)
    assert "; give " in str(caught.value)


def test_a_module_that_runs_its_operator_at_import_is_refused_with_the_place_and_the_cure(folder: Path) -> None:
    file = folder / "runs_at_import.py"
    file.write_text(f"{CONTROLLER}\noperator = Operator('x', controllers=[reconcile])\noperator.run()\n")
    with pytest.raises(LoadError) as caught:
        load_module(str(file))
    text = str(caught.value)
    assert "operator.run() at import; put it below `if __name__ == '__main__':`" in text
    assert f"({file}:15)" in text


def test_after_an_import_operators_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RunAtImport), only_importing():
        Operator("x", controllers=[]).run()
    monkeypatch.setenv("KUBECONFIG", "/absent/kubeconfig")
    with pytest.raises(KubeConfigError):  # it gets as far as to look for a cluster
        Operator("x", controllers=[]).run()


@pytest.mark.parametrize(("stem", "name"), [("My_Web__Op", "my-web-op"), ("_", "operator")])
def test_an_operator_made_of_controllers_is_named_after_its_module(folder: Path, stem: str, name: str) -> None:
    (folder / f"{stem}.py").write_text(CONTROLLER)
    assert load_operator(f"{stem}.py").name == name
