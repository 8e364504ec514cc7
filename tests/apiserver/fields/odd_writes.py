"""Writes that few make: what field management has to stand though nobody means it.

Two versions of a custom kind, nested lists by keys, sets of numbers, nulls and empty values that are stated, duplicates
in live lists, PUT with `managedFields` that were edited, more managers than are kept, JSON and strategic merge
patches, dry run, versions and uids in bodies, names of managers that cannot be.

`LIVE` in a body stands for what the last answer had there; see `filled`.
"""

from __future__ import annotations

import copy
import random
from typing import Any

from .applying import CRD, Write

__all__ = ["GADGETS", "LIVE", "filled", "odd_writes"]

GROUP = "odd.example.com"
LIVE = "LIVE"


def _gadgets() -> dict[str, Any]:
    crd = copy.deepcopy(CRD)
    crd["metadata"]["name"] = f"gadgets.{GROUP}"
    crd["spec"]["group"] = GROUP
    crd["spec"]["names"] = {"plural": "gadgets", "kind": "Gadget"}
    first = crd["spec"]["versions"][0]
    first["subresources"] = {
        "status": {},
        "scale": {"specReplicasPath": ".spec.number", "statusReplicasPath": ".status.size"},
    }
    spec = first["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    spec["numbers"] = {"type": "array", "items": {"type": "number"}, "x-kubernetes-list-type": "set"}
    spec["text"]["nullable"] = True
    spec["map"]["nullable"] = True
    spec["nested"] = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["id"],
        "items": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "integer"},
                "inner": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["key"],
                    "items": {
                        "type": "object",
                        "required": ["key"],
                        "properties": {"key": {"type": "string"}, "value": {"type": "string"}},
                    },
                },
            },
        },
    }
    second = copy.deepcopy(first)
    second |= {"name": "v1beta1", "storage": False}
    other = second["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    other["atomicMap"].pop("x-kubernetes-map-type")
    other["atomicList"]["x-kubernetes-list-type"] = "set"
    crd["spec"]["versions"].append(second)
    return crd


GADGETS = _gadgets()
_PATHS = {
    "Gadget": f"/apis/{GROUP}/%s/namespaces/{{namespace}}/gadgets",
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps",
    "StatefulSet": "/apis/apps/v1/namespaces/{namespace}/statefulsets",
    "Pod": "/api/v1/namespaces/{namespace}/pods",
}
_MANAGERS = ("alice", "bob", "kubectl", *(f"m{number}" for number in range(12)))
_BAD_MANAGERS = ("x" * 129, "tab%09here", "%C3%A4", "")
_MANAGED: tuple[Any, ...] = (
    [{}],
    LIVE,
    LIVE,
    [{"manager": "edited", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}],
    [
        {
            "manager": "edited",
            "operation": "Apply",
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:a": {}}, "f:spec": {"f:atomicMap": {"f:a": {}}, "f:text": {}}},
        }
    ],
    [{"manager": "no operation", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}],
    [{"manager": "x", "operation": "Update", "apiVersion": "nowhere/v9", "fieldsType": "FieldsV1",
      "fieldsV1": {"f:data": {"f:a": {}}}}],
    [{"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV2", "fieldsV1": {}}],
    [{"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
      "fieldsV1": {"bad": {}}}],
)  # fmt: skip


def filled(body: Any, live: dict[str, Any] | None) -> Any:
    """The body with what the last answer had at the same places of its metadata."""
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        return body
    meta = dict(body["metadata"])
    known = (live or {}).get("metadata") or {}
    for name, each in list(meta.items()):
        if each == LIVE:
            del meta[name]
            if name in known:
                meta[name] = known[name]
    return {**body, "metadata": meta}


def odd_writes(chance: random.Random, count: int) -> list[Write]:
    """Writes to one object."""
    kind = chance.choice(("Gadget", "Gadget", "Gadget", "ConfigMap", "StatefulSet", "Pod"))
    return [_write(chance, kind, is_first=not number) for number in range(count)]


def _write(chance: random.Random, kind: str, *, is_first: bool) -> Write:
    version = chance.choice(("v1", "v1", "v1beta1"))
    root = _PATHS[kind] % version if "%s" in _PATHS[kind] else _PATHS[kind]
    api_version = {"Gadget": f"{GROUP}/{version}", "StatefulSet": "apps/v1"}.get(kind, "v1")
    manager = chance.choice(_BAD_MANAGERS) if chance.random() < 0.03 else chance.choice(_MANAGERS)
    query = f"fieldManager={manager}" + ("&dryRun=All" if chance.random() < 0.05 else "")
    meta: dict[str, Any] = {"name": "x"}
    body: dict[str, Any] = {"apiVersion": api_version, "kind": kind, "metadata": meta}
    if chance.random() < 0.3:
        meta["labels"] = chance.choice([{}, {"a": chance.choice("12")}, {"b": "1", "c": None}, None])
    if chance.random() < 0.1:
        meta["annotations"] = {
            "kubectl.kubernetes.io/last-applied-configuration": chance.choice(
                ["{}", "no", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1"}}']
            )
        }
    if chance.random() < 0.1:
        meta["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": each, "uid": f"u-{each}"}
            for each in chance.sample("abc", 2)
        ]
    body |= _content(chance, kind)
    how = "create" if is_first and chance.random() < 0.4 else "apply"
    if not is_first:
        how = chance.choices(
            ("apply", "put", "merge", "json", "strategic", "status", "generate"), (8, 4, 2, 2, 1, 2, 0.3)
        )[0]
    if how == "create":
        return Write("POST", f"{root}?{query}", "application/json", body, manager)
    if how == "generate":
        meta.pop("name")
        meta["generateName"] = "x-"
        return _apply(chance, f"{root}/x?{query}", body, manager)
    if how == "put":
        meta["resourceVersion"] = LIVE if chance.random() < 0.9 else "1"
        if chance.random() < 0.7:
            meta["managedFields"] = copy.deepcopy(chance.choice(_MANAGED))
        if chance.random() < 0.05:
            meta["uid"] = "another"
        return Write("PUT", f"{root}/x?{query}", "application/json", body, manager)
    if how == "merge":
        return Write("PATCH", f"{root}/x?{query}", "application/merge-patch+json", body, manager)
    if how == "strategic" and kind != "Gadget":
        return Write("PATCH", f"{root}/x?{query}", "application/strategic-merge-patch+json", body, manager)
    if how in ("json", "strategic"):
        steps = _steps(chance, kind, body)
        return Write("PATCH", f"{root}/x?{query}", "application/json-patch+json", steps, manager)  # type: ignore[arg-type]
    if how == "status" and kind != "ConfigMap":
        body.pop("spec", None)
        body["status"] = (
            {"size": chance.randrange(3), "phase": chance.choice("xy")}
            if kind == "Gadget"
            else {"conditions": [{"type": chance.choice("AB"), "status": chance.choice(["True", "False"])}]}
        )
        if kind == "StatefulSet":
            body["status"]["replicas"] = chance.randrange(3)
        if chance.random() < 0.4:
            return Write("PATCH", f"{root}/x/status?{query}", "application/merge-patch+json", body, manager)
        return _apply(chance, f"{root}/x/status?{query}", body, manager)
    if chance.random() < 0.08:
        meta["resourceVersion"] = chance.choice([LIVE, "1"])
    if chance.random() < 0.05:
        meta["uid"] = chance.choice([LIVE, "another"])
    if chance.random() < 0.02:
        meta["managedFields"] = chance.choice([[], LIVE, None])
    return _apply(chance, f"{root}/x?{query}", body, manager)


def _apply(chance: random.Random, path: str, body: dict[str, Any], manager: str) -> Write:
    force = chance.choice(("&force=true", "&force=true", "", "&force=false"))
    return Write("PATCH", path + force, "application/apply-patch+yaml", body, manager)


def _steps(chance: random.Random, kind: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    part = "data" if kind == "ConfigMap" else "spec"
    steps: list[dict[str, Any]] = [
        {"op": "add", "path": "/metadata/labels", "value": {"j": chance.choice("12")}},
        {"op": "remove", "path": f"/{part}/{chance.choice(['a', 'text', 'map', 'byName', 'replicas'])}"},
    ]
    for name, each in (body.get(part) or {}).items():
        steps.append({"op": chance.choice(["add", "replace"]), "path": f"/{part}/{name}", "value": each})
    return chance.sample(steps, min(len(steps), chance.choice((1, 1, 2))))


def _content(chance: random.Random, kind: str) -> dict[str, Any]:
    if kind == "ConfigMap":
        return {"data": chance.choice([None, {}, {"a": chance.choice("12")}, {"a": "1", "b": "", "c": None}])}
    if kind == "Pod":
        containers: list[dict[str, Any]] = [{"name": "web", "image": chance.choice(["nginx:1", "nginx:2"])}]
        spec: dict[str, Any] = {"containers": containers}
        if chance.random() < 0.3:
            spec["tolerations"] = chance.choice([[], [{"key": "a", "operator": "Exists"}]])
        if chance.random() < 0.2:
            spec["activeDeadlineSeconds"] = chance.randrange(1, 5)
        return {"spec": spec}
    if kind == "StatefulSet":
        container: dict[str, Any] = {"name": "web", "image": chance.choice(["nginx:1", "nginx:2"])}
        if chance.random() < 0.4:
            ports = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}, {"containerPort": 81}]
            container["ports"] = chance.sample(ports, 2)
        if chance.random() < 0.3:
            container["env"] = [{"name": "A", "value": chance.choice("12")} for _ in range(chance.choice((1, 2)))]
        template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [container]}}
        spec = {"serviceName": "x", "selector": {"matchLabels": {"app": "x"}}, "template": template}
        if chance.random() < 0.5:
            spec["replicas"] = chance.randrange(3)
        return {"spec": spec}
    return {"spec": _gadget(chance)} if chance.random() < 0.95 else {"spec": chance.choice([None, {}])}


def _gadget(chance: random.Random) -> dict[str, Any]:
    def some(whole: list[Any]) -> list[Any]:
        found = [copy.deepcopy(each) for each in whole if chance.random() < 0.6]
        if found and chance.random() < 0.1:
            found.append(copy.deepcopy(chance.choice(found)))
        chance.shuffle(found)
        return found

    inner = [{"key": each, "value": chance.choice("12")} for each in "ab"]
    whole: dict[str, Any] = {
        "text": chance.choice(["a", "", None]),
        "number": chance.choice([0, 1, 2, None]),
        "atomicList": [each for each in "abc" if chance.random() < 0.6],
        "set": chance.choice([some(["a", "b", "c"]), None, []]),
        "numbers": some([1, 2.5, 2.0, -1, 10**12, 1e-7]),
        "byName": chance.choice([some([{"name": "a"}, {"name": "a", "kind": "B", "value": 1}, {"name": "b"}]), None]),
        "nested": some([{"id": 1, "inner": some(inner)}, {"id": 2, "inner": []}, {"id": 3}]),
        "map": chance.choice([{}, None, {"a": chance.choice("12")}, {"a": "1", "b": "2"}]),
        "structs": chance.choice([{}, {"x": {}}, {"x": {"a": chance.choice("12")}, "y": {"b": "1"}}]),
        "atomicMap": chance.choice([{}, {"a": chance.choice("12")}, {"a": "1", "b": "2"}]),
        "free": chance.choice(
            [{}, {"a": None}, {"a": [], "b": {}}, {"a": {"b": [1, {}]}}, {"a": chance.choice([1, 1.0, "1", True])}]
        ),
        "port": chance.choice([80, "web"]),
    }  # fmt: skip
    return {name: each for name, each in whole.items() if chance.random() < 0.4}
