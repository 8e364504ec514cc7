"""The python blocks of docs/testing.md, word by word, in a pytest run of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("testing")
    for page in ("README.md", "docs/testing.md"):
        for name, text in BLOCK.findall((ROOT / page).read_text()):
            if page != "README.md" or name == "web.py":
                (made / name).write_text(text)
    (made / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    return made


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *args], cwd=folder, capture_output=True, text=True, check=False)


def test_every_block_has_a_name(folder: Path) -> None:
    assert (ROOT / "docs" / "testing.md").read_text().count("```python") == len(list(folder.glob("*.py"))) - 1


def test_the_blocks_pass_mypy_in_strict_mode(folder: Path) -> None:
    done = run(folder, "mypy", "--strict", *(path.name for path in folder.glob("*.py")))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.control_plane  # for kubectl
def test_the_tests_of_the_page_pass(folder: Path) -> None:
    done = run(folder, "pytest", "-q", "-p", "no:cacheprovider", "--kubewright-cluster=embedded")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
