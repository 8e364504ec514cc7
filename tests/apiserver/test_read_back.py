"""What a write answers is what a read would: the object comes from the storage, through the schema of its kind."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from kubewright.apiserver import ApiServer, Request, Response, new_server

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OBJECTS = "/apis/example.com/v1/ws"


def definition(**properties: Any) -> dict[str, Any]:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    }
    names = {"plural": "ws", "kind": "W"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "ws.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
    }


async def ask(server: ApiServer, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = await server.handle(Request.of(method, path, body=body or b""))
    assert isinstance(answer, Response)
    assert answer.status < 300, answer.body
    found: dict[str, Any] = orjson.loads(answer.body)
    return found


def made(**properties: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An empty object as its creation answers it, and as it is read."""

    async def main() -> tuple[dict[str, Any], dict[str, Any]]:
        server = new_server(seed=1)
        await ask(server, "POST", DEFINITIONS, definition(**properties))
        obj = {"apiVersion": "example.com/v1", "kind": "W", "metadata": {"name": "a"}, "status": {"phase": "Mine"}}
        return await ask(server, "POST", OBJECTS, obj), await ask(server, "GET", f"{OBJECTS}/a")

    return asyncio.run(main())


def test_a_status_with_a_default_is_there_from_the_creation_on() -> None:
    status = {"type": "object", "default": {"phase": "New"}, "properties": {"phase": {"type": "string"}}}
    created, read = made(status=status)
    assert created == read
    assert created["status"] == {"phase": "New"}


def test_a_null_inside_of_a_default_is_not_kept() -> None:
    anything = {"x-kubernetes-preserve-unknown-fields": True}
    properties = {"b": anything, "c": {"type": "string"}}
    created, read = made(spec={"type": "object", "default": {"b": None, "c": "x"}, "properties": properties})
    assert created == read
    assert created["spec"] == {"c": "x"}
