"""Requests that nobody should send: whatever comes, the server has an answer, and what it keeps can be read."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Any

import orjson
import pytest
from asking import done

from kubewright.apiserver import ApiServer, Request, Stream, new_server

JUNK: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**63, 1.5, 1e300, "", "a", "x" * 300, "ü", "\x00", "-1", "5%"),
    *([], {}, [None], [[]], [{}], {"a": None}, {"": ""}, ["a", "a"], "2026-01-01T00:00:00Z"),
)
CONTAINER = {"name": "c", "image": "i", "env": [{"name": "A", "value": "b"}], "ports": [{"containerPort": 1}]}
SPEC = {"containers": [CONTAINER]}
LABELS = {"app": "a"}
RULE = {"rule": "self.size > 0", "message": "too small"}
SIZE = {"type": "integer", "default": 1}
SIZED = {"type": "object", "properties": {"size": SIZE}, "x-kubernetes-validations": [RULE]}
VERSION = {
    "name": "v1",
    "served": True,
    "storage": True,
    "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SIZED, "status": {"type": "object"}}}},
}
NAMES = {"plural": "widgets", "kind": "Widget"}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced", "names": NAMES, "versions": [VERSION]},
}
META = {"name": "a", "labels": LABELS, "finalizers": ["example.com/a"]}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": SPEC}
OBJECTS: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    ("/api/v1/namespaces/default/pods", {"kind": "Pod", "spec": SPEC}, ("status", "eviction", "binding", "resize")),
    ("/api/v1/namespaces/default/configmaps", {"kind": "ConfigMap", "data": {"a": "b"}}, ()),
    ("/api/v1/namespaces/default/services", {"kind": "Service", "spec": {"ports": [{"port": 80}]}}, ("status",)),
    (
        "/apis/apps/v1/namespaces/default/deployments",
        {"kind": "Deployment", "spec": {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}},
        ("status", "scale"),
    ),
    ("/apis/example.com/v1/namespaces/default/widgets", {"kind": "Widget", "spec": {"size": 1}}, ("status", "scale")),
    ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD, ("status",)),
)
PARAMETERS: tuple[str, ...] = ("watch", "limit", "continue", "resourceVersion", "resourceVersionMatch")
PARAMETERS += (
    "labelSelector",
    "fieldSelector",
    "sendInitialEvents",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "gracePeriodSeconds",
)
VALUES = ("", "0", "1", "-1", "999999", "x", "true", "All", "Exact", "a in (b", "metadata.name=a", "Strict", "e30", "ü")
KINDS_OF_PATCH = ("merge-patch+json", "strategic-merge-patch+json", "json-patch+json")
TYPES = ("application/json", "application/yaml", "text/plain", "", "application/vnd.kubernetes.protobuf")
PARTIAL = "application/json;g=meta.k8s.io;v=v1;as="
ACCEPTED = ("application/json", f"{PARTIAL}Table", f"{PARTIAL}PartialObjectMetadata", "application/yaml", "text/html")
RAW = (
    b"",
    b"{",
    b"null",
    b"[]",
    b"\xff\xfe",
    b'{"a":1,"a":2}',
    b"k8s\x00\x0a\x00",
    b"a: [\n",
    b"[" * 5_000,
    b"&a [*a]",
)


def mutated(value: Any, dice: random.Random) -> Any:
    """The same with one thing taken out, put in, or exchanged for junk."""
    if not value or not isinstance(value, (dict, list)) or dice.random() < 0.1:
        return dice.choice(JUNK)
    places: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    place, made = dice.choice(places), value.copy()
    if dice.random() < 0.1:
        del made[place]
    else:
        made[place] = mutated(value[place], dice)
    return made


def body_of(value: Any, dice: random.Random) -> bytes:
    if dice.random() < 0.04:
        return dice.choice(RAW)
    for _ in range(dice.randrange(4)):
        value = mutated(value, dice)
    return orjson.dumps(value)


def request(dice: random.Random) -> Request:
    path, given, parts = dice.choice(OBJECTS)
    group, _, version = path.removeprefix("/apis/").removeprefix("/api/").partition("/")
    api_version = group if path.startswith("/api/") else f"{group}/{version.partition('/')[0]}"
    obj = {"apiVersion": api_version, "metadata": META, **given}
    method = dice.choice(("GET", "POST", "POST", "PUT", "PUT", "PATCH", "PATCH", "PATCH", "DELETE"))
    if method != "POST" and dice.random() < 0.9:
        path += f"/{obj['metadata']['name']}"
        if parts and dice.random() < 0.3:
            path += f"/{dice.choice(parts)}"
    content = dice.choice(TYPES) if dice.random() < 0.1 else "application/json"
    sent: Any = obj
    if method == "PATCH":
        content = f"application/{dice.choice(KINDS_OF_PATCH)}"
        if content.endswith("json-patch+json"):
            where = dice.choice(("/metadata", "/spec", "/spec/-", "/kind", "/metadata/labels/app", "", "/status"))
            sent = [{"op": dice.choice(("add", "remove", "copy", "x")), "path": where, "from": "/spec", "value": sent}]
    elif method == "DELETE":
        sent = {"propagationPolicy": "Orphan", "preconditions": {"uid": "x"}, "gracePeriodSeconds": 0}
    body = b"" if method == "GET" else body_of(sent, dice)
    query = [(dice.choice(PARAMETERS), dice.choice(VALUES)) for _ in range(dice.choice((0, 0, 1, 2)))]
    return Request(method, path, query, {"content-type": content, "accept": dice.choice(ACCEPTED)}, body)


async def assail(api: ApiServer, seed: int, count: int) -> None:
    dice = random.Random(seed)
    for _ in range(count):
        answer = await api.handle(request(dice))
        if isinstance(answer, Stream):
            answer.close()
    for path, _, _ in OBJECTS:
        for accepted in ACCEPTED[:4]:
            answer = await api.handle(Request("GET", path, (), {"accept": accepted}))
            assert answer.status in (200, 404, 406), "404: the definition is gone; 406: a list is no single object"


@pytest.mark.parametrize("seed", range(4))
def test_whatever_comes_nothing_is_unexpected(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    api = new_server(seed=seed)
    definitions = OBJECTS[-1][0]
    assert done(api.handle(Request.of("POST", definitions, body=CRD))).status == 201
    with caplog.at_level(logging.ERROR, logger="kubewright.apiserver"):
        asyncio.run(assail(api, seed, 600))
    assert [record.getMessage() for record in caplog.records] == []
