"""OpenAPI v2 (`/openapi/v2`): all that is served in one document, made from those of v3 when somebody asks for it.

| asked for | answered |
|---|---|
| JSON | the document, by its hash as an ETag |
| protobuf (`com.github.proto-openapi.spec.v2`) | a document with nothing in it |

The second is what kubectl asks for where v3 has not the kind: before its definition is there. It then looks for the
kind in this document; what it does not find there is not validated, and the next thing that it says is the right one:
that nothing of the kind is served. Refused, it would say that OpenAPI cannot be downloaded.

v2 has fewer words than v3: bodies are parameters, and choices (`anyOf`, `oneOf`, `not`) and `nullable` are left out, as
the real server leaves them out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from ..request import JSON, Request, Response
from ..server import ApiServer
from .health import KUBERNETES
from .openapi import OpenApi

__all__ = ["Swagger"]

_PATH: Final = "/openapi/v2"
_PROTOBUF: Final = "com.github.proto-openapi.spec.v2"
_PROTOBUF_TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_NOT_IN_V2: Final = frozenset({"anyOf", "oneOf", "not", "nullable"})
_METHODS: Final = ("get", "put", "post", "delete", "patch")


class Swagger:
    """Answers `/openapi/v2`. The newest document is kept.

    Args:
        open_api: the documents of v3.
    """

    def __init__(self, open_api: OpenApi) -> None:
        self._open_api = open_api
        self._kept: tuple[str, bytes] = ("", b"")

    def __call__(self, server: ApiServer, request: Request) -> Response | None:
        if request.method not in ("GET", "HEAD") or request.path.rstrip("/") != _PATH:
            return None
        if _PROTOBUF in request.headers.get("accept", ""):
            return Response(200, b"", [("content-type", _PROTOBUF_TYPE)])
        tag = hashlib.sha512("".join(self._open_api.hashes(server.catalog)).encode()).hexdigest().upper()
        headers = [("content-type", JSON), ("etag", f'"{tag}"'), ("vary", "Accept-Encoding, Accept")]
        if request.headers.get("if-none-match") == f'"{tag}"':
            return Response(304, b"", headers)
        if self._kept[0] != tag:
            self._kept = (tag, orjson.dumps(self._made(server)) + b"\n")
        return Response(200, self._kept[1], headers)

    def _made(self, server: ApiServer) -> dict[str, Any]:
        paths: dict[str, Any] = {}
        definitions: dict[str, Any] = {}
        for document in self._open_api.all(server.catalog):
            for name, schema in document["components"]["schemas"].items():
                if name not in definitions:
                    definitions[name] = _schema(schema)
            for path, item in document["paths"].items():
                paths[path] = _item(item)
        return {
            "swagger": "2.0",
            "info": {"title": "Kubernetes", "version": f"v{KUBERNETES}.0"},
            "paths": dict(sorted(paths.items())),
            "definitions": dict(sorted(definitions.items())),
            "securityDefinitions": {
                "BearerToken": {
                    "description": "Bearer Token authentication",
                    "type": "apiKey",
                    "name": "authorization",
                    "in": "header",
                }
            },
            "security": [{"BearerToken": []}],
        }


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in the words of v2."""
    made: dict[str, Any] = {}
    for name, value in schema.items():
        if name in _NOT_IN_V2:
            continue
        if name == "$ref":
            made[name] = f"#/definitions/{str(value).rpartition('/')[2]}"
        elif name == "allOf" and len(value) == 1 and "$ref" in value[0]:
            made |= _schema(value[0])
        elif name == "properties":
            made[name] = {field: _schema(each) for field, each in value.items()}
        elif name in ("items", "additionalProperties") and isinstance(value, dict):
            made[name] = _schema(value)
        elif name == "allOf":
            made[name] = [_schema(each) for each in value]
        else:
            made[name] = value
    return made


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {name: _operation(item[name]) for name in _METHODS if name in item}
    return {**made, "parameters": [_parameter(each) for each in item.get("parameters", ())]}


def _operation(operation: Mapping[str, Any]) -> dict[str, Any]:
    parameters = [_parameter(each) for each in operation.get("parameters", ())]
    consumes = ["*/*"]
    body = operation.get("requestBody")
    if body is not None:
        consumes = list(body["content"])
        schema = _schema(next(iter(body["content"].values()))["schema"])
        required = {"required": True} if body.get("required") else {}
        parameters.insert(0, {"name": "body", "in": "body", **required, "schema": schema})
    produces: list[str] = []
    responses: dict[str, Any] = {}
    for code, answer in operation["responses"].items():
        content = answer.get("content") or {}
        produces = produces or list(content)
        schema_of = {"schema": _schema(next(iter(content.values()))["schema"])} if content else {}
        responses[code] = {"description": answer["description"], **schema_of}
    said = {name: each for name, each in operation.items() if name not in ("parameters", "requestBody", "responses")}
    schemes = {"consumes": consumes, "produces": produces, "schemes": ["https"]}
    return {**said, **schemes, "parameters": parameters, "responses": responses}


def _parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    schema = _schema(parameter.get("schema") or {})
    return {**{name: each for name, each in parameter.items() if name != "schema"}, **schema}
