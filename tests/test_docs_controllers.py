"""The python blocks of docs/controllers.md, word by word: they type-check, and do what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import check, check_types, write_blocks


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_blocks("docs/controllers.md", tmp_path_factory.mktemp("controllers"))


def test_every_python_block_is_a_file_with_a_name(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) == 3


def test_they_pass_mypy_in_strict_mode(folder: Path) -> None:
    check_types(folder)


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
    check(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_page.py")
