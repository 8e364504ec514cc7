"""From the body of a write to an object of the kind: decoded, checked for what is unknown, defaulted.

How strictly, `fieldValidation` says: Ignore drops what is unknown, Warn (the default) says so in Warning headers,
Strict refuses. Duplicate names and unknown fields are reported together, duplicates first.
"""

from __future__ import annotations

from typing import Any, Final

from kubewright.schema.structural.gotext import kind_of, quoted
from kubewright.schema.structural.values import copied

from ..bodies import JSON_TYPES, BadJson, Body, read_body
from ..errors import bad_request, request_too_large
from ..strategy import Malformed
from .call import Call

__all__ = ["GO_HEAD", "NO_VERSION", "called_in_go", "cannot_be_handled", "decode_object", "read_fields", "report"]

_SHOWN: Final = 30
GO_HEAD: Final = (
    'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string '
    '"json:\\"kind,omitempty\\"" }'
)
"""What a server reads from a body first, in its own words."""
NO_VERSION: Final = ".apiVersion accessor error: <nil> is of the type <nil>, expected string"


def check_size(call: Call) -> None:
    """Raises StatusError: the body is larger than the server takes."""
    limit = call.backend.max_body_bytes
    if limit and len(call.request.body) > limit:
        raise request_too_large(limit)


def decode_object(call: Call, validation: str, *, kind: str = "", api_version: str = "") -> dict[str, Any]:
    """The object in the body of a create or update, defaulted.

    Args:
        validation: Ignore, Warn or Strict.
        kind, api_version: what has to be there, if not the kind of the call.

    Raises:
        StatusError: it cannot be read, is of another version, or has unknown fields and may not.
    """
    check_size(call)
    served = call.kind
    kind, api_version = kind or served.kind, api_version or served.api_version
    body = _decoded(call, kind, api_version, strict=validation != "Ignore")
    obj = body.value
    unknown = read_fields(call, obj, kind) if call.subresource is None or _is_same(call) else []
    problems = [*body.duplicates, *unknown]
    if problems:
        said = f"strict decoding error: {', '.join([*body.refused, *unknown])}"
        report(call, problems, validation, cannot_be_handled(obj["kind"], obj["apiVersion"], kind, said))
    if obj["apiVersion"] != api_version:
        raise bad_request(
            f"the API version in the data ({obj['apiVersion']}) does not match the expected API version ({api_version})"
        )
    return obj  # type: ignore[no-any-return]


def _is_same(call: Call) -> bool:
    """Whether the subresource is the object itself, and not another one."""
    part = call.subresource
    return part is not None and part.view is None and part.action is None


def _decoded(call: Call, kind: str, api_version: str, *, strict: bool) -> Body:
    body = call.request.body
    reader = call.backend.protobuf
    try:
        decoded = read_body(
            body, call.request.headers.get("content-type", ""), strict=strict, accepted=JSON_TYPES, protobuf=reader
        )
    except BadJson as error:
        said = f"couldn't get version/kind; json parse error: {error}"
        raise _unrecognized(kind, said, body) from None
    obj = decoded.value
    if obj is None and not call.kind.is_custom:
        obj = {}
    if not isinstance(obj, dict):
        if obj is None:
            raise _unrecognized(kind, f"Object 'Kind' is missing in '{body.decode(errors='replace')}'", body)
        said = f"json: cannot unmarshal {called_in_go(obj)} into {GO_HEAD}"
        raise _unrecognized(kind, f"couldn't get version/kind; json parse error: {said}", body)
    for name in ("apiVersion", "kind"):
        if (read := obj.get(name)) is not None and not isinstance(read, str):
            said = f"json: cannot unmarshal {called_in_go(read)} into Go struct field .{name} of type string"
            raise _unrecognized(kind, f"couldn't get version/kind; json parse error: {said}", body)
    if (obj.get("apiVersion") or "").count("/") > 1:
        raise _unrecognized(kind, f"unexpected GroupVersion string: {obj['apiVersion']}", body)
    if not obj.get("kind") and call.kind.is_custom and call.subresource is None:
        raise _unrecognized(kind, f"Object 'Kind' is missing in '{body.decode(errors='replace')}'", body)
    if call.kind.is_custom and call.subresource is None:
        if obj.get("apiVersion", "") is None:
            raise bad_request(cannot_be_handled(kind, "", call.kind.kind, NO_VERSION))
        return decoded._replace(value=_headed(obj, kind, ""))
    obj = _headed(obj, kind, api_version)
    _check_kind(call, obj, kind, api_version)
    return decoded._replace(value=obj)


def called_in_go(value: Any) -> str:
    """What encoding/json calls a value that it cannot put where it should go."""
    return {"boolean": "bool", "integer": "number"}.get(kind_of(value), kind_of(value))


def _check_kind(call: Call, obj: dict[str, Any], kind: str, api_version: str) -> None:
    """Raises StatusError: the body is of another built-in kind, or of none."""
    if call.kind.is_custom or (obj["kind"], obj["apiVersion"]) == (kind, api_version):
        return
    if why := other_kind(call, obj, (api_version.rpartition("/")[0], kind)):
        raise bad_request(cannot_be_handled(obj["kind"], obj["apiVersion"], kind, why))


def other_kind(call: Call, obj: dict[str, Any], wanted: tuple[str, str] | None = None) -> str:
    """Why an object that says another kind or version than is wanted is none; empty if it is one.

    Args:
        wanted: group and kind; those of the call by default.
    """
    group, wanted_kind = (call.kind.group, call.kind.kind) if wanted is None else wanted
    kind, api_version = obj["kind"], obj["apiVersion"]
    found = call.backend.catalog.of_kind(api_version, kind)
    if found is None or found.is_custom:
        return not_registered(kind, api_version)
    if found.kind == wanted_kind and found.group == group:
        return ""
    try:
        found.strategy.decode(copied(obj))
    except Malformed as error:
        return str(error)
    version = api_version.rpartition("/")[2]
    return f"converting ({version}.{kind}) to ({_package(group)}.{wanted_kind}): unknown conversion"


def not_registered(kind: str, api_version: str) -> str:
    """Why nothing is known of a kind."""
    scheme = '"pkg/runtime/scheme.go:111"'
    return f"no kind {quoted(kind)} is registered for version {quoted(api_version)} in scheme {scheme}"


def _package(group: str) -> str:
    return group.partition(".")[0] or "core"


def _headed(obj: dict[str, Any], kind: str, api_version: str) -> dict[str, Any]:
    """The object with its kind and version in front, where encoding looks for them."""
    names = iter(obj)
    if next(names, "") == "kind" and next(names, "") == "apiVersion" and obj["kind"] and obj["apiVersion"]:
        return obj
    head = {"kind": obj.get("kind") or kind, "apiVersion": obj.get("apiVersion") or api_version}
    return {**head, **{name: each for name, each in obj.items() if name not in head}}


def _unrecognized(kind: str, why: str, body: bytes) -> Exception:
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {why} ({_summary(body)})")


def _summary(body: bytes) -> str:
    if not body:
        return "<empty>"
    cut = body[:_SHOWN]
    shown = cut.decode(errors="replace") if body.startswith(b"{") else cut.hex()
    return f"{shown} ..." if len(body) > _SHOWN else shown


def read_fields(call: Call, obj: dict[str, Any], kind: str) -> list[str]:
    """Read an object by the rules of its kind, in place, and default it; what strict decoding objects to.

    Args:
        kind: what it has to be, for the error.

    Raises StatusError: it cannot be read.
    """
    try:
        unknown = call.strategy.decode(obj)
    except Malformed as error:
        raise bad_request(cannot_be_handled(obj["kind"], obj["apiVersion"], kind, str(error))) from None
    if "metadata" not in obj:
        obj["metadata"] = {}
    call.strategy.default(obj)
    return unknown


def cannot_be_handled(kind: str, api_version: str, wanted: str, why: str) -> str:
    """What is said of an object that does not fit its kind."""
    version = api_version.rpartition("/")[2]
    return f"{kind} in version {quoted(version)} cannot be handled as a {wanted}: {why}"


def report(call: Call, problems: list[str] | tuple[str, ...], validation: str, refusal: str) -> None:
    """Warn of problems, or refuse because of them. Raises StatusError."""
    if validation == "Strict":
        raise bad_request(refusal)
    if validation == "Warn":
        for each in problems:
            call.warn(each)
