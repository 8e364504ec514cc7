"""Defaults as a server fills them in, and the smallest way to say them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.schema.defaults import fill, minimal, violations

NAMES = st.sampled_from("abc")
SCALARS = st.integers(-3, 3) | st.sampled_from(["x", "y"])


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    scalar = st.just({"type": "integer"})

    def deeper(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        with_default = st.tuples(inner, st.integers(-3, 3)).map(
            lambda pair: pair[0] | {"default": {} if "properties" in pair[0] else pair[1]}
        )
        fields = st.dictionaries(NAMES, inner | with_default, min_size=1, max_size=3)
        return fields.map(lambda known: {"type": "object", "properties": known})

    return st.recursive(scalar, deeper, max_leaves=8)


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "properties" not in schema:
        return st.integers(-3, 3)
    fields = {name: values(part) for name, part in schema["properties"].items()}
    return st.fixed_dictionaries({}, optional=fields)


def without_empty(value: Any) -> Any:
    """Objects in which all fields are absent are as good as absent themselves."""
    if not isinstance(value, dict):
        return value
    left = {name: without_empty(item) for name, item in value.items()}
    return {name: item for name, item in left.items() if item != {}}


@given(st.data())
def test_filling_in_what_was_left_out_gives_the_value_back(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(values(schema))
    short = minimal(schema, value)
    assert without_empty(fill(schema, short)) == without_empty(fill(schema, value))


@given(st.data())
def test_filling_in_twice_changes_nothing(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    once = fill(schema, data.draw(values(schema)))
    assert fill(schema, once) == once


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "integer"}, True, "True is not of type integer"),
        ({"type": "boolean"}, 1, "1 is not of type boolean"),
        ({"x-kubernetes-int-or-string": True}, 1.5, "1.5 is not of type integer or string"),
        ({"allOf": [{"enum": ["a"]}]}, "b", "'b' is none of 'a'"),
        ({"type": "object", "required": ["a"], "properties": {"a": {}}}, {}, "{} has no a, which is required"),
        ({"type": "object", "properties": {}}, {"a": 1}, "has the field a, which the type does not know"),
        ({"type": "array", "items": {"type": "string"}}, [1], "1 is not of type string"),
        ({"type": "array", "maxItems": 1}, [1, 2], "[1, 2] has more than 1 items"),
        ({"type": "number", "maximum": 1, "exclusiveMaximum": True}, 1, "1 is above the maximum 1"),
        ({"type": "object", "minProperties": 1}, {}, "{} has less than 1 fields"),
    ],
)
def test_what_a_default_breaks_is_said(schema: dict[str, Any], value: Any, said: str) -> None:
    assert any(said in each for each in violations(schema, value))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, 1.5),
        ({"type": "number"}, 1),
        ({"type": "integer", "nullable": True, "minimum": 3}, None),
        ({"x-kubernetes-int-or-string": True}, "a"),
        ({"type": "string", "pattern": r"^\p{L}$"}, "ä"),
        ({"type": "number", "multipleOf": 0.1}, 0.3),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"a": 1}),
    ],
)
def test_what_a_server_takes_is_no_violation(schema: dict[str, Any], value: Any) -> None:
    assert list(violations(schema, value)) == []
