"""What a test may let go wrong: each is seen as a real kubelet, scheduler or node controller shows it."""

from __future__ import annotations

import pytest

from kubewright.testing.workloads import (
    CrashLoop,
    FlappingReadiness,
    IgnoresTermination,
    ImagePullFails,
    OutOfMemory,
    SlowStart,
    Unschedulable,
)
from kubewright.testing.workloads import kinds as k

from .manifests import deployment, template
from .sim import Sim, condition, container, run


def test_a_crash_loop_backs_off_twice_as_long_each_time() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("web", CrashLoop(exit_code=3))
        await sim.create(k.DEPLOYMENTS, deployment(replicas=1))
        await sim.settle()
        (pod,) = await sim.list(k.PODS)
        # The first restart is at once.
        assert container(pod)["restartCount"] == 1
        assert container(pod)["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        assert container(pod)["state"]["waiting"]["message"].startswith(
            "back-off 10s restarting failed container=c pod="
        )
        assert container(pod)["lastState"]["terminated"]["exitCode"] == 3
        assert (pod["status"]["phase"], condition(pod, "Ready")["reason"]) == ("Running", "ContainersNotReady")
        await sim.advance(10)
        (pod,) = await sim.list(k.PODS)
        assert container(pod)["restartCount"] == 2
        await sim.advance(20)
        (pod,) = await sim.list(k.PODS)
        assert container(pod)["restartCount"] == 3
        assert "back-off 40s" in container(pod)["state"]["waiting"]["message"]
        assert (await sim.get(k.DEPLOYMENTS, "web"))["status"]["unavailableReplicas"] == 1

    run(main)


def test_what_is_healed_starts_well_after_its_back_off() -> None:
    async def main(sim: Sim) -> None:
        failing = sim.workloads.fail({"app": "web"}, CrashLoop())
        await sim.create(k.DEPLOYMENTS, deployment(replicas=1))
        await sim.settle()
        failing.heal()
        await sim.advance(9)
        assert "availableReplicas" not in (await sim.get(k.DEPLOYMENTS, "web"))["status"]
        await sim.advance(1)
        assert (await sim.get(k.DEPLOYMENTS, "web"))["status"]["availableReplicas"] == 1

    run(main)


def test_a_container_that_is_out_of_memory_was_killed() -> None:
    async def main(sim: Sim) -> None:
        await sim.create(k.DEPLOYMENTS, deployment(replicas=1))
        await sim.settle()
        sim.workloads.fail("web", OutOfMemory(times=1))
        await sim.settle()
        (pod,) = await sim.list(k.PODS)
        ended = container(pod)["lastState"]["terminated"]
        assert (ended["reason"], ended["exitCode"], container(pod)["restartCount"]) == ("OOMKilled", 137, 1)
        assert container(pod)["ready"]

    run(main)


def test_an_image_that_cannot_be_pulled_is_waited_for() -> None:
    async def main(sim: Sim) -> None:
        failing = sim.workloads.fail("web", ImagePullFails())
        await sim.create(k.DEPLOYMENTS, deployment(replicas=1))
        await sim.settle()
        (pod,) = await sim.list(k.PODS)
        assert (pod["status"]["phase"], container(pod)["state"]["waiting"]["reason"]) == ("Pending", "ErrImagePull")
        await sim.advance(2)
        (pod,) = await sim.list(k.PODS)
        waits = container(pod)["state"]["waiting"]
        assert waits["reason"] == "ImagePullBackOff"
        assert waits["message"].startswith('Back-off pulling image "nginx:1"')
        failing.heal()
        await sim.advance(10)
        (pod,) = await sim.list(k.PODS)
        assert container(pod)["ready"]

    run(main)


def test_readiness_comes_late_and_goes_again() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("web", SlowStart(seconds=5))
        sim.workloads.fail("web", FlappingReadiness(ready_seconds=4, unready_seconds=2))
        await sim.create(k.DEPLOYMENTS, deployment(replicas=1))
        seen = []
        for _ in range(12):
            await sim.advance(1)
            (pod,) = await sim.list(k.PODS)
            seen.append(container(pod)["ready"])
        assert seen == [False] * 4 + [True] * 4 + [False] * 2 + [True] * 2

    run(main)


def test_a_pod_that_no_node_takes_is_pending_until_it_is_healed() -> None:
    async def main(sim: Sim) -> None:
        failing = sim.workloads.fail("web", Unschedulable())
        await sim.create(k.DEPLOYMENTS, deployment(replicas=1))
        await sim.settle()
        (pod,) = await sim.list(k.PODS)
        said = condition(pod, "PodScheduled")
        assert (said["reason"], said["message"]) == ("Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.")
        failing.heal()
        await sim.settle()
        assert (await sim.get(k.DEPLOYMENTS, "web"))["status"]["readyReplicas"] == 1

    run(main)


def test_an_evicted_pod_fails_and_is_replaced() -> None:
    async def main(sim: Sim) -> None:
        await sim.create(k.DEPLOYMENTS, deployment(replicas=1))
        await sim.settle()
        (pod,) = await sim.list(k.PODS)
        await sim.workloads.evict(pod["metadata"]["name"])
        await sim.settle()
        pods = {each["status"]["phase"]: each for each in await sim.list(k.PODS)}
        assert (pods["Failed"]["status"]["reason"], set(pods)) == ("Evicted", {"Failed", "Running"})
        with pytest.raises(KeyError):
            await sim.workloads.evict("nobody")

    run(main)


def test_a_pod_may_take_its_whole_grace_to_end() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("web", IgnoresTermination())
        pods = template(terminationGracePeriodSeconds=20)
        await sim.create(k.DEPLOYMENTS, deployment(replicas=1, pods=pods))
        await sim.settle()
        await sim.patch(k.DEPLOYMENTS, "web", {"spec": {"replicas": 0}})
        await sim.advance(19)
        assert len(await sim.list(k.PODS)) == 1
        await sim.advance(1)
        assert not await sim.list(k.PODS)

    run(main)


def test_pods_of_a_lost_node_are_replaced_when_they_have_borne_it_long_enough() -> None:
    async def main(sim: Sim) -> None:
        bears = {
            "key": "node.kubernetes.io/unreachable",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        }
        await sim.create(k.DEPLOYMENTS, deployment(replicas=3, pods=template(tolerations=[bears])))
        await sim.settle()
        sim.workloads.lose_node("node-1")
        await sim.advance(49)
        assert condition(await sim.get(k.NODES, "node-1"), "Ready")["status"] == "True"
        await sim.advance(1)
        node = await sim.get(k.NODES, "node-1")
        assert (condition(node, "Ready")["status"], condition(node, "Ready")["reason"]) == (
            "Unknown",
            "NodeStatusUnknown",
        )
        assert {each["effect"] for each in node["spec"]["taints"]} == {"NoSchedule", "NoExecute"}
        assert (await sim.get(k.DEPLOYMENTS, "web"))["status"]["readyReplicas"] == 2
        await sim.advance(299)
        assert len(await sim.list(k.PODS)) == 3
        await sim.advance(1)
        going = [each for each in await sim.list(k.PODS) if each["metadata"].get("deletionTimestamp")]
        assert [condition(each, "DisruptionTarget")["reason"] for each in going] == ["DeletionByTaintManager"]
        assert (await sim.get(k.DEPLOYMENTS, "web"))["status"]["readyReplicas"] == 3
        await sim.workloads.recover_node("node-1")
        await sim.settle()
        assert len(await sim.list(k.PODS)) == 3
        assert "taints" not in (await sim.get(k.NODES, "node-1"))["spec"]

    run(main)
