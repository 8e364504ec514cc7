"""The python blocks of a page of the documentation, as files: what the tests of such pages share."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

__all__ = ["check_types", "run", "write_blocks"]

_DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def write_blocks(page: str, folder: Path) -> Path:
    """Write each block of a page under the name in its first line; every block has to have one."""
    text = (_DOCS / page).read_text()
    blocks = _BLOCK.findall(text)
    assert len(blocks) == text.count("```python"), f"{page}: a block has no name"
    for name, code in blocks:
        (folder / name).write_text(code)
    return folder


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """This Python, in a folder."""
    return subprocess.run([sys.executable, *args], cwd=folder, capture_output=True, text=True, check=False)


def check_types(folder: Path) -> None:
    """All files pass mypy in strict mode."""
    done = run(folder, "-m", "mypy", "--strict", *(path.name for path in folder.glob("*.py")))
    assert done.returncode == 0, done.stdout + done.stderr
