"""The requests for what is read, one row per verb, kind and option."""

from __future__ import annotations

from typing import Any

from request_rows import JSON, WEBS, ZONES, row
from web_model import ConfigMap, Deployment, Node, Pod, Web, Zone, web

from kubewright.client.scale import Scale
from kubewright.model import Key, unstructured
from kubewright.model.selector import LabelSelector, Selector

Role = unstructured("rbac.authorization.k8s.io/v1", "ClusterRole", plural="clusterroles", namespaced=False)


async def consume(items: Any) -> list[Any]:
    return [item async for item in items]


READS = [
    # -- get
    row("get typed", lambda c: c.get(Web, "a", namespace="prod"), "GET", f"{WEBS}/a"),
    row("get in the client's namespace", lambda c: c.get(Web, "a"), "GET", f"{WEBS}/a"),
    row("get by key", lambda c: c.get(Web, Key("dev", "a")), "GET", "/apis/example.com/v1/namespaces/dev/webs/a"),
    row("get by key without namespace", lambda c: c.get(Web, Key("", "a")), "GET", f"{WEBS}/a"),
    row("get by key and namespace", lambda c: c.get(Web, Key("prod", "a"), namespace="prod"), "GET", f"{WEBS}/a"),
    row("get core", lambda c: c.get(ConfigMap, "a"), "GET", "/api/v1/namespaces/prod/configmaps/a"),
    row("get unstructured", lambda c: c.get(Pod, "a"), "GET", "/api/v1/namespaces/prod/pods/a"),
    row("get cluster-scoped", lambda c: c.get(Zone, "a"), "GET", f"{ZONES}/a"),
    row("get cluster-scoped core", lambda c: c.get(Node, "a"), "GET", "/api/v1/nodes/a"),
    row("get cached", lambda c: c.get(Web, "a", resource_version="0"), "GET", f"{WEBS}/a?resourceVersion=0"),
    row("get status", lambda c: c.get(Web, "a", subresource="status"), "GET", f"{WEBS}/a/status"),
    row("get scale of", lambda c: c.get(Scale, "a", of=Web, subresource="scale"), "GET", f"{WEBS}/a/scale"),
    row(
        "get with a colon in the name",
        lambda c: c.get(Role, "system:node"),
        "GET",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node",
    ),
    row("get with a blank in the name", lambda c: c.get(Zone, "a b?c"), "GET", f"{ZONES}/a%20b%3Fc"),
    row("get with a leading dot", lambda c: c.get(Zone, "..a"), "GET", f"{ZONES}/..a"),
    row("find", lambda c: c.find(Web, "a"), "GET", f"{WEBS}/a"),
    row("find cached", lambda c: c.find(Web, "a", resource_version="9"), "GET", f"{WEBS}/a?resourceVersion=9"),
    row(
        "get_scale", lambda c: c.get_scale(Deployment, "a"), "GET", "/apis/apps/v1/namespaces/prod/deployments/a/scale"
    ),
    row("get_scale of an object", lambda c: c.get_scale(web()), "GET", f"{WEBS}/a/scale"),
    # -- list
    row("list all namespaces", lambda c: c.list(Web), "GET", "/apis/example.com/v1/webs?limit=500"),
    row("list one namespace", lambda c: c.list(Web, namespace="prod"), "GET", f"{WEBS}?limit=500"),
    row("list cluster-scoped", lambda c: c.list(Zone), "GET", f"{ZONES}?limit=500"),
    row("list core", lambda c: c.list(ConfigMap), "GET", "/api/v1/configmaps?limit=500"),
    row("list a page", lambda c: c.list(Zone, limit=10), "GET", f"{ZONES}?limit=10"),
    row(
        "list the next page",
        lambda c: c.list(Zone, limit=10, continue_="t=="),
        "GET",
        f"{ZONES}?limit=10&continue=t%3D%3D",
    ),
    row("list the rest", lambda c: c.list(Zone, continue_="t"), "GET", f"{ZONES}?continue=t"),
    row(
        "list by labels",
        lambda c: c.list(Zone, labels={"app": "web", "example.com/tier": "a"}, limit=1),
        "GET",
        f"{ZONES}?labelSelector=app%3Dweb%2Cexample.com%2Ftier%3Da&limit=1",
    ),
    row(
        "list by a selector as text",
        lambda c: c.list(Zone, labels="app in (a,b),!c", limit=1),
        "GET",
        f"{ZONES}?labelSelector=app%20in%20%28a%2Cb%29%2C%21c&limit=1",
    ),
    row(
        "list by a Selector",
        lambda c: c.list(Zone, labels=Selector.of({"app": "web"}), limit=1),
        "GET",
        f"{ZONES}?labelSelector=app%3Dweb&limit=1",
    ),
    row(
        "list by a LabelSelector",
        lambda c: c.list(Zone, labels=LabelSelector(match_labels={"app": "web"}), limit=1),
        "GET",
        f"{ZONES}?labelSelector=app%3Dweb&limit=1",
    ),
    row("list by no labels", lambda c: c.list(Zone, labels={}, fields="", limit=1), "GET", f"{ZONES}?limit=1"),
    row(
        "list by a field",
        lambda c: c.list(Zone, fields={"metadata.name": "a,b"}, limit=1),
        "GET",
        f"{ZONES}?fieldSelector=metadata.name%3Da%5C%2Cb&limit=1",
    ),
    row(
        "list by a field as text",
        lambda c: c.list(Pod, fields="status.phase!=Running", limit=1),
        "GET",
        "/api/v1/pods?fieldSelector=status.phase%21%3DRunning&limit=1",
    ),
    row("list cached", lambda c: c.list(Zone, resource_version="0"), "GET", f"{ZONES}?limit=500&resourceVersion=0"),
    row(
        "list not older than",
        lambda c: c.list(Zone, resource_version="9"),
        "GET",
        f"{ZONES}?limit=500&resourceVersion=9&resourceVersionMatch=NotOlderThan",
    ),
    row(
        "list exactly",
        lambda c: c.list(Zone, resource_version="9", resource_version_match="Exact"),
        "GET",
        f"{ZONES}?limit=500&resourceVersion=9&resourceVersionMatch=Exact",
    ),
    row("iterate", lambda c: consume(c.iterate(Web, page_size=50)), "GET", "/apis/example.com/v1/webs?limit=50"),
    row("iterate one namespace", lambda c: consume(c.iterate(Web, namespace="prod")), "GET", f"{WEBS}?limit=500"),
    # -- raw
    row("raw", lambda c: c.raw("GET", "/version"), "GET", "/version"),
    row("raw with a query", lambda c: c.raw("GET", "/x", query={"a": "b c"}), "GET", "/x?a=b+c"),
    row("raw with a body", lambda c: c.raw("POST", "/x", body={"a": 1}), "POST", "/x", JSON, {"a": 1}),
]
