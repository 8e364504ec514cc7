"""The lists extension of cel-go (version 3), sets, and what two-variable macros insert with."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any, Final

from .costs import CREATE_LIST, RuntimeCost, size_of
from .effort import spend_long, spend_work
from .equality import all_in_list, any_in_list, distinct
from .errors import CostLimitExceeded, EvaluationError
from .ops import check_size, compare, type_name
from .runtime import insert
from .signatures import Library
from .values import decode_key

__all__ = ["COMPARABLE", "LISTS", "LIST_COSTS", "SETS", "TWO_VARIABLES"]

LISTS: Final = Library("lists")
SETS: Final = Library("sets")
TWO_VARIABLES: Final = Library("two-variable comprehensions")
COMPARABLE: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
#: A longer range costs more than any limit allows.
MAX_RANGE: Final = 10_000_000


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    call = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError(f"{call}, negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{call}, start index must be less than or equal to end index")
    if len(items) < end:
        raise EvaluationError(f"{call}, list is length {len(items)}")
    return list(items[start:end])


def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    found = list(items)
    spend_long(4 * len(items))
    while depth and any(isinstance(item, list) for item in found):
        size = sum(len(item) if isinstance(item, list) else 1 for item in found)
        check_size(8 * size)
        # The cost is that of the list as it was.
        spend_work(size // 8)
        found = [inner for item in found for inner in (item if isinstance(item, list) else (item,))]
        depth -= 1
    return found


def _sort(items: list[Any]) -> list[Any]:
    return _sort_by(items, items)


def _sort_by(items: list[Any], keys: list[Any]) -> list[Any]:
    if len(items) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list,"
            f" but got {len(items)} and {len(keys)} elements respectively"
        )
    spend_long(4 * len(items))
    if len({type_name(key) for key in keys}) > 1:
        raise EvaluationError("list elements must have the same type")
    places: list[int] = list(range(len(items)))

    def by_key(one: int, other: int) -> int:
        return compare(keys[one], keys[other])

    order = sorted(places, key=cmp_to_key(by_key))
    return [items[place] for place in order]


def _range(count: int) -> list[int]:
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > MAX_RANGE:
        raise CostLimitExceeded
    return list(range(count))


LISTS.add_all(
    (
        ("list_slice", ".slice (list(T), int, int) -> list(T)", _slice),
        ("list_flatten", ".flatten (list(list(T))) -> list(T)", _flatten),
        ("list_flatten_int", ".flatten (list(dyn), int) -> list(dyn)", _flatten),
        ("lists_range", "lists.range (int) -> list(int)", _range),
        ("list_reverse", ".reverse (list(T)) -> list(T)", lambda items: list(reversed(items))),
        ("list_distinct", ".distinct (list(T)) -> list(T)", distinct),
    )
)
for _type in COMPARABLE:
    LISTS.add(f"list_{_type}_sort", f".sort (list({_type})) -> list({_type})", _sort)
    LISTS.add(
        f"list_{_type}_sortByAssociatedKeys", f".@sortByAssociatedKeys (list(T), list({_type})) -> list(T)", _sort_by
    )


def _contains(items: list[Any], part: list[Any]) -> bool:
    return all_in_list(part, items)


SETS.add_all(
    (
        ("list_sets_contains_list", "sets.contains (list(T), list(T)) -> bool", _contains),
        (
            "list_sets_equivalent_list",
            "sets.equivalent (list(T), list(T)) -> bool",
            lambda one, other: _contains(one, other) and _contains(other, one),
        ),
        (
            "list_sets_intersects_list",
            "sets.intersects (list(T), list(T)) -> bool",
            any_in_list,
        ),
    )
)


def _insert(entries: dict[Any, Any], *added: Any) -> dict[Any, Any]:
    result = dict(entries)
    pairs = [added] if len(added) == 2 else [(decode_key(key), value) for key, value in added[0].items()]
    for key, value in pairs:
        insert(result, key, value)
    return result


TWO_VARIABLES.add("@mapInsert_map_key_value", "cel.@mapInsert (map(K, V), K, V) -> map(K, V)", _insert)
TWO_VARIABLES.add("@mapInsert_map_map", "cel.@mapInsert (map(K, V), map(K, V)) -> map(K, V)", _insert)


# -- costs ------------------------------------------------------------------------------------------------------------


def _allocating(factor: float, size: int) -> int:
    return int(size * (factor if factor >= 0 else 1.0)) + 1 + CREATE_LIST


def _self_compare(items: list[Any]) -> int:
    factor = 2.1 if items and isinstance(items[0], str | bytes) else 2.0
    return _allocating(factor, len(items) ** 2)


def _sets_cost(factor: int) -> RuntimeCost:
    return lambda args, _: 1 + len(args[0]) * len(args[1]) * factor


LIST_COSTS: Final[dict[str, RuntimeCost]] = {
    "list_slice": lambda _, result: _allocating(1, size_of(result)),
    "lists_range": lambda _, result: _allocating(1, size_of(result)),
    "list_reverse": lambda _, result: _allocating(1, size_of(result)),
    "list_flatten": lambda args, _: _allocating(1, size_of(args[0])),
    "list_flatten_int": lambda args, _: _allocating(args[1], size_of(args[0])),
    "list_distinct": lambda args, _: _self_compare(args[0]),
    "list_sets_contains_list": _sets_cost(1),
    "list_sets_intersects_list": _sets_cost(1),
    "list_sets_equivalent_list": _sets_cost(2),
    **{f"list_{kind}_sort": lambda args, _: _self_compare(args[0]) for kind in COMPARABLE},
    **{f"list_{kind}_sortByAssociatedKeys": lambda args, _: _self_compare(args[1]) for kind in COMPARABLE},
}
