"""Defaults: from a field to what a server fills in.

| Python default | in the schema |
|---|---|
| none | the field is required |
| `None`, `UNSET`, `[]`, `{}` | nothing: the field is left out on the wire and stays absent |
| a Model | what of it differs from the defaults of its own fields; `{}` where that is all and it has some |
| any other, or a factory | its wire form |

A server validates a default when the CRD is created, and fills in the defaults below an object only when the object is
there: hence the `{}`. `violations` looks at what a default can break (the constraints this room renders, not rules); it
is no validator of objects.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import FieldInfo

from ..model.base import Model, builtins_of
from .node import Schema

__all__ = ["NOTHING", "DefaultError", "default_of", "fill", "minimal", "on_the_wire", "violations"]

NOTHING: Final = object()
"""No default in the schema, though the field may have one in Python."""

_CONTAINERS: Final = (list, dict, set, frozenset, tuple)


class DefaultError(ValueError):
    """A default that a schema cannot state: the rule it breaks and the cure."""

    def __init__(self, rule: str, cure: str) -> None:
        super().__init__(rule, cure)
        self.rule, self.cure = rule, cure


def default_of(owner: type[Any], field: FieldInfo) -> Any:
    """The wire form of a field's default, or NOTHING. Raises DefaultError."""
    if field.default_factory is msgspec.NODEFAULT:
        # A Model keeps as plain defaults only those that it leaves out on the wire.
        if field.default is msgspec.NODEFAULT or issubclass(owner, Model):
            return NOTHING
        return _stated(field.default)
    first, second = (_stated(field.default_factory()) for _ in range(2))
    if first is not NOTHING and first != second:
        cure = "make it `T | None = None` and fill it in when reconciling"
        raise DefaultError(f"has a default that changes with every call ({first!r}, {second!r})", cure)
    return first


def _stated(value: Any) -> Any:
    if value is None or value is msgspec.UNSET or (isinstance(value, _CONTAINERS) and not value):
        return NOTHING
    return on_the_wire(value)


def on_the_wire(value: Any) -> Any:
    """A value as decoded JSON. Raises DefaultError."""
    try:
        wire = builtins_of(value)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise DefaultError(
            f"has the default {value!r}, which is not JSON ({error})", "give a value of the type"
        ) from None
    if any(isinstance(part, float) and not math.isfinite(part) for part in _parts(wire)):
        raise DefaultError(f"has the default {value!r}, which JSON cannot say", "give a finite number")
    return wire


def _parts(wire: Any) -> Iterator[Any]:
    if isinstance(wire, dict | list):
        for part in wire.values() if isinstance(wire, dict) else wire:
            yield from _parts(part)
    else:
        yield wire


def fill(schema: Schema, value: Any) -> Any:
    """`value` with the defaults of the schema, as a server fills them in."""
    if isinstance(value, list) and "items" in schema:
        return [fill(schema["items"], item) for item in value]
    if not isinstance(value, dict):
        return value
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    filled = {name: fill(known.get(name) or others or {}, item) for name, item in value.items()}
    for name, part in known.items():
        if name not in filled and "default" in part:
            filled[name] = fill(part, part["default"])
    return filled


def minimal(schema: Schema, value: Any) -> Any:
    """`value` without what the schema's own defaults say, and without objects of which nothing is left.

    A server that fills in defaults makes the same of both, but for such objects, whose fields are all absent anyway.
    """
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    left = {}
    for name, item in value.items():
        part = schema["properties"].get(name, {})
        if "default" in part and fill(part, part["default"]) == fill(part, item):
            continue
        kept = minimal(part, item)
        if kept == {} and "properties" in part and "default" not in part and not fill(part, {}):
            continue
        left[name] = kept
    return left


def violations(schema: Schema, value: Any) -> Iterator[str]:
    """What a default breaks, each as the end of a sentence: `default 5 is above 3`."""
    if value is None:
        if not schema.get("nullable"):
            yield "null is not allowed"
        return
    yield from _wrong_type(schema, value)
    if "enum" in schema and value not in schema["enum"]:
        yield f"{value!r} is none of {', '.join(map(repr, schema['enum']))}"
    for part in schema.get("allOf", ()):
        yield from violations(part, value)
    if isinstance(value, str):
        yield from _text(schema, value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(schema, value)
    elif isinstance(value, list):
        yield from _count(schema, value, "minItems", "maxItems", "items")
        if schema.get("x-kubernetes-list-type") == "set" and any(item in value[:at] for at, item in enumerate(value)):
            yield f"{value!r} has an item twice"
        for item in value:
            yield from violations(schema.get("items", {}), item)
    elif isinstance(value, dict):
        yield from _object(schema, value)


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def _wrong_type(schema: Schema, value: Any) -> Iterator[str]:
    wanted = _TYPES.get(schema.get("type", ""), (int, str) if "x-kubernetes-int-or-string" in schema else (object,))
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted and object not in wanted):
        yield f"{value!r} is not of type {schema.get('type', 'integer or string')}"


_ZONE: Final = r"([Zz]|[+-]\d\d:\d\d)$"


def _text(schema: Schema, value: str) -> Iterator[str]:
    yield from _count(schema, value, "minLength", "maxLength", "characters")
    if not value and schema.get("format") == "byte":
        yield "empty bytes, which servers do not take for base64"
    if schema.get("format") == "date-time" and not re.search(_ZONE, value):
        yield f"{value!r} has no time zone, which servers do not take for an instant"
    pattern = schema.get("pattern")
    if pattern is not None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = re.search(pattern, value)
        except re.error:
            return  # RE2 that Python cannot read; the server will look
        if found is None:
            yield f"{value!r} does not match {pattern}"


def _number(schema: Schema, value: float) -> Iterator[str]:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if value < low or (value == low and schema.get("exclusiveMinimum")):
        yield f"{value!r} is below the minimum {low}"
    if value > high or (value == high and schema.get("exclusiveMaximum")):
        yield f"{value!r} is above the maximum {high}"
    step = schema.get("multipleOf")
    if step and not math.isclose(value / step, round(value / step), abs_tol=1e-9):
        yield f"{value!r} is not a multiple of {step}"


def _count(schema: Schema, value: Any, least: str, most: str, what: str) -> Iterator[str]:
    if len(value) < schema.get(least, 0):
        yield f"{value!r} has less than {schema[least]} {what}"
    if len(value) > schema.get(most, math.inf):
        yield f"{value!r} has more than {schema[most]} {what}"


def _object(schema: Schema, value: dict[str, Any]) -> Iterator[str]:
    yield from _count(schema, value, "minProperties", "maxProperties", "fields")
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{value!r} has no {name}, which is required"
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, item in value.items():
        if name in known or isinstance(others, dict):
            yield from violations(known.get(name) or others or {}, item)
        elif not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield f"{value!r} has the field {name}, which the type does not know"
