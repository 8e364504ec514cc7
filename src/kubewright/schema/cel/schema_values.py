"""JSON data to CEL values by a schema, as functions made once for each schema. Data that is right is used in place.

Mostly validation has refused all else before any rule runs, but not always: 2.0 is an integer to it and none to rules,
texts that have their format may have no value, and an update keeps what it does not change. What has no value becomes a
`Misfit`, whose error stands wherever a rule reads it; nothing raises here.

| schema | value |
|---|---|
| object with properties | the data; a `KeptObject` where some of it is unknown to the schema, or null |
| any type, preserved | `Preserved`: good for `==` only |
| list of type set, map | `SetList`, `MapList` |
| list or map of values that may be null, objects or lists else | `StrictList`, `StrictMap` |

Rule: apiserver/pkg/cel/common/valuesunstructured.go (UnstructuredToVal).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .schema_formats import bytes_of, date_of, date_time_of, duration_of
from .schema_meta import escape, has_meta, with_meta
from .values import KeptObject, MapList, Misfit, Preserved, SetList, StrictList, StrictMap

__all__ = ["ANYTHING", "Convert", "converter"]

Convert = Callable[[Any, list[Misfit]], Any]
#: The schema of data without one: of type dyn, which is what int-or-string is to rules, and right whatever it is.
ANYTHING: Final = {"x-kubernetes-int-or-string": True, "x-kubewright-anything": True}
_GO_TYPES: Final[tuple[tuple[type, str], ...]] = (
    (bool, "bool"), (int, "int64"), (float, "float64"), (str, "string"), (dict, "map[string]interface {}"),
    (list, "[]interface {}"),
)  # fmt: skip
_UNTYPED: Final = (
    "invalid type, expected object, array, number, integer, boolean or string, or no type with"
    " x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got "
)


def converter(schema: Mapping[str, Any]) -> Convert:
    """What turns data of this schema into CEL values; misfits are added to the list that it is called with."""
    if schema.get("x-kubernetes-int-or-string"):
        return _int_or_string if "x-kubewright-anything" not in schema else lambda data, _: data
    kind = schema.get("type")
    match kind:
        case "object":
            return _object(schema)
        case "array":
            return _array(schema)
        case "string":
            return _STRINGS.get(str(schema.get("format")), _string)
        case "number":
            return _number
        case "integer":
            return _integer
        case "boolean":
            return _boolean
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return lambda data, _: Preserved(data)
    return lambda _, misfits: _misfit(misfits, f"{_UNTYPED}{kind or ''}")


def _misfit(misfits: list[Misfit], message: str) -> Misfit:
    made = Misfit(message)
    misfits.append(made)
    return made


def _wrong(misfits: list[Misfit], wanted: str, data: Any) -> Misfit:
    given = next((name for kind, name in _GO_TYPES if isinstance(data, kind)), "<nil>")
    return _misfit(misfits, f"invalid data, expected {wanted}, got {given}")


# -- scalars ----------------------------------------------------------------------------------------------------------


def _int_or_string(data: Any, misfits: list[Misfit]) -> Any:
    if isinstance(data, str | int) and not isinstance(data, bool):
        return data
    return _misfit(misfits, "invalid data, expected XIntOrString value to be either a string or integer")


def _string(data: Any, misfits: list[Misfit]) -> Any:
    return data if isinstance(data, str) else _wrong(misfits, "string", data)


def _number(data: Any, misfits: list[Misfit]) -> Any:
    if isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    return data if isinstance(data, float) else _wrong(misfits, "float", data)


def _integer(data: Any, misfits: list[Misfit]) -> Any:
    return data if isinstance(data, int) and not isinstance(data, bool) else _wrong(misfits, "int", data)


def _boolean(data: Any, misfits: list[Misfit]) -> Any:
    return data if isinstance(data, bool) else _wrong(misfits, "bool", data)


def _formatted(parse: Callable[[str], Any], said: str) -> Convert:
    def convert(data: Any, misfits: list[Misfit]) -> Any:
        if not isinstance(data, str):
            return _wrong(misfits, "string", data)
        try:
            return parse(data)
        except ValueError as error:
            return _misfit(misfits, f"{said} {data}: {error}")

    return convert


_STRINGS: Final[dict[str, Convert]] = {
    "date-time": _formatted(date_time_of, "Invalid date-time formatted string"),
    "date": _formatted(date_of, "Invalid date formatted string"),
    "duration": _formatted(duration_of, "Invalid duration"),
    "byte": _formatted(bytes_of, "Invalid byte formatted string"),
}
#: By the function that checks it, the class of values that are right as they are.
_EXACT: Final[dict[Convert, type]] = {_string: str, _integer: int, _boolean: bool}


# -- lists and objects ------------------------------------------------------------------------------------------------


def _inner(schema: Mapping[str, Any]) -> tuple[Convert, type | None]:
    """What converts an item or a value, which may be null, and the class of those that are right as they are."""
    made = converter(schema)
    if schema.get("nullable"):
        return lambda data, misfits: None if data is None else made(data, misfits), _EXACT.get(made)
    null = "invalid data, got null for schema with nullable=false"
    return lambda data, misfits: _misfit(misfits, null) if data is None else made(data, misfits), _EXACT.get(made)


def _is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether values of this schema cannot be compared with one another: an object with null is an error."""
    return bool(schema.get("nullable")) and schema.get("type") in ("object", "array")


def _array(schema: Mapping[str, Any]) -> Convert:
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return lambda _, misfits: _misfit(misfits, "invalid array type, expected Items with a non-empty Schema")
    inner, exact = _inner(items)
    kind, is_strict = schema.get("x-kubernetes-list-type"), _is_strict(items)
    keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
    escaped = tuple(escape(key) or key for key in keys)

    def convert(data: Any, misfits: list[Misfit]) -> Any:
        if not isinstance(data, list):
            return _misfit(misfits, "invalid data, expected an array for the provided schema with type=array")
        found = data
        for place, item in enumerate(data):
            if item.__class__ is exact:
                continue
            made = inner(item, misfits)
            if made is not item:
                if found is data:
                    found = list(data)
                found[place] = made
        if kind == "set":
            return SetList(found)
        if kind == "map":
            return MapList(found, keys, data, escaped)
        return StrictList(found) if is_strict else found

    return convert


def _object(schema: Mapping[str, Any]) -> Convert:
    if schema.get("x-kubernetes-embedded-resource") and not has_meta(schema):
        schema = with_meta(schema)
    properties, values = schema.get("properties"), schema.get("additionalProperties")
    if not properties and isinstance(values, Mapping):
        return _map(values)
    made: dict[str, Convert] = {name: converter(each) for name, each in (properties or {}).items()}
    exact = {name: kind for name, each in made.items() if (kind := _EXACT.get(each)) is not None}

    def convert(data: Any, misfits: list[Misfit]) -> Any:
        if not isinstance(data, dict):
            return _misfit(misfits, "invalid data, expected a map for the provided schema with type=object")
        changed: dict[str, Any] = {}
        is_whole = True
        for name, value in data.items():
            kind = exact.get(name)
            if kind is not None and value.__class__ is kind:
                continue
            inner = made.get(name)
            if inner is None or value is None:
                is_whole = False
            elif (new := inner(value, misfits)) is not value:
                changed[name] = new
        if is_whole:
            return {**data, **changed} if changed else data
        # A null is to a rule as if the field was absent.
        seen = {name: changed.get(name, each) for name, each in data.items() if each is not None and name in made}
        return KeptObject(seen, data, made.keys())

    return convert


def _map(values: Mapping[str, Any]) -> Convert:
    inner, exact = _inner(values)
    is_strict = _is_strict(values)

    def convert(data: Any, misfits: list[Misfit]) -> Any:
        if not isinstance(data, dict):
            return _misfit(misfits, "invalid data, expected a map for the provided schema with type=object")
        changed: dict[str, Any] = {}
        for name, value in data.items():
            if value.__class__ is not exact and (new := inner(value, misfits)) is not value:
                changed[name] = new
        if is_strict:
            return StrictMap({**data, **changed})
        return {**data, **changed} if changed else data

    return convert
