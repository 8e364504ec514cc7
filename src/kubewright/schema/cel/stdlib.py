"""CEL's standard functions and operators, with the optional types: declarations, and what runs for each.

Ids of overloads are cel-go's: costs and reports name functions by them.
Rule: https://github.com/google/cel-spec/blob/master/doc/langdef.md#list-of-standard-definitions
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .. import re2
from . import convert, ops
from .clock import part
from .errors import EvaluationError
from .regexes import compile_late, search
from .signatures import Library, parse_type
from .types import NULL, type_of_type
from .values import Duration, Optional, TypeValue

__all__ = ["MATCHES", "OPTIONALS", "STANDARD"]

STANDARD: Final = Library("standard")
OPTIONALS: Final = Library("optional")

_TYPE_NAMES: Final = {
    "bool": "bool", "int": "int", "uint": "uint", "double": "double", "string": "string", "bytes": "bytes",
    "list": "list(dyn)", "map": "map(dyn, dyn)", "type": "type",
    "google.protobuf.Timestamp": "timestamp", "google.protobuf.Duration": "duration",
}  # fmt: skip
for _name, _text in _TYPE_NAMES.items():
    STANDARD.constants[_name] = (type_of_type(parse_type(_text)), TypeValue(_name))
STANDARD.constants["null_type"] = (type_of_type(NULL), TypeValue("null_type"))
OPTIONALS.constants["optional_type"] = (type_of_type(parse_type("optional(V)")), TypeValue("optional_type"))


def _identity(value: Any) -> Any:
    return value


def _never(*_: Any) -> Any:
    raise EvaluationError("no such overload")


STANDARD.add_all(
    (
        ("conditional", "_?_:_ (bool, A, A) -> A", _never),
        ("logical_and", "_&&_ (bool, bool) -> bool", _never),
        ("logical_or", "_||_ (bool, bool) -> bool", _never),
        ("logical_not", "!_ (bool) -> bool", lambda value: not ops.boolean(value)),
        ("not_strictly_false", "@not_strictly_false (bool) -> bool", lambda value: value is not False),
        ("equals", "_==_ (A, A) -> bool", ops.equals),
        ("not_equals", "_!=_ (A, A) -> bool", lambda one, other: not ops.equals(one, other)),
        ("add_bytes", "_+_ (bytes, bytes) -> bytes", ops.add),
        ("add_double", "_+_ (double, double) -> double", ops.add),
        ("add_duration_duration", "_+_ (duration, duration) -> duration", ops.add),
        ("add_duration_timestamp", "_+_ (duration, timestamp) -> timestamp", ops.add),
        ("add_timestamp_duration", "_+_ (timestamp, duration) -> timestamp", ops.add),
        ("add_int64", "_+_ (int, int) -> int", ops.add),
        ("add_list", "_+_ (list(A), list(A)) -> list(A)", ops.add),
        ("add_string", "_+_ (string, string) -> string", ops.add),
        ("add_uint64", "_+_ (uint, uint) -> uint", ops.add),
        ("divide_double", "_/_ (double, double) -> double", ops.divide),
        ("divide_int64", "_/_ (int, int) -> int", ops.divide),
        ("divide_uint64", "_/_ (uint, uint) -> uint", ops.divide),
        ("modulo_int64", "_%_ (int, int) -> int", ops.modulo),
        ("modulo_uint64", "_%_ (uint, uint) -> uint", ops.modulo),
        ("multiply_double", "_*_ (double, double) -> double", ops.multiply),
        ("multiply_int64", "_*_ (int, int) -> int", ops.multiply),
        ("multiply_uint64", "_*_ (uint, uint) -> uint", ops.multiply),
        ("negate_double", "-_ (double) -> double", ops.negate),
        ("negate_int64", "-_ (int) -> int", ops.negate),
        ("subtract_double", "_-_ (double, double) -> double", ops.subtract),
        ("subtract_duration_duration", "_-_ (duration, duration) -> duration", ops.subtract),
        ("subtract_int64", "_-_ (int, int) -> int", ops.subtract),
        ("subtract_timestamp_duration", "_-_ (timestamp, duration) -> timestamp", ops.subtract),
        ("subtract_timestamp_timestamp", "_-_ (timestamp, timestamp) -> duration", ops.subtract),
        ("subtract_uint64", "_-_ (uint, uint) -> uint", ops.subtract),
        ("index_list", "_[_] (list(A), int) -> A", ops.index),
        ("index_map", "_[_] (map(A, B), A) -> B", ops.index),
        ("in_list", "@in (A, list(A)) -> bool", ops.in_list),
        ("in_map", "@in (A, map(A, B)) -> bool", ops.in_map),
        ("type", "type (A) -> type(A)", lambda value: TypeValue(ops.type_name(value))),
        ("to_dyn", "dyn (A) -> dyn", _identity),
        ("contains_string", ".contains (string, string) -> bool", lambda text, part: part in text),
        ("ends_with_string", ".endsWith (string, string) -> bool", lambda text, end: text.endswith(end)),
        ("starts_with_string", ".startsWith (string, string) -> bool", lambda text, start: text.startswith(start)),
    )
)

_PAIRS: Final = (
    ("bool", "bool", "bool"), ("int64", "int", "int"), ("int64_double", "int", "double"),
    ("int64_uint64", "int", "uint"), ("uint64", "uint", "uint"), ("uint64_double", "uint", "double"),
    ("uint64_int64", "uint", "int"), ("double", "double", "double"), ("double_int64", "double", "int"),
    ("double_uint64", "double", "uint"), ("string", "string", "string"), ("bytes", "bytes", "bytes"),
    ("timestamp", "timestamp", "timestamp"), ("duration", "duration", "duration"),
)  # fmt: skip
_ORDER: Final[tuple[tuple[str, str, Callable[[Any, Any], bool]], ...]] = (
    ("less", "_<_", lambda one, other: ops.compare(one, other) < 0),
    ("less_equals", "_<=_", lambda one, other: ops.compare(one, other) <= 0),
    ("greater", "_>_", lambda one, other: ops.compare(one, other) > 0),
    ("greater_equals", "_>=_", lambda one, other: ops.compare(one, other) >= 0),
)
for _id, _sign, _run in _ORDER:
    for _suffix, _one, _other in _PAIRS:
        STANDARD.add(f"{_id}_{_suffix}", f"{_sign} ({_one}, {_other}) -> bool", _run)

for _kind, _type in (("bytes", "bytes"), ("list", "list(A)"), ("map", "map(A, B)"), ("string", "string")):
    STANDARD.add(f"size_{_kind}", f"size ({_type}) -> int", len)
    STANDARD.add(f"{_kind}_size", f".size ({_type}) -> int", len)

_CONVERSIONS: Final[tuple[tuple[str, Callable[[Any], Any], tuple[tuple[str, str], ...]], ...]] = (
    ("bool", convert.to_bool, (("bool_to_bool", "bool"), ("string_to_bool", "string"))),
    ("bytes", convert.to_bytes, (("bytes_to_bytes", "bytes"), ("string_to_bytes", "string"))),
    (
        "double",
        convert.to_double,
        (
            ("double_to_double", "double"),
            ("int64_to_double", "int"),
            ("string_to_double", "string"),
            ("uint64_to_double", "uint"),
        ),
    ),
    (
        "duration",
        convert.to_duration,
        (("duration_to_duration", "duration"), ("string_to_duration", "string")),
    ),
    (
        "int",
        convert.to_int,
        (
            ("int64_to_int64", "int"),
            ("double_to_int64", "double"),
            ("duration_to_int64", "duration"),
            ("string_to_int64", "string"),
            ("timestamp_to_int64", "timestamp"),
            ("uint64_to_int64", "uint"),
        ),
    ),
    (
        "string",
        convert.to_string,
        (
            ("string_to_string", "string"),
            ("bool_to_string", "bool"),
            ("bytes_to_string", "bytes"),
            ("double_to_string", "double"),
            ("duration_to_string", "duration"),
            ("int64_to_string", "int"),
            ("timestamp_to_string", "timestamp"),
            ("uint64_to_string", "uint"),
        ),
    ),
    (
        "timestamp",
        convert.to_timestamp,
        (("timestamp_to_timestamp", "timestamp"), ("int64_to_timestamp", "int"), ("string_to_timestamp", "string")),
    ),
    (
        "uint",
        convert.to_uint,
        (
            ("uint64_to_uint64", "uint"),
            ("double_to_uint64", "double"),
            ("int64_to_uint64", "int"),
            ("string_to_uint64", "string"),
        ),
    ),
)
for _name, _convert, _sources in _CONVERSIONS:
    for _id, _source in _sources:
        STANDARD.add(_id, f"{_name} ({_source}) -> {_name}", _convert)


def matches(text: str, pattern: str) -> bool:
    try:
        return search(compile_late(pattern), text)
    except re2.Re2Error as error:
        raise EvaluationError(str(error)) from None


MATCHES: Final = matches
STANDARD.add("matches", "matches (string, string) -> bool", matches)
STANDARD.add("matches_string", ".matches (string, string) -> bool", matches)

_PARTS: Final = (
    ("getFullYear", "year"), ("getMonth", "month"), ("getDayOfYear", "day_of_year"), ("getDayOfMonth", "day_of_month"),
    ("getDate", "date"), ("getDayOfWeek", "day_of_week"), ("getHours", "hours"), ("getMinutes", "minutes"),
    ("getSeconds", "seconds"), ("getMilliseconds", "milliseconds"),
)  # fmt: skip


def _getter(name: str) -> Callable[..., int]:
    def get(value: Any, zone: str = "UTC") -> int:
        return part(value, name, zone)

    return get


for _function, _name in _PARTS:
    STANDARD.add(f"timestamp_to_{_name}", f".{_function} (timestamp) -> int", _getter(_name))
    STANDARD.add(f"timestamp_to_{_name}_with_tz", f".{_function} (timestamp, string) -> int", _getter(_name))


def _whole(unit: int) -> Callable[[Duration], int]:
    def get(value: Duration) -> int:
        return abs(value.ns) // unit * (-1 if value.ns < 0 else 1)

    return get


STANDARD.add("duration_to_hours", ".getHours (duration) -> int", _whole(3600 * 10**9))
STANDARD.add("duration_to_minutes", ".getMinutes (duration) -> int", _whole(60 * 10**9))
STANDARD.add("duration_to_seconds", ".getSeconds (duration) -> int", _whole(10**9))


def _milliseconds(value: Duration) -> int:
    whole = abs(value.ns) // 10**6
    return -whole if value.ns < 0 else whole


STANDARD.add("duration_to_milliseconds", ".getMilliseconds (duration) -> int", _milliseconds)


# -- optionals --------------------------------------------------------------------------------------------------------


def is_zero(value: Any) -> bool:
    """Whether a value is its type's zero: false, 0, empty, null, none."""
    if value is None or value is False:
        return True
    if isinstance(value, Optional):
        return not value.present
    ns = getattr(value, "ns", None)
    if ns is not None:
        return bool(ns == 0)
    if isinstance(value, int | float | str | bytes | list | dict):
        return not value
    return False


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _unwrap(items: list[Any]) -> list[Any]:
    return [item.value for item in items if item.present]


OPTIONALS.add_all(
    (
        ("optional_of", "optional.of (V) -> optional(V)", Optional),
        (
            "optional_ofNonZeroValue",
            "optional.ofNonZeroValue (V) -> optional(V)",
            lambda value: Optional() if is_zero(value) else Optional(value),
        ),
        ("optional_none", "optional.none () -> optional(V)", Optional),
        ("optional_value", ".value (optional(V)) -> V", _value),
        ("optional_hasValue", ".hasValue (optional(V)) -> bool", lambda optional: optional.present),
        ("optional_or_optional", ".or (optional(V), optional(V)) -> optional(V)", _never),
        ("optional_orValue_value", ".orValue (optional(V), V) -> V", _never),
        ("select_optional_field", "_?._ (dyn, string) -> optional(V)", ops.select_optional),
        ("list_optindex_optional_int", "_[?_] (list(V), int) -> optional(V)", ops.select_optional),
        ("optional_list_optindex_optional_int", "_[?_] (optional(list(V)), int) -> optional(V)", ops.select_optional),
        ("map_optindex_optional_value", "_[?_] (map(K, V), K) -> optional(V)", ops.select_optional),
        ("optional_map_optindex_optional_value", "_[?_] (optional(map(K, V)), K) -> optional(V)", ops.select_optional),
        ("optional_list_index_int", "_[_] (optional(list(V)), int) -> optional(V)", ops.index),
        ("optional_map_index_value", "_[_] (optional(map(K, V)), K) -> optional(V)", ops.index),
        ("optional_unwrap", "optional.unwrap (list(optional(V))) -> list(V)", _unwrap),
        ("optional_unwrapOpt", ".unwrapOpt (list(optional(V))) -> list(V)", _unwrap),
        ("list_first", ".first (list(V)) -> optional(V)", lambda items: Optional(items[0]) if items else Optional()),
        ("list_last", ".last (list(V)) -> optional(V)", lambda items: Optional(items[-1]) if items else Optional()),
    )
)
