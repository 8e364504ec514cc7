"""Metadata as a server reads it: into its own types, whatever the schema says.

The metadata of an object, and of every embedded resource in it, goes through Go's `metav1.ObjectMeta` and back. What it
has no field for is gone (and reported as unknown), what is empty is gone, null is empty, times are in UTC to the
second. A value of a wrong type is an error of the whole request, in the words of Go's decoder.

The table below is the type: names to what they hold. Everything else is a walk over it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from .fielderrors import FieldError, child, index, invalid, key
from .gotext import kind_of, plain, quoted

if TYPE_CHECKING:
    from .node import Node

__all__ = ["MetaError", "coerce_embedded", "read_meta"]

_OWNER: Final = {
    "apiVersion": "string",
    "blockOwnerDeletion": "bool",
    "controller": "bool",
    "kind": "string",
    "name": "string",
    "uid": "types.UID",
}
_MANAGED: Final = {
    "apiVersion": "string",
    "fieldsType": "string",
    "fieldsV1": "any",
    "manager": "string",
    "operation": "v1.ManagedFieldsOperationType",
    "subresource": "string",
    "time": "time",
}
_META: Final[dict[str, Any]] = {
    "annotations": "map",
    "creationTimestamp": "time",
    "deletionGracePeriodSeconds": "int64?",
    "deletionTimestamp": "time",
    "finalizers": "list",
    "generateName": "string",
    "generation": "int64",
    "labels": "map",
    "managedFields": ("ManagedFieldsEntry", _MANAGED),
    "name": "string",
    "namespace": "string",
    "ownerReferences": ("OwnerReference", _OWNER),
    "resourceVersion": "string",
    "selfLink": "string",
    "uid": "types.UID",
}
_KEPT_EMPTY: Final = frozenset({"apiVersion", "kind", "name", "uid"})
"""Fields of an owner reference that Go writes also when they are empty."""

_TIME: Final = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,]\d+)?(?:Z|([+-]\d{2}:\d{2}))", re.ASCII)
_NUMBERS: Final = {"integer": "number", "number": "number", "boolean": "bool"}


class MetaError(ValueError):
    """Metadata that Go cannot read. The text is the decoder's."""


def read_meta(metadata: Any, path: str = "metadata") -> tuple[dict[str, Any], list[str]]:
    """Metadata after its way through Go, and the paths of fields that it lost.

    Raises:
        MetaError: a value has a wrong type.
    """
    if metadata is None:
        return {}, []
    if not isinstance(metadata, dict):
        raise MetaError(f"json: cannot unmarshal {_called(metadata)} into Go value of type v1.ObjectMeta")
    unknown: list[str] = []
    return _struct(metadata, _META, "ObjectMeta", "", path, unknown), unknown


def _struct(
    value: dict[str, Any], fields: dict[str, Any], struct: str, place: str, path: str, unknown: list[str]
) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name in sorted(value):
        if name not in fields:
            unknown.append(f"{path}.{name}")
            continue
        kind = fields[name]
        field = f"{struct}.{place}{name}"
        if isinstance(kind, tuple):
            read = _structs(value[name], kind, field, place + name, f"{path}.{name}", unknown)
        else:
            read = _plain_value(value[name], kind, field)
        keep = struct == "OwnerReference" and name in _KEPT_EMPTY
        if keep:
            read = "" if read is None else read
        if (
            read
            or keep
            or (read is False and kind == "bool")
            or (kind == "int64?" and read is not None)
            or (kind == "any" and read is not None)
        ):
            made[name] = read
    if struct == "OwnerReference":
        made = {**dict.fromkeys(_KEPT_EMPTY, ""), **made}
    return made


def _structs(
    value: Any, kind: tuple[str, dict[str, Any]], field: str, place: str, path: str, unknown: list[str]
) -> Any:
    struct, fields = kind
    if value is None:
        return None
    if not isinstance(value, list):
        raise _mismatch(value, field, f"[]v1.{struct}")
    made = []
    for position, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            raise _mismatch(item, field, f"v1.{struct}")
        made.append(_struct(item or {}, fields, struct, f"{place}.", f"{path}[{position}]", unknown))
    return made


def _plain_value(value: Any, kind: str, field: str) -> Any:
    if value is None or kind == "any":
        return value
    if kind == "time":
        return _time(value)
    if kind == "map":
        if not isinstance(value, dict):
            raise _mismatch(value, field, "map[string]string")
        return {name: _text(value[name], field) for name in sorted(value)}
    if kind == "list":
        if not isinstance(value, list):
            raise _mismatch(value, field, "[]string")
        return [_text(item, field) for item in value]
    if kind == "bool":
        if not isinstance(value, bool):
            raise _mismatch(value, field, "bool")
        return value
    if kind.startswith("int64"):
        return _integer(value, field)
    return _text(value, field, kind)


def _text(value: Any, field: str, kind: str = "string") -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _mismatch(value, field, kind)
    return value


def _integer(value: Any, field: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _mismatch(value, field, "int64")
    if not float(value).is_integer() or not -(2**63) <= value < 2**63:
        raise MetaError(f"json: cannot unmarshal number {plain(value)} into Go struct field {field} of type int64")
    return int(value)


def _time(value: Any) -> str | None:
    if not isinstance(value, str):
        raise MetaError(f"json: cannot unmarshal {_called(value)} into Go value of type string")
    match = _TIME.fullmatch(value)
    try:
        if match is None:
            raise ValueError
        zone = match[2]
        read = datetime.fromisoformat(match[1] + (zone or "+00:00")).astimezone(UTC)
    except (ValueError, OverflowError):
        rest = quoted(value)
        raise MetaError(f'parsing time {rest} as "2006-01-02T15:04:05Z07:00": cannot parse {rest} as "2006"') from None
    return read.strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)


def _mismatch(value: Any, field: str, wanted: str) -> MetaError:
    return MetaError(f"json: cannot unmarshal {_called(value)} into Go struct field {field} of type {wanted}")


def _called(value: Any) -> str:
    kind = kind_of(value)
    return _NUMBERS.get(kind, kind)


def coerce_embedded(
    node: Node | None, value: Any, *, path: str = "", drop: bool = False
) -> tuple[FieldError | None, list[str]]:
    """Read the metadata of embedded resources, in place: the first error, and what was unknown in it, sorted.

    Args:
        drop: remove fields of a wrong type instead, as a server does with what it reads from its storage.
    """
    unknown: list[str] = []
    error = _coerce(node, value, path, unknown, drop)
    return error, sorted(unknown)


def _coerce(node: Node | None, value: Any, path: str, unknown: list[str], drop: bool) -> FieldError | None:
    if node is None or not node.has_embedded:
        return None
    if isinstance(value, list):
        for place, item in enumerate(value):
            if (error := _coerce(node.items, item, index(path, place), unknown, drop)) is not None:
                return error
    elif isinstance(value, dict):
        if node.embedded and (error := _embedded(value, path, unknown, drop)) is not None:
            return error
        for name, each in value.items():
            known = node.properties.get(name)
            below = child(path, name) if known is not None else key(path, name)
            if (error := _coerce(known or node.additional, each, below, unknown, drop)) is not None:
                return error
    return None


def _embedded(value: dict[str, Any], path: str, unknown: list[str], drop: bool) -> FieldError | None:
    for name in ("apiVersion", "kind"):
        if name in value and not isinstance(value[name], str):
            if not drop:
                return invalid(child(path, name), value[name], "must be a string")
            del value[name]
    if "metadata" not in value:
        return None
    try:
        value["metadata"], lost = read_meta(value["metadata"], child(path, "metadata"))
    except MetaError as error:
        if not drop:
            return invalid(child(path, "metadata"), value["metadata"], str(error))
        value["metadata"] = _what_can_be_read(value["metadata"])
    else:
        unknown += lost
    return None


def _what_can_be_read(metadata: Any) -> Any:
    if not isinstance(metadata, dict):
        return metadata
    made: dict[str, Any] = {}
    for name, each in metadata.items():
        try:
            made |= read_meta({name: each})[0]
        except MetaError:
            pass
    return made
