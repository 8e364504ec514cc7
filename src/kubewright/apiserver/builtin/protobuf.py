"""Protobuf bodies of requests, into the JSON form that everything else here works with.

kubectl and Go clients send built-in kinds so, some without asking first. A body is `k8s\\0` and a `runtime.Unknown`,
whose `raw` is the object. The numbers of the fields come with the Go types; nothing is answered in protobuf.

| in a message | in JSON |
|---|---|
| a field with a number | the field with that number in the Go type; others are skipped |
| an embedded struct, which has a number of its own | its fields, beside the others |
| Time, MicroTime | RFC 3339; nothing for the zero time |
| Quantity, IntOrString, raw JSON | their JSON |

Bounded: by the size of the body, and by the depth that JSON bodies may have.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson

from kubewright.schema.structural.values import MAX_DEPTH

from ..bodies import BadJson
from .gotypes import GoType, GoTypes

__all__ = ["protobuf_reader"]

_MAGIC: Final = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WRAPPED: Final = frozenset({"ExtraValue", "AttestationValue", "Verbs"})
"""Named lists of texts, which are messages with their items as field 1."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class _Field(NamedTuple):
    number: int
    wire: int
    value: Any  # an int, or bytes


def protobuf_reader(types: GoTypes) -> Callable[[bytes], dict[str, Any]]:
    """Reads bodies of the kinds that there are types of.

    The reader raises BadJson: it is no such body, or the kind is not known.
    """

    def read(body: bytes) -> dict[str, Any]:
        if not body.startswith(_MAGIC):
            raise BadJson("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
        try:
            return _object(types, body[len(_MAGIC) :])
        except (struct.error, IndexError, UnicodeDecodeError, OverflowError, orjson.JSONDecodeError) as error:
            raise BadJson(f"proto: {error}") from None

    return read


def _object(types: GoTypes, data: bytes) -> dict[str, Any]:
    api_version = kind = ""
    raw = b""
    for field in _fields(data):
        if field.number == 1:
            for each in _fields(_data(field)):
                if each.number == 1:
                    api_version = _data(each).decode()
                elif each.number == 2:
                    kind = _data(each).decode()
        elif field.number == 2:
            raw = _data(field)
    try:
        found = types.of_kind("v1" if kind == "DeleteOptions" else api_version, kind)
    except KeyError:
        raise BadJson(f'no kind "{kind}" is registered for version "{api_version}"') from None
    return {"kind": kind, "apiVersion": api_version, **_message(raw, found, 0)}


def _fields(data: bytes) -> Iterator[_Field]:
    """The fields of a message. Raises IndexError, BadJson."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, wire = key >> 3, key & 7
        value: int | bytes
        if wire == _VARINT:
            value, place = _varint(data, place)
        elif wire == _BYTES:
            length, place = _varint(data, place)
            if place + length > len(data):
                raise BadJson("unexpected EOF")
            value, place = data[place : place + length], place + length
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
            if place + size > len(data):
                raise BadJson("unexpected EOF")
            value, place = data[place : place + size], place + size
        else:
            raise BadJson(f"proto: illegal wireType {wire}")
        yield _Field(number, wire, value)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, place
        shift += 7
        if shift > 63:
            raise BadJson("proto: integer overflow")


def _message(data: bytes, type_: GoType, depth: int) -> dict[str, Any]:
    if depth > MAX_DEPTH:
        raise BadJson("exceeded max depth")
    known = {each.number: each for each in type_.fields.values() if each.number and each.said == each.name}
    embedded = {number: inner for inner, number in type_.inlined if number}
    made: dict[str, Any] = {}
    for field in _fields(data):
        if (found := known.get(field.number)) is not None:
            _put(made, found.name, found.type, field, depth)
        elif (inner := embedded.get(field.number)) is not None:
            inner = inner.elem if inner.kind == "pointer" else inner
            made |= _message(_data(field), inner, depth + 1)
    return made


def _put(made: dict[str, Any], name: str, type_: GoType, field: _Field, depth: int) -> None:
    while type_.kind == "pointer":
        type_ = type_.elem
    if type_.kind == "slice" and type_.name not in _WRAPPED:
        items = made.setdefault(name, [])
        if field.wire == _BYTES and type_.elem.kind in ("int", "int32", "int64", "bool"):
            items.extend(_packed(field.value, type_.elem, depth))
        else:
            items.append(_value(type_.elem, field, depth))
    elif type_.kind == "map":
        key, value = _pair(_data(field), type_.elem, depth)
        made.setdefault(name, {})[key] = value
    else:
        found = _value(type_, field, depth)
        if found is not None:
            made[name] = found


def _packed(data: bytes, type_: GoType, depth: int) -> Iterator[Any]:
    place = 0
    while place < len(data):
        number, place = _varint(data, place)
        yield _value(type_, _Field(0, _VARINT, number), depth)


def _pair(data: bytes, type_: GoType, depth: int) -> tuple[str, Any]:
    key = ""
    value: Any = None
    for field in _fields(data):
        if field.number == 1:
            key = _data(field).decode()
        elif field.number == 2:
            value = _value(type_, field, depth)
    return key, type_.zero() if value is None else value


def _value(type_: GoType, field: _Field, depth: int) -> Any:
    while type_.kind == "pointer":
        type_ = type_.elem
    kind = type_.kind
    if kind == "string":
        return _data(field).decode()
    if kind == "bool":
        return bool(_number(field))
    if kind in ("int", "int32", "int64", "uint8"):
        return _signed(_number(field))
    if kind == "float64":
        return struct.unpack("<d", _data(field))[0]
    if kind == "bytes":
        return base64.b64encode(_data(field)).decode()
    if kind == "slice":
        return [_value(type_.elem, each, depth + 1) for each in _fields(_data(field)) if each.number == 1]
    if kind == "struct":
        return _message(_data(field), type_, depth + 1)
    if kind == "custom":
        return _CUSTOM[type_.custom](_data(field), type_, depth)
    raise BadJson(f"a {type_.said} is not read from protobuf")


def _data(field: _Field) -> bytes:
    if field.wire == _VARINT:
        raise BadJson(f"proto: wrong wireType = {field.wire} for field {field.number}")
    value: bytes = field.value
    return value


def _number(field: _Field) -> int:
    if field.wire != _VARINT:
        raise BadJson(f"proto: wrong wireType = {field.wire} for field {field.number}")
    value: int = field.value
    return value


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


# -- types with a JSON form of their own ------------------------------------------------------------------------------


def _by_number(data: bytes) -> dict[int, _Field]:
    return {each.number: each for each in _fields(data)}


def _instant(data: bytes) -> datetime | None:
    found = _by_number(data)
    seconds = _signed(_number(found[1])) if 1 in found else 0
    nanos = _signed(_number(found[2])) if 2 in found else 0
    if not seconds and not nanos:
        return None
    return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)


def _time(data: bytes, type_: GoType, depth: int) -> str | None:
    at = _instant(data)
    return None if at is None else at.replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _micro_time(data: bytes, type_: GoType, depth: int) -> str | None:
    at = _instant(data)
    return None if at is None else at.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _quantity(data: bytes, type_: GoType, depth: int) -> str:
    found = _by_number(data)
    return _data(found[1]).decode() if 1 in found else "0"


def _int_or_string(data: bytes, type_: GoType, depth: int) -> int | str:
    found = _by_number(data)
    if 1 in found and _number(found[1]) == 1:
        return _data(found[3]).decode() if 3 in found else ""
    return _signed(_number(found[2])) if 2 in found else 0


def _raw_json(data: bytes, type_: GoType, depth: int) -> Any:
    found = _by_number(data)
    return orjson.loads(_data(found[1])) if 1 in found and found[1].value else None


def _schema_or(data: bytes, type_: GoType, depth: int) -> Any:
    """A schema, or what a definition may have in its place."""
    found = _by_number(data)
    wanted = type_.other("apiextensions/v1.JSONSchemaProps")
    if type_.custom == "JSONSchemaPropsOrBool":
        if 2 in found:
            return _message(_data(found[2]), wanted, depth + 1)
        return 1 in found and bool(_number(found[1]))
    if 1 in found:
        return _message(_data(found[1]), wanted, depth + 1)
    rest = [each for each in _fields(data) if each.number == 2]
    if type_.custom == "JSONSchemaPropsOrArray":
        return [_message(_data(each), wanted, depth + 1) for each in rest]
    return [_data(each).decode() for each in rest]


_CUSTOM: Final[dict[str, Callable[[bytes, GoType, int], Any]]] = {
    "Time": _time,
    "MicroTime": _micro_time,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "FieldsV1": _raw_json,
    "RawExtension": _raw_json,
    "JSON": _raw_json,
    "JSONSchemaPropsOrArray": _schema_or,
    "JSONSchemaPropsOrBool": _schema_or,
    "JSONSchemaPropsOrStringArray": _schema_or,
}
