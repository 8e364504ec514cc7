"""What a start of `kubewright run` does not do: import what this operator has no use for, and collect garbage."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from kubewright.cli import collector
from kubewright.testing.embedded import EmbeddedServer, EmbeddedThread

OPERATOR = """
import gc, json, os, signal, sys
from kubewright import Context, Model, ObjectMeta, Operator, Resource, controller, resource

class Spec(Model):
    size: int = 1

class Status(Model):
    size: int = 0

@resource(group="start.example.com", version="v1")
class Thing(Resource[Spec, Status]):
    \"\"\"A thing.\"\"\"

def collections():
    return sum(generation["collections"] for generation in gc.get_stats())

before = collections()

@controller(Thing)
async def reconcile(thing: Thing, ctx: Context) -> None:
    print(json.dumps({
        "modules": sorted(sys.modules), "collections": collections() - before, "enabled": gc.isenabled(),
        "frozen": gc.get_freeze_count(), "threshold": gc.get_threshold()[0],
    }), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

async def make(running) -> None:
    await running.client.create(Thing(metadata=ObjectMeta(name="a", namespace="default")))

operator = Operator("start", controllers=[reconcile], runnables=[make])
"""
NOT_NEEDED = {
    # of others
    *("annotated_types", "pydantic", "typer", "click", "rich", "cryptography", "prometheus_client"),
    # of Python
    *("http", "http.client", "urllib.request", "email", "hashlib", "shutil", "tempfile", "difflib", "shlex"),
    *("encodings.idna", "stringprep", "multiprocessing", "unittest", "logging.config", "xml"),
    # ours: servers, a leader election, and what reads files
    *("kubewright.httpd.server", "kubewright.httpd.connection", "kubewright.httpd.values"),
    "kubewright.manager.access",
    *("kubewright.manager.certificates", "kubewright.manager.profiling", "kubewright.observe.exposition"),
    *("kubewright.manager.election.candidacy", "kubewright.manager.election.elector"),
    *("kubewright.model.documents", "kubewright.schema.constraints", "kubewright.schema.cel", "kubewright.schema.yaml"),
    *("kubewright.testing", "kubewright.apiserver", "kubewright.generate"),
}


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What an operator says of its process in its first reconcile."""
    folder = tmp_path_factory.mktemp("start")
    file = folder / "start_operator.py"
    file.write_text(OPERATOR)
    with EmbeddedThread(lambda: EmbeddedServer(garbage=False)) as served, served.lent_kubeconfig() as kubeconfig:
        env = {**os.environ, "KUBECONFIG": str(kubeconfig)}
        command = [sys.executable, "-m", "kubewright", "run", str(file)]
        ran = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    assert ran.returncode == 0, ran.stderr
    said: dict[str, Any] = json.loads(ran.stdout)
    return said


def test_a_start_imports_nothing_that_the_operator_has_no_use_for(started: dict[str, Any]) -> None:
    modules = set(started["modules"])
    by_uvloop = {"encodings.idna", "stringprep"} if "uvloop" in modules else set()
    assert sorted((NOT_NEEDED - by_uvloop) & modules) == []


def test_a_start_collects_no_garbage(started: dict[str, Any]) -> None:
    assert started["collections"] == 0


def test_from_the_first_reconcile_on_garbage_is_collected_among_what_came_since(started: dict[str, Any]) -> None:
    assert started["enabled"]
    assert started["threshold"] > 0
    assert started["frozen"] > 10_000


@pytest.fixture
def usual() -> Iterator[tuple[int, int, int]]:
    """The thresholds of the test's process, which are put back."""
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)
    gc.unfreeze()


def test_the_collector_rests_until_it_begins_with_its_usual_thresholds(usual: tuple[int, int, int]) -> None:
    collector.rest()
    assert gc.get_threshold()[0] > 100_000
    collector.begin()
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() > 0


def test_thresholds_of_the_operators_program_stay(usual: tuple[int, int, int]) -> None:
    collector.rest()
    gc.set_threshold(50_000, 20, 20)
    collector.begin()
    assert gc.get_threshold() == (50_000, 20, 20)
    assert gc.get_freeze_count() == 0


def test_a_program_that_switches_the_collector_off_keeps_it_off(usual: tuple[int, int, int]) -> None:
    collector.rest()
    gc.disable()
    try:
        collector.begin()
        assert not gc.isenabled()
    finally:
        gc.enable()
