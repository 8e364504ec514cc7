"""JSON data to CEL values by a schema, as functions made once for each schema; None where the data is right as it is.

A value that the schema does not allow becomes one that raises when it is used nowhere; validation has refused such data
before any rule runs.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from .clock import SECOND, parse_duration, parse_timestamp
from .errors import EvaluationError
from .values import Duration, MapList, SetList, Timestamp

__all__ = ["converter"]

Convert = Callable[[Any], Any]
_WORDS: Final = re.compile(r"\s*([+-]?[0-9.]+)\s*([A-Za-z\u00b5]+)")
_UNITS: Final = {
    "nanosecond": 1, "nano": 1, "ns": 1, "microsecond": 10**3, "micro": 10**3, "us": 10**3, "\u00b5s": 10**3,
    "millisecond": 10**6, "milli": 10**6, "ms": 10**6, "second": SECOND, "sec": SECOND, "s": SECOND,
    "minute": 60 * SECOND, "min": 60 * SECOND, "m": 60 * SECOND, "hour": 3600 * SECOND, "hr": 3600 * SECOND,
    "h": 3600 * SECOND, "day": 86400 * SECOND, "d": 86400 * SECOND, "week": 604800 * SECOND, "wk": 604800 * SECOND,
    "w": 604800 * SECOND,
}  # fmt: skip


def converter(schema: Mapping[str, Any]) -> Convert | None:
    """What turns data of this schema into CEL values; None where there is nothing to do."""
    if schema.get("x-kubernetes-int-or-string"):
        return None
    match schema.get("type"):
        case "number":
            return _number
        case "string":
            return _STRINGS.get(str(schema.get("format")))
        case "array":
            return _array(schema)
        case "object":
            return _object(schema)
    return None


def _number(data: Any) -> Any:
    return float(data) if data.__class__ is int else data


def _date_time(data: Any) -> Any:
    if not isinstance(data, str):
        return data
    try:
        return parse_timestamp(data.upper().replace(" ", "T"))
    except ValueError as error:
        raise EvaluationError(f"Invalid date-time formatted string {data}: {error}") from None


def _date(data: Any) -> Any:
    if not isinstance(data, str):
        return data
    try:
        return Timestamp(parse_timestamp(f"{data}T00:00:00Z").ns)
    except ValueError as error:
        raise EvaluationError(f"Invalid date formatted string {data}: {error}") from None


def _duration(data: Any) -> Any:
    """A duration as the server's formats have it: Go's, or words such as `3 days`."""
    if not isinstance(data, str):
        return data
    try:
        return parse_duration(data)
    except ValueError as error:
        found = _WORDS.match(data)
        unit = found[2].lower() if found else ""
        size = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
        if found is None or size is None:
            raise EvaluationError(f"Invalid duration {data}: {error}") from None
        return Duration(int(float(found[1]) * size))


def _bytes(data: Any) -> Any:
    if not isinstance(data, str):
        return data
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise EvaluationError(f"Invalid byte formatted string {data}: {error}") from None


_STRINGS: Final[dict[str, Convert]] = {
    "date-time": _date_time,
    "date": _date,
    "duration": _duration,
    "byte": _bytes,
}


def _array(schema: Mapping[str, Any]) -> Convert | None:
    items = schema.get("items")
    inner = converter(items) if isinstance(items, Mapping) else None
    kind = schema.get("x-kubernetes-list-type")
    keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
    if inner is None and kind not in ("set", "map"):
        return None

    def convert(data: Any) -> Any:
        if not isinstance(data, list):
            return data
        found = data if inner is None else [inner(item) for item in data]
        if kind == "set":
            return SetList(found)
        return MapList(found, keys) if kind == "map" else found

    return convert


def _object(schema: Mapping[str, Any]) -> Convert | None:
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        inner = converter(values)
        if inner is None:
            return None
        every = inner
        return lambda data: {key: every(each) for key, each in data.items()} if isinstance(data, dict) else data
    properties: Mapping[str, Any] = schema.get("properties") or {}
    fields = {key: made for key, each in properties.items() if (made := converter(each))}
    # A null in a field that may be null is to a rule as if the field was absent.
    nullable = frozenset(key for key, each in properties.items() if each.get("nullable"))
    if not fields and not nullable:
        return None

    def convert(data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        found = {key: each for key, each in data.items() if each is not None or key not in nullable}
        for key, made in fields.items():
            if found.get(key) is not None:
                found[key] = made(found[key])
        return found

    return convert
