"""Random writes by several field managers, and what both servers say of them, made comparable.

Four kinds stand for all: a ConfigMap (a plain map), a Deployment (lists by keys with defaults, atomic selectors), a
Service (defaults that appear), and a custom kind with every kind of list and map. A write is an apply, a merge patch, a
PUT or a write of the status, by one of a few managers, of a random part of one object.
"""

from __future__ import annotations

import copy
import random
import re
from dataclasses import dataclass
from typing import Any

import orjson

MANAGERS = ("alice", "bob", "carol", "kubectl")
GROUP = "fields.example.com"
_KINDS = ("ConfigMap", "Deployment", "Service", "Widget")

CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"widgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "text": {"type": "string"},
                                    "number": {"type": "integer", "default": 3},
                                    "atomicList": {"type": "array", "items": {"type": "string"}},
                                    "set": {
                                        "type": "array",
                                        "items": {"type": "string"},
                                        "x-kubernetes-list-type": "set",
                                    },
                                    "byName": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["name", "kind"],
                                        "items": {
                                            "type": "object",
                                            "required": ["name"],
                                            "properties": {
                                                "name": {"type": "string"},
                                                "kind": {"type": "string", "default": "A"},
                                                "value": {"type": "integer"},
                                                "labels": {
                                                    "type": "object",
                                                    "additionalProperties": {"type": "string"},
                                                },
                                            },
                                        },
                                    },
                                    "map": {"type": "object", "additionalProperties": {"type": "string"}},
                                    "structs": {
                                        "type": "object",
                                        "additionalProperties": {
                                            "type": "object",
                                            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                                        },
                                    },
                                    "atomicMap": {
                                        "type": "object",
                                        "x-kubernetes-map-type": "atomic",
                                        "additionalProperties": {"type": "string"},
                                    },
                                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                    "port": {"x-kubernetes-int-or-string": True},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"size": {"type": "integer"}, "phase": {"type": "string"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}


@dataclass(frozen=True, slots=True)
class Write:
    """One request, with `{namespace}` in its path."""

    method: str
    path: str
    content_type: str
    body: dict[str, Any]
    manager: str


@dataclass(frozen=True, slots=True)
class _Kind:
    api_version: str
    plural: str

    def path(self, name: str, part: str = "") -> str:
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        return f"{root}/namespaces/{{namespace}}/{self.plural}/{name}{part}"


_OF = {
    "ConfigMap": _Kind("v1", "configmaps"),
    "Deployment": _Kind("apps/v1", "deployments"),
    "Service": _Kind("v1", "services"),
    "Widget": _Kind(f"{GROUP}/v1", "widgets"),
}


def random_writes(chance: random.Random, count: int) -> list[Write]:
    """Writes to one object of a random kind."""
    kind = chance.choice(_KINDS)
    made = [_write(chance, kind, is_first=True)]
    made += [_write(chance, kind, is_first=False) for _ in range(count - 1)]
    return made


def _write(chance: random.Random, kind: str, *, is_first: bool) -> Write:
    of, manager = _OF[kind], chance.choice(MANAGERS)
    how = chance.choices(("apply", "merge", "status"), (7, 2, 1))[0]
    if is_first:
        how = chance.choice(("apply", "create"))
    body: dict[str, Any] = {"apiVersion": of.api_version, "kind": kind, "metadata": {"name": "x"}}
    if chance.random() < 0.4:
        body["metadata"]["labels"] = _some(chance, {name: chance.choice("12") for name in "abc"})
    if chance.random() < 0.2:
        body["metadata"]["annotations"] = {"note": chance.choice("12")}
    if chance.random() < 0.1:
        body["metadata"]["finalizers"] = _some_of(chance, ["example.com/a", "example.com/b"])
    body |= _content(chance, kind, is_whole=is_first or how == "create")
    if how == "create":
        path = of.path("").removesuffix("/")
        return Write("POST", f"{path}?fieldManager={manager}", "application/json", body, manager)
    if how == "status" and kind == "Widget":
        status = {**body, "status": _some(chance, {"size": chance.randrange(3), "phase": chance.choice("xy")})}
        status.pop("spec", None)
        return _apply(chance, of.path("x", "/status"), status, manager)
    if how == "merge":
        return Write("PATCH", f"{of.path('x')}?fieldManager={manager}", "application/merge-patch+json", body, manager)
    return _apply(chance, of.path("x"), body, manager)


def _apply(chance: random.Random, path: str, body: dict[str, Any], manager: str) -> Write:
    force = "&force=true" if chance.random() < 0.4 else ""
    return Write("PATCH", f"{path}?fieldManager={manager}{force}", "application/apply-patch+yaml", body, manager)


def _content(chance: random.Random, kind: str, *, is_whole: bool) -> dict[str, Any]:
    if kind == "ConfigMap":
        return {"data": _some(chance, {name: chance.choice("12") for name in "abcd"})} if chance.random() < 0.9 else {}
    if kind == "Service":
        ports = [{"name": name, "port": port} for name, port in (("a", 80), ("b", 81), ("c", 82))]
        found = _some_of(chance, ports) or ports[:1]
        for each in found:
            if chance.random() < 0.4:
                each["targetPort"] = chance.choice([8080, "web"])
        spec: dict[str, Any] = {"ports": found} if is_whole or chance.random() < 0.7 else {}
        if chance.random() < 0.5:
            spec["selector"] = _some(chance, {"app": chance.choice("xy"), "tier": "t"})
        if chance.random() < 0.3:
            spec["sessionAffinity"] = chance.choice(["None", "ClientIP"])
        return {"spec": spec}
    if kind == "Deployment":
        return {"spec": _deployment(chance, is_whole=is_whole)}
    return {"spec": _widget(chance)} if chance.random() < 0.95 else {}


def _deployment(chance: random.Random, *, is_whole: bool) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if chance.random() < 0.5:
        spec["replicas"] = chance.randrange(3)
    if is_whole:
        spec["selector"] = {"matchLabels": {"app": "x"}}
    if is_whole or chance.random() < 0.8:
        containers = []
        for name in _some_of(chance, ["web", "side"]) or ["web"]:
            container: dict[str, Any] = {"name": name}
            if is_whole or chance.random() < 0.7:
                container["image"] = chance.choice(["nginx:1", "nginx:2"])
            if chance.random() < 0.5:
                container["env"] = [{"name": each, "value": chance.choice("12")} for each in _some_of(chance, "AB")]
            if chance.random() < 0.4:
                container["ports"] = [{"containerPort": each} for each in _some_of(chance, [80, 81])]
            if chance.random() < 0.3:
                container["resources"] = {"limits": _some(chance, {"cpu": chance.choice(["1", "2"]), "memory": "1Gi"})}
            if chance.random() < 0.3:
                container["args"] = _some_of(chance, ["x", "y"])
            containers.append(container)
        spec["template"] = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": containers}}
        if chance.random() < 0.2:
            spec["template"]["spec"]["nodeSelector"] = {"disk": chance.choice(["ssd", "hdd"])}
    return spec


def _widget(chance: random.Random) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "text": chance.choice(["a", "b", ""]),
        "number": chance.randrange(4),
        "atomicList": _some_of(chance, ["a", "b", "c"]),
        "set": _shuffled(chance, _some_of(chance, ["a", "b", "c", "d"])),
        "byName": _shuffled(
            chance,
            [
                {
                    "name": each,
                    **_some(chance, {"kind": chance.choice("AB"), "value": chance.randrange(3)}),
                    **(
                        {"labels": _some(chance, {"x": chance.choice("12"), "y": "1"})} if chance.random() < 0.4 else {}
                    ),
                }
                for each in _some_of(chance, ["a", "b", "c"])
            ],
        ),
        "map": _some(chance, {name: chance.choice("12") for name in "abc"}),
        "structs": {name: _some(chance, {"a": chance.choice("12"), "b": "1"}) for name in _some_of(chance, "xy")},
        "atomicMap": _some(chance, {name: chance.choice("12") for name in "ab"}),
        "free": _some(
            chance,
            {"a": chance.choice([1, "x", True]), "b": {"c": chance.choice([1, 2])}, "d": [chance.choice([1, 2]), {}]},
        ),
        "port": chance.choice([80, "web"]),
    }
    return _some(chance, whole)


def _some(chance: random.Random, whole: dict[str, Any]) -> dict[str, Any]:
    return {name: copy.deepcopy(each) for name, each in whole.items() if chance.random() < 0.5}


def _some_of(chance: random.Random, whole: Any) -> list[Any]:
    return [copy.deepcopy(each) for each in whole if chance.random() < 0.6]


def _shuffled(chance: random.Random, items: list[Any]) -> list[Any]:
    chance.shuffle(items)
    return items


# -- answers ----------------------------------------------------------------------------------------------------------

_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CHANGING = ("uid", "resourceVersion", "creationTimestamp", "generation")


def comparable(status: int, body: bytes, namespace: str) -> Any:
    """What both servers have to agree on."""
    answer = orjson.loads(body.replace(namespace.encode(), b"NS"))
    if answer.get("kind") == "Status":
        causes = (answer.get("details") or {}).get("causes") or []
        answer["message"] = _UID.sub("UID", answer.get("message") or "")
        if answer.get("reason") == "Conflict":
            # Go goes through managers as its maps do; so the order of conflicts is chance.
            message = sorted(answer["message"].split("\n"))
            return [status, answer["reason"], message, sorted(causes, key=repr)]
        if not causes and "errors:\n" in answer["message"]:
            return [status, answer.get("reason"), sorted(answer["message"].split("\n"))]
        if len(causes) > 1:
            # The same for the fields of an object.
            return [status, answer.get("reason"), sorted(causes, key=repr)]
        return [status, answer.get("reason"), answer["message"], causes]
    meta = answer["metadata"]
    generation = meta.get("generation")
    fields = sorted((_timeless(each) for each in meta.pop("managedFields", [])), key=lambda each: repr(each[:4]))
    for name in _CHANGING:
        meta.pop(name, None)
    spec = answer.get("spec") or {}
    for name in ("clusterIP", "clusterIPs"):
        spec.pop(name, None)
    return [status, generation, answer, fields]


def _timeless(entry: dict[str, Any]) -> list[Any]:
    names = ("operation", "manager", "apiVersion", "subresource")
    return [*(entry.get(name) for name in names), orjson.dumps(entry["fieldsV1"]).decode()]
