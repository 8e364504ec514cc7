"""The main job of Kubewright, start to end, on a real control plane: `make demo`.

Starts Kubernetes with three simulated nodes, runs the operator beside it, and drives it as a person would: apply,
scale, break a child, delete. What kubectl does is printed; the status transitions come from a watch. Every step is
waited for and checked: the exit code is 0 only if all of it happened. `KEEP=1` leaves the cluster up.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from kubewright import Client, ClientConfig
from kubewright.client import KindNotServed, TooManyRequests
from kubewright.models.apps.v1 import Deployment, StatefulSet
from kubewright.models.core.v1 import ConfigMap, PersistentVolumeClaim, Pod, Service
from kubewright.testing import ControlPlaneError, cluster, programs
from kubewright.testing.binaries import find_binaries

from .types import RedisCluster

HERE = Path(__file__).parent
SAMPLE = HERE / "sample.yaml"
NAME = "sample"
STEP_SECONDS = 60.0
STARTED = time.monotonic()


class DemoFailed(Exception):
    pass


def say(text: str) -> None:
    print(f"[{time.monotonic() - STARTED:5.1f}s] {text}", flush=True)


async def kubectl(kubeconfig: Path, *args: str, show: bool = True) -> str:
    """Run kubectl as a person would, and show what it prints."""
    if show:
        say(f"$ kubectl {' '.join(args)}")
    process = await asyncio.create_subprocess_exec(
        str(find_binaries()[programs.KUBECTL]),
        *args,
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    if show:
        print("".join(f"         {line}\n" for line in output.splitlines()), end="", flush=True)
    if process.returncode:
        raise DemoFailed(f"kubectl {args[0]} failed: {output.strip()}")
    return output


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


async def drive(client: Client, kubeconfig: Path) -> None:
    async def ready(replicas: int) -> bool:
        rc = await client.get(RedisCluster, NAME)
        status = rc.status
        return (
            status.phase == "Ready"
            and status.ready_replicas == replicas
            and status.observed_generation == rc.metadata.generation
        )

    await kubectl(kubeconfig, "apply", "-f", str(SAMPLE))
    await until("three replicas are Ready", lambda: ready(3))
    await kubectl(kubeconfig, "get", "rdc")
    await kubectl(
        kubeconfig, "get", "statefulset,deployment,service,configmap,pod,pvc", "-l", "app.kubernetes.io/instance=sample"
    )

    await kubectl(kubeconfig, "scale", "rdc", NAME, "--replicas=5")
    await until("scaled to five", lambda: ready(5))

    before = (await client.get(StatefulSet, NAME)).metadata.uid
    await kubectl(kubeconfig, "delete", "statefulset", NAME)

    async def healed() -> bool:
        found = await client.find(StatefulSet, NAME)
        return found is not None and found.metadata.uid != before and await ready(5)

    await until("the deleted StatefulSet is back and Ready", healed)

    await kubectl(kubeconfig, "delete", "rdc", NAME)
    mine = "app.kubernetes.io/instance=sample"

    async def gone() -> bool:
        if await client.find(RedisCluster, NAME) is not None:
            return False
        for kind in (StatefulSet, Deployment, Service, ConfigMap, Pod, PersistentVolumeClaim):
            if len(await client.list(kind, namespace="default", labels=mine)):
                return False
        return True

    say("  (the garbage collector learns of a new kind within 30 s)")
    await until("nothing of it is left", gone)
    backup = await client.get(ConfigMap, f"{NAME}-backup")
    say(f"  but its backup record: {backup.metadata.annotations}")
    await client.delete(backup)


async def demo(kubeconfig: Path, log: Path) -> None:
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
            await drive(client, kubeconfig)
        finally:
            transitions.cancel()
            await asyncio.gather(transitions, return_exceptions=True)
    say("✓ the operator has stopped")


def main() -> int:
    keep = bool(os.environ.get("KEEP"))
    with tempfile.TemporaryDirectory(prefix="kubewright-demo-") as folder:
        log = Path(folder) / "operator.log"
        try:
            up = cluster.up("demo", nodes=3)
            say(f"Kubernetes {up.version} at {up.url}, {up.ready_nodes} nodes")
            asyncio.run(demo(up.kubeconfig, log))
        except (DemoFailed, ControlPlaneError) as error:
            if log.exists():
                print(log.read_text(), file=sys.stderr)
            print(f"error: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 130
        finally:
            if keep:
                say_how_to_go_on()
            else:
                cluster.down("demo")
    if not keep:
        say("✓ the cluster is gone")
    return 0


def say_how_to_go_on() -> None:
    for state in cluster.status("demo"):
        print(f"\nThe cluster is left up. To use it:\n  export KUBECONFIG={state.kubeconfig}")
    print(f"  kubewright run {os.path.relpath(HERE / 'operator.py')}\nTo end it:\n  kubewright cluster down demo")


if __name__ == "__main__":
    sys.exit(main())
