"""What operations cost, in the server's units: constants, and the cost of a call at run time.

Rule: cel-go common/cost.go and interpreter/runtimecost.go. What Kubernetes charges for its own functions is in
`kubernetes_costs`; an environment holds the sum as a table from overload ids to functions of arguments and result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .values import KeptObject, Optional

__all__ = [
    "CREATE_LIST", "CREATE_MAP", "CREATE_OBJECT", "IDENT", "REGEX_FACTOR", "RUNTIME", "RuntimeCost", "STRING_FACTOR",
    "SEARCHES", "SLOW", "WALKS", "ceil_tenth", "size_of",
]  # fmt: skip

IDENT: Final = 1
CREATE_LIST: Final = 10
CREATE_MAP: Final = 30
CREATE_OBJECT: Final = 40
STRING_FACTOR: Final = 0.1
REGEX_FACTOR: Final = 0.25

#: Overloads that search by a pattern.
SEARCHES: Final = frozenset(
    {"matches", "matches_string", "string_find_string", "string_find_all_string", "string_find_all_string_int"}
)
#: Overloads whose one call can take seconds. What they will cost is known from their arguments, and is asked before.
SLOW: Final = frozenset(
    SEARCHES | {"list_distinct", "list_sets_contains_list", "list_sets_intersects_list", "list_sets_equivalent_list"}
)

#: Overloads that walk through long texts or large lists, for more than they cost: what they do is bounded together.
WALKS: Final = frozenset(
    {
        *SEARCHES,
        "add_list",
        "equals",
        "not_equals",
        "in_list",
        "string_format",
        "list_distinct",
        "list_flatten",
        "list_flatten_int",
        "list_join",
        "list_join_string",
        "list_sets_contains_list",
        "list_sets_intersects_list",
        "list_sets_equivalent_list",
        "list_a_index_of_int",
        "list_a_last_index_of_int",
        "list_includes_dyn_dyn",
        "bytes_to_string",
        "string_to_int64",
        "string_to_uint64",
        "string_to_double",
        "string_to_duration",
        "string_to_timestamp",
        "string_to_quantity",
        "string_to_semver",
        "string_bool_to_semver",
        "is_semver_string",
        "is_semver_string_bool",
        "semver_is_greater_than",
        "semver_is_less_than",
        "semver_compare_to",
        "string_to_url",
        "is_url_string",
        "url_get_query",
        "string_to_ip",
        "string_to_cidr",
        *(
            f"list_{item}_{name}"
            for item in ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
            for name in (f"sum_{item}", f"max_{item}", f"min_{item}", "is_sorted_bool", "sort", "sortByAssociatedKeys")
        ),
    }
)

RuntimeCost = Callable[[tuple[Any, ...], Any], int]


def size_of(value: Any) -> int:
    """The size of strings, bytes, lists and maps; 1 of everything else."""
    if isinstance(value, str | bytes | list | dict):
        return len(value.raw) if value.__class__ is KeptObject else len(value)
    if isinstance(value, Optional) and value.present:
        return size_of(value.value)
    return int(getattr(value, "cel_size", 1))


def ceil_tenth(size: int) -> int:
    return (size + 9) // 10


def regex_cost(text: int, pattern: int) -> int:
    return ceil_tenth(text + 1) * ((pattern + 3) // 4)


def _first(args: tuple[Any, ...], _: Any) -> int:
    return ceil_tenth(size_of(args[0]))


def _second(args: tuple[Any, ...], _: Any) -> int:
    return ceil_tenth(size_of(args[1]))


def _smaller(args: tuple[Any, ...], _: Any) -> int:
    return ceil_tenth(min(size_of(args[0]), size_of(args[1])))


def _both(args: tuple[Any, ...], _: Any) -> int:
    return ceil_tenth(size_of(args[0]) + size_of(args[1]))


def _regex(args: tuple[Any, ...], _: Any) -> int:
    return regex_cost(size_of(args[0]), size_of(args[1]))


def _contains(args: tuple[Any, ...], _: Any) -> int:
    return ceil_tenth(size_of(args[0])) * ceil_tenth(size_of(args[1]))


#: By overload id; what is not here costs 1.
RUNTIME: Final[dict[str, RuntimeCost]] = {
    "starts_with_string": _second,
    "ends_with_string": _second,
    "string_to_bytes": _first,
    "bytes_to_string": _first,
    "strings_quote": _first,
    "string_format": _first,
    "in_list": lambda args, _: size_of(args[1]),
    "equals": _smaller,
    "not_equals": _smaller,
    "add_string": _both,
    "add_bytes": _both,
    "matches": _regex,
    "matches_string": _regex,
    "contains_string": _contains,
    **{
        f"{name}_{kind}": _smaller
        for name in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
}
