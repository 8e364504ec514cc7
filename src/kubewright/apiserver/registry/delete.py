"""DELETE: one object, or a collection of them.

An object goes at once, unless somebody has to be waited for:

| who | what happens |
|---|---|
| finalizers (its own; `orphan`, `foregroundDeletion` by propagation policy) | `deletionTimestamp` is set, it stays |
| the kind's grace (a Pod that runs) | `deletionTimestamp` lies ahead, it stays until deleted with grace 0 |

The answer is a Status with the details of what went, or the object where it stays or the kind says so. Rules:
`registry/rest/delete.go`, `registry/generic/registry/store.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from msgspec.structs import replace

from ..bodies import JSON_TYPES, BadJson, read_body
from ..errors import StatusError, bad_request, conflict, not_found
from ..options import DeleteOptions, delete_options, list_options
from ..request import JSON, Response
from ..store import Entry, Missing, Moved
from ..strategy import timestamp
from .backend import Admission
from .call import Call
from .decoding import GO_HEAD, called_in_go, check_size, not_registered
from .lifecycle import check_deletion
from .lists import listed
from .served import as_served
from .storing import commit_change

__all__ = ["delete", "delete_collection", "delete_object"]

_ORPHAN: Final = "orphan"
_FOREGROUND: Final = "foregroundDeletion"
_PAGE: Final = 10_000
_BY_STEPS: Final = {
    ("", "namespaces"): "Precondition failed",
    ("apiextensions.k8s.io", "customresourcedefinitions"): "precondition failed",
}
"""Kinds with a deletion of their own, and how they say that a precondition does not hold."""


async def delete(call: Call) -> Response:
    """Answer a DELETE of an object."""
    options = _options(call)
    result, was_deleted = await delete_object(call, call.route.name, options)
    status = 202 if not was_deleted and options.orphan_dependents is False else 200
    if isinstance(result, Entry):
        return call.answer(status, call.representation.one(call.kind, result))
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": result}
    return call.answer(status, orjson.dumps(body) + b"\n", JSON)


async def delete_collection(call: Call) -> Response:
    """Answer a DELETE of a collection: with the list of what was there."""
    wanted = list_options(call.request.query)
    options = _options(call)
    page = await listed(call, replace(wanted, limit=wanted.limit or _PAGE))
    entries = list(page.entries)
    while page.token and not wanted.limit:
        going_on = replace(wanted, limit=_PAGE, continue_token=page.token, resource_version="", match="")
        page = await listed(call, going_on)
        entries += page.entries
    for entry in entries:
        meta = entry.object["metadata"]
        one = call.of(meta.get("namespace", ""), meta["name"])
        try:
            await delete_object(one, meta["name"], replace(options))
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        call.warnings += [each for each in one.warnings if each not in call.warnings]
    return call.answer(200, call.representation.many(call.kind, entries, page.meta))


def _options(call: Call) -> DeleteOptions:
    check_size(call)
    body: Mapping[str, Any] | None = None
    if call.request.body:
        try:
            read = read_body(
                call.request.body,
                call.request.headers.get("content-type", ""),
                strict=False,
                accepted=JSON_TYPES,
                protobuf=call.backend.protobuf,
            )
        except BadJson as error:
            raise bad_request(f"couldn't get version/kind; json parse error: {error}") from None
        if not isinstance(read.value, dict):
            said = f"json: cannot unmarshal {called_in_go(read.value)} into {GO_HEAD}"
            raise bad_request(f"couldn't get version/kind; json parse error: {said}")
        for name in ("kind", "apiVersion"):
            if not isinstance(found := read.value.get(name) or "", str):
                said = f"json: cannot unmarshal {called_in_go(found)} into Go struct field .{name} of type string"
                raise bad_request(f"couldn't get version/kind; json parse error: {said}")
        kind = read.value.get("kind") or "DeleteOptions"
        if kind != "DeleteOptions":
            version = read.value.get("apiVersion") or "meta.k8s.io/v1"
            raise bad_request(not_registered(kind, version))
        body = read.value
    return delete_options(call.request.query, body)


async def delete_object(
    call: Call, name: str, options: DeleteOptions, *, asks: bool = True
) -> tuple[Entry | dict[str, Any], bool]:
    """Delete an object: the object or the details of a Status, and whether it is gone.

    Args:
        asks: whether admission has a say; not where it has been asked about what leads to the deletion.

    Raises:
        StatusError: it is refused.
    """
    admission = call.admission if asks else None
    store, key = call.backend.store, call.key(name)
    check_deletion(call, name)
    while True:
        stored = store.get(call.resource, key)
        if stored is None:
            raise not_found(call.kind, name)
        _check_preconditions(call, name, stored, options)
        served = await as_served(call.kind, stored)
        try:
            return await _delete(call, name, stored, served, options, admission)
        except Moved:
            continue
        except Missing:
            raise not_found(call.kind, name) from None


def _check_preconditions(call: Call, name: str, stored: Entry, options: DeleteOptions) -> None:
    meta = stored.object["metadata"]
    steps = _BY_STEPS.get((call.kind.group, call.kind.plural))
    for called, said, found, why in (
        ("UID", options.uid, meta.get("uid", ""), "deleted and then recreated"),
        ("ResourceVersion", options.resource_version, str(stored.revision), "modified"),
    ):
        if said is not None and said != found:
            if steps is not None:
                text = f"{steps}: {called} in precondition: {said}, {called} in object meta: {found}"
                raise conflict(call.kind, name, text)
            text = f"the {called} in the precondition ({said}) does not match the {called} in record ({found})."
            raise conflict(_ByKind(call), name, f"{text} The object might have been {why}")


class _ByKind:
    """Errors of deletion preconditions name the kind where others name the resource."""

    def __init__(self, call: Call) -> None:
        self.group, self.plural, self.kind = call.kind.group, call.kind.kind, call.kind.kind


async def _delete(
    call: Call, name: str, stored: Entry, served: Entry, options: DeleteOptions, admission: Admission | None
) -> tuple[Entry | dict[str, Any], bool]:
    backend = call.backend
    context = call.context(name, is_dry_run=options.is_dry_run, options=options.given)
    begun = call.kind.strategy.begin_delete(served.object, context)
    if begun is not None:
        await _ask(admission, call, name, served, options)
        return await _step(call, stored, served, begun, options), False
    new, is_graceful, is_pending = _marked(call, served.object, options)
    if is_pending:
        return _result(call, served), False
    meta = new["metadata"]
    before = served.object["metadata"]
    finalizers = _finalizers(call, before, options)
    if finalizers:
        meta["finalizers"] = finalizers
    else:
        meta.pop("finalizers", None)
    grace = meta.get("deletionGracePeriodSeconds") if is_graceful else None
    await _ask(admission, call, name, served, options, grace)
    if finalizers and not is_graceful:
        _mark_as_deleting(meta, backend.now())
    grace = meta.get("deletionGracePeriodSeconds")
    stays = bool(finalizers) or (is_graceful and bool(grace))
    if not stays:
        if is_graceful and not options.is_dry_run:
            # Watchers see it go in two steps, as from a kind that has grace: first marked, then removed.
            await commit_change(call, stored.key, new, stored)
            stored = call.backend.store.get(call.resource, stored.key) or stored
            if admission is not None:
                await _ask(admission, call, name, await as_served(call.kind, stored), options, grace)
        if options.is_dry_run:
            last = Entry(stored.key, new, stored.revision) if is_graceful else stored
        else:
            last = _removed(call, stored)
        return _result(call, last if call.kind.converter is None else await as_served(call.kind, last)), True
    if new == served.object:
        return served, False
    if options.is_dry_run:
        return Entry(stored.key, new, stored.revision), False
    return await commit_change(call, stored.key, new, stored), False


async def _step(call: Call, stored: Entry, served: Entry, new: dict[str, Any], options: DeleteOptions) -> Entry:
    """The first step of a kind that goes by steps of its own."""
    if new is served.object:
        return served
    if options.is_dry_run:
        return Entry(stored.key, new, stored.revision)
    return await commit_change(call, stored.key, new, stored)


async def _ask(
    admission: Admission | None,
    call: Call,
    name: str,
    served: Entry,
    options: DeleteOptions,
    grace_seconds: int | None = None,
) -> None:
    """Raises StatusError: admission is against it. `grace_seconds` are those of a kind that goes gracefully."""
    if admission is None:
        return
    given = {**(options.given or {}), "kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    if grace_seconds is not None:
        given["gracePeriodSeconds"] = grace_seconds
    # What goes as one of a collection has no name in the question.
    said = "" if call.verb == "deletecollection" else name
    attributes = call.attributes("DELETE", said, None, served.object, given, options.is_dry_run)
    await admission.admit(attributes)
    await admission.validate(attributes)


def _removed(call: Call, stored: Entry) -> Entry:
    return call.backend.store.delete(call.resource, stored.key, stored)


def _result(call: Call, entry: Entry) -> Entry | dict[str, Any]:
    if call.kind.strategy.returns_deleted_object:
        return entry
    meta = entry.object["metadata"]
    details = {"name": meta["name"], "group": call.kind.group, "kind": call.kind.plural, "uid": meta.get("uid", "")}
    return {name: each for name, each in details.items() if each}


def _marked(call: Call, obj: dict[str, Any], options: DeleteOptions) -> tuple[dict[str, Any], bool, bool]:
    """A copy that may be changed at the top of its metadata; whether it goes gracefully, and whether it does
    already."""
    new = {**obj, "metadata": dict(obj["metadata"])}
    meta = new["metadata"]
    requested = options.grace_seconds
    if requested is not None and requested < 0:
        requested = 1
    now = call.backend.now()
    present = meta.get("deletionGracePeriodSeconds")
    if meta.get("deletionTimestamp"):
        if not present:
            return new, False, False
        if requested is None or requested >= present:
            return new, False, True
        moved = _time(meta["deletionTimestamp"]) + timedelta(seconds=requested - present)
        if moved < now:
            moved, requested = now, min(requested, 1)
        meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = timestamp(moved), requested
        return new, True, False
    context = call.context(meta["name"], is_dry_run=options.is_dry_run, options=options.given)
    grace = call.kind.strategy.grace(obj, requested, context)
    if grace.seconds is None:
        return new, False, False
    meta["deletionTimestamp"] = timestamp(now + timedelta(seconds=grace.seconds))
    meta["deletionGracePeriodSeconds"] = grace.seconds
    if meta.get("generation", 0) > 0:
        meta["generation"] += 1
    return new, True, False


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _mark_as_deleting(meta: dict[str, Any], now: datetime) -> None:
    """Somebody has to be waited for, and the kind has no grace of its own."""
    present = meta.get("deletionTimestamp")
    if not present and meta.get("generation", 0) > 0:
        meta["generation"] += 1
    if not present or _time(present) > now:
        meta["deletionTimestamp"] = timestamp(now)
    meta["deletionGracePeriodSeconds"] = 0


def _finalizers(call: Call, meta: dict[str, Any], options: DeleteOptions) -> list[str]:
    """The finalizers with those that propagation asks for."""
    found: list[str] = list(meta.get("finalizers") or ())
    if call.kind.strategy.default_propagation == "Unsupported":
        return [each for each in found if each not in (_ORPHAN, _FOREGROUND)]
    kept = [each for each in found if each not in (_ORPHAN, _FOREGROUND)]
    wanted = _propagation(call, found, options)
    if wanted == "Orphan":
        kept.append(_ORPHAN)
    elif wanted == "Foreground":
        kept.append(_FOREGROUND)
    return found if set(kept) == set(found) else kept


def _propagation(call: Call, finalizers: list[str], options: DeleteOptions) -> str:
    if options.orphan_dependents is not None:
        return "Orphan" if options.orphan_dependents else "Background"
    if options.propagation:
        return options.propagation
    for each in finalizers:
        if each == _ORPHAN:
            return "Orphan"
        if each == _FOREGROUND:
            return "Foreground"
    return call.kind.strategy.default_propagation
