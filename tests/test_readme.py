"""The python blocks of the README, word by word: they type-check, and do without a cluster what they say."""

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
    made = tmp_path_factory.mktemp("readme")
    for name, text in BLOCK.findall((ROOT / "README.md").read_text()):
        (made / name).write_text(text)
    return made


def run(folder: Path, *arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_python_block_of_the_readme_is_a_file_with_a_name(folder: Path) -> None:
    assert (ROOT / "README.md").read_text().count("```python") == len(list(folder.glob("*.py"))) == 4


def test_they_pass_mypy_in_strict_mode(folder: Path) -> None:
    run(folder, "-m", "mypy", "--strict", "--allow-empty-bodies", *(path.name for path in folder.glob("*.py")))


def test_the_test_of_the_readme_passes(folder: Path) -> None:
    run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_web.py")


def test_the_class_controller_of_the_readme_does_what_its_comments_say(folder: Path) -> None:
    (folder / "test_database.py").write_text(
        """
import asyncio

import pytest

from database import Cloud, Database, DatabaseController, DatabaseSpec
from kubewright import ObjectMeta, Retry, Terminal, after
from kubewright.testing import FakeContext


class Ready(Cloud):
    def __init__(self, ready: bool) -> None:
        self.ready, self.dropped = ready, []

    async def ensure(self, name, tier):
        return self.ready

    async def drop(self, name):
        self.dropped.append(name)


def database(tier="gold"):
    return Database(metadata=ObjectMeta(name="a", namespace="default", uid="1"), spec=DatabaseSpec(tier=tier))


def test_ready():
    db = database()
    ctx = FakeContext(db)
    assert asyncio.run(DatabaseController(Ready(True)).reconcile(db, ctx)) == after(3600)
    assert [child.metadata.name for child in ctx.applied] == ["a-config"]
    assert [condition.type for condition in db.status.conditions] == ["Ready"]
    assert len(ctx.events) == 1


def test_not_yet():
    db = database()
    with pytest.raises(Retry):
        asyncio.run(DatabaseController(Ready(False)).reconcile(db, FakeContext(db)))


def test_not_sold():
    db = database("lead")
    with pytest.raises(Terminal, match="'lead' is not sold"):
        asyncio.run(DatabaseController(Ready(True)).reconcile(db, FakeContext(db)))


def test_finalize():
    db, cloud = database(), Ready(True)
    asyncio.run(DatabaseController(cloud).finalize(db, FakeContext(db)))
    assert cloud.dropped == ["a"]
"""
    )
    run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_database.py")
