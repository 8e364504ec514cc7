"""Types and bounds of a schema in words, for readers who know Kubernetes and not JSON Schema."""

from __future__ import annotations

import json
from typing import Any, Final

from ..known import known_node
from ..node import Schema

__all__ = ["bounds_of", "type_of"]


def _patterns() -> dict[str, str]:
    from ...model import Duration, Quantity

    named = {"quantity": Quantity, "duration": Duration}
    return {node.schema["pattern"]: name for name, each in named.items() if (node := known_node(each)) is not None}


_PATTERNS: Final = _patterns()
_FORMATS: Final = {
    "byte": "base64",
    "date-time": "time (RFC 3339)",
    "date": "date",
    "duration": "duration",
    "uuid": "UUID",
    "ipv4": "IPv4 address",
    "ipv6": "IPv6 address",
    "cidr": "CIDR",
    "uri": "URI",
    "email": "e-mail address",
    "hostname": "host name",
}


def type_of(schema: Schema, known: str = "") -> str:
    """`integer`, `list of string`, `map of quantity`. `known` is the name of an object that has one."""
    if schema.get("x-kubernetes-int-or-string"):
        return _PATTERNS.get(schema.get("pattern", ""), "integer or string")
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_plain(type_of(schema.get('items') or {}, known))}"
    if kind == "object":
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            return f"map of {_plain(type_of(values, known))}"
        if schema.get("x-kubernetes-embedded-resource"):
            return "Kubernetes object"
        return known or ("object" if schema.get("properties") else "any object")
    if kind == "string":
        if schema.get("pattern") in _PATTERNS:
            return _PATTERNS[schema["pattern"]]
        return _FORMATS.get(schema.get("format", ""), "string")
    return str(kind) if kind else "any value"


def _plain(inner: str) -> str:
    return f"({inner})" if " or " in inner else inner


def bounds_of(schema: Schema) -> tuple[str, ...]:
    """What a value has to be, each a short phrase."""
    found = [*_choices(schema), *_numbers(schema)]
    for what, least, most in (
        ("characters", "minLength", "maxLength"),
        ("items", "minItems", "maxItems"),
        ("keys", "minProperties", "maxProperties"),
    ):
        if phrase := _range(schema.get(least), schema.get(most)):
            found.append(f"{phrase} {what}")
    pattern = schema.get("pattern")
    if pattern is not None and pattern not in _PATTERNS:
        found.append(f"matches `{pattern}`")
    form = schema.get("format")
    if form and form not in _FORMATS and form not in ("int64", "double"):
        found.append(f"format `{form}`")
    if schema.get("x-kubernetes-list-type") == "set":
        found.append("no duplicates")
    if keys := schema.get("x-kubernetes-list-map-keys"):
        found.append(f"items are told apart by {', '.join(f'`{key}`' for key in keys)}")
    if schema.get("nullable"):
        found.append("may be null")
    if schema.get("x-kubernetes-preserve-unknown-fields") and schema.get("properties"):
        found.append("other fields are kept")
    inner = schema.get("items") or schema.get("additionalProperties")
    if isinstance(inner, dict) and not inner.get("properties"):
        found += [f"each: {phrase}" for phrase in bounds_of(inner)]
    return tuple(found)


def _choices(schema: Schema) -> list[str]:
    values = schema.get("enum") or next((part["enum"] for part in schema.get("allOf") or () if "enum" in part), None)
    if not values:
        return []
    return [f"one of {', '.join(f'`{_said(value)}`' for value in values)}"]


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _numbers(schema: Schema) -> list[str]:
    found = []
    if "minimum" in schema:
        found.append(f"{'>' if schema.get('exclusiveMinimum') else '≥'} {_said(schema['minimum'])}")
    if "maximum" in schema:
        found.append(f"{'<' if schema.get('exclusiveMaximum') else '≤'} {_said(schema['maximum'])}")
    if "multipleOf" in schema:
        found.append(f"a multiple of {_said(schema['multipleOf'])}")
    return found


def _range(least: Any, most: Any) -> str:
    if least and most is not None:
        return f"{least}" if least == most else f"{least} to {most}"
    if least:
        return f"at least {least}"
    return f"at most {most}" if most is not None else ""
