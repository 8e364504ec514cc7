"""The last steps of every write: to the storage version, compare, commit; and the loop around them.

A write reads the present object, makes the new one and commits it if nobody was faster in between. In between somebody
can only be faster where something was awaited (admission, a conversion webhook); then the write starts over, as
`GuaranteedUpdate` does.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

import orjson

from kubewright.schema.structural.values import as_stored, same

from ..errors import StatusError, conflict, not_found, request_timeout
from ..store import Entry, Missing, Moved
from .call import Call
from .served import as_served, as_served_now, remember

__all__ = ["Gone", "Unchanged", "commit_change", "guaranteed", "to_storage"]

_MOST_TRIES: Final = 1_000
_WHOLE: Final = re.compile(rb"[0-9]\.0[,}\]]|[0-9]e[+-]?[0-9]")
"""A number that has a fraction of zero, or an exponent."""


class Unchanged(Exception):
    """Raised by a step of `guaranteed` to say that there is nothing to write."""


class Gone(Exception):
    """Raised by a step to say that the object goes instead. `obj` is what the caller is answered."""

    def __init__(self, obj: dict[str, Any]) -> None:
        super().__init__()
        self.obj = obj


Step = Callable[[Entry, Entry, bool], Awaitable[dict[str, Any]]]
"""`(stored, as served, is first try)` to the new object in the version of the request."""


async def to_storage(call: Call, obj: dict[str, Any]) -> dict[str, Any]:
    """An object in the version that it is kept in."""
    kind = call.kind
    if kind.converter is None or kind.is_stored_version:
        return obj
    made = kind.converter.convert_now(obj, kind.storage.api_version)
    if made is None:
        made = (await kind.converter.convert([obj], kind.storage.api_version))[0]
    return made


async def guaranteed(
    call: Call, name: str, step: Step, *, is_dry_run: bool, check: Callable[[Entry], None] | None = None
) -> Entry:
    """Change an object; gives the new one as it is served.

    Args:
        check: raises where the object is not the one that was meant; asked before each try.

    Raises:
        StatusError: it is not there, or `step` refuses.
        Gone: from `step`.
    """
    store, resource, key = call.backend.store, call.resource, call.key(name)
    for attempt in range(_MOST_TRIES):
        stored = store.get(resource, key)
        if stored is None:
            raise not_found(call.kind, name)
        if check is not None:
            check(stored)
        served = await as_served(call.kind, stored)
        new = as_kept(call, await step(stored, served, attempt == 0))
        if is_same_object(new, served.object):
            return served
        if is_dry_run:
            return await as_if_written(call, key, new, stored.revision)
        try:
            return await commit_change(call, key, new, stored)
        except Moved:
            continue
        except Missing:
            raise not_found(call.kind, name) from None
    raise request_timeout("the object is changed by others faster than it can be written")


def as_kept(call: Call, obj: dict[str, Any]) -> dict[str, Any]:
    """An object after its way through JSON, where whole numbers are integers; typed kinds have done that on reading."""
    return as_stored(obj) if call.kind.is_custom and _WHOLE.search(orjson.dumps(obj)) else obj


def is_same_object(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether a write changes nothing. The fast comparison takes 1 for true, so a second one looks again."""
    return new == old and same(new, old)


async def commit_change(call: Call, key: str, new: dict[str, Any], stored: Entry) -> Entry:
    """Write over what is stored. Raises Moved, Missing."""
    made = await to_storage(call, new)
    check_object_size(call, made)
    entry = call.backend.store.update(call.resource, key, made, stored)
    return as_written(call, entry, new)


def as_written(call: Call, entry: Entry, obj: dict[str, Any]) -> Entry:
    """What was just stored, as it is served: without converting it back, where that would change nothing."""
    kind = call.kind
    if kind.converter is None:
        return entry
    if kind.converter.reads_otherwise(kind.api_version) and (view := as_served_now(kind, entry)) is not None:
        return view
    if obj is entry.object:
        return remember(kind, entry, entry)
    obj["metadata"]["resourceVersion"] = str(entry.revision)
    return remember(kind, entry, Entry(entry.key, obj, entry.revision))


async def as_if_written(call: Call, key: str, obj: dict[str, Any], revision: int) -> Entry:
    """What a dry run answers: an object after the way to the storage and back."""
    kind = call.kind
    if kind.converter is not None and kind.converter.reads_otherwise(kind.api_version):
        view = as_served_now(kind, Entry(key, await to_storage(call, obj), revision))
        if view is not None:
            return view
    return Entry(key, obj, revision)


def check_object_size(call: Call, obj: dict[str, Any]) -> None:
    """Raises StatusError: larger than etcd takes. Small bodies make no large objects, so mostly nothing is measured."""
    limit = call.backend.max_object_bytes
    if limit and len(call.request.body) > limit // 4 and len(Entry("", obj, 0).json) > limit:
        raise StatusError(500, "", "etcdserver: request is too large")


def precondition(
    call: Call, name: str, uid: str | None, version: str | None = None, *, is_dry_run: bool = False
) -> Callable[[Entry], None] | None:
    """A check that the stored object is the one that was meant (`storage.Preconditions`)."""
    if uid is None and version is None:
        return None

    def check(entry: Entry) -> None:
        meta = entry.object["metadata"]
        for called, wanted, found in (("UID", uid, meta.get("uid")), ("ResourceVersion", version, str(entry.revision))):
            if wanted is not None and wanted != found:
                said = f"Precondition failed: {called} in precondition: {wanted}, {called} in object meta: {found}"
                key = call.shown_key(name, is_dry_run=is_dry_run)
                shown = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
                raise conflict(call.kind, name, f"{shown}AdditionalErrorMsg: {said}")

    return check
