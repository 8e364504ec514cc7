"""What happens to Pods that are kept at a number, and what each of them waits for."""

from __future__ import annotations

from kubewright.testing.workloads import kinds as k

from ..comparing import Cluster, create, delete, listed, patch, until
from ..manifests import deployment, template
from ..states import rolled_out, status
from .registered import scenario


@scenario
async def a_replica_set_adopts_and_releases_by_labels(cluster: Cluster) -> None:
    pod = {"metadata": {"name": "alone", "labels": {"app": "web"}}, "spec": template()["spec"]}
    await create(cluster, k.PODS, pod)
    await create(cluster, k.REPLICA_SETS, deployment(replicas=2))
    await until(cluster, lambda found: status(found, "replicasets").get("readyReplicas") == 2)
    await patch(cluster, k.PODS, "alone", {"metadata": {"labels": {"app": "other"}}})
    await until(
        cluster, lambda found: len(found["pods"]) == 3 and status(found, "replicasets").get("readyReplicas") == 2
    )


@scenario
async def a_replication_controller_keeps_its_pods(cluster: Cluster) -> None:
    manifest = {
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"app": "web"}, "template": template()},
    }
    await create(cluster, k.REPLICATION_CONTROLLERS, manifest)
    await until(cluster, lambda found: status(found, "replicationcontrollers").get("readyReplicas") == 2)
    pods = await listed(cluster, k.PODS)
    await delete(cluster, k.PODS, pods[0]["metadata"]["name"])
    await until(
        cluster,
        lambda found: (
            status(found, "replicationcontrollers").get("readyReplicas") == 2
            and pods[0]["metadata"]["uid"] not in [each["metadata"]["uid"] for each in found["pods"]]
        ),
    )


@scenario
async def pods_that_fit_nowhere_are_pending(cluster: Cluster) -> None:
    greedy = template()
    greedy["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1000000"}}
    await create(cluster, k.REPLICA_SETS, deployment(replicas=1, pods=greedy))
    picky = template("picky", nodeSelector={"no": "where"})
    await create(cluster, k.REPLICA_SETS, deployment("picky", replicas=1, pods=picky))
    await until(
        cluster,
        lambda found: (
            sum(
                any(
                    c["type"] == "PodScheduled" and c["status"] == "False"
                    for c in (each["status"].get("conditions") or ())
                )
                for each in found["pods"]
            )
            == 2
        ),
    )


@scenario
async def min_ready_seconds_are_waited_for(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment(replicas=2, minReadySeconds=2))
    await until(cluster, rolled_out())


@scenario
async def init_containers_and_sidecars_come_first(cluster: Cluster) -> None:
    pods = template(
        initContainers=[{"name": "first", "image": "i"}, {"name": "side", "image": "s", "restartPolicy": "Always"}]
    )
    await create(cluster, k.REPLICA_SETS, deployment(replicas=1, pods=pods))
    await until(cluster, lambda found: status(found, "replicasets").get("readyReplicas") == 1)
