"""Operators of other toolkits do their work on the embedded API server, unchanged: controller-runtime (Go), and kopf.

They are the benchmark's, built once into the user's cache, as is the environment of kopf.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from bench import peers, programs

from kubewright.apiserver import Request
from kubewright.testing.embedded import EmbeddedServer

pytestmark = pytest.mark.slow

WIDGETS = "/apis/bench.example.com/v1/namespaces/default/widgets"
MAPS = "/api/v1/namespaces/default/configmaps"
COUNT = 20
SECONDS = 120.0

Process = subprocess.Popen[bytes]
Done = Callable[[dict[str, Any]], bool]


@pytest.fixture(scope="module")
def crd() -> dict[str, Any]:
    """The benchmark's CRD."""
    command = [sys.executable, "-m", "kubewright", "manifests", "crd"]
    done = subprocess.run(
        [*command, str(programs.OPERATORS / "kubewright_operator.py")], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = yaml.safe_load(done.stdout)
    return found


def started(command: list[str], env: dict[str, str], log: Path) -> Process:
    with log.open("wb") as out:
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)


@asynccontextmanager
async def running(peer: peers.Peer, kubeconfig: Path, log: Path, *, children: bool) -> AsyncIterator[Process]:
    """The operator at work; at the end it stops by itself, or fails."""
    process = started(peer.command(kubeconfig, children), peer.environ(kubeconfig, children), log)
    try:
        yield process
        process.terminate()
        assert await asyncio.to_thread(process.wait, 30) == 0, said(log)
    finally:
        process.kill()
        process.wait()


def said(log: Path) -> str:
    return log.read_text(errors="replace")


async def written(served: EmbeddedServer, path: str, is_done: Done, process: Process, log: Path) -> None:
    """Wait until all objects of a collection are as they should be."""
    found: list[dict[str, Any]] = []
    try:
        async with asyncio.timeout(SECONDS):
            while len(found) < COUNT or not all(map(is_done, found)):
                assert process.poll() is None, said(log)
                await asyncio.sleep(0.05)
                found = (await served.server.handle(Request.of("GET", path))).json["items"]
    except TimeoutError:
        pytest.fail(f"{sum(map(is_done, found))} of {COUNT} done; the log says:\n{said(log)}")


async def work(peer: peers.Peer, crd: dict[str, Any], folder: Path, *, children: bool) -> None:
    """Twenty widgets, and a change of each: the operator writes their status, and their children."""
    kubeconfig, log = folder / "kubeconfig", folder / "operator.log"
    async with EmbeddedServer() as served:
        served.write_kubeconfig(kubeconfig)
        ask = served.server.handle
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        assert (await ask(Request.of("POST", path, body=crd))).status == 201
        async with running(peer, kubeconfig, log, children=children) as process:
            for number in range(COUNT):
                body = widget(number, revision=1)
                assert (await ask(Request.of("POST", WIDGETS, body=body))).status == 201
            await written(served, WIDGETS, lambda each: each.get("status", {}).get("revision") == 1, process, log)
            merge = {"content-type": "application/merge-patch+json"}
            for number in range(COUNT):
                body = {"spec": {"revision": 2}}
                changed = await ask(Request.of("PATCH", f"{WIDGETS}/w{number}", headers=merge, body=body))
                assert changed.status == 200, changed.json
            await written(served, WIDGETS, lambda each: each.get("status", {}).get("revision") == 2, process, log)
            if children:
                await written(served, MAPS, is_child, process, log)


def widget(number: int, *, revision: int) -> dict[str, Any]:
    return {
        "apiVersion": "bench.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": f"w{number}", "namespace": "default"},
        "spec": {"revision": revision, "settings": {"a": {"enabled": True, "value": "x", "weight": 1}}},
    }


def is_child(found: dict[str, Any]) -> bool:
    owners = found["metadata"].get("ownerReferences", [{}])
    return found["data"]["revision"] == "2" and owners[0].get("kind") == "Widget"


@pytest.mark.parametrize("children", [False, True], ids=["status", "children"])
def test_a_controller_runtime_program_works_on_it(tmp_path: Path, crd: dict[str, Any], children: bool) -> None:
    asyncio.run(work(peers.make(peers.GO), crd, tmp_path, children=children))


@pytest.mark.parametrize("children", [False, True], ids=["status", "children"])
def test_a_kopf_operator_works_on_it(tmp_path: Path, crd: dict[str, Any], children: bool) -> None:
    asyncio.run(work(peers.make(peers.KOPF), crd, tmp_path, children=children))
