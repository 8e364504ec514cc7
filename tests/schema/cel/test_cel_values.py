"""Data that is not what its schema says, or more than that, under rules: what a real API server makes of it.

The random objects of `test_structural_control_plane.py` ask a server the same.
"""

# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

from typing import Any

import pytest

from kubewright.schema.cel.rules import Rules
from kubewright.schema.cel.schema_formats import bytes_of, date_of, date_time_of, duration_of

INTEGER = {"type": "integer"}
KEPT = {"x-kubernetes-preserve-unknown-fields": True}
SAME = "self == oldSelf"


def said(schema: dict[str, Any], rule: str, new: Any, old: Any = None) -> str:
    """What the one rule says; empty where it holds."""
    rules = Rules({**schema, "x-kubernetes-validations": [{"rule": rule}]}, is_root=False)
    return "; ".join(error.detail for error in rules.evaluate(new, old, path="self"))


def of(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}}


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (INTEGER, 2.0, "invalid data, expected int, got float64"),
        (INTEGER, "x", "invalid data, expected int, got string"),
        ({"type": "number"}, True, "invalid data, expected float, got bool"),
        ({"type": "string"}, {}, "invalid data, expected string, got map[string]interface {}"),
        ({"type": "boolean"}, [], "invalid data, expected bool, got []interface {}"),
        ({"type": "object"}, 1, "invalid data, expected a map for the provided schema with type=object"),
        ({"type": "array", "items": INTEGER}, 1, "invalid data, expected an array for the provided schema with type=array"),
        ({"x-kubernetes-int-or-string": True}, 2.0, "invalid data, expected XIntOrString value to be either a string or integer"),
        (
            {"type": "string", "format": "date-time"},
            "2026-01-02t03:04:05z",
            'Invalid date-time formatted string 2026-01-02t03:04:05z: parsing time "2026-01-02t03:04:05z" as'
            ' "2006-01-02T15:04:05": cannot parse "t03:04:05z" as "T"',
        ),
        ({"type": "string", "format": "byte"}, "+/==", "Invalid byte formatted string +/==: illegal base64 data at input byte 0"),
    ],
)  # fmt: skip
def test_a_misfit_is_an_error_where_it_is_read(schema: dict[str, Any], value: Any, message: str) -> None:
    seen = of("a", schema) | {"properties": {"a": schema, "b": INTEGER}}
    assert said(seen, "self.b == 1", {"a": value, "b": 1}) == ""
    assert said(seen, "true || self.a == self.a", {"a": value}) == ""
    for rule in ("self.a == self.a", "has(self.a)", "self.?a.hasValue()"):
        assert said(seen, rule, {"a": value}) == f"{message} evaluating rule: {rule}"


def test_items_that_are_misfits_are_errors_where_they_are_read() -> None:
    numbers = {"type": "array", "items": INTEGER}
    wrong = "invalid data, expected int, got float64 evaluating rule: "
    assert said(numbers, "self.exists(x, x == 1)", [2.0, 1]) == ""
    assert said(numbers, "1 in self", [2.0, 1]) == ""
    assert said(numbers, "3 in self", [2.0, 1]) == f"{wrong}3 in self"
    assert said(numbers, "self.size() == 2", [2.0, 1]) == ""
    assert said(numbers, "self[0] > 1", [2.0]) == f"{wrong}self[0] > 1"
    null = "invalid data, got null for schema with nullable=false evaluating rule: self.all(x, x == 1)"
    assert said(numbers, "self.all(x, x == 1)", [None]) == null


def test_fields_that_are_only_kept_count_where_both_have_them() -> None:
    kept = of("a", INTEGER) | KEPT
    assert said(kept, SAME, {"a": 1, "x": 1}, {"a": 1, "x": 1}) == ""
    assert said(kept, SAME, {"a": 1, "x": 1}, {"a": 1, "x": 2}) == f"failed rule: {SAME}"
    assert said(kept, SAME, {"a": 1, "x": 1}, {"a": 1, "y": 2}) == ""
    assert said(kept, SAME, {"a": 1, "x": 1}, {"a": 1}) == f"failed rule: {SAME}"
    whole = of("a", of("b", KEPT))
    assert said(whole, SAME, {"a": {"b": 2.0}}, {"a": {"b": 2}}) == f"failed rule: {SAME}"
    assert said(whole, SAME, {"a": {"b": [{}]}}, {"a": {"b": [{}]}}) == ""


def test_a_null_counts_and_is_not_there() -> None:
    pair = {"type": "object", "properties": {"a": {**INTEGER, "nullable": True}, "b": INTEGER}}
    assert said(pair, "has(self.a)", {"a": None}) == "failed rule: has(self.a)"
    assert said(pair, SAME, {"a": None, "b": 1}, {"b": 1}) == f"failed rule: {SAME}"
    assert said(pair, SAME, {"a": None, "b": 1}, {"a": None, "b": 1}) == ""


def test_sets_are_of_scalars() -> None:
    lists = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "array", "items": INTEGER}}
    error = "listSet operations are only supported on lists of scalar values evaluating rule: "
    assert said(lists, SAME, [[1]], [[1]]) == f"{error}{SAME}"
    assert said(lists, "self + self == self", [[1]]) == f"{error}self + self == self"
    assert said(lists, SAME, [[1]], [[1], [2]]) == f"failed rule: {SAME}"
    times = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "format": "date-time"}}
    assert said(times, SAME, ["2026-01-02T03:04:05Z"], ["2026-01-02T03:04:05Z"]) == ""
    # Go tells instants apart by their zones, each of which is one of its own.
    offset = ["2026-01-02T03:04:05+01:00"]
    assert said(times, SAME, offset, offset) == f"failed rule: {SAME}"


def test_an_object_is_not_compared_with_null_inside_of_a_list() -> None:
    objects = {"type": "array", "items": {**of("a", INTEGER), "nullable": True}}
    overload = "'no such overload': call arguments did not match a supported operator, function or macro signature"
    assert said(objects, SAME, [{"a": 1}], [None]) == f"{overload} for rule: {SAME}"
    assert said(objects, SAME, [None], [{"a": 1}]) == f"failed rule: {SAME}"
    assert said(objects, "self[0] == self[1]", [{"a": 1}, None]) == "failed rule: self[0] == self[1]"


def test_items_of_a_map_are_told_apart_by_the_data() -> None:
    items = {"type": "object", "properties": {"k": {"type": "number"}, "v": INTEGER}}
    listed = {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": items,
    }  # fmt: skip
    assert said(listed, SAME, [{"k": 1}, {"k": 2}], [{"k": 2}, {"k": 1}]) == ""
    assert said(listed, SAME, [{"k": 1.0}], [{"k": 1}]) == f"failed rule: {SAME}"


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (date_of, "2026-02-30", 'parsing time "2026-02-30": day out of range'),
        (date_of, "2026-13-01", 'parsing time "2026-13-01": month out of range'),
        (date_of, "2026-01-02x", 'parsing time "2026-01-02x": extra text: "x"'),
        (date_of, "é", 'parsing time "\\xc3\\xa9" as "2006-01-02": cannot parse "\\xc3\\xa9" as "2006"'),
        (date_time_of, "1h", 'parsing time "1h" as "2006-01-02T15:04:05": cannot parse "1h" as "2006"'),
        (duration_of, "abc", "unable to parse abc as duration"),
        (bytes_of, "AP8", "illegal base64 data at input byte 0"),
        (bytes_of, "AP8=x", "illegal base64 data at input byte 4"),
    ],
)
def test_texts_without_a_value_are_refused_in_the_words_of_go(parse: Any, text: str, message: str) -> None:
    with pytest.raises(ValueError) as refused:
        parse(text)
    assert str(refused.value) == message


def test_texts_with_a_value_have_that_of_go() -> None:
    assert duration_of("3 days 2 h").ns == (3 * 24 + 2) * 3600 * 10**9
    assert duration_of("1.5h").ns == 5400 * 10**9
    assert bytes_of("-_8=") == b"\xfb\xff"
    assert date_time_of("2026-01-02T03:04:05").ns == date_time_of("2026-01-02T03:04:05Z").ns
    assert date_time_of("").ns == 0
