"""Rules written above Python types: wrong ones are errors of the class and field, before any cluster sees them."""

from __future__ import annotations

from typing import Annotated

import pytest
from annotated_types import MaxLen

from kubewright.model import Model, Resource, resource
from kubewright.schema import Immutable, Rule, SchemaError, crd_of
from kubewright.schema.cel import CelError
from kubewright.schema.cel.rules import check_rules


class GoodSpec(Model):
    """A spec."""

    image: Annotated[str, MaxLen(100), Immutable()]
    replicas: int | None = None
    auto_scale: bool = False


@Rule("has(self.replicas) || self.autoScale", message="replicas is required unless autoScale is true")
class ScaledSpec(GoodSpec):
    """A spec with a rule."""


@resource(group="example.com", version="v1")
class Scaled(Resource[ScaledSpec]):
    """A kind."""


def test_a_rule_from_a_python_type_gives_the_servers_error_text() -> None:
    schema = crd_of(Scaled)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    (error,) = check_rules(schema, {"spec": {"image": "a", "autoScale": False}})
    assert str(error) == "spec: Invalid value: replicas is required unless autoScale is true"
    (error,) = check_rules(schema, {"spec": {"image": "b", "replicas": 1}}, {"spec": {"image": "a", "replicas": 1}})
    assert str(error) == 'spec.image: Invalid value: "b": is immutable'


class WrongSpec(Model):
    """A spec."""

    first: Annotated[str, Rule("self.size() > 'a'")] = ""
    names: Annotated[list[str], Rule("self.all(a, self.all(b, a != b))")] = []


@resource(group="example.com", version="v1")
class Wrong(Resource[WrongSpec]):
    """A kind."""


def test_wrong_rules_name_class_field_and_cure() -> None:
    with pytest.raises(SchemaError) as failed:
        crd_of(Wrong)
    first, names = failed.value.causes[:2]
    assert (first.owner, first.field) == ("WrongSpec", "first")
    assert "does not compile: found no matching overload for '_>_' applied to '(int, string)'" in first.rule
    assert (names.owner, names.field) == ("WrongSpec", "names")
    assert "can cost more than 100 times what a server allows" in names.rule
    assert "bound self, self[] (MaxLen" in names.cure


RANGE = Rule("self.min <= self.max", message="min must not be above max", field_path=".min")


def test_a_rule_can_be_asked_of_data_and_of_objects() -> None:
    assert RANGE.check({"min": 1, "max": 2}) == []
    (error,) = RANGE.check({"min": 3, "max": 2})
    assert (error.field, error.reason, error.detail) == ("self.min", "FieldValueInvalid", "min must not be above max")
    rule = Rule("has(self.replicas) || self.autoScale", message="replicas is required unless autoScale is true")
    assert rule.check(GoodSpec(image="a", auto_scale=True)) == []
    (error,) = rule.check(GoodSpec(image="a"))
    assert str(error) == "self: Invalid value: replicas is required unless autoScale is true"


def test_a_transition_rule_is_asked_of_changes() -> None:
    rule = Rule("self.replicas >= oldSelf.replicas", message="no shrinking")
    assert rule.check({"replicas": 1}) == []
    assert rule.check({"replicas": 2}, {"replicas": 1}) == []
    assert len(rule.check(GoodSpec(image="a", replicas=1), GoodSpec(image="a", replicas=2))) == 1


def test_a_rule_is_typed_by_the_schema_that_it_is_asked_with() -> None:
    day = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}
    rule = Rule("self.at.getFullYear() > 2000")
    assert rule.check({"at": "2020-01-01T00:00:00Z"}, schema=day) == []
    assert "no such overload" in str(rule.check({"at": "2020-01-01T00:00:00Z"})[0])
    with pytest.raises(CelError, match="undefined field 'nope'"):
        Rule("self.nope == 1").check({}, schema=GoodSpec)
    with pytest.raises(CelError, match="Syntax error"):
        Rule("self.nope ==").check({})
    with pytest.raises(CelError, match="messageExpression must evaluate to a string"):
        Rule("self.at != ''", message_expression="1").check({"at": ""})


def test_rules_of_fields_inside_are_not_asked() -> None:
    assert Rule("self.first != ''").check(WrongSpec(first="a")) == []
