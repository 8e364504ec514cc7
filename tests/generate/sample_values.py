"""Random objects that a structural schema describes: of the right types, all that is required, some of what is not."""

from __future__ import annotations

import random
from typing import Any

__all__ = ["Samples"]

_FORMATS = {"byte": "AP8=", "date-time": "2026-01-02T03:04:05Z", "date": "2026-01-02", "duration": "1h"}
_TEXTS = ("", "a", "0.5", "true", "1e3", "é", 'a "b"\n', "2026-01-02")
_JSON = (1, 1.5, "x", True, None, [1, "a", None], {"a": {"b": [], "c": None}}, {}, [])


class Samples:
    """Draws from one seed, so that a seed is a case."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        pick = self._random.choice
        if schema.get("enum"):
            return pick(schema["enum"])
        if schema.get("x-kubernetes-int-or-string"):
            return pick([1, "1", "10%"])
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(self._random.randint(1, 3))]
        if kind == "string":
            return _FORMATS.get(schema.get("format", "")) or pick(_TEXTS)
        simple: dict[Any, tuple[Any, ...]] = {
            "integer": (0, 1, -5, 2**31 - 1),
            "number": (0.5, 2.25, -1.0, 1, 2**53 + 1),
            "boolean": (True, False),
        }
        return pick(simple.get(kind, _JSON))

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties, required = schema.get("properties") or {}, schema.get("required") or ()
        chance = 0.6 if depth < 3 else 0.3
        made = {
            name: self.value(part, depth + 1)
            for name, part in properties.items()
            if name in required or self._random.random() < chance
        }
        values = schema.get("additionalProperties")
        names = self._random.sample(["a", "b.c/d", "é", ""], self._random.randint(1, 3))
        if isinstance(values, dict):
            made |= {name: self.value(values, depth + 1) for name in names}
        elif values or schema.get("x-kubernetes-preserve-unknown-fields"):
            made |= {name: self._random.choice(_JSON) for name in names if name not in properties}
        if schema.get("x-kubernetes-embedded-resource"):
            made |= {"apiVersion": "v1", "kind": "X"}
        return made
