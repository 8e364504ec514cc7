"""A request body through Go: read into the type of its kind, and written back.

`decode` gives what a server would store of a JSON value: names that the type does not have are gone (and noted), what
is empty is left out or written as the type says, quantities and times are in their one form, null is empty. A value of
a wrong type is `Malformed`, in the words of Go's decoder (`sigs.k8s.io/json`, which reads names case-sensitively and
whole numbers as integers).

An empty list or map is the same as none: objects are stored as protobuf, which cannot tell them apart.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.gotext import kind_of, plain, quoted

from ..strategy import Malformed
from .gotypes import GoType

__all__ = ["decode", "read_bytes", "read_custom", "read_quantity", "read_time"]

_INTEGERS: Final = {"int32": 31, "int64": 63, "int": 63, "uint8": 8}
_NAMES: Final = {"integer": "number", "number": "number", "boolean": "bool"}
_TIME: Final = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(?:Z|([+-]\d{2}:\d{2}))", re.ASCII)
_QUANTITY: Final = re.compile(r"([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_NOT_A_QUANTITY: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_LAYOUTS: Final = {"Time": "2006-01-02T15:04:05Z07:00", "MicroTime": "2006-01-02T15:04:05.000000Z07:00"}

Undecoded = list[str]


def decode(value: dict[str, Any], type_: GoType) -> tuple[dict[str, Any], Undecoded]:
    """An object after its way through `type_`, and what strict decoding objects to.

    Raises:
        Malformed: a value has a wrong type.
    """
    unknown: Undecoded = []
    return _struct(value, type_, "", "", unknown), unknown


def _value(value: Any, type_: GoType, struct: str, field: str, path: str, unknown: Undecoded) -> Any:
    """One value; `struct` and `field` are what Go's errors name, `path` what strict errors do."""
    kind = type_.kind
    if kind == "string":
        if type(value) is str:
            return value
        if value is None:
            return ""
    elif kind == "pointer":
        return None if value is None else _value(value, type_.elem, struct, field, path, unknown)
    elif kind == "struct":
        if value is None:
            return type_.zero()
        if isinstance(value, dict):
            return _struct(value, type_, field, path, unknown)
    elif kind == "slice":
        if not value:
            if value is None or isinstance(value, list):
                return None
        elif isinstance(value, list):
            elem = type_.elem
            return [_value(each, elem, struct, field, f"{path}[{n}]", unknown) for n, each in enumerate(value)]
    elif kind == "map":
        if value is None or value == {}:
            return None
        if isinstance(value, dict):
            elem = type_.elem
            if elem.kind == "bytes":
                # No bytes come back from the store as empty ones.
                value = {name: each or "" for name, each in value.items()}
            return {name: _value(each, elem, struct, field, f"{path}.{name}", unknown) for name, each in value.items()}
    elif kind == "bool":
        if value is None or isinstance(value, bool):
            return bool(value)
    elif kind in _INTEGERS:
        return _integer(value, type_, struct, field)
    elif kind == "custom":
        try:
            return _CUSTOM[type_.custom](value)
        except Malformed as error:
            raise _placed(error, struct, field) from None
    elif kind == "float64":
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value or 0
    elif value is None or isinstance(value, str):
        return read_bytes(value)
    raise _mismatch(value, type_, struct, field)


def _struct(value: dict[str, Any], type_: GoType, field: str, path: str, unknown: Undecoded) -> dict[str, Any]:
    fields, struct = type_.fields, type_.name
    made: dict[str, Any] = {}
    for name, each in value.items():
        known = fields.get(name)
        where = f"{path}.{name}" if path else name
        if known is None:
            unknown.append(f'unknown field "{where}"')
            continue
        below = known.type
        said = known.said
        read = _value(each, below, struct, f"{field}.{said}" if field else said, where, unknown)
        if known.omits and _is_empty(read, below, known.omits):
            continue
        made[name] = read
    for known in type_.kept:
        if known.name not in made:
            made[known.name] = known.type.zero()
    return made


def _is_empty(value: Any, type_: GoType, omits: str) -> bool:
    if value is None:
        return omits == "zero" or type_.kind != "custom"
    if type_.kind == "pointer":
        return False
    if omits == "zero" and type_.kind in ("struct", "custom"):
        return bool(value == type_.zero())
    return type_.kind not in ("struct", "custom") and value in ("", 0, False)


def _integer(value: Any, type_: GoType, struct: str, field: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _mismatch(value, type_, struct, field)
    bits = _INTEGERS[type_.kind]
    if isinstance(value, float) or not -(2**bits) <= value < 2**bits:
        raise _mismatch(value, type_, struct, field, number=repr(value) if isinstance(value, float) else plain(value))
    return value


def _mismatch(value: Any, type_: GoType, struct: str, field: str, number: str = "") -> Malformed:
    kind = kind_of(value)
    found = f"number {number}" if number else _NAMES.get(kind, kind)
    into = f"struct field {struct}.{field}" if struct else "value"
    return Malformed(f"json: cannot unmarshal {found} into Go {into} of type {type_.said}")


def _placed(error: Malformed, struct: str, field: str) -> Malformed:
    """A type that reads itself does not know where it stands; the decoder adds it."""
    said = str(error)
    if not struct or not said.startswith("json: cannot unmarshal "):
        return error
    return Malformed(said.replace("into Go value of type", f"into Go struct field {struct}.{field} of type", 1))


def read_bytes(value: str | None) -> str | None:
    """Base64 as it is written back. Raises Malformed."""
    if not value:
        return value
    cleaned = value.replace("\n", "").replace("\r", "")
    try:
        return base64.b64encode(base64.b64decode(cleaned, validate=True)).decode()
    except (binascii.Error, ValueError):
        raise Malformed(f"illegal base64 data at input byte {_base64_problem(value)}") from None


def _base64_problem(text: str) -> int:
    """Where Go's decoder stops: at the first wrong byte, or at the start of a last group that is too short."""
    group = 0
    for place, byte in enumerate(text):
        if byte in "\r\n":
            continue
        if byte == "=":
            if group < 2:
                return place
            rest = [at for at, each in enumerate(text) if at > place and each not in "\r\n"]
            if group == 2:
                if not rest:
                    return len(text)
                if text[rest[0]] != "=":
                    return rest[0]
                rest = rest[1:]
            return rest[0] if rest else len(text)
        if re.fullmatch("[A-Za-z0-9+/]", byte) is None:
            return place
        group = (group + 1) % 4
    return len(text) - group


# -- types that read themselves ---------------------------------------------------------------------------------------


def read_quantity(value: Any) -> str:
    """A quantity in its canonical form. Raises Malformed."""
    if value is None:
        return "0"
    text = value if isinstance(value, str) else plain(value)
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise Malformed(_NOT_A_QUANTITY)
    try:
        return str(Quantity(text))
    except ValueError:
        said = "unable to parse quantity's suffix" if match[1].count(".") < 2 else _NOT_A_QUANTITY
        raise Malformed(said) from None


def read_time(value: Any, custom: str = "Time") -> str | None:
    """A time in UTC, to the second; a MicroTime with six digits. Raises Malformed."""
    if value is None:
        return None
    layout = _LAYOUTS[custom]
    if not isinstance(value, str):
        kind = kind_of(value)
        raise Malformed(f"json: cannot unmarshal {_NAMES.get(kind, kind)} into Go value of type string")
    match = _TIME.fullmatch(value)
    try:
        if match is None:
            raise ValueError
        read = datetime.fromisoformat(match[1] + (match[3] or "+00:00")).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _bad_time(value, layout, value, "2006") from None
    fraction = match[2] or ""
    if custom == "MicroTime":
        if len(fraction) < 6:
            rest = value[len(match[1]) :]
            raise _bad_time(value, layout, rest, ".000000")
        return read.strftime("%Y-%m-%dT%H:%M:%S").zfill(19) + f".{fraction[:6]}Z"
    return read.strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)


def _bad_time(value: str, layout: str, rest: str, wanted: str) -> Malformed:
    return Malformed(f'parsing time {quoted(value)} as "{layout}": cannot parse {quoted(rest)} as "{wanted}"')


def _int_or_string(value: Any) -> int | str:
    if isinstance(value, str):
        return value
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        kind = kind_of(value)
        raise Malformed(f"json: cannot unmarshal {_NAMES.get(kind, kind)} into Go value of type int32")
    if isinstance(value, float) or not -(2**31) <= value < 2**31:
        raise Malformed(f"json: cannot unmarshal number {value!r} into Go value of type int32")
    return value


def read_custom(value: Any, type_: GoType) -> Any:
    """A value as its own type reads it. Raises Malformed."""
    return _CUSTOM[type_.custom](value)


def _any(value: Any) -> Any:
    return value


_CUSTOM: Final[dict[str, Callable[[Any], Any]]] = {
    "FieldsV1": _any,
    "IntOrString": _int_or_string,
    "JSON": _any,
    "JSONSchemaPropsOrArray": _any,
    "JSONSchemaPropsOrBool": _any,
    "JSONSchemaPropsOrStringArray": _any,
    "MicroTime": lambda value: read_time(value, "MicroTime"),
    "Quantity": read_quantity,
    "RawExtension": _any,
    "Time": read_time,
}
