"""What happens to StatefulSets: in order, in part, by hand, with their claims."""

from __future__ import annotations

from kubewright.testing.workloads import kinds as k
from kubewright.testing.workloads.kinds import Obj

from ..comparing import Cluster, create, delete, listed, patch, until
from ..manifests import image, stateful_set
from ..states import set_ready, status
from .registered import scenario


@scenario
async def a_stateful_set_is_made_in_order_with_claims(cluster: Cluster) -> None:
    await create(cluster, k.STATEFUL_SETS, stateful_set(claims=True))
    await until(cluster, set_ready(3))


@scenario
async def a_stateful_set_is_rolled_out_and_scaled(cluster: Cluster) -> None:
    await create(cluster, k.STATEFUL_SETS, stateful_set())
    await until(cluster, set_ready(3))
    await patch(cluster, k.STATEFUL_SETS, "web", image("nginx:2"))
    await until(cluster, set_ready(3))
    await patch(cluster, k.STATEFUL_SETS, "web", {"spec": {"replicas": 1}})
    await until(cluster, set_ready(1))


@scenario
async def a_parallel_stateful_set_with_a_partition_is_updated_in_part(cluster: Cluster) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    spec: Obj = {"podManagementPolicy": "Parallel", "updateStrategy": strategy, "ordinals": {"start": 5}}
    await create(cluster, k.STATEFUL_SETS, stateful_set(**spec))
    await until(cluster, set_ready(3))
    await patch(cluster, k.STATEFUL_SETS, "web", image("nginx:2"))
    await until(
        cluster,
        lambda found: (
            status(found, "statefulsets").get("updatedReplicas") == 1
            and status(found, "statefulsets").get("availableReplicas") == 3
            and len(found["pods"]) == 3
        ),
    )


@scenario
async def a_stateful_set_on_delete_waits_for_deletions(cluster: Cluster) -> None:
    await create(cluster, k.STATEFUL_SETS, stateful_set(2, updateStrategy={"type": "OnDelete"}))
    await until(cluster, set_ready(2))
    await patch(cluster, k.STATEFUL_SETS, "web", image("nginx:2"))
    await until(cluster, lambda found: len(found["controllerrevisions"]) == 2)
    await delete(cluster, k.PODS, "web-0")
    await until(
        cluster,
        lambda found: (
            status(found, "statefulsets").get("updatedReplicas") == 1
            and status(found, "statefulsets").get("availableReplicas") == 2
        ),
    )


@scenario
async def a_pod_of_a_stateful_set_comes_back_with_its_claim(cluster: Cluster) -> None:
    await create(cluster, k.STATEFUL_SETS, stateful_set(2, claims=True))
    await until(cluster, set_ready(2))
    before = {each["metadata"]["uid"] for each in await listed(cluster, k.PODS)}
    await delete(cluster, k.PODS, "web-0")
    await until(
        cluster, lambda found: set_ready(2)(found) and len(before & {e["metadata"]["uid"] for e in found["pods"]}) == 1
    )


@scenario
async def claims_go_with_a_stateful_set_that_says_so(cluster: Cluster) -> None:
    policy = {"whenDeleted": "Retain", "whenScaled": "Delete"}
    await create(cluster, k.STATEFUL_SETS, stateful_set(2, claims=True, persistentVolumeClaimRetentionPolicy=policy))
    await until(cluster, set_ready(2))
    await patch(cluster, k.STATEFUL_SETS, "web", {"spec": {"replicas": 1}})
    await until(cluster, lambda found: set_ready(1)(found) and len(found["persistentvolumeclaims"]) == 1)
