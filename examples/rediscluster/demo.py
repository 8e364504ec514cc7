"""The main job of Kubewright, start to end: `make demo` on the embedded API server, `make demo-real` on a real one.

Starts a cluster with three simulated nodes, runs the operator beside it, and drives it as a person would: apply, scale,
break a child, delete. With kubectl where there is one, else by requests of its own (`hands`). The status transitions
come from a watch. Every step is waited for and checked: the exit code is 0 only if all of it happened. `KEEP=1` leaves
the cluster up.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from kubewright import Client, ClientConfig
from kubewright.client import KindNotServed, TooManyRequests
from kubewright.models.apps.v1 import Deployment, StatefulSet
from kubewright.models.core.v1 import ConfigMap, PersistentVolumeClaim, Pod, Service
from kubewright.testing import ControlPlaneError, cluster
from kubewright.testing.embedded import EmbeddedServer, EmbeddedThread

from .hands import DemoFailed, Hands, hands_for, say
from .types import RedisCluster

HERE = Path(__file__).parent
SAMPLE = HERE / "sample.yaml"
NAME = "sample"
MINE = f"app.kubernetes.io/instance={NAME}"
STEP_SECONDS = 60.0
NODES = 3
KEEP = bool(os.environ.get("KEEP"))


@contextlib.asynccontextmanager
async def running_operator(kubeconfig: Path, log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The operator as a process of its own, as it is in production."""
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "kubewright", "run", str(HERE / "operator.py"), "--kubeconfig", str(kubeconfig),
            stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.wait_for(process.wait(), 40)


async def show_transitions(client: Client) -> None:
    """Print each change of what the status says."""
    last: tuple[object, ...] | None = None
    async for event in client.watch(RedisCluster, namespace="default"):
        status = event.object.status
        now = (event.type, status.phase, status.ready_replicas, status.primary)
        if now != last:
            last = now
            say(f"  {event.type:<8} {status.phase:<9} ready {status.ready_replicas}  primary {status.primary or '-'}")


async def until(what: str, check: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + STEP_SECONDS
    while not await check():
        if time.monotonic() > deadline:
            raise DemoFailed(f"not within {STEP_SECONDS:g} s: {what}")
        await asyncio.sleep(0.05)
    say(f"✓ {what}")


async def drive(client: Client, hands: Hands) -> None:
    async def ready(replicas: int) -> bool:
        rc = await client.get(RedisCluster, NAME)
        status = rc.status
        return (
            status.phase == "Ready"
            and status.ready_replicas == replicas
            and status.observed_generation == rc.metadata.generation
        )

    await hands.apply(SAMPLE)
    await until("three replicas are Ready", lambda: ready(3))
    await hands.get("redisclusters")
    await hands.get(
        "statefulsets", "deployments", "services", "configmaps", "pods", "persistentvolumeclaims", labels=MINE
    )

    await hands.scale("redisclusters", NAME, 5)
    await until("scaled to five", lambda: ready(5))

    before = (await client.get(StatefulSet, NAME)).metadata.uid
    await hands.delete("statefulsets", NAME)

    async def healed() -> bool:
        found = await client.find(StatefulSet, NAME)
        return found is not None and found.metadata.uid != before and await ready(5)

    await until("the deleted StatefulSet is back and Ready", healed)

    await hands.delete("redisclusters", NAME)

    async def gone() -> bool:
        if await client.find(RedisCluster, NAME) is not None:
            return False
        for kind in (StatefulSet, Deployment, Service, ConfigMap, Pod, PersistentVolumeClaim):
            if len(await client.list(kind, namespace="default", labels=MINE)):
                return False
        return True

    if hands.is_patient:
        say("  (a real garbage collector learns of a new kind within 30 s)")
    await until("nothing of it is left", gone)
    backup = await client.get(ConfigMap, f"{NAME}-backup")
    say(f"  but its backup record: {backup.metadata.annotations}")
    await client.delete(backup)


async def demo(kubeconfig: Path, log: Path, *, is_real: bool) -> None:
    async with (
        running_operator(kubeconfig, log) as process,
        Client.connect(ClientConfig.load(kubeconfig), field_manager="demo") as client,
    ):

        async def watching() -> bool:
            if process.returncode is not None:
                raise DemoFailed(f"the operator ended with {process.returncode}")
            try:
                await client.list(RedisCluster, namespace="default")
            except (KindNotServed, TooManyRequests):
                return False
            return True

        await until("the operator has installed its CRD", watching)
        transitions = asyncio.create_task(show_transitions(client))
        try:
            await drive(client, hands_for(client, kubeconfig, is_patient=is_real))
        finally:
            transitions.cancel()
            await asyncio.gather(transitions, return_exceptions=True)
    say("✓ the operator has stopped")


@contextlib.contextmanager
def embedded() -> Iterator[Path]:
    """The embedded API server, with nodes on which Pods become ready; its kubeconfig."""
    with EmbeddedThread(lambda: EmbeddedServer(nodes=NODES)) as served, served.lent_kubeconfig() as kubeconfig:
        say(f"the embedded API server at {served.url}, {NODES} nodes")
        yield kubeconfig
        if KEEP:
            say_how_to_go_on(kubeconfig, "Ctrl-C")
            signal.pause()
    say("✓ the server is gone")


@contextlib.contextmanager
def real() -> Iterator[Path]:
    """A real control plane, with nodes; its kubeconfig."""
    try:
        up = cluster.up("demo", nodes=NODES)
        say(f"Kubernetes {up.version} at {up.url}, {up.ready_nodes} nodes")
        yield up.kubeconfig
    finally:
        if KEEP:
            for state in cluster.status("demo"):
                say_how_to_go_on(state.kubeconfig, "kubewright cluster down demo")
        else:
            cluster.down("demo")
    if not KEEP:
        say("✓ the cluster is gone")


def main(arguments: Sequence[str]) -> int:
    is_real = "--real" in arguments
    with tempfile.TemporaryDirectory(prefix="kubewright-demo-") as folder:
        log = Path(folder) / "operator.log"
        try:
            with real() if is_real else embedded() as kubeconfig:
                asyncio.run(demo(kubeconfig, log, is_real=is_real))
        except (DemoFailed, ControlPlaneError) as error:
            if log.exists():
                print(log.read_text(), file=sys.stderr)
            print(f"error: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 0 if KEEP else 130
    return 0


def say_how_to_go_on(kubeconfig: Path, end: str) -> None:
    print(f"\nThe cluster is left up. To use it:\n  export KUBECONFIG={kubeconfig}")
    print(f"  kubewright run {os.path.relpath(HERE / 'operator.py')}\nTo end it:\n  {end}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
