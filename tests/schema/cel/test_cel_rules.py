"""The table of rules, evaluated here. `test_cel_control_plane` asks a real API server the same."""

from __future__ import annotations

from typing import Any

import pytest
from cel_families import FAMILIES, Family, Row
from cel_rules import CHANGES, PROPERTIES, as_rule

from kubewright.schema.cel import Interrupted
from kubewright.schema.cel.rule_checks import check_schema_rules
from kubewright.schema.cel.rules import Rules, check_rules
from kubewright.schema.structural import Structural
from kubewright.schema.structural.correlation import Correlated
from kubewright.schema.structural.crdcheck import check_crd

MIN_RULE = {"rule": "self.min <= self.max"}


def schema_with(*rules: str | dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": PROPERTIES,
        "x-kubernetes-validations": [as_rule(rule) for rule in rules],
    }


@pytest.mark.parametrize(
    ("family", "row"),
    [pytest.param(family, row, id=row.rule["rule"]) for family in FAMILIES for row in family.rows],
)
def test_a_rule_of_the_table_accepts_and_refuses(family: Family, row: Row) -> None:
    schema = family.schema(row.rule)
    assert check_schema_rules(schema) == []
    assert check_rules(schema, row.good) == []
    assert len(check_rules(schema, row.bad)) == 1


@pytest.mark.parametrize(
    ("family", "rule"),
    [pytest.param(family, rule, id=rule["rule"]) for family in FAMILIES for rule in family.wrong],
)
def test_a_wrong_rule_is_refused_before_any_object(family: Family, rule: dict[str, Any]) -> None:
    assert check_schema_rules(family.schema(rule))


def test_there_are_more_than_300_rules() -> None:
    assert sum(len(family.rows) for family in FAMILIES) >= 300


@pytest.mark.parametrize(("rule", "old", "good", "bad"), CHANGES, ids=[str(as_rule(row[0])["rule"]) for row in CHANGES])
def test_a_transition_rule_looks_at_changes_only(rule: Any, old: Any, good: Any, bad: Any) -> None:
    rules = Rules(schema_with(rule))
    assert rules.evaluate(bad) == []
    assert rules.evaluate(good, old) == []
    assert len(rules.evaluate(bad, old)) == 1


def test_replicas_are_required_unless_scaling_is_automatic() -> None:
    rule = {
        "rule": "has(self.replicas) || (has(self.autoScale) && self.autoScale)",
        "message": "replicas is required unless autoScale is true",
        "fieldPath": ".replicas",
        "reason": "FieldValueRequired",
    }
    schema = {"type": "object", "properties": {"spec": schema_with(rule)}}
    (error,) = check_rules(schema, {"spec": {}})
    assert str(error) == "spec.replicas: Required value: replicas is required unless autoScale is true"


def test_parents_are_checked_before_children_and_lists_by_index() -> None:
    item = {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}]}
    schema = {
        "type": "object",
        "properties": {"items": {"type": "array", "items": item}},
        "x-kubernetes-validations": [{"rule": "size(self.items) < 2"}],
    }
    assert [str(error) for error in check_rules(schema, {"items": [1, 0]})] == [
        "<nil>: Invalid value: failed rule: size(self.items) < 2",
        "items[1]: Invalid value: 0: failed rule: self > 0",
    ]


def test_items_of_a_list_of_type_map_are_compared_with_their_old_selves() -> None:
    port = {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]}
    items = {"type": "object", "properties": {"name": {"type": "string"}, "port": port}}
    ports = {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    schema = {"type": "object", "properties": {"ports": ports}}
    old = {"ports": [{"name": "a", "port": 5}, {"name": "b", "port": 7}]}
    new = {"ports": [{"name": "c", "port": 1}, {"name": "b", "port": 6}, {"name": "a", "port": 5}]}
    assert [error.field for error in check_rules(schema, new, old)] == ["ports[1].port"]


def test_a_rule_over_the_whole_object_sees_its_names() -> None:
    schema = {"type": "object", "x-kubernetes-validations": [{"rule": "self.metadata.name.startsWith('a')"}]}
    assert check_rules(schema, {"metadata": {"name": "abc"}}) == []
    assert len(check_rules(schema, {"metadata": {"name": "xyz"}})) == 1


def test_the_budget_of_an_object_ends_the_evaluation() -> None:
    rule = {"rule": "self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))"}
    inner = {"type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer"}}}}
    inner["x-kubernetes-validations"] = [rule]
    schema = {"type": "object", "properties": {"all": {"type": "array", "items": inner}}}
    errors = check_rules(schema, {"all": [{"l": [1] * 40}] * 100})
    assert "running out of cost budget, no further validation rules will be run" in str(errors[-1])
    assert len(errors) == 1


def test_a_call_that_costs_too_much_is_ended() -> None:
    schema = {
        "type": "object",
        "properties": {"l": {"type": "array", "items": {"type": "integer"}}},
        "x-kubernetes-validations": [{"rule": "self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))"}],
    }
    (error,) = check_rules(schema, {"l": [1] * 200})
    assert "operation cancelled: actual cost limit exceeded" in str(error)


def test_an_unbounded_rule_is_told_to_add_bounds() -> None:
    schema = {
        "type": "object",
        "properties": {"l": {"type": "array", "items": {"type": "string"}}},
        "x-kubernetes-validations": [{"rule": "self.l.all(x, self.l.all(y, x == y))"}],
    }
    errors = check_schema_rules(schema)
    assert "estimated rule cost exceeds budget by factor of more than 100x" in str(errors[0])
    schema["properties"]["l"] = {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10}}
    assert check_schema_rules(schema) == []


def test_the_walker_of_structural_schemas_runs_rules_and_ratchets_them() -> None:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": PROPERTIES, "x-kubernetes-validations": [MIN_RULE]}},
    }
    structural = Structural(schema, rules=Rules)
    assert structural.unevaluated == ()
    bad = {"spec": {"min": 3, "max": 2}}
    assert [str(error) for error in structural.errors(bad)] == [
        "spec: Invalid value: failed rule: self.min <= self.max"
    ]
    # What was there before and did not change is no error of this update.
    assert structural.errors({**bad, "metadata": {"labels": {"a": "b"}}}, bad) == []
    assert len(structural.errors({"spec": {"min": 4, "max": 2}}, bad)) == 1


def test_a_crd_is_refused_for_its_rules() -> None:
    schema = {"type": "object", "properties": {"spec": schema_with("self.nope == 1")}}
    names = {"plural": "webs", "singular": "web", "kind": "Web", "listKind": "WebList"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "webs.example.com"},
        "spec": {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]},
    }
    assert check_crd(crd).is_valid
    (error,) = check_crd(crd, rules=check_schema_rules).errors
    assert error.field == ("spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule")
    assert "undefined field 'nope'" in error.detail


def test_what_is_new_in_this_version_runs_but_is_not_let_in() -> None:
    schema = {"type": "object", "properties": {"l": {"type": "array", "maxItems": 3, "items": {"type": "integer"}}}}
    schema["x-kubernetes-validations"] = [{"rule": "self.l.includes(1)"}]
    assert check_rules(schema, {"l": [1]}) == []
    assert "undeclared reference to 'includes'" in str(check_schema_rules(schema)[0])


def test_null_has_no_fields() -> None:
    item = {"type": "object", "nullable": True, "properties": {"x": {"type": "integer"}}}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"l": {"type": "array", "maxItems": 3, "items": item}},
        "x-kubernetes-validations": [
            {"rule": "self.l.all(o, o.x == 1)"},
            {"rule": "self.l.exists(o, has(o.x))"},
            {"rule": "self.l[0].x == 1 || self.l[0].x == 2"},
            {"rule": "self.l[0] == null"},
        ],
    }
    assert [error.detail for error in check_rules(schema, {"l": [None]}, is_root=False)] == [
        "no such key: x evaluating rule: self.l.all(o, o.x == 1)",
        "failed rule: self.l.exists(o, has(o.x))",
        "no such key: x evaluating rule: self.l[0].x == 1 || self.l[0].x == 2",
    ]


def test_what_an_update_leaves_alone_is_ratcheted_and_can_be_warned_of() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": PROPERTIES, "x-kubernetes-validations": [MIN_RULE]},
            "b": {"type": "object", "properties": PROPERTIES, "x-kubernetes-validations": [MIN_RULE]},
        },
    }
    rules = Rules(schema)
    old = {"a": {"min": 3, "max": 2}, "b": {"min": 1, "max": 2}}
    new = {"a": {"min": 3, "max": 2}, "b": {"min": 4, "max": 2}}
    past = Correlated(new, old, Structural(schema).node)
    assert [error.field for error in rules.evaluate(new, old, past)] == ["b"]
    assert [str(error) for error in rules.ratcheted(new, old, past)] == [
        "a: Invalid value: failed rule: self.min <= self.max"
    ]
    assert len(rules.evaluate(new, old)) == 2


def test_the_check_of_an_object_that_is_no_longer_wanted_ends() -> None:
    schema = {
        "type": "object",
        "properties": {"l": {"type": "array", "items": {"type": "integer"}}},
        "x-kubernetes-validations": [{"rule": "self.l.all(x, self.l.all(y, x + y >= 0)) || true"}],
    }
    with pytest.raises(Interrupted):
        Rules(schema).evaluate({"l": [1] * 200}, interrupted=lambda: True)
