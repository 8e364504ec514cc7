"""CEL values as JSON, for people and programs to read: what JSON lacks becomes a string."""

from __future__ import annotations

import base64
from typing import Any

from .convert import double_text, to_string
from .effort import check_effort
from .values import Duration, Optional, Timestamp, TypeValue, decode_key

__all__ = ["to_json"]


def to_json(value: Any) -> Any:
    """JSON data of a value: instants and durations as text, bytes as base64, an empty optional as null.

    Raises:
        CostLimitExceeded: the value has too many entries to be written.
    """
    check_effort(value)
    return _json(value)


def _json(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int():
            return int(value)
        case float():
            return value if value == value and abs(value) != float("inf") else double_text(value)
        case bytes():
            return base64.b64encode(value).decode()
        case Timestamp() | Duration():
            return to_string(value)
        case Optional():
            return _json(value.value) if value.present else None
        case TypeValue():
            return value.name
        case list():
            return [_json(each) for each in value]
        case dict():
            return {_key(key): _json(each) for key, each in value.items()}
    for attribute in ("text", "address", "quantity", "name"):
        if hasattr(value, attribute):
            return str(getattr(value, attribute))
    return str(value)


def _key(key: Any) -> str:
    key = decode_key(key)
    return str(key).lower() if isinstance(key, bool) else str(key)
