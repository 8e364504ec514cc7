"""Subresources that are not the object itself: views of it (`scale`), and calls (`eviction`, `binding`, `token`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson

from ..catalog import Subresource, View
from ..errors import method_not_supported
from ..options import write_options
from ..representation import AS_IS
from ..request import Response
from ..store import Entry
from ..strategy import GenericStrategy
from .call import Call
from .decoding import decode_object
from .get import read
from .metadata import check_name, ensure_namespace, meta_of
from .patch import patched_by, read_patch
from .update import change

__all__ = ["call_action", "get_view", "patch_view", "update_view"]


async def get_view(call: Call) -> Response:
    """Answer a GET of a view."""
    view = _view(call)
    entry = await read(call, call.route.name)
    return call.answer(200, orjson.dumps(view.read(entry.object)) + b"\n")


async def update_view(call: Call) -> Response:
    """Answer a PUT of a view: the object with what it says."""
    view, part, name = _view(call), _part(call), call.route.name
    options = write_options(call.request.query, "UpdateOptions")
    wanted = decode_object(call, options.field_validation, kind=part.kind, api_version=_api_version(part))
    meta = meta_of(wanted)
    ensure_namespace(call.kind, meta, call.route.namespace)
    check_name(meta, name)

    async def make(live: Entry, is_first: bool) -> dict[str, Any]:
        return _written(view, wanted, live)

    entry = await change(call, name, make, options, uid=meta.get("uid") or None)
    return call.answer(200, orjson.dumps(view.read(entry.object)) + b"\n")


async def patch_view(call: Call) -> Response:
    """Answer a PATCH of a view: the view is patched, and then written."""
    view, name = _view(call), call.route.name
    kind, options = read_patch(call)
    reader = _reading(call)

    async def make(live: Entry, is_first: bool) -> dict[str, Any]:
        seen = Entry(live.key, view.read(live.object), live.revision)
        wanted = patched_by(reader, kind, seen, options, warn=is_first)
        check_name(meta_of(wanted), name)
        return _written(view, wanted, live)

    entry = await change(call, name, make, options, kind="PatchOptions")
    return call.answer(200, orjson.dumps(view.read(entry.object)) + b"\n")


def _written(view: View, wanted: dict[str, Any], live: Entry) -> dict[str, Any]:
    new = view.write(wanted, orjson.loads(live.json))
    new["metadata"]["resourceVersion"] = meta_of(wanted).get("resourceVersion") or str(live.revision)
    return new


async def call_action(call: Call) -> Response:
    """Answer a POST of a subresource that is a call."""
    part, name = _part(call), call.route.name
    if part.action is None:
        raise method_not_supported(call.kind, call.verb)
    options = write_options(call.request.query, "CreateOptions")
    body = decode_object(call, options.field_validation, kind=part.kind, api_version=_api_version(part))
    parent = await read(call, name)
    meta = meta_of(body)
    ensure_namespace(call.kind, meta, call.route.namespace)
    result = await part.action(call.kind, parent.object, body, call.context(name, is_dry_run=options.is_dry_run))
    code = result.get("code", 201) if result.get("kind") == "Status" else 201
    return call.answer(code, orjson.dumps(result) + b"\n", AS_IS.content_type)


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
    """Reads the metadata of a view, and leaves the rest to the view."""


def _reading(call: Call) -> Call:
    """The call, with a strategy that reads the view instead of the object."""
    part = _part(call)
    return replace(call, subresource=Subresource(part.name, strategy=_ViewStrategy()))
