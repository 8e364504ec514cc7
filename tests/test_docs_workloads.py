"""The python blocks of docs/workloads.md, word by word: they type-check, and print what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "workloads.md"
BLOCK = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PRINTED = {
    "example_rollout": "0 3 ReplicaSetUpdated\n3 3 NewReplicaSetAvailable\n3 1 ReplicaSetUpdated\n"
    "3 3 NewReplicaSetAvailable\nTrue\n",
    "example_failures": "2 1 ['SuccessCriteriaMet', 'Complete']\n"
    "work- Failed 0 -\nwork- Failed 0 -\nwork- Succeeded 0 -\nweb- Pending 0 ImagePullBackOff\n"
    "work- Failed 0 -\nwork- Failed 0 -\nwork- Succeeded 0 -\nweb- Running 0 -\n"
    "['Unknown']\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("workloads")
    for name, text in BLOCK.findall(PAGE.read_text()):
        (made / name).write_text(text)
    return made


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=folder, capture_output=True, text=True, check=False)


def test_every_block_has_a_name(folder: Path) -> None:
    assert PAGE.read_text().count("```python") == len(list(folder.glob("*.py"))) == len(PRINTED)


def test_the_blocks_pass_mypy_in_strict_mode(folder: Path) -> None:
    done = run(folder, "-m", "mypy", "--strict", *(path.name for path in folder.glob("*.py")))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", PRINTED)
def test_a_block_does_what_the_page_says(folder: Path, name: str) -> None:
    done = run(folder, f"{name}.py")
    assert sorted(done.stdout.splitlines()) == sorted(PRINTED[name].splitlines()), done.stdout + done.stderr
