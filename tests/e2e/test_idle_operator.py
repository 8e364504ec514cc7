"""With nothing to do, an operator of 1,000 objects does nothing: no write, no read, hardly any CPU.

What its work before that has cost is printed. There are no controllers and no nodes, so that nothing but the operator
can be the cause of anything.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from examples.rediscluster.types import RedisCluster, RedisClusterSpec
from operator_process import REDIS_OPERATOR, OperatorProcess, kubewright, until, until_running

from kubewright import Client, ClientConfig, ObjectMeta
from kubewright.models.apps.v1 import StatefulSet
from kubewright.models.core.v1 import ConfigMap, Service
from kubewright.testing import ControlPlane

pytestmark = [pytest.mark.control_plane, pytest.mark.slow]

OBJECTS = 1000
IDLE_SECONDS = 30.0
CREATORS = 16
NAMESPACE = "default"
OURS = ("redisclusters", "configmaps", "services", "statefulsets", "deployments", "pods")
_SAMPLE = re.compile(r"^apiserver_request_total\{(.*)\} ([0-9.e+]+)$", re.MULTILINE)


async def requests(client: Client) -> Counter[str]:
    """How many requests the API server has answered so far, by verb and resource; of long ones: that have ended."""
    found = Counter[str]()
    text = (await client.raw("GET", "/metrics", headers=(("accept", "text/plain"),))).body.decode()
    for labels, value in _SAMPLE.findall(text):
        named = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if named["resource"] in OURS:
            what = "/".join(filter(None, (named["resource"], named["subresource"])))
            found[f"{named['verb']} {what}"] += int(float(value))
    return found


async def versions(client: Client) -> dict[str, str]:
    """The resource version of every object that the operator could write, by uid."""
    listed = [await client.list(kind, namespace=NAMESPACE) for kind in (RedisCluster, ConfigMap, Service, StatefulSet)]
    return {each.metadata.uid: each.metadata.resource_version for kind in listed for each in kind}


async def create(client: Client, count: int) -> None:
    async def some(first: int) -> None:
        for number in range(first, count, CREATORS):
            spec = RedisClusterSpec(replicas=1, version="7.2.4")
            await client.create(RedisCluster(metadata=ObjectMeta(name=f"c{number}", namespace=NAMESPACE), spec=spec))

    await asyncio.gather(*(some(first) for first in range(CREATORS)))


def wakeups(operator: OperatorProcess) -> int:
    """How often the process has gone to sleep so far (proc(5), status)."""
    text = Path(f"/proc/{operator.pid}/status").read_text()
    found = re.search(r"^voluntary_ctxt_switches:\s*(\d+)$", text, re.MULTILINE)
    assert found
    return int(found[1])


async def work(client: Client, operator: OperatorProcess, count: int) -> None:
    """Wait until it has reconciled everything and asks for nothing more; print what that has cost."""
    before = await requests(client)
    await until_running(operator)
    synced = f"{operator.cpu_seconds():.2f} s CPU until synced"

    async def missing() -> str:
        listed = await client.list(RedisCluster, namespace=NAMESPACE)
        done = sum(each.status.observed_generation == each.metadata.generation for each in listed)
        return "" if done == count else f"{done} of {count} are reconciled; the log is: {operator.text}"

    async def at_work() -> Counter[str]:
        some = await requests(client)
        cpu = operator.cpu_seconds()
        await asyncio.sleep(1.0)
        rest = await requests(client) - some
        return rest or Counter({"cpu": 1} if operator.cpu_seconds() - cpu > 0.1 else {})

    await until("all are reconciled", missing, 240.0, every=2.0)
    await until("it comes to rest", at_work, 60.0)
    cpu, rss = operator.cpu_seconds(), operator.rss_bytes()
    asked = await requests(client) - before
    writes = {what: count for what, count in sorted(asked.items()) if what.partition(" ")[0] not in ("LIST", "GET")}
    print(
        f"work: {synced}, {cpu:.2f} s in all ({cpu / count * 1000:.2f} ms an object), "
        f"{time.monotonic() - operator.started_at:.1f} s, {rss / 2**20:.0f} MiB; "
        f"{sum(writes.values()) / count:.2f} writes an object: {writes}"
    )


async def rest(client: Client, operator: OperatorProcess) -> None:
    """Watch it do nothing."""
    held, asked = await versions(client), await requests(client)
    cpu, slept = operator.cpu_seconds(), wakeups(operator)
    await asyncio.sleep(IDLE_SECONDS)
    share = (operator.cpu_seconds() - cpu) / IDLE_SECONDS
    per_second = (wakeups(operator) - slept) / IDLE_SECONDS
    more = await requests(client) - asked
    print(f"idle: {share:.2%} of a core, {per_second:.1f} wake-ups a second, requests: {dict(more)}")
    assert share < 0.01
    assert not more
    assert len(held) >= 5 * OBJECTS
    assert await versions(client) == held


@pytest.fixture
def control_plane_with_crd(private_control_plane: Callable[..., ControlPlane]) -> ControlPlane:
    # Each has a Service with an address: more than the default range holds.
    control_plane = private_control_plane(api_server_args=["--service-cluster-ip-range=10.0.0.0/16"])
    crd = kubewright("manifests", "crd", REDIS_OPERATOR.with_name("types.py")).stdout
    control_plane.kubectl("apply", "-f", "-", stdin=crd)
    control_plane.kubectl("wait", "--for=condition=Established", "crd/redisclusters.cache.example.com")
    return control_plane


def test_an_operator_that_starts_again_finds_everything_done(
    control_plane_with_crd: ControlPlane, tmp_path: Path
) -> None:
    """It applies each child once more, as it cannot know what it has applied before; the server changes nothing."""
    kubeconfig = control_plane_with_crd.access.kubeconfig_path

    async def main() -> None:
        async with Client.connect(ClientConfig.load(kubeconfig)) as client:
            await create(client, 50)
            with OperatorProcess(REDIS_OPERATOR, kubeconfig, tmp_path / "log") as operator:
                await work(client, operator, 50)
            held = await versions(client)
            with OperatorProcess(REDIS_OPERATOR, kubeconfig, tmp_path / "log") as operator:
                await work(client, operator, 50)
            assert await versions(client) == held

    asyncio.run(main())


def test_an_operator_of_1000_objects_is_idle_when_nothing_changes(
    control_plane_with_crd: ControlPlane, tmp_path: Path
) -> None:
    kubeconfig = control_plane_with_crd.access.kubeconfig_path

    async def main() -> None:
        async with Client.connect(ClientConfig.load(kubeconfig)) as client:
            await create(client, OBJECTS)
            with OperatorProcess(REDIS_OPERATOR, kubeconfig, tmp_path / "log") as operator:
                await work(client, operator, OBJECTS)
                await rest(client, operator)
                assert "WARNING" not in operator.text
                assert "ERROR" not in operator.text

    asyncio.run(main())
