"""Random CRDs that a server takes, and objects that it stores as they are. A seed is a case.

The names are those that a generator stumbles over; every kind of field that a structural schema has is drawn.
"""

# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

import random
from typing import Any, Final

__all__ = ["RandomCrd"]

NAMES: Final = (
    "a", "b", "name", "class", "from", "import", "None", "self", "list", "dict", "str", "type", "fooBar", "foo-bar",
    "foo_bar", "FooBar", "foo.bar", "odd-name.x/y", "$ref", "1st", "", "ünï", "externalIPs", "externalIps", "URL", "x" * 70,
    "unknownFields", "unknown_fields", "field", "metadata", "spec", "status", "kind", "apiVersion", "Model", "Any", "int",
    "datetime", "_private", "__class__", "__init__", "match", "items", "properties", "2", "é", "a b", 'q"', "back\\slash",
)  # fmt: skip
ROOTS: Final = (
    "spec",
    "status",
    "data",
    "api_version",
    "api-version",
    "unknownFields",
    "rest",
    "Kind",
    "class",
    "size",
)
TEXTS: Final = ("", "a", "0.5", "true", "1e3", "é", 'a "b"\n', "2026-01-02", "null", "\ufdd0", "日本", "~", "\\u0000")
INTEGERS: Final = (0, 1, -5, 2**31 - 1, 2**53 + 1, -(2**63), 2**63 - 1)
NUMBERS: Final = (0, 1, 1.0, 0.5, -2.25, 1e21, 2**53 + 1, 1e-7, 100)
TIMES: Final = ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+02:00", "0001-01-01T00:00:00Z")
JSON: Final = (1, 1.5, "x", True, None, [1, "a", None, []], {"a": {"b": [], "c": None}}, {}, [], 2**63 - 1, 0, "")
FREE: Final = {"x-kubernetes-preserve-unknown-fields": True}


class RandomCrd:
    """A CRD, and objects of its kind."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        root: dict[str, Any] = {"type": "object", "properties": {}}
        for name in self._sample(ROOTS, 4):
            root["properties"][name] = self._object(3) if self._maybe(0.7) else self._schema(2)
        if self._maybe(0.3):
            root |= FREE
        if self._maybe(0.4) and root["properties"]:
            root["required"] = self._sample(tuple(root["properties"]), 2)
        self.schema = root

    def crd(self) -> dict[str, Any]:
        """The manifest."""
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": self.schema}}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.random.example.com"},
            "spec": {
                "group": "random.example.com",
                "scope": "Namespaced",
                "names": {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"},
                "versions": [version],
            },
        }

    def object(self) -> dict[str, Any]:
        """An object whose every part fits its schema."""
        made = self._value(self.schema, 0)
        return {**made, "apiVersion": "random.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}

    # -- schemas ------------------------------------------------------------------------------------------------------

    def _maybe(self, chance: float) -> bool:
        return self._random.random() < chance

    def _sample(self, names: tuple[str, ...], most: int) -> list[str]:
        return self._random.sample(names, min(len(names), self._random.randint(0, most)))

    def _schema(self, depth: int) -> dict[str, Any]:
        kinds = ["text", "int", "number", "bool", "format", "enum", "either", "any", "bare", "quantity"]
        if depth > 0:
            kinds += ["object"] * 4 + ["list", "list", "map", "map", "embedded", "union", "nested"]
        made = getattr(self, f"_{self._random.choice(kinds)}")(depth)
        if self._maybe(0.15) and "x-kubernetes-embedded-resource" not in made:
            made["nullable"] = True
        if (
            self._maybe(0.1)
            and made.get("type") in ("string", "integer")
            and "enum" not in made
            and "format" not in made
        ):
            made["default"] = {"string": "x", "integer": 3}[made["type"]]
        if self._maybe(0.05) and made.get("type") == "array" and made["items"].get("type") == "string":
            made["default"] = []
        return made

    def _text(self, depth: int) -> dict[str, Any]:
        return {"type": "string"}

    def _int(self, depth: int) -> dict[str, Any]:
        return {"type": "integer"}

    def _number(self, depth: int) -> dict[str, Any]:
        return {"type": "number", **({"minimum": -10} if self._maybe(0.3) else {})}

    def _bool(self, depth: int) -> dict[str, Any]:
        return {"type": "boolean"}

    def _format(self, depth: int) -> dict[str, Any]:
        return {"type": "string", "format": self._random.choice(["date-time", "date", "byte", "duration", "uuid"])}

    def _enum(self, depth: int) -> dict[str, Any]:
        return {"type": "string", "enum": ["", "a", "on", 'q"', "None"]}

    def _either(self, depth: int) -> dict[str, Any]:
        return {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}

    def _quantity(self, depth: int) -> dict[str, Any]:
        return {"x-kubernetes-int-or-string": True}

    def _any(self, depth: int) -> dict[str, Any]:
        return {**FREE, **({"properties": {"a": {"type": "string"}}} if self._maybe(0.2) else {})}

    def _bare(self, depth: int) -> dict[str, Any]:
        return {"type": "object", **FREE}

    def _object(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {"type": "object"}
        properties = {name: self._schema(depth - 1) for name in self._sample(NAMES, 6)}
        if properties:
            made["properties"] = properties
            if self._maybe(0.4):
                made["required"] = self._sample(tuple(properties), 2)
        if self._maybe(0.4):
            made |= FREE
        return made

    def _list(self, depth: int) -> dict[str, Any]:
        made = {"type": "array", "items": self._schema(depth - 1)}
        return {**made, **FREE} if self._maybe(0.15) else made

    def _map(self, depth: int) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self._schema(depth - 1)}

    def _embedded(self, depth: int) -> dict[str, Any]:
        made = self._object(depth)
        for name in ("apiVersion", "kind", "metadata"):
            made.get("properties", {}).pop(name, None)
            if name in made.get("required", ()):
                made["required"].remove(name)
        if not made.get("properties"):
            made |= FREE
        return {**made, "x-kubernetes-embedded-resource": True}

    def _union(self, depth: int) -> dict[str, Any]:
        one, other = self._object(depth - 1), {"type": "string"}
        said = self._random.choice(["oneOf", "anyOf"])
        return {
            "type": "object",
            "properties": {"one": one, "other": other},
            said: [{"required": ["one"]}, {"required": ["other"]}],
        }

    def _nested(self, depth: int) -> dict[str, Any]:
        inner = self._object(depth - 1)
        for _ in range(self._random.randint(1, 4)):
            inner = self._random.choice(
                [
                    {"type": "array", "items": inner},
                    {"type": "object", "additionalProperties": inner},
                    {"type": "object", "properties": {"a": inner}},
                ]
            )
        return inner

    # -- values -------------------------------------------------------------------------------------------------------

    def _value(self, schema: dict[str, Any], depth: int, *, may_be_null: bool = True) -> Any:
        pick = self._random.choice
        if may_be_null and schema.get("nullable") and "enum" not in schema and self._maybe(0.3):
            return None
        if "enum" in schema:
            return pick(schema["enum"])
        if schema.get("x-kubernetes-int-or-string"):
            return pick([1, "1", "10%", "", 0])
        kind = schema.get("type")
        if kind == "object":
            return self._fields(schema, depth)
        if kind == "array":
            inner = schema["items"] if not schema.get(next(iter(FREE))) else {**schema["items"], **FREE}
            return [self._value(inner, depth + 1) for _ in range(self._random.randint(0, 3))]
        formats = {"date-time": pick(TIMES), "date": "2026-01-02", "byte": pick(["AP8=", "YQ=="]), "duration": "1h0m"}
        formats["uuid"] = "0e7f7a5e-9c2b-4d0e-8f43-0e5f0d7c2a11"
        simple = {
            "string": lambda: formats.get(schema.get("format", "")) or pick(TEXTS),
            "integer": lambda: pick(INTEGERS),
            "number": lambda: pick([each for each in NUMBERS if each >= schema.get("minimum", each)]),
            "boolean": lambda: pick([True, False]),
        }
        if kind in simple:
            return simple[kind]()
        free = pick([each for each in JSON if each is not None])  # null in the place of any JSON is absent to a server
        return {"a": "x", "more": free} if "properties" in schema else free

    def _fields(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties, required = schema.get("properties", {}), schema.get("required", ())
        made = {
            name: self._value(part, depth + 1)
            for name, part in properties.items()
            if name in required or self._maybe(0.6)
        }
        for said in ("oneOf", "anyOf"):
            if said in schema:
                chosen = self._random.choice(["one", "other"])
                made = {chosen: self._value(properties[chosen], depth + 1, may_be_null=False)}
        if isinstance(values := schema.get("additionalProperties"), dict):
            names = self._sample(("a", "b.c/d", "é", "", "1", "spec"), 3)
            made |= {name: self._value(values, depth + 1) for name in names}
        elif schema.get("x-kubernetes-preserve-unknown-fields"):
            names = [name for name in self._sample(("x", "unknownFields", "é", "", "a_b"), 3) if name not in properties]
            made |= {name: self._random.choice(JSON) for name in names}
        if schema.get("x-kubernetes-embedded-resource"):
            metadata = {"name": "x", "labels": {"a": "b"}}
            made |= {"apiVersion": "v1", "kind": "X", **({"metadata": metadata} if self._maybe(0.7) else {})}
        return made
