"""The requests for what is written or deleted, one row per verb, kind and option."""

from __future__ import annotations

from request_rows import JSON, OPTIONS, WEB_BODY, WEBS, ZONES, read_web, row
from web_model import Node, Pod, Web, Zone, config_map, web

from kubewright.client.patches import JsonPatch, MergePatch, StrategicPatch
from kubewright.client.scale import Scale, ScaleSpec
from kubewright.model import Key, ObjectMeta, unstructured

MERGE, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"

STATED = {name: value for name, value in WEB_BODY.items() if name != "status"}
IN_PROD = {"metadata": {"name": "a", "namespace": "prod"}}
Eviction = unstructured("policy/v1", "Eviction", plural="evictions")
TokenRequest = unstructured("authentication.k8s.io/v1", "TokenRequest", plural="tokenrequests")
ServiceAccount = unstructured("v1", "ServiceAccount", plural="serviceaccounts")


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

WRITES = [
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
]
