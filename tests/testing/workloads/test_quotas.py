"""Quotas: what is used is told, and by it the API server refuses."""

from __future__ import annotations

import asyncio

from kubewright.testing.workloads import kinds as k

from .manifests import deployment
from .sim import condition, simulated


def test_a_quota_ends_the_growth_of_a_deployment_and_its_room_is_used_again() -> None:
    async def main() -> None:
        async with simulated() as sim:
            hard = {"pods": "2", "count/deployments.apps": "5", "secrets": "3", "requests.cpu": "1"}
            await sim.create(k.QUOTAS, {"metadata": {"name": "small"}, "spec": {"hard": hard}})
            manifest = deployment(replicas=3)
            manifest["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
            await sim.create(k.SECRETS, {"metadata": {"name": "one"}})
            await sim.settle()
            await sim.create(k.DEPLOYMENTS, manifest)
            await sim.settle()
            (quota,) = await sim.list(k.QUOTAS)
            used = {"pods": "2", "count/deployments.apps": "1", "secrets": "1", "requests.cpu": "200m"}
            assert (quota["status"]["hard"], quota["status"]["used"]) == (hard, used)
            made = await sim.get(k.DEPLOYMENTS, "web")
            failure = condition(made, "ReplicaFailure")
            assert failure["reason"] == "FailedCreate"
            assert "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2" in failure["message"]
            await sim.patch(k.DEPLOYMENTS, "web", {"spec": {"replicas": 1}})
            await sim.settle()
            assert (await sim.get(k.QUOTAS, "small"))["status"]["used"]["pods"] == "1"
            assert not condition(await sim.get(k.DEPLOYMENTS, "web"), "ReplicaFailure")

    asyncio.run(main())
