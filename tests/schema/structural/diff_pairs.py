"""Pairs of schemas for one field: what changes, which rule says so, whether it breaks, and a value that shows it.

`witness` is a value that the old schema takes and the new one refuses (or changes): the judge of a break. A pair
without one breaks readers, appliers or stored objects.
"""
# ruff: noqa: E501 - a table is read by its lines

from __future__ import annotations

from typing import Any, NamedTuple

ABSENT: Any = object()


class Pair(NamedTuple):
    """Two schemas of the field `x`; `rules` are those of the changes found, in order."""

    old: Any
    new: Any
    rules: tuple[str, ...]
    breaks: bool
    witness: Any = ABSENT


def string(**more: Any) -> dict[str, Any]:
    return {"type": "string", **more}


def integer(**more: Any) -> dict[str, Any]:
    return {"type": "integer", **more}


def array(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def fields(required: Any = (), keep: bool = False, **properties: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = list(required)
    if keep:
        made["x-kubernetes-preserve-unknown-fields"] = True
    return made


def mapping(values: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


def listed(kind: str, *keys: str) -> dict[str, Any]:
    made: dict[str, Any] = {"x-kubernetes-list-type": kind}
    if keys:
        made["x-kubernetes-list-map-keys"] = list(keys)
    return made


def rule(text: str, **more: Any) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": text, **more}]}


ANY = {"x-kubernetes-preserve-unknown-fields": True}
INT_OR_STRING = {"x-kubernetes-int-or-string": True}
ITEM = fields(("k",), k=string(), j=string(default="a"))

PAIRS: dict[str, Pair] = {
    "nothing": Pair(string(), string(), (), False),
    "words only": Pair(string(description="a"), string(description="b", title="c", example="d"), (), False),
    # fields
    "a field is removed": Pair(string(), None, ("field-removed",), True, "a"),
    "a field is added": Pair(None, string(), ("field-added",), False),
    "a field with a default is added": Pair(None, string(default="a"), ("field-added",), False),
    "a deep field is removed": Pair(fields(a=string()), fields(), ("field-removed",), True, {"a": "b"}),
    "a field becomes required": Pair(fields(a=string()), fields(("a",), a=string()), ("required-added",), True, {}),
    "a new field is required": Pair(fields(), fields(("a",), a=string()), ("required-field-added",), True, {}),
    "a new field is required and has a default": Pair(fields(), fields(("a",), a=string(default="b")), ("required-with-default", "field-added"), False),
    "a field is no longer required": Pair(fields(("a",), a=string()), fields(a=string()), ("required-removed",), True),
    "a field is checked that was kept": Pair(fields(keep=True), fields(keep=True, a=integer()), ("field-checked",), True, {"a": "b"}),
    "a field is no longer checked": Pair(fields(keep=True, a=string()), fields(keep=True), ("field-unchecked",), True),
    "unknown fields are pruned": Pair(fields(keep=True, a=string()), fields(a=string()), ("unknown-fields-pruned",), True, {"b": 1}),
    "unknown fields are kept": Pair(fields(a=string()), fields(keep=True, a=string()), ("unknown-fields-kept",), False),
    # types
    "integer to string": Pair(integer(), string(), ("type-changed",), True, 1),
    "string to integer": Pair(string(), integer(), ("type-changed",), True, "a"),
    "number to integer": Pair({"type": "number"}, integer(), ("type-changed",), True, 1.5),
    "integer to number": Pair(integer(), {"type": "number"}, ("type-widened",), True),
    "integer to int-or-string": Pair(integer(), INT_OR_STRING, ("type-widened",), True),
    "int-or-string to string": Pair(INT_OR_STRING, string(), ("type-changed",), True, 5),
    "string to anything": Pair(string(), ANY, ("type-widened", "unknown-fields-kept"), True),
    "anything to string": Pair(ANY, string(), ("type-changed",), True, 5),
    "string to list": Pair(string(), array(string()), ("type-changed",), True, "a"),
    "items change their type": Pair(array(string()), array(integer()), ("type-changed",), True, ["a"]),
    "values change their type": Pair(mapping(string()), mapping(integer()), ("type-changed",), True, {"a": "b"}),
    "null is taken away": Pair(string(nullable=True), string(), ("nullable-removed",), True, None),
    "null is allowed": Pair(string(), string(nullable=True), ("nullable-added",), True),
    # bounds
    "a maximum is lowered": Pair(integer(maximum=10), integer(maximum=5), ("maximum-lowered",), True, 7),
    "a maximum is raised": Pair(integer(maximum=5), integer(maximum=10), ("maximum-raised",), False),
    "a maximum is added": Pair(integer(), integer(maximum=5), ("maximum-added",), True, 7),
    "a maximum is removed": Pair(integer(maximum=5), integer(), ("maximum-removed",), False),
    "a maximum is excluded": Pair(integer(maximum=5), integer(maximum=5, exclusiveMaximum=True), ("exclusiveMaximum-added",), True, 5),
    "a maximum is included": Pair(integer(maximum=5, exclusiveMaximum=True), integer(maximum=5), ("exclusiveMaximum-removed",), False),
    "a minimum is raised": Pair(integer(minimum=1), integer(minimum=2), ("minimum-raised",), True, 1),
    "a minimum is lowered": Pair(integer(minimum=2), integer(minimum=1), ("minimum-lowered",), False),
    "a minimum of 0 is added": Pair(integer(), integer(minimum=0), ("minimum-added",), True, -1),
    "a multiple is added": Pair(integer(), integer(multipleOf=2), ("multipleOf-added",), True, 3),
    "a multiple is coarser": Pair(integer(multipleOf=2), integer(multipleOf=4), ("multipleOf-changed",), True, 6),
    "a multiple is finer": Pair(integer(multipleOf=4), integer(multipleOf=2), ("multipleOf-relaxed",), False),
    "a length is shorter": Pair(string(maxLength=5), string(maxLength=3), ("maxLength-lowered",), True, "abcd"),
    "a length is longer": Pair(string(maxLength=3), string(maxLength=5), ("maxLength-raised",), False),
    "a least length is added": Pair(string(), string(minLength=1), ("minLength-added",), True, ""),
    "a least length of nothing is added": Pair(string(), string(minLength=0), (), False),
    "fewer items": Pair(array(string(), maxItems=3), array(string(), maxItems=1), ("maxItems-lowered",), True, ["a", "b"]),
    "at least one item": Pair(array(string()), array(string(), minItems=1), ("minItems-added",), True, []),
    "fewer names": Pair({**mapping(string()), "maxProperties": 2}, {**mapping(string()), "maxProperties": 1}, ("maxProperties-lowered",), True, {"a": "", "b": ""}),
    "at least one name": Pair(mapping(string()), {**mapping(string()), "minProperties": 1}, ("minProperties-added",), True, {}),
    # values
    "a choice is taken away": Pair(string(enum=["a", "b"]), string(enum=["a"]), ("enum-value-removed",), True, "b"),
    "a choice is added": Pair(string(enum=["a"]), string(enum=["a", "b"]), ("enum-value-added",), False),
    "a choice is replaced": Pair(string(enum=["a"]), string(enum=["b"]), ("enum-value-removed", "enum-value-added"), True, "a"),
    "only some values": Pair(string(), string(enum=["a"]), ("enum-added",), True, "b"),
    "any value": Pair(string(enum=["a"]), string(), ("enum-removed",), False),
    "choices in another order": Pair(string(enum=["a", "b"]), string(enum=["b", "a"]), (), False),
    "a pattern is added": Pair(string(), string(pattern="^a"), ("pattern-added",), True, "b"),
    "a pattern is another": Pair(string(pattern="^a"), string(pattern="^ab"), ("pattern-changed",), True, "ac"),
    "a pattern is removed": Pair(string(pattern="^a"), string(), ("pattern-removed",), False),
    "a format is added": Pair(string(), string(format="ipv4"), ("format-added",), True, "a"),
    "a format that only documents is added": Pair(string(), string(format="semver"), (), False),
    "a format is removed": Pair(string(format="ipv4"), string(), ("format-removed",), False),
    "a format of integers is narrower": Pair(integer(format="int64"), integer(format="int32"), ("format-changed",), True, 2**40),
    "a default is another": Pair(string(default="a"), string(default="b"), ("default-changed",), True),
    "a default is added": Pair(string(), string(default="a"), ("default-added",), True),
    "a default is removed": Pair(string(default="a"), string(), ("default-removed",), True),
    # lists and maps
    "atomic to set": Pair(array(string()), array(string(), **listed("set")), ("list-type-changed",), True, ["a", "a"]),
    "set to atomic": Pair(array(string(), **listed("set")), array(string()), ("list-type-changed",), True),
    "atomic to map": Pair(array(ITEM), array(ITEM, **listed("map", "k")), ("list-type-changed",), True, [{"k": "a", "j": "a"}, {"k": "a", "j": "b"}]),
    "another key": Pair(array(ITEM, **listed("map", "k")), array(ITEM, **listed("map", "j")), ("list-map-keys-changed",), True, [{"k": "a", "j": "a"}, {"k": "b", "j": "a"}]),
    "one key more": Pair(array(ITEM, **listed("map", "k")), array(ITEM, **listed("map", "k", "j")), ("list-map-keys-changed",), True),
    "atomic said aloud": Pair(array(string()), array(string(), **listed("atomic")), (), False),
    "a map becomes atomic": Pair(fields(a=string()), {**fields(a=string()), "x-kubernetes-map-type": "atomic"}, ("map-type-changed",), True),
    "a map becomes an object": Pair(mapping(string()), fields(a=string()), ("field-added", "map-closed"), True, {"b": "c"}),
    "values of a map are checked": Pair(mapping(True), mapping(integer()), ("map-values-checked",), True, {"a": "b"}),
    "an object becomes a map": Pair(fields(a=string()), mapping(string()), (), False),
    "it becomes a whole resource": Pair({"type": "object", **ANY}, {"type": "object", **ANY, "x-kubernetes-embedded-resource": True}, ("embedded-resource-added",), True, {}),
    # rules and combinations
    "a rule is added": Pair(fields(a=integer()), {**fields(a=integer()), **rule("self.a > 1")}, ("rule-added",), True, {"a": 1}),
    "a rule is removed": Pair({**fields(a=integer()), **rule("self.a > 1")}, fields(a=integer()), ("rule-removed",), False),
    "a rule is another": Pair({**fields(a=integer()), **rule("self.a > 1")}, {**fields(a=integer()), **rule("self.a > 2")}, ("rule-added", "rule-removed"), True, {"a": 2}),
    "a rule is written in other lines": Pair({**fields(a=integer()), **rule("self.a  >  1")}, {**fields(a=integer()), **rule("self.a > 1", message="m")}, (), False),
    "a combination is added": Pair(string(), string(anyOf=[{"pattern": "a"}, {"pattern": "b"}]), ("anyOf-added",), True, "c"),
    "a combination is another": Pair(string(oneOf=[{"pattern": "a"}]), string(oneOf=[{"pattern": "b"}]), ("oneOf-changed",), True, "a"),
    "a combination is removed": Pair(string(**{"not": {"pattern": "a"}}), string(), ("not-removed",), False),
    "one more of all": Pair(string(allOf=[{"minLength": 1}]), string(allOf=[{"minLength": 1}, {"maxLength": 2}]), ("allOf-added",), True, "abc"),
    "one less of all": Pair(string(allOf=[{"minLength": 1}, {"maxLength": 2}]), string(allOf=[{"minLength": 1}]), ("allOf-removed",), False),
    "int-or-string with its anyOf written out": Pair(INT_OR_STRING, {**INT_OR_STRING, "anyOf": [{"type": "integer"}, {"type": "string"}]}, (), False),
}  # fmt: skip
