"""Pods as a kubelet runs them: init containers, sidecars, probes, restart policies, deadlines, gates; and where to."""

from __future__ import annotations

from typing import Any

from kubewright.testing.workloads import CrashLoop, RunsFor
from kubewright.testing.workloads import kinds as k
from kubewright.testing.workloads.kinds import Obj

from .sim import Sim, condition, container, run


def pod(name: str = "a", labels: dict[str, str] | None = None, **spec: Any) -> Obj:
    main = {"name": "main", "image": "i"}
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": {"containers": [main], **spec}}


def test_init_containers_run_one_after_another_and_hold_back_the_others() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("a", RunsFor(container="first", seconds=5))
        failing = sim.workloads.fail("a", CrashLoop(container="second"))
        inits = [{"name": "first", "image": "i"}, {"name": "second", "image": "i"}]
        await sim.create(k.PODS, pod(initContainers=inits))
        await sim.advance(4)
        found = await sim.get(k.PODS, "a")
        assert container(found)["state"] == {"waiting": {"reason": "PodInitializing"}}
        said = condition(found, "Initialized")
        assert (said["reason"], said["message"]) == (
            "ContainersNotInitialized",
            "containers with incomplete status: [first second]",
        )
        await sim.advance(1)
        found = await sim.get(k.PODS, "a")
        first, second = found["status"]["initContainerStatuses"]
        assert first["state"]["terminated"]["reason"] == "Completed"
        assert second["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        assert found["status"]["phase"] == "Pending"
        failing.heal()
        await sim.advance(10)
        found = await sim.get(k.PODS, "a")
        assert (found["status"]["phase"], condition(found, "Ready")["status"]) == ("Running", "True")

    run(main)


def test_an_init_container_that_fails_ends_a_pod_that_never_restarts() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("a", CrashLoop(container="first", exit_code=9))
        await sim.create(k.PODS, pod(initContainers=[{"name": "first", "image": "i"}], restartPolicy="Never"))
        await sim.settle()
        assert (await sim.get(k.PODS, "a"))["status"]["phase"] == "Failed"

    run(main)


def test_a_sidecar_starts_before_the_others_and_ends_after_them() -> None:
    async def main(sim: Sim) -> None:
        probe = {"exec": {"command": ["true"]}, "initialDelaySeconds": 3}
        side = {"name": "side", "image": "i", "restartPolicy": "Always", "startupProbe": probe}
        sim.workloads.fail("a", RunsFor(seconds=10))
        await sim.create(k.PODS, pod(initContainers=[side], restartPolicy="Never"))
        await sim.advance(2)
        assert (await sim.get(k.PODS, "a"))["status"]["phase"] == "Pending"
        await sim.advance(1)
        found = await sim.get(k.PODS, "a")
        assert (found["status"]["phase"], condition(found, "Ready")["status"]) == ("Running", "True")
        await sim.advance(10)
        found = await sim.get(k.PODS, "a")
        assert found["status"]["phase"] == "Succeeded"
        assert "terminated" in found["status"]["initContainerStatuses"][0]["state"]

    run(main)


def test_a_pod_restarts_on_failure_only() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("a", RunsFor(seconds=1))
        sim.workloads.fail("a", CrashLoop(times=2))
        await sim.create(k.PODS, pod(restartPolicy="OnFailure"))
        await sim.advance(30)
        found = await sim.get(k.PODS, "a")
        assert (found["status"]["phase"], container(found)["restartCount"]) == ("Succeeded", 2)

    run(main)


def test_a_pod_has_its_deadline() -> None:
    async def main(sim: Sim) -> None:
        await sim.create(k.PODS, pod(activeDeadlineSeconds=60))
        await sim.advance(59)
        assert (await sim.get(k.PODS, "a"))["status"]["phase"] == "Running"
        await sim.advance(1)
        found = await sim.get(k.PODS, "a")
        assert (found["status"]["phase"], found["status"]["reason"]) == ("Failed", "DeadlineExceeded")

    run(main)


def test_a_readiness_gate_is_somebody_elses() -> None:
    async def main(sim: Sim) -> None:
        await sim.create(k.PODS, pod(readinessGates=[{"conditionType": "example.com/routed"}]))
        await sim.settle()
        found = await sim.get(k.PODS, "a")
        assert condition(found, "Ready")["reason"] == "ReadinessGatesNotReady"
        routed = {"type": "example.com/routed", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"}
        conditions = [*found["status"]["conditions"], routed]
        await sim.patch(k.PODS, "a", {"status": {"conditions": conditions}}, "status")
        await sim.settle()
        assert condition(await sim.get(k.PODS, "a"), "Ready")["status"] == "True"

    run(main)


def test_a_container_is_not_ready_before_its_probe_can_have_succeeded() -> None:
    async def main(sim: Sim) -> None:
        probe = {"httpGet": {"port": 80}, "initialDelaySeconds": 4, "periodSeconds": 3, "successThreshold": 2}
        main_ = {"name": "main", "image": "i", "readinessProbe": probe}
        await sim.create(k.PODS, pod(containers=[main_]))
        await sim.advance(6)
        assert not container(await sim.get(k.PODS, "a"))["ready"]
        await sim.advance(1)
        assert container(await sim.get(k.PODS, "a"))["ready"]

    run(main)


def test_pods_keep_away_from_one_another_and_go_where_others_are() -> None:
    async def main(sim: Sim) -> None:
        term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
        away = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        for number in range(4):
            await sim.create(k.PODS, pod(f"db-{number}", {"app": "db"}, affinity=away))
        await sim.settle()
        nodes = [(await sim.get(k.PODS, f"db-{number}"))["spec"].get("nodeName") for number in range(4)]
        assert sorted(filter(None, nodes)) == ["node-0", "node-1", "node-2"]
        late = next(f"db-{number}" for number in range(4) if nodes[number] is None)
        said = condition(await sim.get(k.PODS, late), "PodScheduled")["message"]
        assert said.startswith("0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.")
        await sim.delete(k.PODS, next(f"db-{number}" for number in range(4) if nodes[number] is not None))
        await sim.create(k.PODS, pod("near", affinity=near))
        await sim.settle()
        assert (await sim.get(k.PODS, late))["spec"]["nodeName"]
        assert (await sim.get(k.PODS, "near"))["spec"]["nodeName"]

    run(main)


def test_a_full_cluster_takes_more_when_there_is_room_again() -> None:
    async def main(sim: Sim) -> None:
        big = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "5"}}}
        for number in range(4):
            await sim.create(k.PODS, pod(f"big-{number}", containers=[big]))
        await sim.settle()
        waiting = [each for each in await sim.list(k.PODS) if each["status"]["phase"] == "Pending"]
        assert len(waiting) == 1
        assert condition(waiting[0], "PodScheduled")["message"] == (
            "0/3 nodes are available: 3 Insufficient cpu. "
            "preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
        )
        await sim.delete(k.PODS, next(e["metadata"]["name"] for e in await sim.list(k.PODS) if e not in waiting))
        await sim.settle()
        assert {each["status"]["phase"] for each in await sim.list(k.PODS)} == {"Running"}

    run(main)


def test_a_pod_needs_what_runs_at_once_and_what_is_said_of_it_as_a_whole() -> None:
    async def main(sim: Sim) -> None:
        def asks(name: str, cpu: str, **more: Any) -> Obj:
            return {"name": name, "image": "i", "resources": {"requests": {"cpu": cpu}}, **more}

        inits = [asks("side", "1", restartPolicy="Always"), asks("first", "7")]
        await sim.create(k.PODS, pod("fits", initContainers=inits, containers=[asks("main", "1")]))
        whole = {"requests": {"cpu": "9"}}
        await sim.create(k.PODS, pod("large", resources=whole, containers=[asks("main", "1")]))
        await sim.settle()
        assert (await sim.get(k.PODS, "fits"))["spec"].get("nodeName")
        said = condition(await sim.get(k.PODS, "large"), "PodScheduled")["message"]
        assert said.startswith("0/3 nodes are available: 3 Insufficient cpu.")

    run(main)
