"""The python blocks of a page of the documentation, as files: what the tests of such pages share."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

__all__ = ["ROOT", "blocks", "check", "check_types", "run", "write_blocks"]

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> dict[str, str]:
    """Each block of a page ("docs/cache.md") by the name in its first line; every block has to have one."""
    text = (ROOT / page).read_text()
    found = dict(_BLOCK.findall(text))
    assert len(found) == text.count("```python"), f"{page}: a block has no name of its own"
    return found


def write_blocks(page: str, folder: Path) -> Path:
    """Write each block of a page under its name."""
    for name, code in blocks(page).items():
        (folder / name).write_text(code)
    return folder


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """This Python, in a folder."""
    return subprocess.run([sys.executable, *args], cwd=folder, capture_output=True, text=True, check=False)


def check(folder: Path, *args: str) -> str:
    """This Python, in a folder, where it has to end well; what it prints."""
    done = run(folder, *args)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_types(folder: Path, *options: str) -> None:
    """All files pass mypy in strict mode."""
    check(folder, "-m", "mypy", "--strict", *options, *(path.name for path in folder.glob("*.py")))
