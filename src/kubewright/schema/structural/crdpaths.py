"""The small paths of CRDs: `fieldPath` of rules and `jsonPath` of selectable fields.

Steps are `.name` and, in rules, `['a name']`; they follow properties, or the values of a map. Not to be confused with
the JSON paths of printer columns, which are only checked for a leading dot.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from .fielderrors import child, key

__all__ = ["CelPathError", "follow"]

_TOKEN: Final = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]]+", re.DOTALL)
_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "'": "'",
    "\\": "\\",
}


class CelPathError(ValueError):
    """A path leads nowhere. The text is the server's."""


def follow(schema: Mapping[str, Any], path: str, *, brackets: bool = True) -> tuple[str, Mapping[str, Any]]:
    """The path as the server shows it, and the schema at its end.

    Raises:
        CelPathError: it leads nowhere, or has brackets where none are allowed.
    """
    parts = [match[0] for match in _TOKEN.finditer(path)]
    here, shown = schema, ""
    while parts:
        part = parts.pop(0)
        if part == ".":
            if not parts:
                raise CelPathError("unexpected end of JSON path")
            name = parts.pop(0)
        elif part == "[":
            if not brackets:
                raise CelPathError("array notation is not allowed")
            name = _bracketed(parts)
        else:
            raise CelPathError(f"expected [ or . but got: {part}")
        here, shown = _step(here, shown, name)
    return shown, here


def _bracketed(parts: list[str]) -> str:
    if not parts:
        raise CelPathError("unexpected end of JSON path")
    part = parts.pop(0)
    if len(part) < 2 or part[0] != "'" or part[-1] != "'":
        raise CelPathError(f"expected single quoted string but got {part}")
    if not parts:
        raise CelPathError("unexpected end of JSON path")
    closing = parts.pop(0)
    if closing != "]":
        raise CelPathError(f"expected ] but got {closing}")
    return re.sub(r"\\(.)", _unescaped, part[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    try:
        return _ESCAPES[match[1]]
    except KeyError:
        raise CelPathError(f"invalid string literal: invalid escape char {match[0]}") from None


def _step(schema: Mapping[str, Any], shown: str, name: str) -> tuple[Mapping[str, Any], str]:
    properties = schema.get("properties")
    if properties:
        if name not in properties:
            raise CelPathError("does not refer to a valid field")
        return properties[name], child(shown, name)
    extra = schema.get("additionalProperties")
    if not isinstance(extra, Mapping):
        raise CelPathError("does not refer to a valid field")
    return extra, key(shown, name)
