"""The engine: what `settle` promises, order, and what it costs to do nothing."""

from __future__ import annotations

import asyncio
import logging

import orjson
import pytest

from kubewright.client import TooManyRequests
from kubewright.testing.workloads import CrashLoop, Workloads
from kubewright.testing.workloads import kinds as k
from kubewright.testing.workloads.deployments import Deployments
from kubewright.testing.workloads.kinds import Ref

from .manifests import deployment, image
from .sim import simulated


async def _a_day(seed: int) -> bytes:
    async with simulated(seed=seed) as sim:
        await sim.create(k.DEPLOYMENTS, deployment(replicas=4))
        await sim.settle()
        sim.workloads.fail("web", CrashLoop(times=3))
        await sim.patch(k.DEPLOYMENTS, "web", image("nginx:2"))
        await sim.advance(100)
        await sim.patch(k.DEPLOYMENTS, "web", {"spec": {"replicas": 2}})
        await sim.advance(1)
        found = [await sim.list(kind) for kind in (k.DEPLOYMENTS, k.REPLICA_SETS, k.PODS)]
        return orjson.dumps(found)


def test_a_run_is_the_same_each_time() -> None:
    first, again, other = asyncio.run(_a_day(1)), asyncio.run(_a_day(1)), asyncio.run(_a_day(2))
    assert first == again
    assert first != other


def test_settle_waits_for_nothing_that_is_due_later() -> None:
    async def main() -> None:
        async with simulated() as sim:
            await sim.create(k.DEPLOYMENTS, deployment(minReadySeconds=10))
            await sim.settle()
            made = (await sim.get(k.DEPLOYMENTS, "web"))["status"]
            assert (made["readyReplicas"], made.get("availableReplicas")) == (3, None)
            await sim.advance(10)
            assert (await sim.get(k.DEPLOYMENTS, "web"))["status"]["availableReplicas"] == 3

    asyncio.run(main())


def test_what_is_at_rest_writes_nothing() -> None:
    async def main() -> None:
        async with simulated() as sim:
            await sim.create(k.DEPLOYMENTS, deployment())
            await sim.settle()
            before = sim.server.store.revision
            await sim.advance(3600)
            assert sim.server.store.revision == before

    asyncio.run(main())


def test_workloads_go_on_from_what_is_there() -> None:
    async def main() -> None:
        async with simulated() as sim:
            await sim.create(k.DEPLOYMENTS, deployment())
            await sim.settle()
            before = [each["metadata"]["uid"] for each in await sim.list(k.PODS)]
            revision = sim.server.store.revision
            await sim.workloads.close()
            async with Workloads(sim.client, nodes=3, clock=sim.workloads.clock) as again:
                await again.settle()
                assert sim.server.store.revision == revision
                await sim.patch(k.DEPLOYMENTS, "web", {"spec": {"replicas": 4}})
                await again.settle()
                pods = await sim.list(k.PODS)
                assert set(before) < {each["metadata"]["uid"] for each in pods}
                assert len({each["status"]["podIP"] for each in pods}) == 4

    asyncio.run(main())


def test_heartbeats_are_there_when_they_are_asked_for() -> None:
    async def main() -> None:
        async with simulated(nodes=1, heartbeat_seconds=10) as sim:
            await sim.advance(35)
            (lease,) = await sim.list(k.LEASES, "kube-node-lease")
            assert lease["spec"]["renewTime"] == "2030-01-01T00:00:30.000000Z"

    asyncio.run(main())


def test_time_does_not_go_back_and_nothing_is_done_before_the_start() -> None:
    async def main() -> None:
        async with simulated() as sim:
            with pytest.raises(ValueError, match="negative"):
                await sim.workloads.advance(-1)
            with pytest.raises(KeyError):
                sim.workloads.lose_node("nowhere")
            with pytest.raises(RuntimeError, match="async with"):
                await Workloads(sim.client).settle()

    asyncio.run(main())


def test_a_mistake_of_ours_is_raised_by_the_next_settle(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(self: Deployments, ref: Ref) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Deployments, "sync", broken)

    async def main() -> None:
        async with simulated() as sim:
            await sim.create(k.DEPLOYMENTS, deployment())
            with caplog.at_level(logging.CRITICAL), pytest.raises(ZeroDivisionError):
                await sim.workloads.settle()
            await sim.workloads.settle()

    asyncio.run(main())


def test_evictions_wait_for_the_pods_that_replace_those_before() -> None:
    async def main() -> None:
        async with simulated() as sim:
            selector = {"matchLabels": {"app": "web"}}
            budget = {"metadata": {"name": "web"}, "spec": {"minAvailable": 2, "selector": selector}}
            await sim.create(k.DISRUPTION_BUDGETS, budget)
            await sim.create(k.DEPLOYMENTS, deployment())
            await sim.settle()
            first, second, _ = [each["metadata"]["name"] for each in await sim.list(k.PODS)]

            async def evict(name: str) -> None:
                body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
                await sim.client.raw("POST", k.PODS.path("default", name, "eviction"), body=body)

            await evict(first)
            with pytest.raises(TooManyRequests):
                await evict(second)
            await sim.settle()
            await evict(second)
            await sim.settle()
            assert (await sim.get(k.DISRUPTION_BUDGETS, "web"))["status"]["disruptionsAllowed"] == 1

    asyncio.run(main())
