"""What Services have of the Pods behind them."""

from __future__ import annotations

from kubewright.testing.workloads import kinds as k

from ..comparing import Cluster, create, patch, until
from ..manifests import deployment, stateful_set, template
from ..states import endpoints_seen, rolled_out, set_ready
from .registered import scenario


@scenario
async def a_service_has_the_endpoints_of_its_ready_pods(cluster: Cluster) -> None:
    ports = [
        {"name": "http", "port": 80, "targetPort": "http", "appProtocol": "http"},
        {"name": "raw", "port": 81, "targetPort": 9},
    ]
    service = {"metadata": {"name": "web", "labels": {"a": "b"}}, "spec": {"selector": {"app": "web"}, "ports": ports}}
    await create(cluster, k.SERVICES, service)
    await until(cluster, lambda found: any(each["metadata"]["name"] == "web" for each in found["endpoints"]))
    pods = template()
    pods["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8080}]
    await create(cluster, k.DEPLOYMENTS, deployment(pods=pods))
    await until(cluster, endpoints_seen(3))
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"replicas": 2}})
    await until(cluster, lambda found: endpoints_seen(2)(found) and rolled_out(replicas=2)(found))
    await patch(cluster, k.SERVICES, "web", {"metadata": {"labels": {"c": "d"}}})
    await until(
        cluster,
        lambda found: all(
            "c" in each["metadata"]["labels"]
            for each in found["endpointslices"]
            if each["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
        ),
    )


@scenario
async def a_headless_service_names_the_pods_of_a_stateful_set(cluster: Cluster) -> None:
    spec = {"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"port": 80}], "publishNotReadyAddresses": True}
    await create(cluster, k.SERVICES, {"metadata": {"name": "web"}, "spec": spec})
    await create(cluster, k.STATEFUL_SETS, stateful_set(2))
    await until(cluster, lambda found: endpoints_seen(2)(found) and set_ready(2)(found))
