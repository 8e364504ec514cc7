"""CEL's `==`, and what stands on it: `in`, sets, lists whose schema says set or map.

Numbers compare by value across types, other types differ from one another. Large lists are compared by hash where their
items have one that agrees with `==`. Data with a schema is compared as that says: apiserver/pkg/cel/common/
valuesunstructured.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..structural.values import same
from .effort import Effort
from .errors import EvaluationError, EvaluationStopped
from .values import (
    Duration,
    KeptObject,
    MapList,
    Misfit,
    ObjectValue,
    Optional,
    Preserved,
    SetList,
    StrictList,
    StrictMap,
    Timestamp,
    TypeValue,
    UInt,
)

__all__ = ["all_in_list", "any_in_list", "distinct", "equals", "in_list", "map_key", "merge_sets"]

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
    if kind is Misfit:
        raise one.error()
    if isinstance(one, list | dict) and other_kind is Misfit:
        raise other.error()
    if isinstance(one, list):
        if not isinstance(other, list) or len(one) != len(other):
            return False
        effort.spend(len(one))
        return _lists_equal(one, other, effort)
    if isinstance(one, dict):
        if not isinstance(other, dict) or _made_type(one) != _made_type(other):
            return False
        if kind is KeptObject or other_kind is KeptObject:
            return _objects_equal(one, other, effort)
        if len(one) != len(other):
            return False
        effort.spend(len(one))
        if kind is StrictMap:
            return all(key in other and _strictly_equal(value, other[key], effort) for key, value in one.items())
        return all(key in other and _equal(value, other[key], effort) for key, value in one.items())
    if kind is Optional:
        if other_kind is not Optional or one.present != other.present:
            return False
        return not one.present or _equal(one.value, other.value, effort)
    if kind is Preserved:
        return other_kind is Preserved and same(one.raw, other.raw)
    return kind is other_kind and bool(one == other)


def _made_type(value: dict[Any, Any]) -> str:
    return value.cel_type if isinstance(value, ObjectValue) else ""


def _strictly_equal(one: Any, other: Any, effort: Effort) -> bool:
    if other is None and isinstance(one, list | dict):
        raise EvaluationError("no such overload")
    return _equal(one, other, effort)


def _objects_equal(one: dict[str, Any], other: dict[str, Any], effort: Effort) -> bool:
    """Objects with fields that their schema does not know, or nulls: those count, and unknown ones differ if both have
    one of a name. What one has and the other has not is passed over, as on a server.
    """
    raw = one.raw if isinstance(one, KeptObject) else one
    other_raw = other.raw if isinstance(other, KeptObject) else other
    if len(raw) != len(other_raw):
        return False
    effort.spend(len(raw))
    for name, value in raw.items():
        if one is raw or (isinstance(one, KeptObject) and name in one.known):
            if (name in one) is not (name in other):
                return False
            if name in one and not _equal(one[name], other[name], effort):
                return False
        elif name in other_raw and not same(value, other_raw[name]):
            return False
    return True


def _lists_equal(one: list[Any], other: list[Any], effort: Effort) -> bool:
    if one.__class__ is SetList:
        return _keys_equal(dict.fromkeys(map(_set_key, one)), map(_set_key, other))
    if isinstance(one, MapList):
        mine = dict(zip(_map_keys(one, one), one, strict=True))
        seen = set()
        for key, item in zip(_map_keys(one, other), other, strict=True):
            if key not in mine or not _equal(mine[key], item, effort):
                return False
            seen.add(key)
        return len(seen) == len(mine)
    same_item = _strictly_equal if one.__class__ is StrictList else _equal
    return all(same_item(mine, its, effort) for mine, its in zip(one, other, strict=True))


def _keys_equal(mine: dict[Any, None], others: Iterable[Any]) -> bool:
    seen = set()
    for key in others:
        if key not in mine:
            return False
        seen.add(key)
    return len(seen) == len(mine)


# -- keys of sets and maps --------------------------------------------------------------------------------------------


def _go_key(value: Any) -> Any:
    """What tells a scalar apart as the key of Go's map: its type, too; an instant with an offset is like no other."""
    kind = value.__class__
    if kind is Misfit or (kind is Timestamp and value.offset):
        return object()
    if isinstance(value, list | dict) or kind is Preserved:
        return (kind, repr(value))
    return (kind, value)


def _set_key(item: Any) -> Any:
    if isinstance(item, list | dict):
        raise EvaluationError("listSet operations are only supported on lists of scalar values")
    return _go_key(item)


def _map_keys(by: MapList, items: list[Any]) -> list[Any]:
    """The keys of a list's items: by the data as far as it is known, as a server does for `==`."""
    if by.data is None:
        return [map_key(by, item) for item in items]
    names = by.keys
    if isinstance(items, MapList) and items.data is not None:
        names, items = items.names, items.data
    # Else what an expression took from data; fields are raw, as far as the schema does not make something else of them.
    return [tuple(_go_key(item.get(name)) for name in names) if isinstance(item, dict) else object() for item in items]


def map_key(by: MapList, item: Any) -> Any:
    """The key of an item, as `+` takes it."""
    return tuple(None if each is None else _go_key(each) for each in by.key_of(item))


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
    """Whether a list has a value. An item that cannot be compared is an error only where no other is the value."""
    failed: EvaluationError | None = None
    for item in items:
        try:
            if equals(item, value):
                return True
        except EvaluationStopped:
            raise
        except EvaluationError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return False


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
    known = set(map(_set_key, one))
    found = SetList(one)
    for item in other:
        key = _set_key(item)
        if key not in known:
            known.add(key)
            found.append(item)
    return found
