"""The python blocks of docs/controllers.md, word by word: they type-check, and do what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "controllers.md"
BLOCK = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("controllers")
    for name, text in BLOCK.findall(PAGE.read_text()):
        (made / name).write_text(text)
    return made


def run(folder: Path, *arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_python_block_is_a_file_with_a_name(folder: Path) -> None:
    assert PAGE.read_text().count("```python") == len(list(folder.glob("*.py"))) == 3


def test_they_pass_mypy_in_strict_mode(folder: Path) -> None:
    run(folder, "-m", "mypy", "--strict", *(path.name for path in folder.glob("*.py")))


def test_they_are_controllers_that_an_operator_takes(folder: Path) -> None:
    (folder / "test_page.py").write_text(
        """
import asyncio

from database import Database, DatabaseSpec, reconcile
from labels import count
from wakes import Backups, nodes

from kubewright import ObjectMeta, Operator
from kubewright.models.core.v1 import ConfigMap, Secret
from kubewright.testing import FakeContext


def test_operator():
    operator = Operator("page", controllers=[reconcile, Backups(), nodes])
    assert [len(bound.watches) for bound in operator.controllers] == [1, 1, 0]
    assert [len(bound.sources) for bound in operator.controllers] == [1, 2, 0]
    assert Secret in operator.controllers[0].kinds


def test_functions():
    db = Database(metadata=ObjectMeta(name="a", namespace="default", uid="1"), spec=DatabaseSpec(secret="s", size=3))
    ctx = FakeContext(db)
    asyncio.run(reconcile(db, ctx))
    assert db.status.ready == 3
    [child] = ctx.applied_of(ConfigMap)
    assert child.data == {"size": "3"}
    assert asyncio.run(count(ctx)) == 1
    assert asyncio.run(count(ctx)) == 0
"""
    )
    run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_page.py")
