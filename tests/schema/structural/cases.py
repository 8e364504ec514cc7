"""Objects and what becomes of them: the table that random runs are shrunk into.

A case is a schema of `spec.x`, a value, and for an update the value it replaces. What a server says of each, and stores,
is in `golden/objects.json`; `test_cases_control_plane.py` asks a real one whether that is still so.
"""
# ruff: noqa: E501 - a table is read by its lines

from __future__ import annotations

from typing import Any, NamedTuple

from diff_pairs import ABSENT, INT_OR_STRING, array, fields, integer, listed, mapping, string

__all__ = ["ABSENT", "CASES", "Case"]


class Case(NamedTuple):
    """`old` is ABSENT for a create."""

    schema: Any
    new: Any
    old: Any = ABSENT


def ruled(rule: str) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": rule}]}


NUMBER = {"type": "number"}
OPEN = {"x-kubernetes-preserve-unknown-fields": True}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"x": "y"}}}
KEYED = array(fields(("k",), k=string(), v=integer(maximum=5)), **listed("map", "k"))
PAIR = array(fields(("k", "n"), k=string(), n=integer(), v=integer(maximum=5)), **listed("map", "k", "n"))
SMALL = integer(maximum=5)

CASES: dict[str, Case] = {
    # types
    "a string for an integer": Case(integer(), "1"),
    "a float for an integer": Case(integer(), 1.5),
    "a whole float for an integer": Case(integer(), 2.0),
    "a huge float for an integer": Case(integer(), 1e300),
    "an integer that does not fit": Case(integer(), 2**64),
    "an integer for a number": Case(NUMBER, 3),
    "a boolean for a string": Case(string(), True),
    "an object for a list": Case(array(string()), {"a": 1}),
    "a list for an object": Case(fields(a=string()), []),
    "a number for a date": Case(string(format="date"), 5),
    "a boolean for a date": Case(string(format="date"), True),
    "a list for a date": Case(string(format="date"), ["a"]),
    "an object for int-or-string": Case(INT_OR_STRING, {}),
    "a float for int-or-string": Case(INT_OR_STRING, 1.5),
    "null": Case(string(), None),
    "null with a default": Case(string(default="a"), None),
    "null that is allowed": Case(string(nullable=True), None),
    "null with an enumeration": Case(string(nullable=True, enum=["a"]), None),
    "null in a list": Case(array(string()), ["a", None]),
    "null in a list with a default": Case(array(string(default="b")), ["a", None]),
    "null in a map": Case(mapping(string()), {"a": None, "b": "c"}),
    "null in a map with a default": Case(mapping(string(default="z")), {"a": None}),
    "null in what is kept": Case({"type": "object", **OPEN}, {"a": None}),
    # numbers
    "above the maximum": Case(SMALL, 6),
    "at an exclusive maximum": Case(integer(maximum=5, exclusiveMaximum=True), 5),
    "below the minimum": Case(integer(minimum=1), 0),
    "at an exclusive minimum": Case(NUMBER | {"minimum": 0.5, "exclusiveMinimum": True}, 0.5),
    "an integer against a fraction": Case(NUMBER | {"maximum": 2.5}, 3),
    "a maximum that is no integer": Case(integer(maximum=2.5), 1),
    "a minimum that is no integer": Case(integer(minimum=2.5), 1),
    "a multiple that is no integer": Case(integer(multipleOf=0.5), 3),
    "an integer against half": Case(NUMBER | {"multipleOf": 0.5}, 3),
    "a float against a tenth": Case(NUMBER | {"multipleOf": 0.1}, 0.35),
    "not a multiple": Case(integer(multipleOf=3), 7),
    "too large for 32 bits": Case(integer(format="int32"), 2**31),
    "too large for a float": Case(NUMBER | {"format": "float"}, 4e38),
    "large numbers as they are shown": Case(NUMBER | {"maximum": 1e6}, 123456789.25),
    "several bounds": Case(integer(multipleOf=2, maximum=4, minimum=10), 5),
    # strings
    "too long": Case(string(maxLength=1), "ab"),
    "too long by more": Case(string(maxLength=2, pattern="^$"), "abc"),
    "characters, not bytes": Case(string(maxLength=2), "日本"),
    "too short": Case(string(minLength=2, pattern="^z"), "a"),
    "no match": Case(string(pattern="^[a-z]+$"), "A"),
    "a line feed at the end is no end": Case(string(pattern="^a$"), "a\n"),
    "no date": Case(string(format="date"), "2026-02-30"),
    "no date-time": Case(string(format="date-time"), "2026-01-02"),
    "no duration": Case(string(format="duration"), "soon"),
    "no bytes": Case(string(format="byte"), ""),
    "no address": Case(string(format="ipv4"), "256.1.1.1"),
    "an unknown format": Case(string(format="semver"), "x"),
    "quotes and signs": Case(string(pattern="^$"), "a\"b\\c\n\t\x01é<&>"),
    # enumerations
    "none of the choices": Case(string(enum=["a", "b"]), "c"),
    "a number that is cut": Case(integer(enum=[1, 2]), 2.5),
    "a whole float in the enumeration": Case(NUMBER | {"enum": [1.0]}, 1.7),
    "none of the numbers": Case(NUMBER | {"enum": [1.5, 2]}, 3),
    "an integer that is a character": Case(INT_OR_STRING | {"enum": ["A"]}, 65),
    # objects and lists
    "a missing field": Case(fields(("a", "b"), a=string(), b=string()), {"a": "x"}),
    "too few fields": Case({**fields(a=string()), "minProperties": 1}, {}),
    "too many fields": Case({**mapping(string()), "maxProperties": 1}, {"a": "", "b": ""}),
    "a forbidden field": Case({"type": "object", "additionalProperties": False}, {"a": {"b": 1}}),
    "values of a map": Case(mapping(SMALL), {"a": 6, "b.c": "x"}),
    "too few items": Case(array(string(), minItems=2), ["a"]),
    "too many items": Case(array(string(), maxItems=1), ["a", "b"]),
    "items": Case(array(SMALL), [1, 6, "x"]),
    "unknown fields": Case(fields(a=fields(b=string())), {"a": {"c": 1, "b": "x"}, "z": [1]}),
    "unknown fields in items": Case(array(fields(a=string())), [{"b": 1}, {"a": "x", "c": 2}]),
    "unknown fields that are kept": Case({**fields(a=fields(b=string())), **OPEN}, {"a": {"c": 1}, "z": {"y": 1}}),
    "a map of anything": Case(mapping(True), {"a": {"b": 1}, "c": [{"d": 1}], "e": 5}),
    "null inside of a default": Case(fields(a={**fields(b=OPEN, c=string()), "default": {"b": None, "c": "x"}}), {}),
    "defaults inside defaults": Case(fields(a={**fields(b=string(default="x"), c=integer()), "default": {}}), {}),
    # junctors
    "anyOf none": Case(string(anyOf=[{"pattern": "^a"}, {"minLength": 3}]), "b"),
    "anyOf with the better failure": Case(fields(a=integer(), b=integer(), anyOf=None) | {"anyOf": [{"required": ["z"]}, {"required": ["a"], "properties": {"b": {"maximum": 1}}}]}, {"a": 1, "b": 2}),
    "oneOf none": Case(string(oneOf=[{"pattern": "^a"}, {"pattern": "^b"}]), "c"),
    "oneOf two": Case(string(oneOf=[{"pattern": "^a"}, {"minLength": 1}]), "a"),
    "allOf some": Case(string(allOf=[{"pattern": "^a"}, {"minLength": 1}]), "c"),
    "allOf none": Case(string(allOf=[{"pattern": "^a"}, {"minLength": 3}]), "c"),
    "not": Case(string(**{"not": {"pattern": "^a"}}), "a"),
    "junctors inside junctors": Case(string(allOf=[{"anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]}, {"not": {"maxLength": 1}}]), "c"),
    "int-or-string with anyOf and a pattern": Case(INT_OR_STRING | {"anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^[0-9]+%$"}, "50"),
    # list types
    "a set with a duplicate": Case(array(string(), **listed("set")), ["a", "b", "a", "a"]),
    "a set of 1 and 1.0": Case(array(NUMBER, **listed("set")), [1, 1.0]),
    "a set of lists": Case(array(array(integer()), **listed("set")), [[1], [1.0], [2]]),
    "a list map with a duplicate": Case(KEYED, [{"k": "a"}, {"k": "a", "v": 1}]),
    "a list map without keys": Case(KEYED, [{"v": 1}, {"v": 2}]),
    "a list map of two keys": Case(PAIR, [{"k": "a", "n": 1}, {"k": "a", "n": 2}, {"k": "a", "n": 1}]),
    "a list map of strings": Case(KEYED, ["a"]),
    "sets in a map": Case(mapping(array(string(), **listed("set"))), {"a b": ["x", "x"]}),
    # embedded resources
    "a resource": Case(EMBEDDED | OPEN, POD),
    "a resource that is none": Case(EMBEDDED | OPEN, {"metadata": {}}),
    "a resource with bad names": Case(EMBEDDED | OPEN, {"apiVersion": "a/b/c", "kind": "-x", "metadata": {"name": "a/b", "labels": {"-": "é"}}}),
    "a resource with empty names": Case(EMBEDDED | OPEN, {"apiVersion": "", "kind": ""}),
    "a resource with unknown metadata": Case(EMBEDDED | OPEN, POD | {"metadata": {"name": "a", "zz": 1, "creationTimestamp": None, "ownerReferences": [{"name": "x", "yy": 1}]}}),
    "a resource with labels that are none": Case(EMBEDDED | OPEN, POD | {"metadata": {"labels": {"a": 5}}}),
    "a resource whose kind is a number": Case(EMBEDDED | OPEN, POD | {"kind": 5}),
    "a resource with times": Case(EMBEDDED | OPEN, POD | {"metadata": {"creationTimestamp": "2026-01-02T03:04:05.678+01:00", "finalizers": ["a b"]}}),
    "a resource in a list, pruned": Case(array(EMBEDDED | {"properties": {"spec": fields(a=string())}}), [POD | {"spec": {"a": "x", "b": 1}, "status": {}}]),
    # ratcheting
    "unchanged stays": Case(SMALL, 9, 9),
    "changed does not": Case(SMALL, 8, 9),
    "unchanged beside a change": Case(fields(a=SMALL, b=SMALL), {"a": 9, "b": 1}, {"a": 9, "b": 2}),
    "a missing field that was missing": Case(fields(("a",), a=string(), b=string()), {"b": "x"}, {"b": "x"}),
    "a missing field beside a change": Case(fields(("a",), a=string(), b=string()), {"b": "x"}, {"b": "y"}),
    "an item of an atomic list": Case(array(SMALL), [9, 1], [9]),
    "an atomic list as it was": Case(array(SMALL), [9], [9]),
    "an item of a list map": Case(KEYED, [{"k": "b"}, {"k": "a", "v": 9}], [{"k": "a", "v": 9}]),
    "a list map in another order": Case({**KEYED, "maxItems": 1}, [{"k": "b"}, {"k": "a"}], [{"k": "a"}, {"k": "b"}]),
    "an item of a list map with two keys": Case(PAIR, [{"k": "a", "n": 1, "v": 9}, {"k": "a", "n": 2, "v": 9}], [{"k": "a", "n": 1, "v": 9}]),
    "a value of a map": Case(mapping(SMALL), {"a": 9, "b": 8}, {"a": 9}),
    "a duplicate that was there": Case(array(string(), **listed("set")), ["a", "a", "b"], ["a", "a"]),
    "a duplicate elsewhere": Case(fields(a=array(string(), **listed("set")), b=array(string(), **listed("set"))), {"a": ["x", "x"], "b": ["y", "y"]}, {"a": ["x", "x"]}),
    "inside of anyOf": Case(fields(a=integer(), b=string()) | {"anyOf": [{"properties": {"a": {"maximum": 5}}}]}, {"a": 9, "b": "x"}, {"a": 9, "b": "y"}),
    "a kept field makes a change": Case({**fields(("a",), a=string()), **OPEN}, {"z": 1}, {"z": 1}),
    "null as before": Case(array(string()), [None], [None]),
    # rules
    "a broken rule": Case(integer(**ruled("self > 5")), 1),
    "a broken rule beside what blocks rules": Case(fields(a=integer(**ruled("self > 5")), b=string()), {"a": 1, "b": 1}),
    "a broken rule beside what does not block": Case(fields(a=integer(**ruled("self > 5")), b=SMALL), {"a": 1, "b": 9}),
    "a broken rule of an unchanged value": Case(integer(**ruled("self > 5")), 1, 1),
    "a broken rule of an object that changed elsewhere": Case({**fields(a=integer(), b=string()), **ruled("self.a > 5")}, {"a": 1, "b": "y"}, {"a": 1, "b": "x"}),
    "a broken rule of a field that did not change": Case(fields(a=integer(**ruled("self > 5")), b=string()), {"a": 1, "b": "y"}, {"a": 1, "b": "x"}),
    "a transition rule at a create": Case(integer(**ruled("self == oldSelf")), 1),
    "a transition rule at an update": Case(integer(**ruled("self == oldSelf")), 2, 1),
    "a transition rule in a list map": Case(array(fields(("k",), k={**string(), "maxLength": 9}, v=integer(**ruled("self >= oldSelf"))), maxItems=9, **listed("map", "k")), [{"k": "b", "v": 1}, {"k": "a", "v": 1}], [{"k": "a", "v": 2}, {"k": "b", "v": 2}]),
    "a rule over a field that is absent": Case({**fields(a=integer(), b=integer()), **ruled("self.a < self.b")}, {"a": 1}),
}  # fmt: skip
del CASES["anyOf with the better failure"].schema["properties"]["anyOf"]
