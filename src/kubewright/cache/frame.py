"""From the bytes of a watch line or a list page to entries, without building the objects.

Owns the wire shapes of `WatchEvent`, `List` and `Status`, and the cut of `metadata.managedFields` (a fifth to a half of
an object's bytes, which no operator reads). Refuses to know stores, retries and kinds. Pure functions.

Two paths with one result. The fast one recognises what Go's encoder writes by its exact bytes and never looks at the
rest of the line. The slow one accepts any JSON: white space, any order, escapes, repeated keys (the last one counts, as
in every JSON library). A fast step is taken only where it cannot differ:

    step            taken when
    type, object    the line is `{"type":"T","object":` + one complete JSON object + `}`; that the middle is one is
                    checked by decoding it, which is needed anyway
    cut             `"managedFields"` stands once outside the part that is cut, before a colon and exactly the bytes
                    that were decoded as metadata.managedFields, and no `\\u00XX` could spell that key differently

What no decoder reads (`salvage`) is taken apart by its brackets, so that one such object does not hide the others.

The rejected alternative, to decode the event with the object as `msgspec.Raw` and that again for its metadata, reads
each byte twice: 5.9 microseconds for a 3 KB event in place of 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from sys import intern
from typing import cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from kubewright.model import Key

from .entry import Entry
from .salvage import elements, may_be_json, members

__all__ = ["Bookmark", "ErrorStatus", "Garbled", "Page", "Removed", "Unreadable", "Upserted", "WatchEvent"]
__all__ += ["entry_of", "read_items", "read_line", "read_page"]

# The annotation that ends the initial events of a watch with sendInitialEvents (KEP-3157).
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
# The cause that tells a version from the future (a cache that lags, an etcd restored from a backup) from a timeout.
TOO_LARGE = "ResourceVersionTooLarge"


class Garbled(ValueError):
    """A line or a page is not what the API sends: broken JSON, or no event, list or table of objects at all."""


class Upserted(Struct, frozen=True, gc=False):
    """An object was added to what is watched, or changed (events ADDED and MODIFIED)."""

    entry: Entry


class Removed(Struct, frozen=True, gc=False):
    """An object was deleted, or no longer matches the selector. `entry` is its last state."""

    entry: Entry


class Bookmark(Struct, frozen=True, gc=False):
    """Everything up to `resource_version` has been sent. `initial_events_end`: the initial state is complete."""

    resource_version: str
    initial_events_end: bool = False


class ErrorStatus(Struct, frozen=True, gc=False):
    """The server ends the watch with a `Status`. `code` is 0 and `after_seconds` None where it has none."""

    code: int
    reason: str
    message: str
    after_seconds: float | None = None


class Unreadable(Struct, frozen=True, gc=False):
    """One object whose metadata is not what Kubernetes promises; the others are unaffected.

    `key` is None where even name and namespace cannot be read; `removed` tells that the event was its deletion.
    `data` are the bytes as they came, `problem` says what is wrong with them.
    """

    key: Key | None
    problem: str
    data: bytes
    removed: bool = False


WatchEvent = Upserted | Removed | Bookmark | ErrorStatus | Unreadable


class Page(Struct, frozen=True):
    """One page of a list. `items` are the objects' bytes, undecoded views into the page."""

    resource_version: str
    continue_token: str
    items: list[Raw]


class _Meta(Struct, gc=False):
    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = field(default=None, name="resourceVersion")
    generation: int | None = None
    managed_fields: Raw | UnsetType = field(default=UNSET, name="managedFields")


class _Object(Struct, gc=False):
    metadata: _Meta | None = None


class _Line(Struct):
    type: str
    object: Raw


class _ListMeta(Struct):
    resource_version: str | None = field(default=None, name="resourceVersion")
    continue_token: str | None = field(default=None, name="continue")


class _List(Struct):
    items: list[Raw] | UnsetType | None = UNSET
    kind: str | None = None
    metadata: _ListMeta | None = None


class _BookmarkMeta(Struct):
    resource_version: str = field(name="resourceVersion")
    annotations: dict[str, str] | None = None


class _BookmarkObject(Struct):
    metadata: _BookmarkMeta


class _Cause(Struct):
    reason: str | None = None


class _Details(Struct):
    causes: list[_Cause] | None = None
    retry_after_seconds: float | None = field(default=None, name="retryAfterSeconds")


class _Status(Struct):
    code: int | None = None
    reason: str | None = None
    message: str | None = None
    details: _Details | None = None


class _KeyMeta(Struct):
    name: str
    namespace: str | None = None


class _KeyObject(Struct):
    metadata: _KeyMeta


_decode_object = msgspec.json.Decoder(_Object).decode
_decode_line = msgspec.json.Decoder(_Line).decode
_decode_list = msgspec.json.Decoder(_List).decode
_decode_bookmark = msgspec.json.Decoder(_BookmarkObject).decode
_decode_status = msgspec.json.Decoder(_Status).decode
_decode_key = msgspec.json.Decoder(_KeyObject).decode
_decode_fields = msgspec.json.Decoder(dict[str, Raw]).decode

_MANAGED = b'"managedFields"'
_COLON = ord(":")
_ESCAPED_LETTER = re.compile(rb"\\u00[4-7]")  # all letters of the key lie in U+0040..U+007F


def read_line(line: bytes) -> WatchEvent:
    """One line of a watch as an event.

    Raises:
        Garbled: not a watch event: nothing can be said about any object.
    """
    # `{"type":"` has 9 bytes, `","object":` 11: what Go writes. A type with an escape in it is in none of the names.
    end = line.find(b'"', 9)
    if line.startswith(b'","object":', end) and line.startswith(b'{"type":"'):
        kind = line[9:end]
        last = -2 if line.endswith(b"}\n") else -1 if line.endswith(b"}") else 0
        try:
            if kind == b"MODIFIED" or kind == b"ADDED":
                return Upserted(entry_of(line[end + 11 : last]))
            if kind == b"DELETED":
                return Removed(entry_of(line[end + 11 : last]))
        except (ValueError, RecursionError):
            pass  # another shape than the fast path knows, or a bad object: the slow path tells which
    return _read_any_line(line)


def _read_any_line(line: bytes) -> WatchEvent:
    try:
        event = _decode_line(line)
    except (msgspec.DecodeError, RecursionError) as error:
        event = _salvage_line(line, error)
    data = bytes(event.object)
    try:
        if event.type == "ADDED" or event.type == "MODIFIED":
            return Upserted(entry_of(data))
        if event.type == "DELETED":
            return Removed(entry_of(data))
        if event.type == "BOOKMARK":
            return _read_bookmark(data)
        if event.type == "ERROR":
            return _read_status(data)
    except (ValueError, RecursionError) as error:
        return Unreadable(_key_of(data), str(error), data, removed=event.type == "DELETED")
    known = "ADDED, MODIFIED, DELETED, BOOKMARK, ERROR"
    return Unreadable(_key_of(data), f"type: {event.type!r} is none of {known}", data)


def _salvage_line(line: bytes, error: Exception) -> _Line:
    if may_be_json(line):
        try:
            fields = members(line)
            return _Line(msgspec.json.decode(fields["type"], type=str), Raw(fields["object"]))
        except (ValueError, KeyError):
            pass
    raise Garbled(f"not a watch event: {error}: {_excerpt(line)}")


def _read_bookmark(data: bytes) -> Bookmark:
    meta = _decode_bookmark(data).metadata
    return Bookmark(meta.resource_version, (meta.annotations or {}).get(INITIAL_EVENTS_END) == "true")


def _read_status(data: bytes) -> ErrorStatus:
    try:
        status = _decode_status(data)
    except (msgspec.DecodeError, RecursionError) as error:
        # The server gave up on this watch, whatever it says: an error event is never just an unreadable object.
        return ErrorStatus(0, "", f"{error}: {_excerpt(data)}")
    details = status.details or _Details()
    reason = status.reason or ""
    if any(cause.reason == TOO_LARGE for cause in details.causes or ()):
        reason = TOO_LARGE  # the reason of the Status is just Timeout
    return ErrorStatus(status.code or 0, reason, status.message or "", details.retry_after_seconds)


def read_page(data: bytes) -> Page:
    """A page of a list, its items undecoded. `items: null` is an empty page (Go writes an empty slice so).

    Raises:
        Garbled: no list: broken JSON, or a Table, which an Accept header asked for.
    """
    try:
        page = _decode_list(data)
    except (msgspec.DecodeError, RecursionError) as error:
        page = _salvage_list(data, error)
    if page.items is UNSET:
        raise Garbled(f"not a list: kind {page.kind or 'unknown'} has no items: {_excerpt(data)}")
    meta = page.metadata or _ListMeta()
    return Page(meta.resource_version or "", meta.continue_token or "", cast("list[Raw]", page.items or []))


def _salvage_list(data: bytes, error: Exception) -> _List:
    if may_be_json(data):
        try:
            fields = members(data)
            meta = msgspec.json.decode(fields.get("metadata", b"null"), type=_ListMeta | None)
            return _List([Raw(item) for item in elements(fields["items"])], None, meta)
        except (ValueError, KeyError):
            pass
    raise Garbled(f"not a list: {error}: {_excerpt(data)}")


def read_items(items: Iterator[Raw], limit: int) -> list[Entry | Unreadable]:
    """The next `limit` items (fewer at the end) as entries; an item that cannot be read comes back as such."""
    found: list[Entry | Unreadable] = []
    for item in items:
        data = bytes(item)
        try:
            found.append(entry_of(data))
        except (ValueError, RecursionError) as error:
            found.append(Unreadable(_key_of(data), str(error), data))
        if len(found) >= limit:
            break
    return found


def entry_of(data: bytes) -> Entry:
    """An object's JSON as an entry, with managedFields cut out. Absent and null fields read as Go's zero values.

    Raises:
        ValueError: not one JSON object, or its metadata has no name, or a field of it has the wrong type.
        RecursionError: nested deeper than the decoder's stack.
    """
    meta = _decode_object(data).metadata
    if meta is None or not meta.name:
        raise ValueError("metadata.name: missing; every object of a list or watch has one")
    managed = meta.managed_fields
    if managed is not UNSET:
        data = _cut(data, bytes(managed))
    return Entry(
        # A cluster has few namespaces and many objects: one string for all of them.
        intern(meta.namespace or ""),
        meta.name,
        meta.uid or "",
        meta.resource_version or "",
        meta.generation or 0,
        data,
    )


def _cut(data: bytes, managed: bytes) -> bytes:
    """`data` without metadata.managedFields, whose value is known to be `managed`."""
    start = data.find(_MANAGED)
    end = start + 16 + len(managed)
    if (
        start > 0
        and data[start + 15] == _COLON
        and data.startswith(managed, start + 16)
        and data.rfind(_MANAGED, end) < 0
    ):
        # One comma goes with the key: the one behind, or for the last key the one in front.
        if data.startswith(b",", end):
            rest = data[:start] + data[end + 1 :]
        elif data.startswith(b",", start - 1):
            rest = data[: start - 1] + data[end:]
        else:
            return _cut_slowly(data)
        if b"\\" not in rest or not _ESCAPED_LETTER.search(rest):
            return rest
    return _cut_slowly(data)


def _cut_slowly(data: bytes) -> bytes:
    fields = _decode_fields(data)
    meta = _decode_fields(fields["metadata"])
    del meta["managedFields"]
    fields["metadata"] = Raw(msgspec.json.encode(meta))
    return msgspec.json.encode(fields)


def _key_of(data: bytes) -> Key | None:
    try:
        meta = _decode_key(b'{"metadata":%b}' % members(data)["metadata"]).metadata
    except (ValueError, KeyError, RecursionError):
        return None
    return Key(meta.namespace or "", meta.name) if meta.name else None


def _excerpt(data: bytes) -> str:
    text = data[:120].decode("utf-8", "replace")
    return repr(text if len(data) <= 120 else text + "...")
