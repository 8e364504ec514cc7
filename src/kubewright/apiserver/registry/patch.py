"""PATCH: JSON patch, merge patch, strategic merge patch, and (where field managers are) apply.

A patch is made anew from the latest object until it is committed, so without a `resourceVersion` in it it never
conflicts. The patched object is read like the body of an update; what cannot be read is 422 here. Rule:
`endpoints/handlers/patch.go`.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from kubewright.schema.structural.fielderrors import invalid as invalid_field
from kubewright.schema.structural.gotext import as_json, plain

from ..bodies import BadJson, Body, decode_json, media_type, read_body
from ..errors import (
    StatusError,
    bad_request,
    called,
    conflict,
    internal,
    invalid_of,
    not_found,
    unexplained,
    unsupported_media_type,
    unsupported_patch_type,
)
from ..options import WriteOptions, write_options
from ..patching import json_patch, merge_patch
from ..request import Response
from ..store import Entry
from ..strategy import Malformed
from .call import Call
from .create import create_object, manager_of, track
from .decoding import NO_VERSION, called_in_go, check_size, not_registered, other_kind
from .metadata import check_name, ensure_namespace, meta_of
from .update import change

__all__ = [
    "APPLY",
    "JSON_PATCH",
    "MERGE_PATCH",
    "STRATEGIC",
    "judge_duplicates",
    "patch",
    "patched_by",
    "read_patch",
    "stated",
]

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"


async def patch(call: Call) -> Response:
    """Answer a PATCH of an object."""
    kind, options = read_patch(call)
    name = call.route.name
    if kind == APPLY:
        return await _apply(call, options)

    async def make(live: Entry, is_first: bool) -> dict[str, Any]:
        new = patched_by(call, kind, live, options, warn=is_first)
        meta = meta_of(new)
        ensure_namespace(call.kind, meta, call.route.namespace)
        check_name(meta, name)
        track(call, live.object, new, options)
        return new

    entry = await change(call, name, make, options)
    return call.answer(200, call.representation.one(call.kind, entry))


def accepted_types(call: Call) -> tuple[str, ...]:
    """The patch types of a resource type, in the order in which the real server lists them."""
    if call.kind.is_custom or call.kind.strategic_patch is None:
        return (JSON_PATCH, MERGE_PATCH, APPLY)
    return (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)


def read_patch(call: Call) -> tuple[str, WriteOptions]:
    """The type and the options of a patch whose body is JSON. Raises StatusError."""
    kind = media_type(call.request.headers.get("content-type", ""))
    accepted = accepted_types(call)
    if kind not in accepted or (kind == APPLY and call.backend.field_manager is None):
        raise unsupported_media_type(accepted) if call.kind.is_custom else unsupported_patch_type()
    check_size(call)
    options = write_options(call.request.query, "PatchOptions", is_apply=kind == APPLY)
    if kind != APPLY:
        try:
            decode_json(call.request.body, strict=False)
        except BadJson:
            raise bad_request("invalid JSON patch") from None
    return kind, options


def patched_by(
    call: Call, kind: str, live: Entry, options: WriteOptions, *, warn: bool, of: tuple[str, str] | None = None
) -> dict[str, Any]:
    """A fresh object: the live one with the patch applied, read and defaulted.

    Args:
        of: kind and version of what is patched, if it is not the kind of the call.

    Raises:
        StatusError: the patch does not apply, or what it makes cannot be read.
    """
    strict = options.field_validation != "Ignore"
    body = decode_json(call.request.body, strict=strict)
    problems = list(body.duplicates)
    document: dict[str, Any] = orjson.loads(live.json)
    if kind == JSON_PATCH:
        unknown: list[str] = []
        new = json_patch(document, [] if body.value is None else body.value, unknown)
        problems = [*(f"json patch {each}" for each in problems), *unknown]
    elif kind == MERGE_PATCH:
        new = merge_patch(document, body.value)
    else:
        assert call.kind.strategic_patch is not None
        wanted = {} if body.value is None else body.value
        if not isinstance(wanted, dict):
            said = f"json: cannot unmarshal {called_in_go(wanted)} into Go value of type map[string]interface {{}}"
            raise bad_request(said)
        new = call.kind.strategic_patch(document, wanted)
    shown = plain(body.value) if kind == STRATEGIC else None
    return _read(call, new, problems, options.field_validation, warn, shown, of)


def _read(
    call: Call,
    new: Any,
    problems: list[str],
    validation: str,
    warn: bool,
    shown: str | None,
    of: tuple[str, str] | None = None,
) -> dict[str, Any]:
    def refused(why: str) -> StatusError:
        value = as_json(new) if shown is None else shown
        return invalid_of("", "", "", "", [invalid_field("patch", value, why)])

    if not isinstance(new, dict):
        raise refused("json: cannot unmarshal into Go value")
    served = call.kind
    if of is not None and (new.get("kind"), new.get("apiVersion")) != of:
        found = (new.get("kind") or of[0], new.get("apiVersion") or of[1])
        if why := _unreadable({"kind": found[0], "apiVersion": found[1]}):
            raise refused(why)
        if found != of:
            raise refused(_other_than(call, found, of))
        new["kind"], new["apiVersion"] = of
    says = (new.get("kind"), new.get("apiVersion"))
    if of is None and not served.is_custom and says != (served.kind, served.api_version):
        new["kind"] = new.get("kind") or served.kind
        new["apiVersion"] = new.get("apiVersion") or served.api_version
        if why := _unreadable(new) or other_kind(call, new):
            raise refused(why)
    if of is None and served.is_custom and says != (served.kind, served.api_version):
        if why := _unreadable(new):
            raise refused(why)
        if not new.get("apiVersion"):
            raise internal("Object 'apiVersion' is missing in 'object has no apiVersion field'")
    try:
        text = as_json(new) if shown is None and validation == "Strict" else ""
        problems += call.strategy.decode(new)
    except Malformed as error:
        raise refused(str(error)) from None
    if problems and validation == "Strict":
        shown = shown if shown is not None else text
        raise refused(f"strict decoding error: {', '.join(problems)}")
    if problems and validation == "Warn" and warn:
        for each in problems:
            call.warn(each)
    meta_of(new)
    call.strategy.default(new)
    return new


def _other_than(call: Call, found: tuple[str, str], wanted: tuple[str, str]) -> str:
    """Why kind and version that a patch has put there are not those of the view that it is of."""
    kind, api_version = found
    if call.kind.is_custom or call.backend.catalog.of_kind(api_version, kind) is None:
        return not_registered(kind, api_version)
    version, group = api_version.rpartition("/")[2], wanted[1].partition("/")[0].partition(".")[0]
    return f"converting ({version}.{kind}) to ({group}.{wanted[0]}): unknown conversion"


def _unreadable(obj: dict[str, Any]) -> str:
    """Why nothing can be read that says such a kind and version of itself; empty if it can."""
    for name in ("apiVersion", "kind"):
        if (found := obj.get(name)) is not None and not isinstance(found, str):
            said = f"json: cannot unmarshal {called_in_go(found)} into Go struct field .{name} of type string"
            return f"couldn't get version/kind; json parse error: {said}"
    if not obj.get("kind"):
        return f"Object 'Kind' is missing in '{as_json(obj)}'"
    version = obj.get("apiVersion", "")
    if version is None:
        return NO_VERSION
    return f"unexpected GroupVersion string: {version}" if version.count("/") > 1 else ""


async def _apply(call: Call, options: WriteOptions) -> Response:
    """Server-side apply: what a field manager states, merged into what is there."""
    backend, name = call.backend, call.route.name
    assert backend.field_manager is not None
    manager = options.field_manager or manager_of(call.request.headers.get("user-agent", ""))
    field_manager = backend.field_manager

    def applied(live: dict[str, Any] | None) -> dict[str, Any]:
        patch = stated(call, options)
        force = bool(options.force)
        new = field_manager.apply(call.kind, call.route.subresource, live, patch.value, manager, force, backend.now())
        judge_duplicates(call, patch, options)
        try:
            call.strategy.read_merged(new)
        except Malformed as error:
            raise _unread(call, patch.value, error) from None
        ensure_namespace(call.kind, meta_of(new), call.route.namespace)
        check_name(meta_of(new), name)
        return new

    async def make(live: Entry, is_first: bool) -> dict[str, Any]:
        return applied(orjson.loads(live.json))

    if backend.store.get(call.resource, call.key(name)) is None:
        if call.subresource is not None:
            raise not_found(call.kind, name)
        new = applied(None)
        if uid := meta_of(new).get("uid"):
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise conflict(call.kind, name, why)
        meta_of(new).pop("resourceVersion", None)
        created = await create_object(call, new, options, is_tracked=True)
        return call.answer(201, call.representation.one(call.kind, created))
    entry = await change(call, name, make, options)
    return call.answer(200, call.representation.one(call.kind, entry))


def stated(call: Call, options: WriteOptions) -> Body:
    """What an apply patch says. Raises StatusError: it is no object."""
    strict = options.field_validation != "Ignore"
    try:
        body = read_body(call.request.body, "application/yaml", strict=strict, accepted=("application/yaml",))
    except BadJson as error:
        raise bad_request(f"error decoding YAML: {error}") from None
    if not isinstance(body.value, dict):
        raise bad_request("error decoding patch: the patch is no object")
    return body


def judge_duplicates(call: Call, patch: Body, options: WriteOptions) -> None:
    """Warn of names that an apply patch has twice, or refuse it for them: after it has been applied. Raises
    StatusError."""
    if patch.refused and options.field_validation == "Strict":
        raise bad_request(f"error strict decoding patch: error converting YAML to JSON: {patch.refused[0]}")
    for each in patch.duplicates:
        call.warn(each)


def _unread(call: Call, patch: dict[str, Any], error: Malformed) -> StatusError:
    """What an apply patch makes of an object cannot be read."""
    if call.kind.is_custom:
        return bad_request(str(error))
    kind = called(call.kind.api_version, call.kind.kind)
    meta = patch.get("metadata") or {}
    said = f"failed to convert new object ({meta.get('namespace') or ''}/{meta.get('name') or ''}; {kind}) to proper "
    return unexplained(f"{said}version: unable to convert unstructured object to {kind}: {error}")
