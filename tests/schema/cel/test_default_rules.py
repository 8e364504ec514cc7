"""Defaults that break rules, in the words of a server: each schema was sent to kube-apiserver 1.37."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.schema.cel.rule_checks import check_schema_rules

INTEGER = {"type": "integer"}
TEXT = {"type": "string", "default": "red"}


def ruled(schema: dict[str, Any], rule: str, **more: Any) -> dict[str, Any]:
    return {**schema, "x-kubernetes-validations": [{"rule": rule, "message": "m", **more}]}


def of(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def items(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "maxItems": 5, "items": schema, **more}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            ruled({**of(color=TEXT), "default": {}}, 'self.color == "red"'),
            ['default: Invalid value: "object": no such key: color evaluating rule: m'],
        ),
        (ruled({**of(color=TEXT), "default": {"color": "red"}}, 'self.color == "red"'), []),
        (
            of(a=ruled({**INTEGER, "default": 1}, "self > oldSelf")),
            ["properties[a].default: Invalid value: 1: m"],
        ),
        (
            of(a=ruled({**INTEGER, "default": 1}, "oldSelf.hasValue()", optionalOldSelf=True)),
            ["properties[a].default: Invalid value: 1: m"],
        ),
        (
            of(a=items(ruled(INTEGER, "self > 1"), default=[1, 2])),
            ["properties[a].default[0]: Invalid value: 1: m"],
        ),
        (
            of(a=items(of(x=ruled({**INTEGER, "default": 0}, "self > 5", messageExpression='"got " + string(self)')))),
            ["properties[a].items.properties[x].default: Invalid value: 0: got 0"],
        ),
    ],
)
def test_a_default_that_breaks_a_rule_is_an_error(schema: dict[str, Any], said: list[str]) -> None:
    found = [str(each) for each in check_schema_rules(of(spec=schema), "s")]
    assert found == [f"s.properties[spec].{each}" for each in said]


def test_nothing_else_is_said_where_a_default_breaks_a_rule() -> None:
    schema = of(a=ruled({**INTEGER, "default": 1}, "self > 1"), b=ruled(INTEGER, "self > 1.nope"))
    assert [each.field for each in check_schema_rules(schema, "s")] == ["s.properties[a].default"]


def test_a_default_of_an_embedded_resource_shows_its_kind_to_rules() -> None:
    default = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}}
    embedded = {**of(spec={"type": "object"}), "x-kubernetes-embedded-resource": True, "default": default}
    assert check_schema_rules(of(e=ruled(embedded, 'self.kind == "X" && self.metadata.name == "a"'))) == []
    assert len(check_schema_rules(of(e=ruled(embedded, 'self.kind == "Y"')))) == 1
