"""docs/cel.md: its programs run, its commands print what it says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kubewright.cli.app import app

TEXT = (Path(__file__).parents[3] / "docs" / "cel.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", TEXT, re.DOTALL))
(CONSOLE,) = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cel")
    for name, text in PROGRAMS.items():
        (made / f"{name}.py").write_text(text)
    return made


def test_every_program_has_a_name() -> None:
    assert len(PROGRAMS) == TEXT.count("```python") == 4


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs(folder: Path, name: str) -> None:
    done = subprocess.run([sys.executable, f"{name}.py"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_commands_print_what_the_page_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = "import json, kubewright.schema as s; from scaler import Scaler; print(json.dumps(s.crd_of(Scaler)))"
    command = [sys.executable, "-c", make]
    crd = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    (folder / "crd.yaml").write_text(crd.stdout)
    (folder / "range.json").write_text(json.dumps({"min": 3, "max": 2}))
    (folder / "scaler.json").write_text(json.dumps({"spec": {"image": "a", "replicas": 1}}))
    monkeypatch.chdir(folder)
    shown = re.split(r"^\$ kubewright (.*)\n", CONSOLE, flags=re.MULTILINE)[1:]
    for command, output in zip(shown[::2], shown[1::2], strict=True):
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.output == output
