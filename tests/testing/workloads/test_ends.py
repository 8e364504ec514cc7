"""What goes takes with it what is its own, and nothing is held back for ever."""

from __future__ import annotations

from kubewright.testing.workloads import kinds as k

from .manifests import daemon_set, deployment, job, stateful_set, template
from .sim import Sim, condition, run


def test_a_namespace_goes_with_all_that_runs_in_it() -> None:
    async def main(sim: Sim) -> None:
        await sim.create(k.NAMESPACES, {"metadata": {"name": "team"}}, "")
        await sim.settle()
        assert [each["metadata"]["name"] for each in await sim.list(k.SERVICE_ACCOUNTS, "team")] == ["default"]
        await sim.create(k.DEPLOYMENTS, deployment(), "team")
        await sim.create(k.STATEFUL_SETS, stateful_set(2, claims=True) | {"metadata": {"name": "db"}}, "team")
        await sim.create(k.JOBS, job(), "team")
        service = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
        await sim.create(k.SERVICES, service, "team")
        await sim.settle()
        assert len(await sim.list(k.VOLUMES, "")) == 2
        await sim.delete(k.NAMESPACES, "team", "")
        for _ in range(5):
            await sim.settle()
        assert "team" not in [each["metadata"]["name"] for each in await sim.list(k.NAMESPACES, "")]
        assert not await sim.list(k.VOLUMES, "")

    run(main)


def test_a_claim_that_is_used_goes_with_its_last_pod() -> None:
    async def main(sim: Sim) -> None:
        wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        await sim.create(k.CLAIMS, {"metadata": {"name": "data"}, "spec": wanted})
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        await sim.create(k.PODS, {"metadata": {"name": "a"}, "spec": template(volumes=volumes)["spec"]})
        await sim.settle()
        assert (await sim.get(k.PODS, "a"))["status"]["phase"] == "Running"
        assert condition(await sim.get(k.CLAIMS, "data"), "Unused")["status"] == "False"
        await sim.delete(k.CLAIMS, "data")
        await sim.settle()
        assert (await sim.get(k.CLAIMS, "data"))["metadata"]["deletionTimestamp"]
        await sim.delete(k.PODS, "a")
        await sim.settle()
        assert not await sim.list(k.CLAIMS)
        assert not await sim.list(k.VOLUMES, "")

    run(main)


def test_a_class_may_wait_for_the_first_consumer_and_keep_its_volumes() -> None:
    async def main(sim: Sim) -> None:
        late = {"provisioner": "x", "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Retain"}
        await sim.create(k.CLASSES, {"metadata": {"name": "late"}, **late}, "")
        wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        await sim.create(k.CLAIMS, {"metadata": {"name": "data"}, "spec": {**wanted, "storageClassName": "late"}})
        await sim.settle()
        assert (await sim.get(k.CLAIMS, "data"))["status"]["phase"] == "Pending"
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        await sim.create(k.PODS, {"metadata": {"name": "a"}, "spec": template(volumes=volumes)["spec"]})
        await sim.settle()
        assert (await sim.get(k.PODS, "a"))["status"]["phase"] == "Running"
        await sim.delete(k.PODS, "a")
        await sim.delete(k.CLAIMS, "data")
        await sim.settle()
        (volume,) = await sim.list(k.VOLUMES, "")
        assert volume["status"]["phase"] == "Released"

    run(main)


def test_daemons_follow_the_nodes() -> None:
    async def main(sim: Sim) -> None:
        await sim.create(k.DAEMON_SETS, daemon_set())
        await sim.settle()
        await sim.workloads.add_nodes(4)
        await sim.settle()
        assert (await sim.get(k.DAEMON_SETS, "web"))["status"]["numberReady"] == 4
        taint = {"key": "only", "value": "for-others", "effect": "NoExecute"}
        await sim.patch(k.NODES, "node-0", {"spec": {"taints": [taint]}}, namespace="")
        await sim.settle()
        assert (await sim.get(k.DAEMON_SETS, "web"))["status"]["desiredNumberScheduled"] == 3
        assert {each["spec"]["nodeName"] for each in await sim.list(k.PODS)} == {"node-1", "node-2", "node-3"}
        await sim.delete(k.NODES, "node-1", "")
        await sim.settle()
        assert (await sim.get(k.DAEMON_SETS, "web"))["status"]["numberReady"] == 2
        assert len(await sim.list(k.PODS)) == 3
        await sim.advance(40)
        assert len(await sim.list(k.PODS)) == 2

    run(main)
