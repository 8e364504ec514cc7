"""The paths of an OpenAPI document: one operation per verb of each resource and subresource. Pure.

Clients read little of it: `kubectl explain` looks for a kind among them, `kubectl apply` for the parameter
`fieldValidation` and the types of patches. They have what is served, and nothing that is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..catalog import ResourceType, Subresource

__all__ = ["Parameters", "definition_name", "path_items"]

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_PATCHES: Final = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json")
_STRATEGIC: Final = "application/strategic-merge-patch+json"
_WRITTEN: Final = ("application/json", "application/yaml")


class Parameters(NamedTuple):
    """The parameters of operations: `verbs` by action (list, post, put, ...), `shared` by name."""

    verbs: Mapping[str, Sequence[Mapping[str, Any]]]
    shared: Mapping[str, Mapping[str, Any]]


class _Verb(NamedTuple):
    method: str
    action: str
    name: str
    does: str
    codes: tuple[str, ...]


_SAID: Final = {"200": "OK", "201": "Created", "202": "Accepted"}
_COLLECTION: Final = {
    "list": _Verb("get", "list", "list{}", "list objects of kind {}", ("200",)),
    "create": _Verb("post", "post", "create{}", "create a {}", ("200", "201", "202")),
    "deletecollection": _Verb("delete", "deletecollection", "delete{}Collection", "delete collection of {}", ("200",)),
}
_OBJECT: Final = {
    "get": _Verb("get", "get", "read{}", "read the specified {}", ("200",)),
    "update": _Verb("put", "put", "replace{}", "replace the specified {}", ("200", "201")),
    "delete": _Verb("delete", "delete", "delete{}", "delete a {}", ("200", "202")),
    "patch": _Verb("patch", "patch", "patch{}", "partially update the specified {}", ("200", "201")),
}
_PART: Final = {
    "get": _Verb("get", "get", "read{}", "read {part} of the specified {}", ("200",)),
    "create": _Verb("post", "post", "create{}", "create {part} of a {}", ("200", "201", "202")),
    "update": _Verb("put", "put", "replace{}", "replace {part} of the specified {}", ("200", "201")),
    "patch": _Verb("patch", "patch", "patch{}", "partially update {part} of the specified {}", ("200", "201")),
}


def path_items(
    kind: ResourceType, parameters: Parameters, names: Mapping[tuple[str, str], str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The paths of a resource with their operations.

    Args:
        names: the component of a kind by `(api version, kind)`; what is not there is described as any object.
    """
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    shared = parameters.shared
    scope = [shared["namespace"]] if kind.namespaced else []
    base = f"{root}/namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    maker = _Maker(kind, parameters, names)
    made = maker.operations(_COLLECTION, kind.verbs)
    if made:
        yield base, {**made, "parameters": [*scope, shared["pretty"]]}
    made = maker.operations(_OBJECT, kind.verbs)
    if made:
        yield f"{base}/{{name}}", {**made, "parameters": [shared["name"], *scope, shared["pretty"]]}
    for part in kind.subresources.values():
        made = maker.operations(_PART, part.verbs, part)
        if made:
            yield f"{base}/{{name}}/{part.name}", {**made, "parameters": [shared["name"], *scope, shared["pretty"]]}
    if kind.namespaced and "list" in kind.verbs:
        everywhere = maker.operation(_COLLECTION["list"], everywhere=True)
        yield f"{root}/{kind.plural}", {"get": everywhere, "parameters": [shared["pretty"]]}


class _Maker:
    def __init__(self, kind: ResourceType, parameters: Parameters, names: Mapping[tuple[str, str], str]) -> None:
        self._kind, self._parameters, self._names = kind, parameters, names
        group = kind.group.removesuffix(".k8s.io") or "core"
        words = group.split(".")
        self._tag = f"{words[0]}{''.join(map(_capital, words[1:]))}_{kind.version}"
        self._title = "".join(map(_capital, (*words, kind.version)))
        self._gvk = {"group": kind.group, "version": kind.version, "kind": kind.kind}

    def operations(
        self, verbs: Mapping[str, _Verb], served: Sequence[str], part: Subresource | None = None
    ) -> dict[str, Any]:
        return {verb.method: self.operation(verb, part) for name, verb in verbs.items() if name in served}

    def operation(self, verb: _Verb, part: Subresource | None = None, *, everywhere: bool = False) -> dict[str, Any]:
        kind = self._kind
        scope = "Namespaced" if kind.namespaced and not everywhere else ""
        suffix = _capital(part.name) if part is not None else ""
        tail = "ForAllNamespaces" if everywhere else ""
        made: dict[str, Any] = {
            "tags": [self._tag],
            "description": verb.does.format(kind.kind, part=part.name if part is not None else ""),
            "operationId": f"{verb.name.format(self._title)}{scope}{kind.kind}{suffix}{tail}",
            "parameters": list(self._parameters.verbs.get(verb.action, ())),
        }
        body = self._body(verb, part)
        if body is not None:
            made["requestBody"] = body
        made["responses"] = self._responses(verb, part)
        made["x-kubernetes-action"] = verb.action
        made["x-kubernetes-group-version-kind"] = self._gvk_of(part)
        return made

    def _gvk_of(self, part: Subresource | None) -> dict[str, str]:
        """Of what is read and written there: a Scale, an Eviction. Paths of custom resources always say their own."""
        if part is None or not part.kind or self._kind.is_custom or not part.version:
            return self._gvk
        return {"group": part.group, "version": part.version, "kind": part.kind}

    def _body(self, verb: _Verb, part: Subresource | None) -> dict[str, Any] | None:
        if verb.action in ("list", "get"):
            return None
        if verb.action in ("delete", "deletecollection"):
            return {"content": {"*/*": {"schema": _reference(f"{_META}.DeleteOptions")}}}
        if verb.action != "patch":
            return {"content": self._content(self._schema(part)), "required": True}
        types = _PATCHES if self._kind.is_custom else (*_PATCHES, _STRATEGIC)
        return {"content": {each: {"schema": _reference(f"{_META}.Patch")} for each in types}, "required": True}

    def _responses(self, verb: _Verb, part: Subresource | None) -> dict[str, Any]:
        if verb.action in ("delete", "deletecollection"):
            schema = _reference(f"{_META}.Status")
        elif verb.action == "list":
            schema = self._component(self._kind.api_version, self._kind.list_kind)
        else:
            schema = self._schema(part)
        content = self._content(schema)
        made: dict[str, Any] = {code: {"description": _SAID[code], "content": content} for code in verb.codes}
        return {**made, "401": {"description": "Unauthorized"}}

    def _schema(self, part: Subresource | None) -> dict[str, Any]:
        kind = self._kind
        if part is None or not part.kind:
            return self._component(kind.api_version, kind.kind)
        group, version = (part.group, part.version) if part.version else (kind.group, kind.version)
        return self._component(f"{group}/{version}" if group else version, part.kind)

    def _component(self, api_version: str, kind: str) -> dict[str, Any]:
        name = self._names.get((api_version, kind))
        return {"type": "object"} if name is None else _reference(name)

    @staticmethod
    def _content(schema: dict[str, Any]) -> dict[str, Any]:
        return {each: {"schema": schema} for each in _WRITTEN}


def definition_name(group: str, version: str, kind: str) -> str:
    """The component of a custom kind: `com.example.v1.Widget`."""
    return ".".join((*reversed(group.split(".")), version, kind))


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
