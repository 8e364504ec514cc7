"""Subresources that are not the object itself: views of it (`scale`), and calls (`eviction`, `binding`, `token`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from msgspec.structs import replace

from kubewright.schema.structural.gotext import kind_of

from ..catalog import Action, ResourceType, Subresource, View
from ..errors import StatusError, bad_request, called, method_not_supported, unexplained
from ..fields.scaling import from_scale, to_scale
from ..options import WriteOptions, write_options
from ..representation import AS_IS
from ..request import Response
from ..store import Entry
from ..strategy import GenericStrategy, Malformed, Undecoded
from .call import Call
from .create import given_options, track
from .decoding import decode_object
from .get import read
from .metadata import check_name, ensure_namespace, meta_of
from .patch import APPLY, judge_duplicates, patched_by, read_patch, stated
from .update import Shown, change

__all__ = ["call_action", "connect", "create_action", "get_view", "patch_view", "update_view"]

_SCALE: Final = ResourceType(group="autoscaling", version="v1", kind="Scale", plural="scales")
"""The kind of the views, for who looks after fields."""


async def get_view(call: Call) -> Response:
    """Answer a GET of a view."""
    view = _view(call)
    entry = await read(call, call.route.name)
    return call.answer(200, orjson.dumps(view.read(entry.object)) + b"\n")


async def update_view(call: Call) -> Response:
    """Answer a PUT of a view: the object with what it says."""
    view, name = _view(call), call.route.name
    options = write_options(call.request.query, "UpdateOptions")
    wanted = _decoded(call, options.field_validation)
    meta = meta_of(wanted)
    ensure_namespace(call.kind, meta, call.route.namespace)
    check_name(meta, name)

    async def make(live: Entry, is_first: bool) -> dict[str, Any]:
        seen = _seen(call, view, live)
        new = _written(call, view, wanted, live, seen, options)
        shown.before, shown.wanted = seen, _whole(wanted)
        return new

    shown = Shown(view)
    entry = await change(call, name, make, options, uid=meta.get("uid") or None, shown=shown)
    return _answered(call, view, entry)


async def patch_view(call: Call) -> Response:
    """Answer a PATCH of a view: the view is patched, and then written."""
    view, part, name = _view(call), _part(call), call.route.name
    kind, options = read_patch(call)
    reader = _reading(call)

    async def make(live: Entry, is_first: bool) -> dict[str, Any]:
        seen = _seen(call, view, live)
        if kind == APPLY:
            wanted = _applied(reader, seen, options)
        else:
            before = Entry(live.key, seen, live.revision)
            wanted = patched_by(reader, kind, before, options, warn=is_first, of=(part.kind, _api_version(part)))
        ensure_namespace(call.kind, meta_of(wanted), call.route.namespace)
        check_name(meta_of(wanted), name)
        new = _written(call, view, wanted, live, None if kind == APPLY else seen, options)
        shown.before, shown.wanted = seen, _whole(wanted)
        return new

    shown = Shown(view)
    entry = await change(call, name, make, options, shown=shown)
    return _answered(call, view, entry)


def _answered(call: Call, view: View, entry: Entry) -> Response:
    """What a write of a view is answered with."""
    stored = call.backend.store.get(call.resource, call.key(call.route.name))
    if call.kind.is_custom and stored is not None:
        # The way to a field is made where there is none, and defaults beside it are filled in when it is read.
        stored.views = None
    return call.answer(200, orjson.dumps(view.read(entry.object)) + b"\n")


def _whole(view: dict[str, Any]) -> dict[str, Any]:
    """A view that was written, with what is never left out of one."""
    return {**view, "status": {"replicas": 0, **(view.get("status") or {})}}


def _seen(call: Call, view: View, live: Entry) -> dict[str, Any]:
    """The view of an object, with who owns what of it."""
    seen = view.read(live.object, is_write=True)
    if call.backend.field_manager is not None:
        seen["metadata"]["managedFields"] = to_scale(live.object["metadata"].get("managedFields"), view.replicas)
    return seen


def _applied(call: Call, seen: dict[str, Any], options: WriteOptions) -> dict[str, Any]:
    """The view with what a field manager states of it. Raises StatusError."""
    backend = call.backend
    assert backend.field_manager is not None
    manager, patch = options.field_manager, stated(call, options)
    if call.kind.is_custom and not seen["metadata"]["managedFields"] and _is_scale(patch.value):
        raise _no_scale("failed to create manager for existing fields: failed to convert live object", {})
    new = backend.field_manager.apply(
        _SCALE, call.route.subresource, seen, patch.value, manager, bool(options.force), backend.now()
    )
    judge_duplicates(call, patch, options)
    if call.kind.is_custom and _without_fields(new) != _without_fields(seen):
        raise _no_scale("failed to convert new object", patch.value.get("metadata") or {})
    try:
        call.strategy.decode(new)
    except Malformed as error:
        raise bad_request(str(error)) from None
    return new


def _is_scale(patch: dict[str, Any]) -> bool:
    return (patch.get("apiVersion"), patch.get("kind")) == (_SCALE.api_version, _SCALE.kind)


def _no_scale(what: str, meta: dict[str, Any]) -> StatusError:
    """What the real server says where it would have to convert a Scale to a version of a custom kind."""
    name = f"{meta.get('namespace') or ''}/{meta.get('name') or ''}; {called(_SCALE.api_version, _SCALE.kind)}"
    why = f"request to convert CR to an invalid group/version: {_SCALE.api_version}"
    return unexplained(f"{what} ({name}) to proper version: {why}")


def _without_fields(view: dict[str, Any]) -> dict[str, Any]:
    return {**view, "metadata": {name: each for name, each in view["metadata"].items() if name != "managedFields"}}


def _written(
    call: Call,
    view: View,
    wanted: dict[str, Any],
    live: Entry,
    seen: dict[str, Any] | None,
    options: WriteOptions,
) -> dict[str, Any]:
    """The object with what a view of it says.

    Args:
        seen: the view before; None where it is known already who owns what of it.
    """
    new = view.write(wanted, orjson.loads(live.json))
    meta = new["metadata"]
    meta["resourceVersion"] = meta_of(wanted).get("resourceVersion") or str(live.revision)
    if call.backend.field_manager is not None:
        if seen is not None:
            track(replace(call, kind=_SCALE), seen, wanted, options)
        in_scale, kind = meta_of(wanted).get("managedFields"), call.kind
        before = live.object["metadata"].get("managedFields")
        meta.pop("managedFields", None)
        if made := from_scale(before, in_scale, kind.api_version, view.replicas, custom=kind.is_custom):
            meta["managedFields"] = made
    return new


async def call_action(call: Call) -> Response:
    """Answer a POST of a subresource that is a call."""
    part = _part(call)
    assert part.action is not None
    return await _act(call, part.action)


async def create_action(call: Call) -> Response:
    """Answer a POST of a kind that is never stored."""
    assert call.kind.action is not None
    return await _act(call, call.kind.action)


async def _act(call: Call, action: Action) -> Response:
    options = write_options(call.request.query, "CreateOptions")
    read = _decoded if call.subresource else decode_object
    body = read(call, options.field_validation)
    ensure_namespace(call.kind, meta_of(body), call.route.namespace)
    if (admission := call.admission) is not None:
        name = call.route.name or meta_of(body).get("name", "")
        given = given_options("CreateOptions", options)
        attributes = call.attributes("CREATE", name, body, None, given, options.is_dry_run)
        await admission.admit(attributes)
        body = attributes.object or body
        await admission.validate(call.attributes("CREATE", name, body, None, given, options.is_dry_run))
    result = await action(call, body, options.is_dry_run)
    code = result.get("code", 201) if result.get("kind") == "Status" else 201
    return call.answer(code, orjson.dumps(result) + b"\n", AS_IS.content_type)


async def connect(call: Call) -> Response:
    """Answer for a subresource that leads through the server. Who may connect at all is asked before."""
    part, name = _part(call), call.route.name
    if (admission := call.admission) is not None and part.name != "log":
        attributes = call.attributes("CONNECT", name, None, None, {}, is_dry_run=False)
        kind = attributes.object_kind
        given = _of_query(call.request.query)
        if call.route.rest:
            given["path"] = "/" + "/".join(call.route.rest)
        attributes.object = {"kind": kind.kind, "apiVersion": kind.api_version, **given}
        await admission.admit(attributes)
        await admission.validate(attributes)
    assert part.reach is not None
    return await part.reach(call)


_SWITCHES: Final = frozenset({"stdin", "stdout", "stderr", "tty"})


def _of_query(query: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The options of a connection, as the query of its request has them."""
    made: dict[str, Any] = {}
    for name, value in query:
        if name in _SWITCHES:
            made[name] = value not in ("false", "0")
        elif name == "command":
            made.setdefault(name, []).append(value)
        elif name == "ports":
            made.setdefault(name, []).append(int(value) if value.isdecimal() else 0)
        elif name in ("container", "path"):
            made[name] = value
    return made


def _decoded(call: Call, validation: str) -> dict[str, Any]:
    """The body of a subresource that is another kind."""
    part = _part(call)
    return decode_object(_reading(call), validation, kind=part.kind, api_version=_api_version(part))


def _view(call: Call) -> View:
    view = _part(call).view
    if view is None:
        raise method_not_supported(call.kind, call.verb)
    return view


def _part(call: Call) -> Subresource:
    assert call.subresource is not None
    return call.subresource


def _api_version(part: Subresource) -> str:
    return f"{part.group}/{part.version}" if part.group else part.version


class _ViewStrategy(GenericStrategy):
    """Reads the metadata of another kind, and what of it is used here; the rest is left alone."""

    def decode(self, obj: dict[str, Any]) -> Undecoded:
        unknown = super().decode(obj)
        kind = obj.get("kind")
        for field, type_, texts in _PARTS.get(str(kind), ()):
            value = obj.get(field)
            if value is not None and not isinstance(value, dict):
                raise _misread(value, f"{kind}.{field} of type v1.{type_}")
            for name in texts:
                text = (value or {}).get(name)
                if text is not None and not isinstance(text, str):
                    raise _misread(text, f"{type_}.{field}.{name} of type string")
        replicas = (obj.get("spec") or {}).get("replicas") if kind == "Scale" else None
        if replicas is not None and (isinstance(replicas, bool) or not isinstance(replicas, int)):
            raise _misread(replicas, "ScaleSpec.spec.replicas of type int32")
        return unknown


_PARTS: Final[Mapping[str, tuple[tuple[str, str, tuple[str, ...]], ...]]] = {
    "Scale": (("spec", "ScaleSpec", ()), ("status", "ScaleStatus", ())),
    "Binding": (("target", "ObjectReference", ("kind", "namespace", "name", "uid", "apiVersion")),),
    "Eviction": (("deleteOptions", "DeleteOptions", ()),),
}
"""By kind: its objects, their Go types, and the texts in them."""


def _misread(value: Any, wanted: str) -> Malformed:
    called = {"boolean": "bool", "integer": "number"}.get(kind_of(value), kind_of(value))
    return Malformed(f"json: cannot unmarshal {called} into Go struct field {wanted}")


def _reading(call: Call) -> Call:
    """The call, with a strategy that reads the other kind instead of the object."""
    part = _part(call)
    return replace(call, subresource=Subresource(part.name, strategy=part.reader or _ViewStrategy()))
