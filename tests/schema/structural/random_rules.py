"""Random simple rules for random schemas: only ones that a server takes where they stand, by what is checked here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from generator import Generator

from kubewright.schema.cel.rule_checks import check_schema_rules

__all__ = ["add_rules"]

RULES: dict[str, tuple[str, ...]] = {
    "integer": ("self > 0", "self != 5", "self % 2 == 0", "10 / self > 1", "self >= oldSelf", "self in [1, 2, 3]"),
    "number": ("self > 0.5", "self <= 10.0", "self == oldSelf", "self < 3"),
    "string": (
        "self != 'a'", "self == oldSelf", "size(self) < 3", "self.startsWith('a')", "self.matches('^[a-z]*$')",
        "oldSelf.size() <= self.size()", "self.lowerAscii() == self", "self in ['a', 'abc', '1']",
    ),
    "boolean": ("self", "self || !oldSelf"),
    "object": ("size(self) < 2", "self == oldSelf", "self.all(k, k != 'x')", "'x' in self",
        "self.all(k, k in oldSelf && self[k] == oldSelf[k])", "self['x'] == self['y.z']",
    ),
    "array": (
        "size(self) < 2", "self == oldSelf", "self.all(x, x == self[0])", "self[0] == self[1]", "oldSelf == self",
        "self.all(x, x in oldSelf)", "self + oldSelf == oldSelf + self", "self.exists_one(x, x == self[0])",
        "size(self + oldSelf) == size(self)", "self.map(x, x) == self", "self[0] in self",
    ),
    "int-or-string": ("self == 5 || self == '50%'", "type(self) == int", "self == oldSelf", "self > 5"),
}  # fmt: skip
MESSAGES: tuple[dict[str, str], ...] = (
    {}, {"message": "not so"}, {"messageExpression": "'not ' + string(self)"},
    {"message": "kept", "messageExpression": "string(self[5])"}, {"reason": "FieldValueForbidden"},
    {"reason": "FieldValueRequired", "message": "needed"},
)  # fmt: skip


def add_rules(make: Generator, schemas: dict[str, Any], chance: float = 0.2) -> None:
    """Give some of the fields of a spec, and of what is below them, a rule each."""
    whole = {"type": "object", "properties": {"spec": {"type": "object", "properties": schemas}}}
    for node in [each for schema in schemas.values() for each in _nodes(schema)]:
        if not make.maybe(chance):
            continue
        paths = [{"fieldPath": f".{name}"} for name in node.get("properties", {})]
        rule = {"rule": make.pick(_rules(node)), **make.pick([*MESSAGES, *paths])}
        if "oldSelf" in rule["rule"] and make.maybe(0.2):
            rule |= {"rule": rule["rule"].replace("oldSelf", "oldSelf.orValue(self)"), "optionalOldSelf": True}
        node["x-kubernetes-validations"] = [rule]
        if check_schema_rules(whole):
            del node["x-kubernetes-validations"]


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and what its structure has below it, where it has a type."""
    if not isinstance(schema, dict):
        return
    if _type(schema):
        yield schema
    for below in (*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")):
        yield from _nodes(below)


def _type(schema: dict[str, Any]) -> str:
    return "int-or-string" if schema.get("x-kubernetes-int-or-string") else schema.get("type", "")


def _rules(schema: dict[str, Any]) -> tuple[str, ...]:
    """The rules that may suit; those of an object are over its fields."""
    names = [name for name, below in schema.get("properties", {}).items() if _type(below)]
    if not names:
        return RULES[_type(schema)]
    first, last = names[0], names[-1]
    return (
        f"has(self.{first})",
        f"!has(self.{first}) || has(self.{last})",
        f"self.{first} == oldSelf.{first}",
        f"self.{last} == self.{first}",
        f"has(oldSelf.{last}) == has(self.{last})",
        f"self.{last} == oldSelf.{first}",
        f"[self.{first}, self.{first}] != [oldSelf.{first}, self.{first}]",
        "self == oldSelf",
        "oldSelf == self",
    )
