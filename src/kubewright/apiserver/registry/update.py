"""PUT: a changed object over the one that is there; and what every change goes through, PATCH too.

| step | refused with |
|---|---|
| uid as stored, if it says one | 409 |
| `resourceVersion` as stored; none only where the kind overwrites | 409, 422 |
| what no update changes is put back; the kind prepares | |
| what all kinds share and the kind's own rules | 422 |
| nothing differs: nothing is written | |
| it was being deleted and the last finalizer is gone: it is removed | |

Rules: `registry/generic/registry/store.go`, `registry/rest/update.go`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from kubewright.schema.structural.fielderrors import invalid as invalid_field
from kubewright.schema.structural.gotext import quoted
from kubewright.schema.structural.values import copied

from ..catalog import View
from ..errors import StatusError, conflict, internal, invalid_object, invalid_of, resource_name
from ..options import WriteOptions, revision, write_options
from ..request import Response
from ..store import Entry, Missing, Moved
from ..strategy import Context, changed_meta_errors, changes_metadata
from .call import Call
from .create import create_object, given_options, track
from .decoding import decode_object
from .metadata import check_name, dedupe_owners, ensure_namespace, generic_errors, keep_system_fields, meta_of
from .storing import Gone, guaranteed, precondition

__all__ = ["Shown", "change", "update"]

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"

Make = Callable[[Entry, bool], Awaitable[dict[str, Any]]]
"""`(the object as served, is first try)` to the wanted object: a fresh one each time."""


class Shown(Struct):
    """A change of an object through a view of it: admission sees the view, as it was `before` and as it is `wanted`."""

    view: View
    before: dict[str, Any] = field(default_factory=dict)
    wanted: dict[str, Any] = field(default_factory=dict)


async def update(call: Call) -> Response:
    """Answer a PUT of an object."""
    options = write_options(call.request.query, "UpdateOptions")
    obj = decode_object(call, options.field_validation)
    meta, name = meta_of(obj), call.route.name
    ensure_namespace(call.kind, meta, call.route.namespace)
    check_name(meta, name)
    dedupe_owners(meta, call.warn)

    async def make(live: Entry, is_first: bool) -> dict[str, Any]:
        # A second try needs an object that the first has not prepared; reading it again is rarer than copying it.
        fresh = obj if is_first else decode_object(call, "Ignore")
        if not is_first:
            ensure_namespace(call.kind, meta_of(fresh), call.route.namespace)
        track(call, live.object, fresh, options)
        return fresh

    uid = meta.get("uid") or None
    if call.strategy.allows_create_on_update and call.backend.store.get(call.resource, call.key(name)) is None:
        if uid is not None:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
            key = call.shown_key(name, is_dry_run=options.is_dry_run)
            shown = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
            raise conflict(call.kind, name, f"{shown}AdditionalErrorMsg: {why}")
        _version_of(meta)
        said = meta.pop("resourceVersion", None)
        # A status that creates its object makes the whole of it, by the rules of the kind.
        created = await create_object(replace(call, subresource=None), obj, options)
        if options.is_dry_run and said:
            # What was not stored was not stripped either.
            created.object["metadata"]["resourceVersion"] = said
        return call.answer(201, call.representation.one(call.kind, created))
    entry = await change(call, name, make, options, uid=uid)
    return call.answer(200, call.representation.one(call.kind, entry))


async def change(
    call: Call,
    name: str,
    make: Make,
    options: WriteOptions,
    *,
    uid: str | None = None,
    shown: Shown | None = None,
) -> Entry:
    """Change an object; gives the new one as it is served.

    Args:
        make: the wanted object, from the present one.
        uid: of the object that is meant; None for any.
        shown: what admission sees of the object, where the request is for a view of it.

    Raises:
        StatusError: it is not there, or the change is refused.
    """

    async def step(stored: Entry, served: Entry, is_first: bool) -> dict[str, Any]:
        new = await make(served, is_first)
        new = await _checked(call, name, new, served, options, shown)
        if _is_finished(new, stored.object) and not call.kind.strategy.keeps(new, served.object):
            raise Gone(new)
        return new

    try:
        check = precondition(call, name, uid, is_dry_run=options.is_dry_run)
        return await guaranteed(call, name, step, is_dry_run=options.is_dry_run, check=check)
    except Gone as gone:
        return _remove(call, name, gone.obj, options)


async def _checked(
    call: Call, name: str, new: dict[str, Any], served: Entry, options: WriteOptions, shown: Shown | None
) -> dict[str, Any]:
    """The object as it may be stored. Raises StatusError."""
    old = served.object
    admission = call.admission
    if admission is not None:
        given = given_options("UpdateOptions", options)
        if shown is None:
            attributes = call.attributes("UPDATE", name, new, old, given, options.is_dry_run)
            await admission.admit(attributes)
            new = attributes.object or new
        else:
            wanted = copied(shown.wanted)
            attributes = call.attributes("UPDATE", name, wanted, shown.before, given, options.is_dry_run)
            await admission.admit(attributes)
            if attributes.object is not None and attributes.object != shown.wanted:
                new = shown.view.write(attributes.object, new)
        dedupe_owners(meta_of(new), call.warn, after_admission=True)
    if call.kind.guard is not None:
        call.kind.guard(call, new, old)
    _check_version(call, name, meta_of(new), served)
    context = call.context(name, is_dry_run=options.is_dry_run)
    prepare_change(call, new, old, context)
    if admission is not None:
        seen = (new, old) if shown is None else (shown.view.read(new), shown.view.read(old))
        await admission.validate(call.attributes("UPDATE", name, *seen, given, options.is_dry_run))
    _ignore_times_of_managers(new["metadata"], old["metadata"])
    return new


def _version_of(meta: dict[str, Any]) -> int:
    """The version that the object says, 0 for none. Raises StatusError if it is no number."""
    said = meta.get("resourceVersion", "")
    try:
        return revision(said) if said else 0
    except ValueError as error:
        raise StatusError(500, "", str(error).partition(f"{quoted(said)}: ")[2]) from None


def _check_version(call: Call, name: str, meta: dict[str, Any], served: Entry) -> None:
    wanted = _version_of(meta)
    if wanted:
        if wanted != served.revision:
            raise conflict(call.kind, name, MODIFIED)
    elif not call.strategy.allows_unconditional_update:
        errors = [invalid_field("metadata.resourceVersion", 0, "must be specified for an update")]
        raise invalid_of(resource_name(call.kind), call.kind.group, call.kind.plural, name, errors)
    meta["resourceVersion"] = str(served.revision)


def prepare_change(call: Call, new: dict[str, Any], old: dict[str, Any], context: Context) -> None:
    """Put back what does not change, let the kind prepare, and check. Raises StatusError."""
    strategy, kind, meta, before = call.strategy, call.kind, new["metadata"], old["metadata"]
    ensure_namespace(kind, meta, call.route.namespace)
    if "generation" in before:
        meta["generation"] = before["generation"]
    else:
        meta.pop("generation", None)
    strategy.prepare_update(new, old, context)
    meta = new["metadata"]
    keep_system_fields(meta, before)
    errors = generic_errors(meta, namespaced=kind.namespaced) if changes_metadata(meta, before) else []
    errors += changed_meta_errors(meta, before)
    errors += strategy.metadata_update_errors(meta, before) + strategy.validate_update(new, old, context)
    if errors:
        raise invalid_object(kind, new, errors)
    for text in strategy.warnings(new, old, context):
        call.warn(text)


def _ignore_times_of_managers(new: dict[str, Any], old: dict[str, Any]) -> None:
    """A write that changes nothing but the times in managedFields changes nothing."""
    now, then = new.get("managedFields"), old.get("managedFields")
    if now == then or not now or not then or len(now) != len(then):
        return
    if all(_timeless(one) == _timeless(other) for one, other in zip(now, then, strict=True)):
        new["managedFields"] = then


def _timeless(manager: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in manager.items() if name != "time"}


def _is_finished(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether the last finalizer of an object that is being deleted has been removed."""
    before = old["metadata"]
    if new["metadata"].get("finalizers") or not before.get("deletionTimestamp"):
        return False
    return not before.get("deletionGracePeriodSeconds")


def _remove(call: Call, name: str, new: dict[str, Any], options: WriteOptions) -> Entry:
    """Remove an object whose finalizers are done. The caller is answered with what was asked for."""
    store, key = call.backend.store, call.key(name)
    answered = Entry(key, new, 0)
    if options.is_dry_run:
        return answered
    stored = store.get(call.resource, key)
    if stored is not None:
        try:
            store.delete(call.resource, key, stored)
        except (Missing, Moved):
            raise internal(f"{name} was changed while it was removed") from None
    return answered
