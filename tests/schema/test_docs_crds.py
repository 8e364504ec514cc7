"""docs/crds.md, word by word: its files type-check, its commands print what it says, its table names every marker.

After a change on purpose, have the commands write what they print:

    KUBEWRIGHT_WRITE_GOLDEN=1 pytest tests/schema/test_docs_crds.py
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kubewright
import kubewright.schema

PAGE = Path(__file__).parents[2] / "docs" / "crds.md"
FILE = re.compile(r"^```(?:python|yaml)\n# (\S+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)

MARKERS = re.split(
    r"\s+",
    (
        "groupName versionName kubebuilder:skip kubebuilder:object:generate kubebuilder:object:root"
        " kubebuilder:ac:generate kubebuilder:ac:output:package kubebuilder:resource"
        " kubebuilder:subresource:status kubebuilder:subresource:scale kubebuilder:printcolumn"
        " kubebuilder:selectablefield kubebuilder:storageversion kubebuilder:unservedversion"
        " kubebuilder:skipversion kubebuilder:deprecatedversion kubebuilder:metadata kubebuilder:externalDocs"
        " Maximum Minimum ExclusiveMaximum ExclusiveMinimum MultipleOf MinProperties MaxProperties MinLength"
        " MaxLength Pattern MinItems MaxItems UniqueItems Enum Format Type XPreserveUnknownFields"
        " XEmbeddedResource XIntOrString XValidation AtMostOneOf ExactlyOneOf AtLeastOneOf k8s:enum Required"
        " Optional required optional k8s:required k8s:optional nullable kubebuilder:default default"
        " kubebuilder:example EmbeddedResource Schemaless k8s:immutable kubebuilder:pruning:PreserveUnknownFields"
        " kubebuilder:title listType listMapKey mapType structType k8s:listType k8s:listMapKey"
    ),
)
"""Of controller-tools 0.21, those that CRDs are made from."""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, its CRDs, and those of a release that allowed more."""
    made = tmp_path_factory.mktemp("crds")
    for name, text in FILE.findall(PAGE.read_text()):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(f"# {name}\n{text}")
    done = run(made, "kubewright", "manifests", "crd", "web.py", "-o", "released/crds")
    assert done.returncode == 0, done.stderr
    released = made / "released" / "crds" / "example.com_webs.yaml"
    released.write_text(released.read_text().replace("maximum: 100\n", "maximum: 1000\n").replace("- fast\n", ""))
    return made


def test_commands_print_what_the_page_says(folder: Path) -> None:
    text = PAGE.read_text()
    for block in CONSOLE.findall(text):
        for command, said in COMMAND.findall(block):
            done = run(folder, "sh", "-c", command)
            if os.environ.get("KUBEWRIGHT_WRITE_GOLDEN"):
                text = text.replace(f"$ {command}\n{said}", f"$ {command}\n{done.stdout}{done.stderr}", 1)
            else:
                assert f"{done.stdout}{done.stderr}" == said, command
    if os.environ.get("KUBEWRIGHT_WRITE_GOLDEN"):
        PAGE.write_text(text)


def test_the_files_pass_mypy_in_strict_mode(folder: Path) -> None:
    done = run(folder, sys.executable, "-m", "mypy", "--strict", "web.py", "cache.py", "values.py")
    assert done.returncode == 0, done.stdout


def test_the_checks_of_the_page_hold(folder: Path) -> None:
    assert run(folder, "kubewright", "manifests", "crd", "web.py", "-o", "config/crd").returncode == 0
    for name in ("check.py", "values.py"):
        done = run(folder, sys.executable, name)
        assert done.returncode == 0, done.stderr


def test_a_pydantic_model_becomes_a_crd_without_a_word(folder: Path) -> None:
    done = run(folder, "kubewright", "manifests", "crd", "cache.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert "maxMemory" in done.stdout


def table(title: str) -> list[list[str]]:
    section = PAGE.read_text().partition(f"### {title}\n")[2].partition("\n## ")[0].partition("\n### ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[1:]]


def test_every_marker_of_controller_tools_has_a_row() -> None:
    words = {word for row in table("Markers of controller-tools") for word in re.findall(r"[\w:]+", row[0])}
    ends = {word.rpartition("validation:")[2] or word for word in words} | words
    ends |= {word.partition(":path")[0] for word in words}  # with its arguments
    assert [marker for marker in MARKERS if marker not in ends] == []


def test_every_name_in_the_table_is_there() -> None:
    known = {*dir(kubewright), *kubewright.schema.__all__, *dir(importlib.import_module("annotated_types"))}
    known |= {"Literal", "StrEnum", "IntEnum", "Any", "Spec", "Status", "B", "None", "True", "False", "IntOrString"}
    names = {
        name
        for row in table("Markers of controller-tools")
        for code in re.findall(r"`([^`]+)`", row[1])
        for name in re.findall(r"\b[A-Z]\w+", re.sub(r'"[^"]*"', "", code))
    }
    assert names - known == set()


def test_every_public_marker_is_in_the_page() -> None:
    text = PAGE.read_text()
    hidden = {"Drift", "Manifest", "SchemaCause", "SchemaError", "UniqueItems"}
    missing = [name for name in kubewright.schema.__all__ if name[0].isupper() and name not in text]
    assert set(missing) - hidden == set()
