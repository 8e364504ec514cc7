"""What happens to DaemonSets: a Pod on each node that is meant, also while they are rolled out."""

from __future__ import annotations

from kubewright.testing.workloads import kinds as k

from ..comparing import Cluster, create, patch, until
from ..manifests import daemon_set, image, template
from ..states import daemons_ready
from .registered import scenario


@scenario
async def a_daemon_set_has_a_pod_on_each_node_and_is_rolled_out(cluster: Cluster) -> None:
    await create(cluster, k.DAEMON_SETS, daemon_set())
    await until(cluster, daemons_ready(3))
    await patch(cluster, k.DAEMON_SETS, "web", image("nginx:2"))
    await until(cluster, daemons_ready(3))


@scenario
async def a_daemon_set_with_a_selector_is_on_some_nodes(cluster: Cluster) -> None:
    pods = template(nodeSelector={"kubernetes.io/hostname": "node-1"})
    await create(cluster, k.DAEMON_SETS, daemon_set(pods))
    await until(cluster, daemons_ready(1))


@scenario
async def a_daemon_set_with_surge_is_rolled_out(cluster: Cluster) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    await create(cluster, k.DAEMON_SETS, daemon_set(updateStrategy=strategy))
    await until(cluster, daemons_ready(3))
    await patch(cluster, k.DAEMON_SETS, "web", image("nginx:2"))
    await until(cluster, daemons_ready(3))
