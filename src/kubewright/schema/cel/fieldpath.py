"""`fieldPath` of a rule: which field below its own an error blames, such as `.spec.ports` or `['x-y'].z`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["normalize"]

_PART: Final = re.compile(r"\.([^.\[\]]+)|\['((?:\\.|[^'\\])*)'\]")
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


def normalize(path: str, schema: Mapping[str, Any]) -> str | None:
    """The path as errors show it (`spec.ports`, `labels[a]`), or None where it leads nowhere in the schema."""
    at, shown = 0, ""
    node: Mapping[str, Any] = schema
    while at < len(path):
        found = _PART.match(path, at)
        if found is None:
            return None
        at = found.end()
        name = found[1] if found[1] is not None else _unescape(found[2])
        if name is None:
            return None
        properties = node.get("properties")
        if properties:
            if name not in properties:
                return None
            node = properties[name]
            shown += f".{name}" if shown else name
        elif isinstance(node.get("additionalProperties"), Mapping):
            node = node["additionalProperties"]
            shown += f"[{name}]"
        else:
            return None
    return shown


def _unescape(text: str) -> str | None:
    if any(found[1] not in _ESCAPES for found in _ESCAPE.finditer(text)):
        return None
    return _ESCAPE.sub(lambda found: _ESCAPES[found[1]], text)
