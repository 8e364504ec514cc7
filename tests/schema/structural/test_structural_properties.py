"""What holds for every schema and value (hypothesis), and what is promised of hostile ones."""

from __future__ import annotations

import time
from typing import Any

import pytest
from generator import Generator
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.schema.structural import Correlated, FieldError, SchemaShapeError, Structural, json_value
from kubewright.schema.structural.explain import explain
from kubewright.schema.structural.node import MAX_SCHEMA_DEPTH
from kubewright.schema.structural.strformats import FORMATS
from kubewright.schema.structural.values import MAX_DEPTH, TooDeep, same

seeds = st.integers(min_value=0, max_value=2**48)


def case(seed: int) -> tuple[Structural, Any, Any]:
    make = Generator(seed)
    schema = make.schema(3)
    value = json_value(make.value(schema, wild=0.2))
    return Structural(schema), value, json_value(make.changed(schema, value))


@settings(deadline=None)
@given(seeds)
def test_the_quick_answer_is_the_long_one(seed: int) -> None:
    schema, value, _ = case(seed)
    errors = schema.structure_errors(value)
    assert schema.is_valid(value) is (errors == [])
    thorough = explain(schema.node, value, thorough=True)
    assert thorough == errors


@settings(deadline=None)
@given(seeds)
def test_pruning_twice_is_pruning_once(seed: int) -> None:
    schema, value, _ = case(seed)
    pruned, unknown = schema.prune(value)
    again, nothing = schema.prune(pruned)
    assert same(again, pruned)
    assert nothing == []
    assert (unknown == []) is same(value, pruned)


@settings(deadline=None)
@given(seeds)
def test_defaulting_twice_is_defaulting_once(seed: int) -> None:
    schema, value, _ = case(seed)
    once = schema.defaulted(value)
    assert same(schema.defaulted(once), once)


@settings(deadline=None)
@given(seeds)
def test_arguments_are_not_changed(seed: int) -> None:
    schema, value, new = case(seed)
    before = json_value(value), json_value(new)
    schema.errors(new, value)
    schema.prune(value)
    schema.defaulted(value)
    assert same(before[0], value)
    assert same(before[1], new)


@settings(deadline=None)
@given(seeds)
def test_what_is_unchanged_and_correlated_stays(seed: int) -> None:
    schema, value, _ = case(seed)
    past = Correlated(value, json_value(value), schema.node)
    if past.is_unchanged:
        assert schema.structure_errors(value, past=past) == []


@settings(deadline=None)
@given(seeds)
def test_an_update_has_no_errors_that_a_create_has_not(seed: int) -> None:
    schema, old, new = case(seed)
    created = set(map(str, schema.errors(new)))
    assert set(map(str, schema.errors(new, old))) <= created


@settings(deadline=None)
@given(st.text(max_size=40), st.sampled_from(sorted(FORMATS)))
def test_formats_answer_for_every_text(text: str, name: str) -> None:
    assert FORMATS[name](text) in (True, False)


@pytest.mark.parametrize("name", FORMATS)
def test_formats_take_time_that_grows_with_the_text(name: str) -> None:
    start = time.process_time()
    for text in ("1" * 20_000, "a" * 20_000, "a." * 10_000, "1h" * 10_000, '"' * 20_000, "%" * 20_000, ":" * 20_000):
        FORMATS[name](text)
    assert time.process_time() - start < 5


def _with_leaf(depth: int, leaf: Any) -> Any:
    made = leaf
    for _ in range(depth):
        made = {"a": made}
    return made


class TestDepth:
    def test_a_deep_object_is_refused(self) -> None:
        deep: Any = 1
        for _ in range(MAX_DEPTH + 1):
            deep = [deep]
        with pytest.raises(TooDeep):
            json_value(deep)

    def test_an_object_that_holds_itself_is_refused(self) -> None:
        loop: dict[str, Any] = {}
        loop["a"] = loop
        with pytest.raises(TooDeep):
            json_value(loop)

    def test_an_object_at_the_limit_is_walked(self) -> None:
        deep: Any = 1
        for _ in range(MAX_DEPTH - 1):
            deep = {"a": deep}
        schema: Any = {"type": "object"}
        for _ in range(MAX_SCHEMA_DEPTH):
            schema = {"type": "object", "properties": {"a": schema}, "x-kubernetes-preserve-unknown-fields": True}
        compiled = Structural(schema)
        value = json_value(deep)
        assert compiled.errors(value) == []
        assert [error.reason for error in compiled.errors(_with_leaf(MAX_SCHEMA_DEPTH, "x"))] == [
            "FieldValueTypeInvalid"
        ]
        compiled.prune(value)
        compiled.defaulted(value)

    def test_a_deep_schema_is_refused(self) -> None:
        schema: Any = {"type": "object"}
        for _ in range(MAX_SCHEMA_DEPTH + 1):
            schema = {"type": "array", "items": schema}
        with pytest.raises(SchemaShapeError, match="nested deeper than 80 levels"):
            Structural(schema)

    def test_what_is_no_json_is_refused(self) -> None:
        with pytest.raises(TypeError, match="set is not a JSON value"):
            json_value({"a": {1}})


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"properties": []}, "properties: is [] and has to be an object"),
        ({"type": "object", "properties": {"a": 5}}, ".properties[a]: is not an object"),
        ({"maxLength": "5"}, "maxLength: is '5' and has to be a whole number"),
        ({"nullable": 1}, "nullable: is 1 and has to be true or false"),
        ({"required": [1]}, "required: has to be a list of strings"),
        ({"minimum": True}, "minimum: is True and has to be a number"),
        ({"pattern": "(?=a)"}, "invalid or unsupported Perl syntax: `(?=`"),
    ],
)
def test_a_schema_that_cannot_be_read_says_where(schema: Any, said: str) -> None:
    with pytest.raises(SchemaShapeError) as error:
        Structural(schema)
    assert said in str(error.value)


class Asked:
    """A RuleEvaluator that remembers what it was asked."""

    def __init__(self, schema: Any) -> None:
        self.calls: list[tuple[Any, Any]] = []

    def evaluate(self, new: Any, old: Any, past: Correlated | None) -> list[FieldError]:
        self.calls.append((new, old))
        return [FieldError("FieldValueForbidden", "a", "", "by the rule")]


RULED = {
    "type": "object",
    "properties": {"a": {"type": "integer", "maximum": 5, "x-kubernetes-validations": [{"rule": "self > 1"}]}},
}


class TestRules:
    def test_rules_are_listed_when_nobody_evaluates_them(self) -> None:
        assert Structural(RULED).unevaluated == ("a: self > 1",)
        assert Structural(RULED).errors({"a": 1}) == []

    def test_an_evaluator_is_asked_about_what_is_valid(self) -> None:
        schema = Structural(RULED, rules=Asked)
        assert schema.unevaluated == ()
        assert list(map(str, schema.errors({"a": 1}))) == ["a: Forbidden: by the rule"]

    def test_rules_are_evaluated_beside_errors_that_do_not_block(self) -> None:
        schema = Structural(RULED, rules=Asked)
        assert [error.reason for error in schema.errors({"a": 9})] == ["FieldValueInvalid", "FieldValueForbidden"]

    def test_blocking_errors_keep_rules_from_being_evaluated(self) -> None:
        schema = Structural(RULED, rules=Asked)
        assert list(map(str, schema.errors({"a": "x"})))[1:] == [
            "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct"
            " the existing errors to complete validation"
        ]

    def test_a_schema_without_rules_makes_no_evaluator(self) -> None:
        def never(schema: Any) -> Asked:
            raise AssertionError

        assert Structural({"type": "object"}, rules=never).errors({}) == []
