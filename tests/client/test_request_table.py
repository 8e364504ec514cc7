"""One row per verb, kind and option: the request that goes out for it, to the letter."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from recording_http import RecordingHttp, answer
from web_model import ConfigMap, Deployment, Node, Pod, Web, Zone, config_map, web

import virtual
from kubewright.client.client import Client
from kubewright.client.patches import JsonPatch, MergePatch, StrategicPatch
from kubewright.client.scale import Scale, ScaleSpec
from kubewright.model import Key, ObjectMeta, decode, unstructured
from kubewright.model.selector import LabelSelector, Selector

WEBS = "/apis/example.com/v1/namespaces/prod/webs"
ZONES = "/apis/example.com/v1beta1/zones"
MERGE, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY, JSON = "application/strategic-merge-patch+json", "application/apply-patch+yaml", "application/json"

WEB_BODY = {
    "apiVersion": "example.com/v1",
    "kind": "Web",
    "metadata": {"name": "a"},
    "spec": {"image": "nginx", "replicas": 1},
    "status": {"ready": 0},
}
STATED = {name: value for name, value in WEB_BODY.items() if name != "status"}
IN_PROD = {"metadata": {"name": "a", "namespace": "prod"}}
Eviction = unstructured("policy/v1", "Eviction", plural="evictions")
TokenRequest = unstructured("authentication.k8s.io/v1", "TokenRequest", plural="tokenrequests")
ServiceAccount = unstructured("v1", "ServiceAccount", plural="serviceaccounts")
Role = unstructured("rbac.authorization.k8s.io/v1", "ClusterRole", plural="clusterroles", namespaced=False)


def read_web() -> Web:
    """As it came from a newer server, which knows a field that the class does not."""
    stored = {
        **WEB_BODY,
        "metadata": {"name": "a", "namespace": "prod", "uid": "u", "resourceVersion": "7", "generation": 3},
        "spec": {"image": "nginx", "replicas": 1, "tracing": {"rate": 5}},
    }
    return decode(Web, json.dumps(stored).encode())


def changed_web() -> Web:
    obj = read_web()
    obj.spec.replicas = 4
    return obj


CHANGED_BODY = {
    **WEB_BODY,
    "metadata": {"name": "a", "namespace": "prod", "uid": "u", "resourceVersion": "7", "generation": 3},
    "spec": {"image": "nginx", "replicas": 4, "tracing": {"rate": 5}},
}
SCALE = Scale(metadata=ObjectMeta(name="a", resource_version="7"), spec=ScaleSpec(replicas=5))
SCALE_BODY = {
    "apiVersion": "autoscaling/v1",
    "kind": "Scale",
    "metadata": {"name": "a", "resourceVersion": "7"},
    "spec": {"replicas": 5},
}
OPTIONS = {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"}

Call = Callable[[Client], Awaitable[Any]]


async def consume(items: Any) -> list[Any]:
    return [item async for item in items]


def row(name: str, call: Call, method: str, target: str, content_type: str | None = None, body: Any = None) -> Any:
    return pytest.param(call, method, target, content_type, body, id=name)


ROWS = [
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
    # -- create
    row("create", lambda c: c.create(web()), "POST", WEBS, JSON, WEB_BODY),
    row(
        "create in the object's namespace",
        lambda c: c.create(web(namespace="dev")),
        "POST",
        "/apis/example.com/v1/namespaces/dev/webs",
        JSON,
        {**WEB_BODY, "metadata": {"name": "a", "namespace": "dev"}},
    ),
    row("create in a namespace", lambda c: c.create(web(), namespace="prod"), "POST", WEBS, JSON, WEB_BODY),
    row(
        "create with a generated name",
        lambda c: c.create(web(name="", generate_name="a-")),
        "POST",
        WEBS,
        JSON,
        {**WEB_BODY, "metadata": {"generateName": "a-"}},
    ),
    row(
        "create cluster-scoped",
        lambda c: c.create(Zone(metadata=ObjectMeta(name="a"))),
        "POST",
        ZONES,
        JSON,
        {
            "apiVersion": "example.com/v1beta1",
            "kind": "Zone",
            "metadata": {"name": "a"},
            "spec": {"region": "eu"},
        },
    ),
    row(
        "create unstructured",
        lambda c: c.create(Pod(metadata=ObjectMeta(name="a"), content={"spec": {"x": None}})),
        "POST",
        "/api/v1/namespaces/prod/pods",
        JSON,
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"x": None}},
    ),
    row("create dry", lambda c: c.create(web(), dry_run=True), "POST", f"{WEBS}?dryRun=All", JSON, WEB_BODY),
    row(
        "create with all options",
        lambda c: c.create(web(), dry_run=True, field_manager="a b", field_validation="Strict"),
        "POST",
        f"{WEBS}?dryRun=All&fieldManager=a%20b&fieldValidation=Strict",
        JSON,
        WEB_BODY,
    ),
    row(
        "create an eviction",
        lambda c: c.create(Eviction(metadata=ObjectMeta(name="p", namespace="prod")), of=Pod, subresource="eviction"),
        "POST",
        "/api/v1/namespaces/prod/pods/p/eviction",
        JSON,
        {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p", "namespace": "prod"}},
    ),
    row(
        "create a token",
        lambda c: c.create(TokenRequest(), of=ServiceAccount, name="sa", subresource="token"),
        "POST",
        "/api/v1/namespaces/prod/serviceaccounts/sa/token",
        JSON,
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {}},
    ),
    row(
        "create below an object",
        lambda c: c.create(TokenRequest(), of=config_map("m", namespace="dev"), subresource="token"),
        "POST",
        "/api/v1/namespaces/dev/configmaps/m/token",
        JSON,
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {}},
    ),
    # -- update
    row("update what was made here", lambda c: c.update(web()), "PUT", f"{WEBS}/a", JSON, WEB_BODY),
    row("update what was read", lambda c: c.update(changed_web()), "PUT", f"{WEBS}/a", JSON, CHANGED_BODY),
    row("update status", lambda c: c.update_status(changed_web()), "PUT", f"{WEBS}/a/status", JSON, CHANGED_BODY),
    row("update a subresource", lambda c: c.update(web(), subresource="x"), "PUT", f"{WEBS}/a/x", JSON, WEB_BODY),
    row(
        "update with options",
        lambda c: c.update_status(web(), dry_run=True, field_manager="m", field_validation="Warn"),
        "PUT",
        f"{WEBS}/a/status?dryRun=All&fieldManager=m&fieldValidation=Warn",
        JSON,
        WEB_BODY,
    ),
    row(
        "update cluster-scoped",
        lambda c: c.update(Node(metadata=ObjectMeta(name="n"), content={"spec": {"unschedulable": True}})),
        "PUT",
        "/api/v1/nodes/n",
        JSON,
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"unschedulable": True}},
    ),
    row(
        "update scale",
        lambda c: c.update(SCALE, of=Web, subresource="scale"),
        "PUT",
        f"{WEBS}/a/scale",
        JSON,
        SCALE_BODY,
    ),
    row("update_scale", lambda c: c.update_scale(Web, SCALE), "PUT", f"{WEBS}/a/scale", JSON, SCALE_BODY),
    row(
        "update_scale of an object",
        lambda c: c.update_scale(web(), Scale(spec=ScaleSpec(replicas=2)), field_manager="m", dry_run=True),
        "PUT",
        f"{WEBS}/a/scale?dryRun=All&fieldManager=m",
        JSON,
        {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 2}},
    ),
    row(
        "get_scale", lambda c: c.get_scale(Deployment, "a"), "GET", "/apis/apps/v1/namespaces/prod/deployments/a/scale"
    ),
    row("get_scale of an object", lambda c: c.get_scale(web()), "GET", f"{WEBS}/a/scale"),
    # -- patch
    row(
        "patch merge",
        lambda c: c.patch(Web, MergePatch({"spec": {"replicas": 3}}), "a"),
        "PATCH",
        f"{WEBS}/a",
        MERGE,
        {"spec": {"replicas": 3}},
    ),
    row(
        "patch an object",
        lambda c: c.patch(web(namespace="dev"), MergePatch({"spec": None})),
        "PATCH",
        "/apis/example.com/v1/namespaces/dev/webs/a",
        MERGE,
        {"spec": None},
    ),
    row(
        "patch by key",
        lambda c: c.patch(Web, MergePatch({}), Key("dev", "a")),
        "PATCH",
        "/apis/example.com/v1/namespaces/dev/webs/a",
        MERGE,
        {},
    ),
    row(
        "patch with a lock",
        lambda c: c.patch(Web, MergePatch({"metadata": {"labels": {"x": "y"}}}, resource_version="7"), "a"),
        "PATCH",
        f"{WEBS}/a",
        MERGE,
        {"metadata": {"labels": {"x": "y"}, "resourceVersion": "7"}},
    ),
    row(
        "patch status with a model",
        lambda c: c.patch(web(), MergePatch({"status": web().status}), subresource="status"),
        "PATCH",
        f"{WEBS}/a/status",
        MERGE,
        {"status": {"ready": 0}},
    ),
    row(
        "patch json",
        lambda c: c.patch(Zone, JsonPatch([{"op": "remove", "path": "/spec"}]), "a"),
        "PATCH",
        f"{ZONES}/a",
        JSON_PATCH,
        [{"op": "remove", "path": "/spec"}],
    ),
    row(
        "patch strategic",
        lambda c: c.patch(Pod, StrategicPatch({"metadata": {"finalizers": ["x/y"]}}), "a"),
        "PATCH",
        "/api/v1/namespaces/prod/pods/a",
        STRATEGIC,
        {"metadata": {"finalizers": ["x/y"]}},
    ),
    row(
        "patch scale",
        lambda c: c.patch(Scale, MergePatch({"spec": {"replicas": 3}}), "a", of=Web, subresource="scale"),
        "PATCH",
        f"{WEBS}/a/scale",
        MERGE,
        {"spec": {"replicas": 3}},
    ),
    row(
        "patch with options",
        lambda c: c.patch(Web, MergePatch(b"{}"), "a", dry_run=True, field_manager="m", field_validation="Ignore"),
        "PATCH",
        f"{WEBS}/a?dryRun=All&fieldManager=m&fieldValidation=Ignore",
        MERGE,
        {},
    ),
    row(
        "patch raw",
        lambda c: c.patch_raw(Web, MergePatch({"status": {"ready": 3}}), "a", subresource="status"),
        "PATCH",
        f"{WEBS}/a/status",
        MERGE,
        {"status": {"ready": 3}},
    ),
    # -- apply
    row(
        "apply raw",
        lambda c: c.apply_raw(web(), b'{"kind":"Web"}', field_manager="op", force=True),
        "PATCH",
        f"{WEBS}/a?fieldManager=op&force=true",
        APPLY,
        {"kind": "Web"},
    ),
    row(
        "apply",
        lambda c: c.apply(web(), field_manager="op"),
        "PATCH",
        f"{WEBS}/a?fieldManager=op&force=false",
        APPLY,
        STATED,
    ),
    row(
        "apply with force",
        lambda c: c.apply(web(), field_manager="op", force=True, dry_run=True, field_validation="Strict"),
        "PATCH",
        f"{WEBS}/a?dryRun=All&fieldManager=op&fieldValidation=Strict&force=true",
        APPLY,
        STATED,
    ),
    row(
        "apply what was read",
        lambda c: c.apply(changed_web(), field_manager="op"),
        "PATCH",
        f"{WEBS}/a?fieldManager=op&force=false",
        APPLY,
        {**STATED, **IN_PROD, "spec": {"image": "nginx", "replicas": 4}},
    ),
    row(
        "apply status",
        lambda c: c.apply(changed_web(), field_manager="op", subresource="status"),
        "PATCH",
        f"{WEBS}/a/status?fieldManager=op&force=false",
        APPLY,
        {"apiVersion": "example.com/v1", "kind": "Web", **IN_PROD, "status": {"ready": 0}},
    ),
    row(
        "apply unstructured",
        lambda c: c.apply(
            Pod(
                metadata=ObjectMeta(name="a", uid="u", labels={"x": "y"}, resource_version="3"),
                content={"spec": {"a": 1}, "status": {"b": 2}},
            ),
            field_manager="op",
        ),
        "PATCH",
        "/api/v1/namespaces/prod/pods/a?fieldManager=op&force=false",
        APPLY,
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"a": 1}},
    ),
    # -- delete
    row("delete", lambda c: c.delete(Web, "a"), "DELETE", f"{WEBS}/a"),
    row("delete an object", lambda c: c.delete(read_web()), "DELETE", f"{WEBS}/a"),
    row("delete cluster-scoped", lambda c: c.delete(Zone, "a"), "DELETE", f"{ZONES}/a"),
    row(
        "delete with propagation",
        lambda c: c.delete(Web, "a", propagation="Foreground"),
        "DELETE",
        f"{WEBS}/a",
        JSON,
        {**OPTIONS, "propagationPolicy": "Foreground"},
    ),
    row(
        "delete with preconditions",
        lambda c: c.delete(Web, "a", uid="u", resource_version="7"),
        "DELETE",
        f"{WEBS}/a",
        JSON,
        {**OPTIONS, "preconditions": {"uid": "u", "resourceVersion": "7"}},
    ),
    row(
        "delete at once, dry",
        lambda c: c.delete(Pod, "a", grace_period_seconds=0, dry_run=True),
        "DELETE",
        "/api/v1/namespaces/prod/pods/a",
        JSON,
        {**OPTIONS, "dryRun": ["All"], "gracePeriodSeconds": 0},
    ),
    row("delete_all", lambda c: c.delete_all(Web, namespace="prod"), "DELETE", WEBS),
    row(
        "delete_all by selectors",
        lambda c: c.delete_all(Web, namespace="prod", labels={"a": "b"}, fields={"metadata.name": "x"}),
        "DELETE",
        f"{WEBS}?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx",
    ),
    row(
        "delete_all with options",
        lambda c: c.delete_all(Zone, propagation="Orphan", grace_period_seconds=1, dry_run=True),
        "DELETE",
        ZONES,
        JSON,
        {**OPTIONS, "dryRun": ["All"], "propagationPolicy": "Orphan", "gracePeriodSeconds": 1},
    ),
    # -- raw
    row("raw", lambda c: c.raw("GET", "/version"), "GET", "/version"),
    row("raw with a query", lambda c: c.raw("GET", "/x", query={"a": "b c"}), "GET", "/x?a=b+c"),
    row("raw with a body", lambda c: c.raw("POST", "/x", body={"a": 1}), "POST", "/x", JSON, {"a": 1}),
]


def reply(request: Any) -> Any:
    if request.method == "GET" and ("limit=" in request.target or "continue=" in request.target):
        return answer({"metadata": {"resourceVersion": "1"}, "items": None})
    return answer({"metadata": {"name": "a"}, "spec": {"image": "x"}})


@pytest.mark.parametrize(("call", "method", "target", "content_type", "body"), ROWS)
def test_each_call_sends_one_request_and_it_is_this(
    call: Call, method: str, target: str, content_type: str | None, body: Any
) -> None:
    http = RecordingHttp(reply)
    virtual.run(call(Client(http, namespace="prod")))
    [request] = http.requests
    assert (request.method, request.target) == (method, target)
    assert request.headers.get("accept") == "application/json"
    assert request.headers.get("content-type") == content_type
    assert request.json == body


def test_there_are_sixty_rows_and_more() -> None:
    assert len(ROWS) >= 60


def sent(client: Client, http: RecordingHttp, call: Call) -> str:
    virtual.run(call(client))
    return http.requests[-1].target


def test_the_clients_options_are_those_of_every_write() -> None:
    http = RecordingHttp(reply)
    client = Client(http, namespace="prod", field_manager="op", dry_run=True, field_validation="Strict")
    query = "?dryRun=All&fieldManager=op&fieldValidation=Strict"
    assert sent(client, http, lambda c: c.create(web())) == f"{WEBS}{query}"
    assert sent(client, http, lambda c: c.update(web())) == f"{WEBS}/a{query}"
    assert sent(client, http, lambda c: c.patch(web(), MergePatch({}))) == f"{WEBS}/a{query}"
    assert sent(client, http, lambda c: c.apply(web())) == f"{WEBS}/a{query}&force=false"
    sent(client, http, lambda c: c.delete(web()))
    assert http.requests[-1].json == {**OPTIONS, "dryRun": ["All"]}
    sent(client, http, lambda c: c.delete_all(Zone))
    assert http.requests[-1].json == {**OPTIONS, "dryRun": ["All"]}


def test_the_clients_options_are_not_those_of_a_read() -> None:
    http = RecordingHttp(reply)
    client = Client(http, namespace="prod", field_manager="op", dry_run=True, field_validation="Strict")
    assert sent(client, http, lambda c: c.get(Web, "a")) == f"{WEBS}/a"


def test_a_calls_option_overrides_the_clients() -> None:
    http = RecordingHttp(reply)
    client = Client(http, namespace="prod", field_manager="op", dry_run=True, field_validation="Strict")
    call: Call = lambda c: c.create(web(), dry_run=False, field_manager="me", field_validation="Warn")  # noqa: E731
    assert sent(client, http, call) == f"{WEBS}?fieldManager=me&fieldValidation=Warn"
    sent(client, http, lambda c: c.delete(web(), dry_run=False))
    assert http.requests[-1].body is None


def test_with_options_changes_what_it_is_given_and_nothing_else() -> None:
    http = RecordingHttp(reply)
    client = Client(http, namespace="prod", field_manager="op")
    derived = client.with_options(dry_run=True, namespace="dev")
    dev = "/apis/example.com/v1/namespaces/dev/webs"
    assert sent(derived, http, lambda c: c.create(web())) == f"{dev}?dryRun=All&fieldManager=op"
    assert sent(client, http, lambda c: c.create(web())) == f"{WEBS}?fieldManager=op"
    assert (derived.namespace, derived.field_manager) == ("dev", "op")
    assert derived.http is client.http


def test_the_client_that_was_made_first_closes_the_connections() -> None:
    async def main() -> None:
        http = RecordingHttp(reply)
        async with Client(http) as client:
            async with client.with_options(dry_run=True):
                pass
            assert http.closed == 0
        assert http.closed == 1

    virtual.run(main())


def test_what_comes_back_has_the_type_of_what_was_sent() -> None:
    async def main() -> None:
        client = Client(RecordingHttp(reply))
        assert type(await client.create(web())) is Web
        assert type(await client.get(Pod, "a")) is Pod
        assert type(await client.patch(Pod, MergePatch({}), "a")) is Pod
        assert type(await client.get(Scale, "a", of=Pod, subresource="scale")) is Scale

    virtual.run(main())


def test_objects_that_are_passed_in_are_not_changed() -> None:
    async def main() -> None:
        client = Client(RecordingHttp(reply), field_manager="op")
        obj = read_web()
        before = repr(obj)
        await client.update(obj)
        await client.apply(obj)
        await client.apply(obj, subresource="status")
        await client.delete(obj)
        assert repr(obj) == before

    virtual.run(main())
