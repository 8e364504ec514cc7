"""The real controller manager, scheduler and kwok do their work on the embedded API server as on a real one.

The same tests on both: what they ask for is Kubernetes', not the embedded server's.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from real_controllers import Cluster, embedded_cluster, real_cluster

pytestmark = pytest.mark.slow

JSON = dict[str, Any]


@pytest.fixture(scope="module", params=[pytest.param("real", marks=pytest.mark.control_plane), "embedded"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    if request.param == "real":
        with real_cluster(request.getfixturevalue("control_plane_with_nodes")) as made:
            yield made
    else:
        with embedded_cluster() as made:
            yield made


@pytest.fixture
def namespace(cluster: Cluster) -> str:
    name = f"real-{uuid.uuid4().hex[:8]}"
    cluster.rest.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    cluster.until("the namespace has its service account", lambda: cluster.found(account) is not None)
    return name


def template(name: str, image: str = "nginx:1", **more: Any) -> JSON:
    return {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "image": image}], **more},
    }


def deployment(name: str, replicas: int) -> JSON:
    selector = {"matchLabels": {"app": name}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": selector, "template": template(name)},
    }


def condition(found: JSON | None, kind: str) -> str:
    """What a condition says: True, False, Unknown, or nothing."""
    conditions = (found or {}).get("status", {}).get("conditions", [])
    return next((str(each["status"]) for each in conditions if each["type"] == kind), "")


def test_a_deployment_becomes_available_changes_and_goes(cluster: Cluster, namespace: str) -> None:
    base, pods = f"/apis/apps/v1/namespaces/{namespace}", f"/api/v1/namespaces/{namespace}/pods"
    web = f"{base}/deployments/web"
    cluster.rest.request("POST", f"{base}/deployments", deployment("web", 3))

    def is_available(replicas: int) -> bool:
        found = cluster.rest.get(web)
        status = found["status"]
        return (
            status.get("observedGeneration") == found["metadata"]["generation"]
            and status.get("availableReplicas") == status.get("updatedReplicas") == status.get("replicas") == replicas
        )

    cluster.until("three are available", lambda: is_available(3))
    assert condition(cluster.found(web), "Progressing") == "True"
    before = {each["metadata"]["name"] for each in cluster.items(pods)}
    assert len({each["spec"]["nodeName"] for each in cluster.items(pods)}) > 1

    changed = cluster.rest.get(web)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:2"
    changed["spec"]["replicas"] = 2
    cluster.rest.request("PUT", web, changed)
    cluster.until("two of the new are available", lambda: is_available(2))
    cluster.until("the old ones are gone", lambda: len(cluster.items(pods)) == 2)
    assert not before & {each["metadata"]["name"] for each in cluster.items(pods)}
    assert len(cluster.items(f"{base}/replicasets")) == 2

    cluster.rest.request("DELETE", web, {"propagationPolicy": "Foreground"})
    cluster.until("the Deployment is gone", lambda: cluster.found(web) is None)
    assert cluster.items(f"{base}/replicasets") == []
    cluster.until("its Pods are gone", lambda: cluster.items(pods) == [])


def test_a_stateful_set_gets_its_pods_and_claims_in_order(cluster: Cluster, namespace: str) -> None:
    base, claims = f"/apis/apps/v1/namespaces/{namespace}", f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    spec = {
        "replicas": 2,
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": template("db"),
        "volumeClaimTemplates": [claim],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"},
    }
    cluster.rest.request("POST", f"{base}/statefulsets", {"metadata": {"name": "db"}, "spec": spec})
    where = f"{base}/statefulsets/db"
    cluster.until("two are ready", lambda: cluster.rest.get(where)["status"].get("readyReplicas") == 2)
    assert [each["metadata"]["name"] for each in cluster.items(claims)] == ["data-db-0", "data-db-1"]
    cluster.until(
        "both claims are bound", lambda: {each["status"]["phase"] for each in cluster.items(claims)} == {"Bound"}
    )
    cluster.rest.request("DELETE", where)
    cluster.until("the claims are gone with it", lambda: cluster.items(claims) == [])


def test_a_job_is_completed(cluster: Cluster, namespace: str) -> None:
    base = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    spec = {"completions": 3, "parallelism": 2, "template": template("work", restartPolicy="Never")}
    cluster.rest.request("POST", base, {"metadata": {"name": "work"}, "spec": spec})
    cluster.until("it is complete", lambda: condition(cluster.rest.get(f"{base}/work"), "Complete") == "True")
    status = cluster.rest.get(f"{base}/work")["status"]
    assert status["succeeded"] == 3
    assert "completionTime" in status


def test_a_daemon_set_runs_on_every_node(cluster: Cluster, namespace: str) -> None:
    base = f"/apis/apps/v1/namespaces/{namespace}/daemonsets"
    spec = {"selector": {"matchLabels": {"app": "agent"}}, "template": template("agent")}
    cluster.rest.request("POST", base, {"metadata": {"name": "agent"}, "spec": spec})
    nodes = len(cluster.items("/api/v1/nodes"))
    cluster.until("all are ready", lambda: cluster.rest.get(f"{base}/agent")["status"].get("numberReady") == nodes)


def test_a_service_gets_the_addresses_of_its_pods(cluster: Cluster, namespace: str) -> None:
    core = f"/api/v1/namespaces/{namespace}"
    cluster.rest.request("POST", f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment("web", 2))
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    cluster.rest.request("POST", f"{core}/services", {"metadata": {"name": "web"}, "spec": spec})
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"

    def ready() -> set[str]:
        return {
            address
            for each in cluster.items(slices)
            for endpoint in each.get("endpoints") or []
            if endpoint["conditions"].get("ready")
            for address in endpoint["addresses"]
        }

    cluster.until("two addresses are ready", lambda: len(ready()) == 2)
    pods = cluster.items(f"{core}/pods")
    assert ready() == {each["status"]["podIP"] for each in pods}


def test_a_disruption_budget_and_a_quota_count_what_is_there(cluster: Cluster, namespace: str) -> None:
    core, apps = f"/api/v1/namespaces/{namespace}", f"/apis/apps/v1/namespaces/{namespace}/deployments"
    budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    cluster.rest.request("POST", apps, deployment("web", 2))
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    cluster.rest.request("POST", budgets, {"metadata": {"name": "web"}, "spec": spec})

    def allowed() -> Any:
        return cluster.rest.get(f"{budgets}/web").get("status", {}).get("disruptionsAllowed")

    cluster.until("one may be disrupted", lambda: allowed() == 1)
    hard = {"pods": "5", "configmaps": "10"}
    cluster.rest.request("POST", f"{core}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})

    def used() -> Any:
        return cluster.rest.get(f"{core}/resourcequotas/q").get("status", {}).get("used", {})

    # kube-root-ca.crt is the one ConfigMap.
    cluster.until("both Pods are counted", lambda: used() == {"pods": "2", "configmaps": "1"})
    cluster.rest.request("DELETE", f"{apps}/web", {"propagationPolicy": "Background"})
    cluster.until("none is counted", lambda: used()["pods"] == "0")


def test_what_a_custom_resource_owns_goes_with_it(cluster: Cluster, namespace: str) -> None:
    group = f"{namespace}.example.com"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    crd = {
        "metadata": {"name": f"owners.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "owners", "kind": "Owner"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    cluster.rest.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
    owners, maps = f"/apis/{group}/v1/namespaces/{namespace}/owners", f"/api/v1/namespaces/{namespace}/configmaps"
    cluster.until("the kind is served", lambda: cluster.found(owners) is not None)
    body = {"apiVersion": f"{group}/v1", "kind": "Owner", "metadata": {"name": "one"}}
    owner = cluster.rest.request("POST", owners, body)
    reference = {"apiVersion": f"{group}/v1", "kind": "Owner", "name": "one", "uid": owner["metadata"]["uid"]}
    cluster.rest.request("POST", maps, {"metadata": {"name": "owned", "ownerReferences": [reference]}})
    cluster.rest.request("DELETE", f"{owners}/one")
    # It learns of a new kind within 30 seconds.
    cluster.until("what it owned is gone", lambda: cluster.found(f"{maps}/owned") is None)


def test_a_namespace_goes_with_all_that_is_in_it(cluster: Cluster, namespace: str) -> None:
    apps = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    cluster.rest.request("POST", apps, deployment("web", 2))
    cluster.until("two are available", lambda: cluster.rest.get(f"{apps}/web")["status"].get("availableReplicas") == 2)
    where = f"/api/v1/namespaces/{namespace}"
    cluster.rest.request("DELETE", where)
    cluster.until("the namespace is gone", lambda: cluster.found(where) is None)
    assert cluster.items(apps) == []
    assert cluster.items(f"{where}/pods") == []


def test_what_happens_is_told_in_events(cluster: Cluster, namespace: str) -> None:
    cluster.rest.request("POST", f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment("web", 1))

    def told() -> set[str]:
        events = cluster.items(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")
        return {each["reason"] for each in events}

    wanted = {"ScalingReplicaSet", "SuccessfulCreate", "Scheduled"}
    cluster.until("three events are there", lambda: wanted <= told())
