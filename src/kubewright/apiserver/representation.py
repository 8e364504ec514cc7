"""How objects are written for a client: as they are, or metadata only, or as another colleague of this protocol says.

A `Representation` turns objects as they are served (`Entry`: the object in the version that was asked for, and its
JSON) into bytes. It has a `key`: events that are encoded alike are encoded once and shared by all watchers of that key.

Lists are joined from bytes that are there already. Lists of built-in kinds leave `apiVersion` and `kind` out of their
items, as Go's typed lists do; those of custom resources do not.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, Protocol

import orjson

from .catalog import ResourceType
from .errors import StatusError
from .request import JSON
from .store import Entry

__all__ = [
    "AS_IS",
    "METADATA",
    "METADATA_LIST",
    "AsIs",
    "AsYaml",
    "MetadataOfList",
    "MetadataOnly",
    "Representation",
    "list_meta",
]


class Representation(Protocol):
    """One form of answer. Stateless; may be shared by all requests."""

    @property
    def key(self) -> Hashable:
        """Equal for representations that encode alike."""

    @property
    def content_type(self) -> str:
        """Of the answer."""

    def one(self, kind: ResourceType, entry: Entry) -> bytes:
        """An object as the answer to a get or a write."""

    def many(self, kind: ResourceType, entries: Sequence[Entry], meta: Mapping[str, Any]) -> bytes:
        """A list. `meta` is its metadata."""

    def in_event(self, kind: ResourceType, entry: Entry, *, is_first: bool) -> bytes:
        """An object in a watch event. `is_first`: it is the first event of its watch (a Table has headers there)."""


def list_meta(revision: int, token: str = "", remaining: int | None = None) -> dict[str, Any]:
    """The metadata of a list."""
    meta: dict[str, Any] = {"resourceVersion": str(revision)}
    if token:
        meta["continue"] = token
    if remaining is not None:
        meta["remainingItemCount"] = remaining
    return meta


def _joined(kind: str, api_version: str, meta: Mapping[str, Any], items: Sequence[bytes]) -> bytes:
    head = orjson.dumps({"kind": kind, "apiVersion": api_version, "metadata": meta})
    return b"".join((head[:-1], b',"items":[', b",".join(items), b"]}\n"))


class AsIs:
    """The object itself, as JSON."""

    key: Hashable = "json"
    content_type = JSON

    def one(self, kind: ResourceType, entry: Entry) -> bytes:
        return entry.json + b"\n"

    def many(self, kind: ResourceType, entries: Sequence[Entry], meta: Mapping[str, Any]) -> bytes:
        if kind.is_custom:
            meta = {"continue": "", **meta}
            return _joined(kind.list_kind, kind.api_version, meta, [each.json for each in entries])
        head = orjson.dumps({"kind": kind.kind, "apiVersion": kind.api_version})[:-1] + b","
        return _joined(kind.list_kind, kind.api_version, meta, [_without(head, each) for each in entries])

    def in_event(self, kind: ResourceType, entry: Entry, *, is_first: bool) -> bytes:
        return entry.json


def _without(head: bytes, entry: Entry) -> bytes:
    """The JSON of an object without its kind and version, which it mostly starts with."""
    encoded = entry.json
    if encoded.startswith(head):
        return b"{" + encoded[len(head) :]
    return orjson.dumps({name: each for name, each in entry.object.items() if name not in ("apiVersion", "kind")})


_META_VERSION: Final = "meta.k8s.io/v1"


class MetadataOnly:
    """PartialObjectMetadata, of meta.k8s.io/v1 or v1beta1. Not for lists, which have a kind of their own."""

    content_type = JSON

    def __init__(self, api_version: str = _META_VERSION) -> None:
        self.api_version = api_version
        self.key: Hashable = ("metadata", api_version)

    def _object(self, entry: Entry) -> bytes:
        made = {
            "kind": "PartialObjectMetadata",
            "apiVersion": self.api_version,
            "metadata": entry.object.get("metadata") or {},
        }
        return orjson.dumps(made)

    def one(self, kind: ResourceType, entry: Entry) -> bytes:
        return self._object(entry) + b"\n"

    def many(self, kind: ResourceType, entries: Sequence[Entry], meta: Mapping[str, Any]) -> bytes:
        raise _misfit("PartialObjectMetadata, but the requested object is a list", kind, kind.list_kind)

    def in_event(self, kind: ResourceType, entry: Entry, *, is_first: bool) -> bytes:
        return self._object(entry)


class MetadataOfList(MetadataOnly):
    """PartialObjectMetadataList. Not for single objects, so a watch that asks for it ends with its first event."""

    def one(self, kind: ResourceType, entry: Entry) -> bytes:
        raise _misfit("PartialObjectMetadataList, but the requested object is not a list", kind, kind.kind)

    def many(self, kind: ResourceType, entries: Sequence[Entry], meta: Mapping[str, Any]) -> bytes:
        return _joined("PartialObjectMetadataList", self.api_version, meta, [self._object(each) for each in entries])

    def in_event(self, kind: ResourceType, entry: Entry, *, is_first: bool) -> bytes:
        return self.one(kind, entry)


def _misfit(why: str, kind: ResourceType, name: str) -> StatusError:
    """The refusal names the Go type, which is of the package of the group."""
    if kind.is_custom:
        found = "unstructured.UnstructuredList" if name == kind.list_kind else "unstructured.Unstructured"
    else:
        group = kind.storage.group
        found = f"{_GO_PACKAGES.get(group) or group.partition('.')[0]}.{name}"
    return StatusError(406, "NotAcceptable", f"you requested {why} (*{found})")


_GO_PACKAGES: Final = {"": "core", "events.k8s.io": "core", "internal.apiserver.k8s.io": "apiserverinternal"}


class AsYaml:
    """The object as YAML; there are no watches in YAML."""

    key: Hashable = "yaml"
    content_type = "application/yaml"

    def one(self, kind: ResourceType, entry: Entry) -> bytes:
        return _yaml(entry.object)

    def many(self, kind: ResourceType, entries: Sequence[Entry], meta: Mapping[str, Any]) -> bytes:
        return _yaml(orjson.loads(AS_IS.many(kind, entries, meta)))

    def in_event(self, kind: ResourceType, entry: Entry, *, is_first: bool) -> bytes:
        return entry.json


def _yaml(value: Any) -> bytes:
    import yaml  # it takes longer to load than most servers live

    return str(yaml.safe_dump(value, sort_keys=True, allow_unicode=True)).encode()


AS_IS: Final = AsIs()
METADATA: Final = MetadataOnly()
METADATA_LIST: Final = MetadataOfList()
AS_YAML: Final = AsYaml()
