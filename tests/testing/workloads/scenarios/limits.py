"""What budgets and quotas count, and what they stop."""

from __future__ import annotations

from kubewright.testing.workloads import kinds as k

from ..comparing import Cluster, create, until
from ..manifests import deployment, template
from ..states import condition, rolled_out, status
from .registered import scenario


@scenario
async def a_budget_counts_the_pods_that_may_go(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment())
    await until(cluster, rolled_out())
    for name, spec in (
        ("some", {"maxUnavailable": "40%"}),
        ("one", {"minAvailable": 3}),
        ("most", {"minAvailable": "50%"}),
    ):
        selector = {"matchLabels": {"app": "web"}}
        await create(
            cluster, k.DISRUPTION_BUDGETS, {"metadata": {"name": name}, "spec": {"selector": selector, **spec}}
        )
    await until(
        cluster,
        lambda found: (
            all((each.get("status") or {}).get("currentHealthy") == 3 for each in found["poddisruptionbudgets"])
            and rolled_out()(found)
        ),
    )


@scenario
async def a_quota_stops_a_deployment(cluster: Cluster) -> None:
    hard = {"pods": "2", "count/deployments.apps": "5", "requests.cpu": "2"}
    await create(cluster, k.QUOTAS, {"metadata": {"name": "small"}, "spec": {"hard": hard}})
    await until(cluster, lambda found: all("used" in (each.get("status") or {}) for each in found["resourcequotas"]))
    pods = template()
    pods["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
    await create(cluster, k.DEPLOYMENTS, deployment(pods=pods))
    await until(
        cluster,
        lambda found: (
            status(found, "deployments").get("readyReplicas") == 2
            and condition(found, "deployments", "ReplicaFailure", "FailedCreate")
        ),
    )
