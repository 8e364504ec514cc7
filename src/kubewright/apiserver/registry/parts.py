"""Subresources that are not the object itself: views of it (`scale`), and calls (`eviction`, `binding`, `token`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from msgspec.structs import replace

from kubewright.schema.structural.gotext import kind_of

from ..catalog import Action, Subresource, View
from ..errors import StatusError, method_not_supported
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
from .patch import patched_by, read_patch
from .update import Shown, change

__all__ = ["call_action", "create_action", "get_view", "not_here", "patch_view", "update_view"]


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
        shown.wanted = {**wanted, "status": {"replicas": 0, **(wanted.get("status") or {})}}
        return _written(call, view, wanted, live, options)

    shown = Shown(view)
    entry = await change(call, name, make, options, uid=meta.get("uid") or None, shown=shown)
    return call.answer(200, orjson.dumps(view.read(entry.object)) + b"\n")


async def patch_view(call: Call) -> Response:
    """Answer a PATCH of a view: the view is patched, and then written."""
    view, part, name = _view(call), _part(call), call.route.name
    kind, options = read_patch(call)
    reader = _reading(call)

    async def make(live: Entry, is_first: bool) -> dict[str, Any]:
        seen = Entry(live.key, view.read(live.object), live.revision)
        wanted = patched_by(reader, kind, seen, options, warn=is_first, of=(part.kind, _api_version(part)))
        check_name(meta_of(wanted), name)
        shown.wanted = {**wanted, "status": {"replicas": 0, **(wanted.get("status") or {})}}
        return _written(call, view, wanted, live, options)

    shown = Shown(view)
    entry = await change(call, name, make, options, shown=shown)
    return call.answer(200, orjson.dumps(view.read(entry.object)) + b"\n")


def _written(call: Call, view: View, wanted: dict[str, Any], live: Entry, options: WriteOptions) -> dict[str, Any]:
    new = view.write(wanted, orjson.loads(live.json))
    new["metadata"]["resourceVersion"] = meta_of(wanted).get("resourceVersion") or str(live.revision)
    track(call, live.object, new, options)
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


async def not_here(call: Call) -> Response:
    """Answer for a subresource that needs a node to answer. Who may connect at all is asked before."""
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
    raise StatusError(501, "NotImplemented", f"{call.route.subresource} needs a node, and this server has none")


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
