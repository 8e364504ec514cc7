"""Operators at run time, for operands whose types are only known then, and checked 64-bit arithmetic.

Generated code uses Python's own operators where types are known and Python means the same. What is here is the rest:
ordering, indexing, field selection, overflow. Equality is in `equality`.
"""

from __future__ import annotations

import math
from typing import Any, Final

from .effort import spend_work
from .equality import equals, in_list, map_key, merge_sets
from .errors import CostLimitExceeded, EvaluationError
from .values import (
    Duration,
    KeptObject,
    MapList,
    Misfit,
    Optional,
    SetList,
    StrictList,
    StrictMap,
    Timestamp,
    TypeValue,
    UInt,
    encode_key,
)

__all__ = [
    "add", "boolean", "check_size", "compare", "divide", "equals", "has_field", "has_sound", "in_list",
    "in_map", "in_sound_map", "index", "index_list", "index_map", "int64", "is_key", "less_double", "modulo",
    "multiply", "negate", "select", "sound", "sound_optional", "subtract", "type_name", "uint64",
]  # fmt: skip

#: Characters of a text, or eight times the items of a list.
MAX_SIZE: Final = 64 * 1024 * 1024
_NUMBERS: Final = frozenset({int, float, UInt})
_ORDERED: Final = frozenset({str, bytes, bool, Timestamp, Duration})
_NAMES: Final[dict[type, str]] = {
    bool: "bool", int: "int", UInt: "uint", float: "double", str: "string", bytes: "bytes", type(None): "null_type",
    list: "list", SetList: "list", MapList: "list", StrictList: "list", dict: "map", KeptObject: "map",
    StrictMap: "map", Timestamp: "google.protobuf.Timestamp", Duration: "google.protobuf.Duration",
    Optional: "optional_type", TypeValue: "type",
}  # fmt: skip


def type_name(value: Any) -> str:
    """The name of a value's type, as `type(x)` shows it."""
    return _NAMES.get(value.__class__) or str(getattr(value, "cel_type", "dyn"))


def no_overload(*_: Any) -> EvaluationError:
    return EvaluationError("no such overload")


def boolean(value: Any) -> bool:
    """The operand of a logical operator."""
    if value.__class__ is not bool:
        raise no_overload()
    return bool(value)


def in_map(key: Any, entries: dict[Any, Any]) -> bool:
    return is_key(key) and encode_key(key) in entries


def is_key(key: Any) -> bool:
    return key.__class__ in (str, int, UInt, bool, float)


# -- order ------------------------------------------------------------------------------------------------------------


def compare(one: Any, other: Any) -> int:
    """-1, 0 or 1.

    Raises:
        EvaluationError: the two have no order.
    """
    kind, other_kind = one.__class__, other.__class__
    if kind in _NUMBERS and other_kind in _NUMBERS:
        if one != one or other != other:
            raise EvaluationError("NaN values cannot be ordered")
        if kind is not other_kind and (kind is float or other_kind is float):
            # The server compares as doubles, which takes some large integers for equal.
            one, other = float(one), float(other)
    elif kind is not other_kind or kind not in _ORDERED:
        raise no_overload()
    return -1 if one < other else int(one > other)


def less_double(one: Any, other: Any) -> bool:
    if one != one or other != other:
        raise EvaluationError("NaN values cannot be ordered")
    return bool(one < other)


# -- arithmetic -------------------------------------------------------------------------------------------------------


def int64(value: int) -> int:
    if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        return value
    raise EvaluationError("integer overflow")


def uint64(value: int) -> UInt:
    if 0 <= value <= 0xFFFFFFFFFFFFFFFF:
        return UInt(value)
    raise EvaluationError("unsigned integer overflow")


def duration(ns: int) -> Duration:
    if -0x8000000000000000 <= ns <= 0x7FFFFFFFFFFFFFFF:
        return Duration(ns)
    raise EvaluationError("duration overflow")


_FIRST_NS: Final = -62_135_596_800 * 10**9
_LAST_NS: Final = 253_402_300_799 * 10**9 + 999_999_999


def timestamp(ns: int, offset: int = 0) -> Timestamp:
    if _FIRST_NS <= ns <= _LAST_NS:
        return Timestamp(ns, offset)
    raise EvaluationError("timestamp overflow")


def add(one: Any, other: Any) -> Any:
    kind, other_kind = one.__class__, other.__class__
    if kind is other_kind:
        if kind is int:
            return int64(one + other)
        if kind is str or kind is bytes:
            check_size(len(one) + len(other))
            return one + other
        if kind is float:
            return one + other
        if kind is UInt:
            return uint64(int(one) + int(other))
        if kind is Duration:
            return duration(one.ns + other.ns)
    if kind is Timestamp and other_kind is Duration:
        return timestamp(one.ns + other.ns, one.offset)
    if kind is Duration and other_kind is Timestamp:
        return timestamp(one.ns + other.ns, other.offset)
    if isinstance(one, list) and isinstance(other, list):
        return add_lists(one, other)
    raise no_overload()


def check_size(size: int) -> None:
    """Ends an evaluation before it makes a text or list so large that its cost is over any limit anyway."""
    if size > MAX_SIZE:
        raise CostLimitExceeded


def add_lists(one: list[Any], other: list[Any]) -> list[Any]:
    size = len(one) + len(other)
    check_size(8 * size)
    # Costs nothing on the server, which does not copy them.
    spend_work(size // 8 if one.__class__ is list else size)
    if one.__class__ is SetList:
        return merge_sets(one, other)
    if isinstance(one, MapList):
        found = list(one)
        places = {map_key(one, item): place for place, item in enumerate(found)}
        for item in other:
            place = places.get(map_key(one, item))
            if place is None:
                found.append(item)
            else:
                found[place] = item
        return MapList(found, one.keys)
    return [*one, *other]


def subtract(one: Any, other: Any) -> Any:
    kind, other_kind = one.__class__, other.__class__
    if kind is other_kind:
        if kind is int:
            return int64(one - other)
        if kind is float:
            return one - other
        if kind is UInt:
            return uint64(int(one) - int(other))
        if kind is Duration or kind is Timestamp:
            return duration(one.ns - other.ns)
    if kind is Timestamp and other_kind is Duration:
        return timestamp(one.ns - other.ns, one.offset)
    raise no_overload()


def multiply(one: Any, other: Any) -> Any:
    kind = one.__class__
    if kind is not other.__class__:
        raise no_overload()
    if kind is int:
        return int64(one * other)
    if kind is float:
        return one * other
    if kind is UInt:
        return uint64(int(one) * int(other))
    raise no_overload()


def divide(one: Any, other: Any) -> Any:
    kind = one.__class__
    if kind is not other.__class__:
        raise no_overload()
    if kind is int or kind is UInt:
        if not other:
            raise EvaluationError("division by zero")
        quotient = abs(one) // abs(other)
        if kind is UInt:
            return UInt(quotient)
        return int64(quotient if (one < 0) == (other < 0) else -quotient)
    if kind is float:
        if other == 0:
            if one == 0 or one != one:
                return math.nan
            return math.copysign(math.inf, one) * math.copysign(1.0, other)
        return one / other
    raise no_overload()


def modulo(one: Any, other: Any) -> Any:
    kind = one.__class__
    if kind is not other.__class__ or (kind is not int and kind is not UInt):
        raise no_overload()
    if not other:
        raise EvaluationError("modulus by zero")
    if one == -0x8000000000000000 and other == -1:
        raise EvaluationError("integer overflow")
    # Truncated division: the rest has the sign of the dividend.
    rest = abs(one) % abs(other)
    return kind(-rest if one < 0 else rest)


def negate(value: Any) -> Any:
    kind = value.__class__
    if kind is int:
        return int64(-value)
    if kind is float:
        return -value
    raise no_overload()


# -- access -----------------------------------------------------------------------------------------------------------


def select(operand: Any, name: str) -> Any:
    """`operand.name`, of what type the operand ever is. An optional gives an optional."""
    if isinstance(operand, dict):
        try:
            return operand[name]
        except KeyError:
            raise EvaluationError(f"no such key: {name}") from None
    if operand.__class__ is Optional:
        if not operand.present:
            return operand
        return select_optional(operand.value, name)
    raise EvaluationError(f"no such key: {name}")


def select_optional(operand: Any, name: Any) -> Optional:
    """`operand.?name` and `operand[?name]`."""
    if operand.__class__ is Optional:
        if not operand.present:
            return operand
        operand = operand.value
    if isinstance(operand, dict):
        key = encode_key(name)
        return Optional(operand[key]) if is_key(name) and key in operand else Optional()
    if isinstance(operand, list):
        place = _place(name)
        return Optional(operand[place]) if 0 <= place < len(operand) else Optional()
    raise no_overload()


def sound(value: Any) -> Any:
    """The value, where data may have misfits.

    Raises:
        EvaluationError: it is one.
    """
    if value.__class__ is Misfit:
        raise value.error()
    return value


def sound_optional(value: Optional) -> Optional:
    sound(value.value)
    return value


def has_sound(operand: Any, name: str) -> bool:
    """`has_field`, or the error of what is there."""
    found = has_field(operand, name)
    if found and isinstance(operand, dict):
        sound(operand[name])
    return found


def in_sound_map(key: Any, entries: dict[Any, Any]) -> bool:
    """`in_map`, or the error of what is there."""
    found = in_map(key, entries)
    if found:
        sound(entries[encode_key(key)])
    return found


def has_field(operand: Any, name: str) -> bool:
    if isinstance(operand, dict):
        return name in operand
    if operand.__class__ is Optional:
        return operand.present and has_field(operand.value, name)
    return False


def _place(value: Any) -> int:
    if value.__class__ in (int, UInt):
        return int(value)
    if value.__class__ is float and value == int(value):
        return int(value)
    raise EvaluationError(f"unsupported index type '{type_name(value)}' in list")


def index_list(items: list[Any], place: Any) -> Any:
    at = place if place.__class__ is int else _place(place)
    if 0 <= at < len(items):
        return items[at]
    raise EvaluationError(f"index out of bounds: {at}")


def index_map(entries: dict[Any, Any], key: Any) -> Any:
    if key is None:
        raise EvaluationError("invalid qualifier type: types.Null")
    try:
        return entries[encode_key(key)]
    except KeyError:
        raise EvaluationError(f"no such key: {show_key(key)}") from None


def show_key(key: Any) -> str:
    return str(key).lower() if key.__class__ is bool else str(int(key)) if key.__class__ is UInt else str(key)


def index(operand: Any, key: Any) -> Any:
    """`operand[key]`; an optional gives an optional."""
    if isinstance(operand, dict):
        if not is_key(key):
            raise EvaluationError(f"unsupported key type: {type_name(key)}")
        return index_map(operand, key)
    if isinstance(operand, list):
        return index_list(operand, key)
    if operand.__class__ is Optional:
        return select_optional(operand, key)
    raise EvaluationError(f"no such key: {show_key(key)}")
