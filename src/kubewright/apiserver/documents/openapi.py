"""OpenAPI v3: an index of documents, and a document per group version, made when somebody asks for it.

`kubectl explain` and `apply` read them, and anybody who generates clients. A document's URL has a hash; clients keep a
document as long as the hash is the same. It is made of what the document is made from, so that the index costs no
document: for built-in kinds the release, for custom ones their definitions.

| document | components |
|---|---|
| built-in | the real server's, descriptions and extensions included |
| custom | the kind and its list from the definition; metadata, options and status from the built-in ones |

`all` gives them to who makes one of them (`swagger`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from kubewright.schema.structural.values import copied

from ..builtin import BuiltIn
from ..catalog import Catalog, ResourceType
from ..request import JSON, Request, Response
from ..server import ApiServer
from .discovery import ordered_groups
from .health import KUBERNETES
from .operations import Parameters, definition_name, path_items

__all__ = ["OpenApi"]

_ROOT: Final = "/openapi/v3"
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_GVK: Final = "x-kubernetes-group-version-kind"
_SHARED: Final = tuple(f"{_META}.{each}" for each in ("DeleteOptions", "ListMeta", "ObjectMeta", "Patch", "Status"))
_SCALE: Final = "io.k8s.api.autoscaling.v1.Scale"
_MOST_KEPT: Final = 256


class OpenApi:
    """Answers `/openapi/v3`. Documents are kept by their hash, so that servers and their forks may share one of these.

    Args:
        builtin: the facts of the built-in kinds.
    """

    def __init__(self, builtin: BuiltIn) -> None:
        self._builtin = builtin
        self._kept: dict[tuple[str, str], bytes] = {}

    def __call__(self, server: ApiServer, request: Request) -> Response | None:
        path = request.path.rstrip("/")
        if request.method not in ("GET", "HEAD") or not path.startswith(_ROOT):
            return None
        catalog = server.catalog
        found = dict(_documents(catalog))
        if path == _ROOT:
            index = {
                name: {"serverRelativeURL": f"{_ROOT}/{name}?hash={_hash(types)}"} for name, types in found.items()
            }
            # The real server names no type, so that its library guesses; clients read JSON all the same.
            return Response(200, orjson.dumps({"paths": index}), [("content-type", "text/plain; charset=utf-8")])
        types = found.get(path.removeprefix(f"{_ROOT}/"))
        if types is None:
            return Response(404)
        tag = _hash(types)
        body = self._document(path, tag, types)
        headers = [("content-type", JSON), ("etag", f'"{tag}"'), ("vary", "Accept-Encoding, Accept")]
        if request.headers.get("if-none-match") == f'"{tag}"':
            return Response(304, b"", headers)
        return Response(200, body, headers)

    def hashes(self, catalog: Catalog) -> Iterator[str]:
        """Of all documents."""
        return (_hash(types) for _, types in _documents(catalog))

    def all(self, catalog: Catalog) -> Iterator[dict[str, Any]]:
        """All documents, made anew."""
        return (self._made(types) for _, types in _documents(catalog))

    def describe(self, field: str) -> str:
        """The description of a field of ObjectMeta."""
        schema = self._builtin.data.schema(f"{_META}.ObjectMeta")
        return str(schema["properties"].get(field, {}).get("description", ""))

    def _document(self, path: str, tag: str, types: tuple[ResourceType, ...]) -> bytes:
        made = self._kept.get((path, tag))
        if made is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            made = self._kept[path, tag] = orjson.dumps(self._made(types)) + b"\n"
        return made

    def _made(self, types: tuple[ResourceType, ...]) -> dict[str, Any]:
        components = self._components(types)
        facts = self._builtin.data.get("openapi/parameters.json")
        parameters = Parameters(facts["verbs"], facts["shared"])
        names = {
            (f"{each['group']}/{each['version']}" if each["group"] else each["version"], each["kind"]): name
            for name, schema in components.items()
            for each in schema.get(_GVK, ())
        }
        paths = dict(sorted(item for kind in types for item in path_items(kind, parameters, names)))
        title = ("Kubernetes CRD Swagger", "v0.1.0") if types[0].is_custom else ("Kubernetes", f"v{KUBERNETES}.0")
        return {
            "openapi": "3.0.0",
            "info": {"title": title[0], "version": title[1]},
            "paths": paths,
            "components": {"schemas": dict(sorted(components.items()))},
        }

    def _components(self, types: tuple[ResourceType, ...]) -> dict[str, Any]:
        first = types[0]
        made: dict[str, Any] = {}
        if not first.is_custom:
            return self._builtin.components(first.api_version)
        wanted = list(_SHARED)
        for kind in types:
            made[definition_name(kind.group, kind.version, kind.kind)] = self._custom(kind)
            made[definition_name(kind.group, kind.version, kind.list_kind)] = self._custom_list(kind)
            wanted += [_SCALE] * ("scale" in kind.subresources)
        while wanted:
            name = wanted.pop()
            if name not in made:
                made[name] = self._builtin.data.schema(name)
                wanted += _references(made[name])
        return made

    def _custom(self, kind: ResourceType) -> dict[str, Any]:
        schema = _published(dict(kind.schema or {}))
        schema.setdefault("type", "object")
        known = self._builtin.data.schema("io.k8s.api.core.v1.ConfigMap")["properties"]
        properties = schema.get("properties") or {}
        described = {name: {**known[name], **properties.get(name, {})} for name in ("apiVersion", "kind")}
        schema["properties"] = {**properties, **described, "metadata": known["metadata"]}
        return {**schema, _GVK: [{"group": kind.group, "kind": kind.kind, "version": kind.version}]}

    def _custom_list(self, kind: ResourceType) -> dict[str, Any]:
        known = self._builtin.data.schema("io.k8s.api.core.v1.ConfigMapList")["properties"]
        item = f"#/components/schemas/{definition_name(kind.group, kind.version, kind.kind)}"
        return {
            "description": f"{kind.list_kind} is a list of {kind.kind}",
            "type": "object",
            "required": ["items"],
            "properties": {
                **{name: known[name] for name in ("apiVersion", "kind", "metadata")},
                "items": {
                    "description": f"List of {kind.plural}.",
                    "type": "array",
                    "items": {"$ref": item},
                },
            },
            _GVK: [{"group": kind.group, "kind": kind.list_kind, "version": kind.version}],
        }


def _documents(catalog: Catalog) -> Iterator[tuple[str, tuple[ResourceType, ...]]]:
    for version in catalog.versions(""):
        yield f"api/{version}", catalog.resources("", version)
    for group in ordered_groups(catalog):
        for version in sorted(catalog.versions(group)):
            yield f"apis/{group}/{version}", catalog.resources(group, version)


def _hash(types: tuple[ResourceType, ...]) -> str:
    """Of what a document is made from."""
    made = hashlib.sha512(KUBERNETES.encode())
    for kind in types:
        facts = (kind.api_version, kind.kind, kind.list_kind, kind.plural, kind.namespaced, tuple(kind.subresources))
        made.update(repr(facts).encode())
        if kind.is_custom:
            made.update(orjson.dumps(kind.schema, option=orjson.OPT_SORT_KEYS))
    return made.hexdigest().upper()


def _published(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of a definition as it is published: what may be an integer or a string says so in OpenAPI's words."""
    made: dict[str, Any] = copied(schema)
    waiting: list[Any] = [made]
    while waiting:
        found = waiting.pop()
        if isinstance(found, list):
            waiting += found
        elif isinstance(found, dict):
            if found.get("x-kubernetes-int-or-string") is True and "anyOf" not in found:
                found["anyOf"] = [{"type": "integer"}, {"type": "string"}]
            waiting += [each for name, each in found.items() if name not in ("default", "enum", "example")]
    return made


def _references(schema: Mapping[str, Any]) -> list[str]:
    """The components that a schema refers to."""
    found: list[str] = []
    waiting: list[Any] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            target = value.get("$ref")
            if isinstance(target, str):
                found.append(target.rpartition("/")[2])
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found
