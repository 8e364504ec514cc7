"""The python blocks of the README, word by word: they type-check, and do without a cluster what they say."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubewright import Client, ClientConfig, unstructured
from kubewright.model import from_dict
from kubewright.models.apps.v1 import Deployment
from pages import ROOT, check, check_types, write_blocks


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_blocks("README.md", tmp_path_factory.mktemp("readme"))


def test_every_python_block_of_the_readme_is_a_file_with_a_name(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) == 4


def test_the_web_of_the_readme_is_ready_where_no_cluster_is_configured(folder: Path, tmp_path: Path) -> None:
    manifest = re.search(r"^```yaml\n# a\.yaml\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert manifest is not None
    env = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    env |= {name: str(tmp_path) for name in ("HOME", "TMPDIR", "KUBEWRIGHT_CACHE_DIR")}
    command = [sys.executable, "-m", "kubewright", "run", "web.py", "--metrics-bind-address=0"]
    command += ["--health-probe-bind-address=0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env, cwd=folder) as process:
        assert process.stderr is not None
        try:
            lines = [process.stderr.readline()]
            while "running: web" not in lines[-1] and lines[-1]:
                lines.append(process.stderr.readline())
            assert "--kubeconfig " in lines[0], lines
            kubeconfig = Path(lines[0].partition("--kubeconfig ")[2].split()[0])
            assert asyncio.run(ready_replicas(kubeconfig, yaml.safe_load(manifest[1]))) == 2
        finally:
            process.kill()


async def ready_replicas(kubeconfig: Path, manifest: dict[str, Any]) -> int:
    """Of the Deployment that is made for the Web, once the Web says as many."""
    web = unstructured("example.com/v1", "Web", plural="webs", namespaced=True)
    config = ClientConfig.from_kubeconfig(kubeconfig)
    async with Client.connect(config, namespace="default") as client, asyncio.timeout(60):
        await client.create(from_dict(web, manifest))
        async for event in client.watch(web):
            if event.object.get("status", "ready", default=0) == 2:
                break
        return (await client.get(Deployment, "a")).status.ready_replicas or 0


def test_they_pass_mypy_in_strict_mode(folder: Path) -> None:
    check_types(folder, "--allow-empty-bodies")


def test_the_test_of_the_readme_passes(folder: Path) -> None:
    check(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_web.py")


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
    check(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_database.py")
