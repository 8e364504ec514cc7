"""Take a JSON document apart by its brackets alone, when no decoder will read it.

One object that a decoder refuses (nested deeper than its stack allows, or with half a surrogate pair in a string) makes
a whole list page unreadable, and one tenant's object must not blind an operator to all others. This module splits such
a document at one level and leaves the parts to the decoders, so that the bad part fails alone.

It knows strings, brackets, commas and colons, and checks nothing else: ask `may_be_json` before, or bytes that were
damaged on their way pass for a bad object. It is slow and never on the normal path. Memory: the parts of one level.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec

__all__ = ["elements", "may_be_json", "members"]

# Texts: re compiles them, and keeps that, when there is something to salvage.
_TOKEN = rb'(?s)"(?:[^"\\]|\\.)*"|[\[\]{},]'
_STRING = rb'(?s)\s*("(?:[^"\\]|\\.)*")\s*:\s*'
_OPEN, _CLOSE = b"[{", b"]}"


def may_be_json(data: bytes) -> bool:
    """Whether the JSON library with the fewest objections reads `data`, or gives up only because of its depth."""
    try:
        json.loads(data)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def members(data: bytes) -> dict[str, bytes]:
    """The fields of a JSON object with their values' bytes; of a repeated field the last one.

    Raises:
        ValueError: not an object, or its brackets do not match.
    """
    fields: dict[str, bytes] = {}
    for part in _parts(data, b"{"):
        name = re.match(_STRING, part)
        if name is None:
            raise ValueError("not an object: a field without a name")
        fields[msgspec.json.decode(name[1], type=str)] = part[name.end() :].strip()
    return fields


def elements(data: bytes) -> list[bytes]:
    """The elements of a JSON array; of `null` none.

    Raises:
        ValueError: not an array, or its brackets do not match.
    """
    return [] if data.strip() == b"null" else [part.strip() for part in _parts(data, b"[")]


def _parts(data: bytes, bracket: bytes) -> Iterator[bytes]:
    data = data.strip()
    if not data.startswith(bracket):
        raise ValueError(f"does not start with {bracket.decode()}")
    depth, start = 0, 1
    for token in re.finditer(_TOKEN, data):
        char = token[0]
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
            if depth == 0:
                if token.end() != len(data):
                    raise ValueError("more than one value")
                if last := data[start : token.start()].strip():
                    yield last
                return
        elif char == b"," and depth == 1:
            yield data[start : token.start()]
            start = token.end()
    raise ValueError("ends in the middle")
