"""CEL's `==`, and what stands on it: `in`, sets, lists whose schema says set or map.

Numbers compare by value across types, other types differ from one another. Large lists are compared by hash where their
items have one that agrees with `==`.
"""

from __future__ import annotations

from typing import Any, Final

from .effort import Effort
from .values import Duration, MapList, ObjectValue, Optional, SetList, Timestamp, TypeValue, UInt

__all__ = ["all_in_list", "any_in_list", "distinct", "equals", "in_list", "merge_sets"]

_NUMBERS: Final = frozenset({int, float, UInt})
_ATOMS: Final = frozenset({int, float, UInt, str, bytes, bool, Timestamp, Duration, type(None), TypeValue})
#: Beyond it, integers and doubles that CEL calls equal have different hashes.
_EXACT: Final = 2**53
#: Entries of the items of a list, which are copied to be hashed; a request of 3 MiB has fewer.
MAX_HASHED: Final = 400_000


def equals(one: Any, other: Any) -> bool:
    """Whether two values are equal.

    Raises:
        CostLimitExceeded: they have too many entries to be compared.
    """
    kind, other_kind = one.__class__, other.__class__
    if kind in _ATOMS:
        if kind is other_kind:
            return bool(one == other)
        if kind not in _NUMBERS or other_kind not in _NUMBERS:
            return False
        if kind is float or other_kind is float:
            return float(one) == float(other)
        return bool(one == other)
    return _equal(one, other, Effort())


def _equal(one: Any, other: Any, effort: Effort) -> bool:
    kind, other_kind = one.__class__, other.__class__
    if kind in _ATOMS:
        return equals(one, other)
    if isinstance(one, list):
        if not isinstance(other, list) or len(one) != len(other):
            return False
        effort.spend(len(one))
        return _lists_equal(one, other, effort)
    if isinstance(one, dict):
        if not isinstance(other, dict) or len(one) != len(other) or _made_type(one) != _made_type(other):
            return False
        effort.spend(len(one))
        return all(key in other and _equal(value, other[key], effort) for key, value in one.items())
    if kind is Optional:
        if other_kind is not Optional or one.present != other.present:
            return False
        return not one.present or _equal(one.value, other.value, effort)
    return kind is other_kind and bool(one == other)


def _made_type(value: dict[Any, Any]) -> str:
    return value.cel_type if isinstance(value, ObjectValue) else ""


def _lists_equal(one: list[Any], other: list[Any], effort: Effort) -> bool:
    if one.__class__ is SetList:
        return all_in_list(one, other) and all_in_list(other, one)
    if isinstance(one, MapList):
        theirs = {repr(one.key_of(item)): item for item in other}
        return all((key := repr(one.key_of(item))) in theirs and _equal(item, theirs[key], effort) for item in one)
    return all(_equal(mine, its, effort) for mine, its in zip(one, other, strict=True))


# -- by hash ----------------------------------------------------------------------------------------------------------


class _NoHash(Exception):
    """The value has no hash that agrees with `==`."""


def _hashable(value: Any, effort: Effort) -> Any:
    """What is equal and hashes alike for values that are equal."""
    kind = value.__class__
    if kind is str or kind is int or kind is UInt:
        return value
    if kind is float:
        if not abs(value) < _EXACT:
            raise _NoHash
        return value
    if kind is bool or kind is bytes or value is None:
        return (kind, value)
    if kind is list:
        effort.spend(len(value))
        return (list, tuple([_hashable(each, effort) for each in value]))
    if kind is dict:
        effort.spend(len(value))
        return (dict, frozenset([(key, _hashable(each, effort)) for key, each in value.items()]))
    if kind in _ATOMS:
        return value
    raise _NoHash


def _hashes(items: list[Any]) -> list[Any] | None:
    effort = Effort(MAX_HASHED)
    try:
        return [_hashable(item, effort) for item in items]
    except _NoHash:
        return None


def in_list(value: Any, items: list[Any]) -> bool:
    return any(equals(item, value) for item in items)


def all_in_list(values: list[Any], items: list[Any]) -> bool:
    """Whether a list has all of some values."""
    wanted = _hashes(values)
    known = None if wanted is None else _hashes(items)
    if wanted is None or known is None:
        return all(in_list(each, items) for each in values)
    return set(known).issuperset(wanted)


def any_in_list(values: list[Any], items: list[Any]) -> bool:
    """Whether a list has one of some values."""
    wanted = _hashes(values)
    known = None if wanted is None else _hashes(items)
    if wanted is None or known is None:
        return any(in_list(each, items) for each in values)
    return not set(known).isdisjoint(wanted)


def distinct(items: list[Any]) -> list[Any]:
    """The first of equal items each, in their order."""
    hashes = _hashes(items)
    if hashes is not None:
        firsts: dict[Any, Any] = {}
        for key, item in zip(hashes, items, strict=True):
            firsts.setdefault(key, item)
        return list(firsts.values())
    found: list[Any] = []
    for item in items:
        if not in_list(item, found):
            found.append(item)
    return found


def merge_sets(one: list[Any], other: list[Any]) -> SetList:
    """A set with what another has beside it."""
    mine, its = _hashes(one), _hashes(other)
    if mine is None or its is None:
        return SetList([*one, *(item for item in other if not in_list(item, one))])
    known = set(mine)
    return SetList([*one, *(item for key, item in zip(its, other, strict=True) if key not in known)])
