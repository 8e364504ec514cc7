"""Random structural schemas, and values that are near them: mostly right, often at a bound, sometimes of another type.

A `Generator` is driven by one `random.Random`: a seed is a case. Hypothesis can be the one that drives; its choices
shrink to the first of several and to the lowest number, so that the plain ones are first here and a chance is taken at
the high end.
"""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

import random
from typing import Any

from kubewright.schema.structural import Structural, json_value

NAMES = ("a", "b", "c", "name", "weight")
TEXTS = (
    "", "a", "ab", "abc", "abcdefgh", "A", "1", "10", "0.5", "é", "日本語", "a b", 'q"x', "back\\slash", "<&>", "x\ny", "\t",
    "2026-01-02", "2026-02-30", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5+01:00", "2026-01-02t03:04:05z", "1h", "5 min",
    "1.5h", "10.0.0.1", "010.0.0.1", "256.0.0.1", "::1", "::ffff:1.2.3.4", "10.0.0.0/8", "fe80::/200", "AP8=", "AP8",
    "example.com", "-x", "a.b.c", "x@example.com", "http://example.com/x?y#z", "/abs", "rel", "00:11:22:33:44:55",
    "0e7f7a5e-9c2b-4d0e-8f43-0e5f0d7c2a11", "#fff", "rgb(1,2,3)", "978-3-16-148410-0", "4111 1111 1111 1111", "true", "null",
)  # fmt: skip
INTEGERS = (
    0, 1, 2, 3, 5, 7, 10, 11, 100, -1, -11, 2**31 - 1, 2**31, -(2**31) - 1, -(2**53), 2**53 + 1, -(2**63), 2**63 - 1,
)  # fmt: skip
FLOATS = (0.0, 0.5, 1.0, 0.1, 0.3, 1.5, 2.0, 2.5, 3.0, 10.0, -1.0, -2.5, 1e-7, 1e21, 1e300, 3.4e38, 4e38, 123456789.25)
PATTERNS = (
    "^a",
    "b$",
    "^[a-z]*$",
    "^\\d+$",
    "^.$",
    "a|b",
    "(?i)^ab",
    "\\w+",
    "^$",
    "[[:upper:]]",
    "\\pL{3}",
    "^(a+)+$",
)
FORMATS = (
    "date", "date-time", "datetime", "duration", "byte", "ipv4", "ipv6", "cidr", "mac", "uri", "email", "hostname", "uuid",
    "uuid3", "uuid4", "uuid5", "password", "k8s-short-name", "k8s-long-name", "isbn", "creditcard", "hexcolor", "rgbcolor",
    "ssn", "bsonobjectid", "int32", "unknown-format",
)  # fmt: skip


class Generator:
    """Draws schemas and values from one source of randomness."""

    def __init__(self, source: int | random.Random) -> None:
        self.random = source if isinstance(source, random.Random) else random.Random(source)

    def maybe(self, chance: float) -> bool:
        return self.random.randrange(100) >= 100 - round(chance * 100)

    def pick(self, choices: Any) -> Any:
        return self.random.choice(choices)

    # -- schemas ------------------------------------------------------------------------------------------------------

    def schema(self, depth: int = 2, *, nullable: bool = True, default: bool = True) -> dict[str, Any]:
        """A structural schema that a server takes."""
        kinds = ["integer", "number", "string", "string", "boolean", "int-or-string", "any"]
        if depth > 0:
            kinds += ["object", "object", "map", "list", "list", "set", "map-list", "embedded", "open"]
        kind = self.pick(kinds)
        schema: dict[str, Any] = getattr(self, "_" + kind.replace("-", "_"))(depth)
        if nullable and self.maybe(0.15):
            schema["nullable"] = True
        if self.maybe(0.2):
            self._junctors(schema, depth)
        if default and self.maybe(0.25) and kind not in ("embedded",):
            self._default(schema)
        return schema

    def _default(self, schema: dict[str, Any]) -> None:
        compiled = Structural(schema)
        for _ in range(8):
            value = json_value(self.value(schema, wild=0.0))
            pruned, unknown = compiled.prune(value)
            if value is not None and not unknown and pruned == value and not compiled.errors(value):
                schema["default"] = value
                return

    def _numeric(self, schema: dict[str, Any], choices: Any) -> dict[str, Any]:
        if self.maybe(0.35):
            schema["minimum"] = self.pick(choices)
            if self.maybe(0.3):
                schema["exclusiveMinimum"] = True
        if self.maybe(0.35):
            schema["maximum"] = self.pick(choices)
            if self.maybe(0.3):
                schema["exclusiveMaximum"] = True
        if self.maybe(0.2):
            schema["multipleOf"] = self.pick((1, 2, 3, 0.5, 0.1, 1.5, 1e-3))
        return schema

    def _integer(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "integer"}
        if self.maybe(0.4):
            schema["format"] = self.pick(("int32", "int64", "date"))
        if self.maybe(0.15):
            schema["enum"] = [self.pick(INTEGERS) for _ in range(3)]
        return self._numeric(schema, (-11, 0, 1, 3, 10, 2.5, 2**31))

    def _number(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "number"}
        if self.maybe(0.4):
            schema["format"] = self.pick(("float", "double", "int32"))
        if self.maybe(0.15):
            schema["enum"] = [self.pick((*FLOATS, 1, 2)) for _ in range(3)]
        return self._numeric(schema, (-2.5, 0, 1, 0.5, 2.5, 10, 1e300))

    def _string(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        choice = self.random.randrange(100)
        if choice >= 70:
            schema["format"] = self.pick(FORMATS)
        elif choice >= 50:
            schema["pattern"] = self.pick(PATTERNS)
        elif choice >= 35:
            schema["enum"] = [self.pick(TEXTS) for _ in range(3)]
        if self.maybe(0.25):
            schema["maxLength"] = self.pick((0, 1, 3, 8))
        if self.maybe(0.25):
            schema["minLength"] = self.pick((0, 1, 2, 5))
        return schema

    def _boolean(self, depth: int) -> dict[str, Any]:
        return {"type": "boolean"} | ({"enum": [True]} if self.maybe(0.15) else {})

    def _int_or_string(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"x-kubernetes-int-or-string": True}
        if self.maybe(0.5):
            schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
        if self.maybe(0.3):
            schema["pattern"] = self.pick(PATTERNS)
        if self.maybe(0.2):
            schema["maxLength"] = 3
        if self.maybe(0.2):
            schema["maximum"] = 10
        return schema

    def _any(self, depth: int) -> dict[str, Any]:
        return {"x-kubernetes-preserve-unknown-fields": True}

    def _object(self, depth: int) -> dict[str, Any]:
        names = self.random.sample(NAMES, self.random.randint(1, 4))
        schema: dict[str, Any] = {"type": "object", "properties": {each: self.schema(depth - 1) for each in names}}
        if self.maybe(0.5):
            schema["required"] = self.random.sample(names, self.random.randint(1, len(names)))
        if self.maybe(0.15):
            schema["minProperties"] = self.pick((1, 2))
        if self.maybe(0.15):
            schema["maxProperties"] = self.pick((1, 2))
        if self.maybe(0.15):
            schema["x-kubernetes-preserve-unknown-fields"] = True
        if self.maybe(0.1):
            schema["x-kubernetes-map-type"] = self.pick(("atomic", "granular"))
        return schema

    def _map(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {
            "type": "object",
            "additionalProperties": True if self.maybe(0.1) else self.schema(depth - 1),
        }
        if self.maybe(0.25):
            schema["maxProperties"] = self.pick((1, 2))
        return schema

    def _open(self, depth: int) -> dict[str, Any]:
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

    def _list(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": self.schema(depth - 1)}
        if self.maybe(0.3):
            schema["maxItems"] = self.pick((0, 1, 2))
        if self.maybe(0.3):
            schema["minItems"] = self.pick((1, 2))
        if self.maybe(0.2):
            schema["x-kubernetes-list-type"] = "atomic"
        return schema

    def _set(self, depth: int) -> dict[str, Any]:
        scalar = self.pick((self._integer, self._string, self._number, self._boolean, self._int_or_string))(0)
        if self.maybe(0.15):
            scalar = {"type": "array", "items": {"type": "integer"}}
        return {"type": "array", "x-kubernetes-list-type": "set", "items": scalar}

    def _map_list(self, depth: int) -> dict[str, Any]:
        keys = self.random.sample(("name", "weight"), self.random.randint(1, 2))
        properties = {}
        for key in keys:
            scalar = self.pick((self._integer, self._string, self._number, self._boolean))(0)
            properties[key] = scalar
        properties["c"] = self.schema(depth - 1)
        items = {"type": "object", "required": list(keys), "properties": properties}
        return {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": keys,
            "items": items,
        }

    def _embedded(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object", "x-kubernetes-embedded-resource": True}
        if self.maybe(0.5):
            return schema | {"x-kubernetes-preserve-unknown-fields": True}
        return schema | {"properties": {"spec": self.schema(depth - 1, default=False)}}

    def _junctors(self, schema: dict[str, Any], depth: int) -> None:
        kinds = ["allOf", "oneOf", "not"] if "anyOf" in schema else ["allOf", "anyOf", "oneOf", "not"]
        which = self.pick(kinds)
        parts = [self._validation(schema) for _ in range(self.random.randint(1, 3))]
        schema[which] = parts[0] if which == "not" else parts

    def _validation(self, schema: dict[str, Any], depth: int = 2) -> dict[str, Any]:
        """A value validation: no types, only what the structure has."""
        made: dict[str, Any] = {}
        properties = schema.get("properties")
        for name, below in (properties or {}).items():
            if self.maybe(0.5) and depth > 0 and name != "metadata":
                made.setdefault("properties", {})[name] = self._validation(below, depth - 1)
        if properties and self.maybe(0.6):
            made["required"] = [self.pick(list(properties))]
        kind = schema.get("type")
        if kind == "string" or "x-kubernetes-int-or-string" in schema:
            made |= self.pick(
                (
                    {"pattern": self.pick(PATTERNS)},
                    {"maxLength": 2},
                    {"minLength": 2},
                    {"enum": ["a", "abc"]},
                    {"format": "date"},
                )
            )
        elif kind in ("integer", "number"):
            made |= self.pick(({"minimum": 2}, {"maximum": 3}, {"multipleOf": 2}, {"enum": [1, 2, 2.5]}))
        elif kind == "array":
            made |= self.pick(({"minItems": 1}, {"maxItems": 1}, {"items": self._validation(schema["items"], 0)}))
        elif kind == "object" and self.maybe(0.3):
            made |= self.pick(({"minProperties": 1}, {"maxProperties": 1}))
        if depth > 1 and self.maybe(0.15):
            made["anyOf"] = [self._validation(schema, 0), self._validation(schema, 0)]
        return made

    # -- values -------------------------------------------------------------------------------------------------------

    def value(self, schema: dict[str, Any], wild: float = 0.12) -> Any:
        """A value near a schema."""
        if self.maybe(wild):
            return self.wild(2)
        if schema.get("nullable") and self.maybe(0.25):
            return None
        if schema.get("enum") and self.maybe(0.8):
            return self.pick(schema["enum"])
        if schema.get("x-kubernetes-int-or-string"):
            return self.pick((self.pick(TEXTS), self.pick(INTEGERS), 5, "50%"))
        kind = schema.get("type")
        if kind == "object":
            return self._object_value(schema, wild)
        if kind == "array":
            size = self.pick((0, 1, 1, 2, 3))
            items = [self.value(schema["items"], wild) for _ in range(size)]
            return items + items[:1] if items and self.maybe(0.2) else items
        return self._scalar(schema, kind)

    def _scalar(self, schema: dict[str, Any], kind: str | None) -> Any:
        near = [schema[each] for each in ("minimum", "maximum") if each in schema]
        if kind == "integer":
            return (
                int(self.pick(near)) + self.pick((-1, 0, 1))
                if near and self.maybe(0.5)
                else self.pick((*INTEGERS, 2.0, 2.5))
            )
        if kind == "number":
            return self.pick(near) if near and self.maybe(0.4) else self.pick((*FLOATS, *INTEGERS))
        if kind == "string":
            return self.pick(TEXTS)
        if kind == "boolean":
            return self.pick((True, False))
        return self.wild(2)

    def _object_value(self, schema: dict[str, Any], wild: float) -> Any:
        made: dict[str, Any] = {}
        required = schema.get("required", ())
        for name, below in schema.get("properties", {}).items():
            if self.maybe(0.9 if name in required else 0.7):
                made[name] = self.value(below, wild)
        extra = schema.get("additionalProperties")
        if extra:
            for name in self.random.sample(("x", "y.z", "x y", "k8s.io/z"), self.random.randint(0, 3)):
                made[name] = self.wild(1) if extra is True else self.value(extra, wild)
        if schema.get("x-kubernetes-embedded-resource"):
            made |= self._resource(wild)
        if self.maybe(0.15 if wild else 0.0) or schema.get("x-kubernetes-preserve-unknown-fields"):
            made[self.pick(("zz", "unknown"))] = self.wild(1)
        return made

    def _resource(self, wild: float) -> dict[str, Any]:
        made: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "x", "labels": {"a": "b"}},
        }
        if self.maybe(wild * 2):
            made["metadata"] |= self.pick(
                ({"extra": 1}, {"labels": {"-": "b"}}, {"annotations": {"a b": ""}}, {"namespace": "A"}, {"name": "a/b"},
                 {"ownerReferences": [{"name": "x", "zz": 1}]}, {"finalizers": ["a b"]}, {"labels": {"a": "é"}})
            )  # fmt: skip
        if self.maybe(wild):
            made.pop(self.pick(("apiVersion", "kind", "metadata")))
        if self.maybe(wild):
            made |= self.pick(({"apiVersion": "a/b/c"}, {"apiVersion": ""}, {"kind": "A_b"}, {"kind": ""}))
        return made

    def wild(self, depth: int) -> Any:
        """Any JSON."""
        choice = self.random.randint(0, 9 if depth > 0 else 6)
        if choice <= 1:
            return self.pick(TEXTS)
        if choice == 2:
            return self.pick(INTEGERS)
        if choice == 3:
            return self.pick(FLOATS)
        if choice == 4:
            return self.pick((True, False))
        if choice <= 6:
            return None
        if choice == 7:
            return [self.wild(depth - 1) for _ in range(self.random.randint(0, 2))]
        return {self.pick(NAMES): self.wild(depth - 1) for _ in range(self.random.randint(0, 2))}

    def changed(self, schema: dict[str, Any], old: Any) -> Any:
        """A value that differs from `old` in some places and is the same in others."""
        if self.maybe(0.25):
            return self.value(schema)
        if isinstance(old, dict):
            made = {}
            for name, each in old.items():
                below = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
                if self.maybe(0.1):
                    continue
                made[name] = self.changed(below, each) if isinstance(below, dict) and self.maybe(0.5) else each
            for name, below in schema.get("properties", {}).items():
                if name not in made and self.maybe(0.3):
                    made[name] = self.value(below)
            return made
        if isinstance(old, list) and isinstance(schema.get("items"), dict):
            made_list = [self.changed(schema["items"], each) if self.maybe(0.4) else each for each in old]
            if self.maybe(0.3):
                self.random.shuffle(made_list)
            if self.maybe(0.2):
                made_list.append(self.value(schema["items"]))
            return made_list
        return old
