"""Whether a value is valid, quickly: a schema compiled to one predicate.

Most objects are valid, so this is the path that has to be fast. It makes no paths, no messages and no counts; only when
it says no does `explain` look again. Each node becomes a table from a value's Python type to a predicate, with all that
is known beforehand folded in: a type that is not allowed is a constant, a node without bounds costs nothing.

Guarantee: `valid(value)` is true if and only if `explain` finds nothing without an old object (a property test holds
the two together).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from .gotext import kind_of
from .node import Node
from .numbers import Bounds, is_whole
from .values import same

__all__ = ["Check", "in_enum", "predicate", "type_problem"]

Check = Callable[[Any], bool]

_TYPES: Final = (type(None), bool, int, float, str, list, dict)
_SAMPLES: Final[dict[type, Any]] = {bool: True, int: 1, float: 0.5, str: "", list: [], dict: {}}
_INTERNAL_FORMATS: Final = {"integer": "int64", "number": "float64"}


def _always(_value: Any) -> bool:
    return True


def _never(_value: Any) -> bool:
    return False


def type_problem(node: Node, value: Any) -> tuple[str, str] | None:
    """What type a value should have and which it has, in the server's words; None if it is right."""
    if not node.types and not node.format:
        return None
    wanted = ",".join(node.types)
    found = kind_of(value)
    if value is None:
        return (wanted, "null") if node.types and not node.nullable else None
    whole = found == "number" and "integer" in node.types and is_whole(value)
    right = found in node.types or whole or (found == "integer" and "number" in node.types)
    if node.format:
        texts = found in ("string", "array")
        if not texts and not right:
            return node.format, _INTERNAL_FORMATS.get(found, "")
        if texts and "number" not in node.types and "integer" not in node.types:
            return None  # the format decides; for a list nobody does
    return None if right else (wanted, found)


def in_enum(value: Any, enum: list[Any]) -> bool:
    """Whether a value is one of a list, after the conversions that Go makes between types."""
    for allowed in enum:
        if isinstance(value, bool) or isinstance(allowed, bool) or value is None or allowed is None:
            if value is not None and same(value, allowed):
                return True
        elif isinstance(value, int | float) and isinstance(allowed, int):
            if int(value) == allowed:
                return True
        elif isinstance(value, int | float) and isinstance(allowed, float):
            if float(value) == allowed:
                return True
        elif isinstance(value, int) and isinstance(allowed, str):
            if 0 <= value <= 0x10FFFF and chr(value) == allowed:
                return True
        elif same(value, allowed):
            return True
    return False


def predicate(node: Node) -> Check:
    """The predicate of a node, which the node keeps."""
    table = {kind: _for_type(node, kind) for kind in _TYPES}

    def valid(value: Any) -> bool:
        return table[type(value)](value)

    node.valid = _always if all(check is _always for check in table.values()) else valid
    return node.valid


def _for_type(node: Node, kind: type) -> Check:
    parts: list[Check] = []
    if kind is type(None):
        return _never if type_problem(node, None) or node.enum else _always
    if type_problem(node, _SAMPLES[kind]) is not None:
        if kind is not float or type_problem(node, 1.0) is not None:
            return _never
        parts.append(is_whole)
    if node.enum:
        parts.append(_enum(node.enum, kind))
    if kind is str:
        parts += _of_string(node)
    elif kind is int:
        parts.append(_of_integer(node))
    elif kind is float and not node.bounds.is_open:
        parts.append(_of_float(node))
    elif kind is list:
        parts += _of_list(node)
    elif kind is dict:
        parts += _of_object(node)
    parts += _of_junctors(node)
    return _all(parts)


def _all(parts: list[Check]) -> Check:
    parts = [part for part in parts if part is not _always]
    if not parts:
        return _always
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        one, two = parts
        return lambda value: one(value) and two(value)
    first, *rest = parts
    others = _all(rest)
    return lambda value: first(value) and others(value)


def _enum(enum: list[Any], kind: type) -> Check:
    if kind is str:
        texts = frozenset(each for each in enum if isinstance(each, str))
        return texts.__contains__
    return lambda value: in_enum(value, enum)


def _of_string(node: Node) -> list[Check]:
    parts: list[Check] = []
    if (most := node.max_length) is not None:
        parts.append(lambda value: len(value) <= most)
    if (least := node.min_length) is not None:
        parts.append(lambda value: len(value) >= least)
    if (matches := node.pattern_matches) is not None:
        parts.append(lambda value: matches(value))
    if node.format_check is not None:
        parts.append(node.format_check)
    return parts


def _of_integer(node: Node) -> Check:
    bounds = node.bounds
    low, high = bounds.minimum, bounds.maximum
    if bounds.multiple is not None or not _is_integral(bounds, low) or not _is_integral(bounds, high):
        return bounds.allow
    least, most = -(2**63), 2**63 - 1
    if bounds.format == "int32" and bounds.kind == "integer":
        least, most = -(2**31), 2**31 - 1
    if low is not None:
        least = max(least, int(low) + bounds.above)
    if high is not None:
        most = min(most, int(high) - bounds.below)
    if (least, most) == (-(2**63), 2**63 - 1):
        return _always
    return lambda value: least <= value <= most


def _is_integral(bounds: Bounds, limit: float | None) -> bool:
    """Whether a limit is what it says, for an integer: whole, and within what the type holds."""
    bits = 31 if bounds.format == "int32" and bounds.kind == "integer" else 63
    return limit is None or (limit.is_integer() and -(2.0**bits) <= limit < 2.0**bits)


def _of_float(node: Node) -> Check:
    bounds = node.bounds
    if bounds.multiple is not None or bounds.kind == "integer" or bounds.format == "float":
        return bounds.allow
    least = -math.inf if bounds.minimum is None else bounds.minimum
    most = math.inf if bounds.maximum is None else bounds.maximum
    if bounds.above or bounds.below:
        return bounds.allow
    return lambda value: least <= value <= most


def _of_list(node: Node) -> list[Check]:
    parts: list[Check] = []
    if (least := node.min_items) is not None:
        parts.append(lambda value: len(value) >= least)
    if (most := node.max_items) is not None:
        parts.append(lambda value: len(value) <= most)
    if node.unique:
        parts.append(lambda value: not has_duplicates(value))
    if node.items is not None and (item := predicate(node.items)) is not _always:
        parts.append(lambda value: all(map(item, value)))
    return parts


def has_duplicates(items: list[Any]) -> bool:
    """Whether two items are the same."""
    return any(same(one, other) for place, one in enumerate(items) for other in items[:place])


def _of_object(node: Node) -> list[Check]:
    parts: list[Check] = []
    if (least := node.min_properties) is not None:
        parts.append(lambda value: len(value) >= least)
    if (most := node.max_properties) is not None:
        parts.append(lambda value: len(value) <= most)
    if node.required:
        needed = frozenset(node.required)
        parts.append(lambda value: needed <= value.keys())
    if node.closed:
        known = node.properties.keys()
        parts.append(lambda value: value.keys() <= known)
    checks = {name: predicate(child) for name, child in node.properties.items()}
    other = _always if node.additional is None else predicate(node.additional)
    wanted = {name: check for name, check in checks.items() if check is not _always}
    if other is not _always:
        parts.append(_all_values(checks, other))
    elif wanted:
        parts.append(_known_values(wanted))
    return parts


def _known_values(checks: dict[str, Check]) -> Check:
    look = checks.get

    def valid(value: dict[str, Any]) -> bool:
        for name, each in value.items():
            check = look(name)
            if check is not None and not check(each):
                return False
        return True

    return valid


def _all_values(checks: dict[str, Check], other: Check) -> Check:
    if not checks:
        return lambda value: all(map(other, value.values()))
    look = checks.get
    return lambda value: all(look(name, other)(each) for name, each in value.items())


def _of_junctors(node: Node) -> list[Check]:
    parts: list[Check] = []
    if node.any_of:
        any_of = [predicate(each) for each in node.any_of]
        if not any(check is _always for check in any_of):
            parts.append(lambda value: any(check(value) for check in any_of))
    if node.one_of:
        one_of = [predicate(each) for each in node.one_of]
        parts.append(lambda value: sum(check(value) for check in one_of) == 1)
    parts += [predicate(each) for each in node.all_of]
    if node.none_of is not None:
        unwanted = predicate(node.none_of)
        parts.append(lambda value: not unwanted(value))
    return parts
