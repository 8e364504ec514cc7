"""A small manifest of a kind: what is required, and what has an example. Shown only if a server would take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..node import Schema
from ..yaml import to_yaml

__all__ = ["sample_of"]

_PLACEHOLDERS: Final[dict[str, Any]] = {"string": "example", "integer": 1, "number": 1.5, "boolean": True}
_FORMATS: Final[dict[str, str]] = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "duration": "1h",
    "byte": "ZXhhbXBsZQ==",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "cidr": "192.0.2.0/24",
    "uri": "https://example.com",
    "email": "someone@example.com",
    "hostname": "example.com",
}


def sample_of(crd: Mapping[str, Any], version: str) -> str:
    """YAML of an object that is valid, or nothing."""
    from ..cel.rules import Rules
    from ..structural import Kind

    kind = Kind(crd, rules=Rules).version(version)
    root = {each["name"]: each for each in crd["spec"]["versions"]}[version]
    schema = (root.get("schema") or {}).get("openAPIV3Schema") or {}
    metadata: dict[str, Any] = {"name": "example"}
    if crd["spec"]["scope"] == "Namespaced":
        metadata["namespace"] = "default"
    made: dict[str, Any] = {"apiVersion": kind.api_version, "kind": crd["spec"]["names"]["kind"], "metadata": metadata}
    properties = schema.get("properties") or {}
    for name, part in sorted(properties.items(), key=lambda each: (each[0] != "spec", each[0])):
        if name not in ("apiVersion", "kind", "metadata", "status"):
            made[name] = _value(part)
    if not kind.create(made).is_valid:
        return ""
    return _as_people_write(made)


def _as_people_write(made: dict[str, Any]) -> str:
    """apiVersion, kind and metadata first, which is no order of the alphabet."""
    return "".join(to_yaml({name: part}).removeprefix("---\n") for name, part in made.items())


def _value(schema: Schema) -> Any:
    if "example" in schema:
        return schema["example"]
    if "default" in schema and schema.get("type") != "object":
        return schema["default"]
    choices = schema.get("enum") or next((part["enum"] for part in schema.get("allOf") or () if "enum" in part), None)
    if choices:
        return choices[0]
    kind = schema.get("type")
    if kind == "object":
        return _object(schema)
    if kind == "array":
        return [_value(schema.get("items") or {}) for _ in range(max(1, schema.get("minItems", 0)))]
    if kind in ("integer", "number"):
        return _number(schema)
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    text = _FORMATS.get(schema.get("format", ""), _PLACEHOLDERS.get(str(kind), {}))
    if isinstance(text, str) and "maxLength" in schema:
        return text[: schema["maxLength"]]
    return text


def _number(schema: Schema) -> Any:
    least = schema.get("minimum")
    if least is None:
        return min(1, schema.get("maximum", 1))
    step = schema.get("multipleOf") or 1
    return least + step if schema.get("exclusiveMinimum") else least


def _object(schema: Schema) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    required = schema.get("required") or ()
    values = schema.get("additionalProperties")
    made = {name: _value(part) for name, part in properties.items() if name in required or "example" in part}
    if not properties and isinstance(values, dict) and schema.get("minProperties"):
        made["example"] = _value(values)
    if schema.get("x-kubernetes-embedded-resource"):
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "example"}, **made}
    return made
