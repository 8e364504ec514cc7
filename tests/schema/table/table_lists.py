"""Lists and dictionaries: counts, items, keys, list types, map types."""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, Len, MaxLen, MinLen
from table_rows import row

from kubewright.model import Condition, Model, Quantity
from kubewright.schema import (
    Format,
    Immutable,
    ListAtomic,
    ListMap,
    ListSet,
    MapAtomic,
    MaxProperties,
    MinProperties,
    Pattern,
    Rule,
)


class Item(Model):
    name: Annotated[str, MaxLen(20)]
    protocol: str = "TCP"
    value: Annotated[int | None, Le(5)] = None


class Frozen(Model):
    name: Annotated[str, MaxLen(20)]
    size: Annotated[int | None, Immutable()] = None


class Numbered(Model):
    number: int
    text: str | None = None


CONDITION = {
    "type": "Ready",
    "status": "True",
    "reason": "Fine",
    "message": "",
    "lastTransitionTime": "2026-01-02T03:04:05Z",
}
TCP, UDP = {"name": "a", "protocol": "TCP"}, {"name": "a", "protocol": "UDP"}

ROWS = {
    "strings": row(list[str], [[], ["a", "a"]], ["a", [1], {"a": "b"}]),
    "integers": row(list[int], [[1, 2]], [["1"], [1.5]]),
    "matrix": row(list[list[float]], [[[0.5], []]], [[0.5], [["x"]]]),
    "anything": row(list[Any], [[1, "a", {}, [None]]], [{}]),
    "min_items": row(Annotated[list[str], MinLen(1)], [["a"]], [[]]),
    "max_items": row(Annotated[list[str], MaxLen(1)], [[], ["a"]], [["a", "b"]]),
    "length": row(Annotated[list[int], Len(1, 2)], [[1]], [[], [1, 2, 3]]),
    "items_bounded": row(list[Annotated[int, Ge(1), Le(3)]], [[1, 3]], [[0], [1, 4]]),
    "items_of_length": row(list[Annotated[str, MinLen(1), MaxLen(2)]], [["ab"]], [["abc"], [""]]),
    "items_of_pattern": row(list[Annotated[str, Pattern("^a")]], [["ab"]], [["b", "a"]]),
    "items_of_format": row(list[Annotated[str, Format("ipv4")]], [["10.0.0.1"]], [["x"]]),
    "items_of_choice": row(list[Literal["a", "b"]], [["a", "a"]], [["c"]]),
    "items_with_rule": row(
        Annotated[list[Annotated[str, MaxLen(9), Rule("self != 'x'", message="no x")]], MaxLen(9)], [["a"]], [["x"]]
    ),
    "objects": row(list[Item], [[TCP, TCP]], [[{}], ["a"], [{"name": "a", "value": 6}]]),
    "nullable_items": row(list[str | None], [["a", None]], [[1]]),
    "list_atomic": row(Annotated[list[str], ListAtomic()], [["a", "a"]], ["a"]),
    "set_of_strings": row(Annotated[list[str], ListSet()], [["a", "b"]], [["a", "b", "a"]]),
    "set_of_numbers": row(Annotated[list[float], ListSet()], [[1, 1.5]], [[1.5, 1.5]]),
    "set_of_choices": row(Annotated[list[Literal["a", "b"]], ListSet()], [["b", "a"]], [["a", "a"], ["c"]]),
    "list_map": row(
        Annotated[list[Item], ListMap("name", "protocol"), MaxLen(8)], [[TCP, UDP]], [[TCP, TCP], [{"protocol": "UDP"}]]
    ),
    "list_map_by_number": row(
        Annotated[list[Numbered], ListMap("number")], [[{"number": 1}, {"number": 2}]], [[{"number": 1}, {"number": 1}]]
    ),
    "list_map_with_past": row(
        Annotated[list[Frozen], ListMap("name"), MaxLen(8)],
        [[{"name": "a", "size": 1}]],
        [[{"name": "a", "size": "1"}]],
        [
            ([{"name": "a", "size": 1}], [{"name": "a", "size": 2}]),
            ([{"name": "a", "size": 1}, {"name": "b"}], [{"name": "b"}, {"name": "a"}]),
        ],
    ),
    "conditions": row(
        list[Condition],
        [[CONDITION]],
        [[CONDITION, CONDITION], [{**CONDITION, "status": "Yes"}], [{**CONDITION, "reason": ""}], [{"type": "Ready"}]],
    ),
    "list_rule": row(
        Annotated[list[Annotated[int, Le(99)]], MaxLen(5), Rule("self.size() != 2", message="not two")], [[1]], [[1, 2]]
    ),
    "map_of_strings": row(dict[str, str], [{}, {"a b": "c"}], [{"a": 1}, ["a"]]),
    "map_of_integers": row(dict[str, Annotated[int, Le(3)]], [{"a": 3}], [{"a": 4}, {"a": "1"}]),
    "map_of_lists": row(dict[str, list[str]], [{"a": ["b"]}], [{"a": "b"}]),
    "map_of_sets": row(dict[str, Annotated[list[str], ListSet()]], [{"a": ["b", "c"]}], [{"a": ["b", "b"]}]),
    "map_of_objects": row(dict[str, Item], [{"x": {"name": "a", "protocol": "TCP"}}], [{"x": {"value": 1}}]),
    "map_of_maps": row(dict[str, dict[str, bool]], [{"a": {"b": True}}], [{"a": {"b": "yes"}}]),
    "map_of_quantities": row(dict[str, Quantity], [{"cpu": "1"}], [{"cpu": "one"}]),
    "map_of_anything": row(dict[str, Any], [{"a": {"b": [1]}}], ["a", []]),
    "map_of_nullable": row(dict[str, int | None], [{"a": None, "b": 1}], [{"a": "1"}]),
    "min_properties": row(Annotated[dict[str, int], MinProperties(1)], [{"a": 1}], [{}]),
    "max_properties": row(Annotated[dict[str, int], MaxProperties(1)], [{"a": 1}], [{"a": 1, "b": 2}]),
    "length_of_map": row(Annotated[dict[str, int], Len(1, 2)], [{"a": 1}], [{}, {"a": 1, "b": 2, "c": 3}]),
    "keys_of_pattern": row(
        Annotated[dict[Annotated[str, Pattern("^[a-z']+$")], int], MaxProperties(9)], [{"a'": 1}], [{"A": 1}]
    ),
    "keys_of_length": row(
        Annotated[dict[Annotated[str, MinLen(2), MaxLen(3)], int], MaxProperties(9)], [{"ab": 1}], [{"a": 1}, {"abcd": 1}]
    ),
    "keys_of_choice": row(
        Annotated[dict[Literal["cpu", "memory"], int], MaxProperties(9)], [{"cpu": 1}], [{"gpu": 1}]
    ),
    "map_atomic": row(Annotated[dict[str, str], MapAtomic()], [{"a": "b"}], [{"a": 1}]),
    "map_rule": row(
        Annotated[dict[str, str], MaxProperties(5), Rule("'a' in self", message="needs a")], [{"a": "x"}], [{"b": "x"}]
    ),
    "map_with_past": row(
        Annotated[dict[str, Annotated[int, Immutable()]], MaxProperties(9)],
        [{"a": 1}],
        [{"a": "1"}],
        [({"a": 1}, {"a": 2, "b": 3})],
    ),
}  # fmt: skip
