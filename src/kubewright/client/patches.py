"""The kinds of patches, each with its body and its content type.

Owns what a patch looks like on the wire. Where it is sent is `Client.patch`'s business, how one is computed that of
`kubewright.model.patch`. (A server-side apply is a patch on the wire as well, but a whole object for its user:
`Client.apply`.)

| class            | body                     | written in                     | served for                    |
|------------------|--------------------------|--------------------------------|-------------------------------|
| `MergePatch`     | the part that changes    | RFC 7386; null removes a field | every kind                    |
| `JsonPatch`      | a list of operations     | RFC 6902                       | every kind                    |
| `StrategicPatch` | as a merge patch, with   | Kubernetes API conventions,    | built-in kinds only: a custom |
|                  | lists merged by their key| "strategic merge patch"        | resource answers 415          |

A patch without a `resource_version` is tried again by the server until it fits the latest object and never conflicts;
with one it fails with Conflict once the object has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import msgspec

from ..model import Model
from ..model.codec import encode_value
from ..model.patch import merge_diff
from .paths import InvalidRequest

__all__ = ["JsonPatch", "MergePatch", "Patch", "StrategicPatch"]

PatchHeaders: TypeAlias = tuple[tuple[str, str], ...]


def _headers(content_type: str) -> PatchHeaders:
    return (("accept", "application/json"), ("content-type", content_type))


class _ObjectPatch:
    """A patch whose body is the part of the object that changes."""

    __slots__ = ("body",)
    headers: ClassVar[PatchHeaders]

    def __init__(self, changes: Mapping[str, Any] | Model | bytes, *, resource_version: str | None = None) -> None:
        if resource_version is not None:
            changes = _locked(changes, resource_version)
        self.body: bytes = changes if isinstance(changes, bytes) else encode_value(changes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.body.decode(errors='replace')})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.body == other.body

    def __hash__(self) -> int:
        return hash((type(self), self.body))


def _locked(changes: Mapping[str, Any] | Model | bytes, resource_version: str) -> dict[str, Any]:
    if not resource_version:
        rule = "is empty and would lock nothing"
        raise InvalidRequest("resource_version", resource_version, rule, "read the object first, or leave it out")
    plain: dict[str, Any] = msgspec.json.decode(changes if isinstance(changes, bytes) else encode_value(changes))
    plain["metadata"] = {**(plain.get("metadata") or {}), "resourceVersion": resource_version}
    return plain


class MergePatch(_ObjectPatch):
    """JSON merge patch (RFC 7386): `MergePatch({"status": {"ready": 3}})`. `None` removes a field; lists are replaced.

    Args:
        changes: a mapping (Models may stand anywhere in it), a Model, or JSON bytes that are sent as they are.
        resource_version: the version that the object must still have.
    """

    __slots__ = ()
    headers = _headers("application/merge-patch+json")

    @classmethod
    def between(
        cls, before: Mapping[str, Any], after: Mapping[str, Any], *, resource_version: str | None = None
    ) -> MergePatch:
        """The patch that turns `before` into `after`, both decoded JSON (`to_dict`)."""
        return cls(merge_diff(before, after) or {}, resource_version=resource_version)


class StrategicPatch(_ObjectPatch):
    """Strategic merge patch, as `MergePatch` with lists merged by their key. Not served for custom resources."""

    __slots__ = ()
    headers = _headers("application/strategic-merge-patch+json")


class JsonPatch:
    """JSON patch (RFC 6902): `JsonPatch([{"op": "add", "path": "/metadata/labels/a", "value": "b"}])`.

    The server takes up to 10,000 operations. A `test` that fails and a path that does not exist are `Invalid`.
    """

    __slots__ = ("body",)
    headers: ClassVar[PatchHeaders] = _headers("application/json-patch+json")

    def __init__(self, operations: Sequence[Mapping[str, Any]] | bytes) -> None:
        self.body: bytes = operations if isinstance(operations, bytes) else encode_value(list(operations))

    def __repr__(self) -> str:
        return f"JsonPatch({self.body.decode(errors='replace')})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonPatch) and self.body == other.body

    def __hash__(self) -> int:
        return hash((JsonPatch, self.body))


Patch: TypeAlias = MergePatch | JsonPatch | StrategicPatch
