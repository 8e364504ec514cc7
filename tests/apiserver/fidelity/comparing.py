"""Where two answers differ, as lines of text.

Owns the wording: `path: expected -> found`, the path within the answers of a case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_WIDTH = 300


def differences(expected: Any, found: Any, where: str = "") -> str:
    """Return the differences of two JSON values, a line each, empty if there are none."""
    return "\n".join(_walk(expected, found, where))


class _Absent:
    pass


_ABSENT: Any = _Absent()


def _walk(expected: Any, found: Any, where: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted({*expected, *found}):
            yield from _walk(expected.get(key, _ABSENT), found.get(key, _ABSENT), f"{where}.{key}" if where else key)
    elif isinstance(expected, list) and isinstance(found, list):
        for index in range(max(len(expected), len(found))):
            left = expected[index] if index < len(expected) else _ABSENT
            right = found[index] if index < len(found) else _ABSENT
            yield from _walk(left, right, f"{where}[{index}]")
    elif _is_beyond_64_bits(expected) and _is_beyond_64_bits(found):
        if float(expected) != float(found):
            yield f"{where}: {_text(expected)} -> {_text(found)}"
    elif expected is _ABSENT or found is _ABSENT or type(expected) is not type(found) or expected != found:
        yield f"{where}: {_text(expected)} -> {_text(found)}"


def _is_beyond_64_bits(value: Any) -> bool:
    """Tell whether it is a number that Go has as a float, and may write with or without an exponent."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= 2**63


def _text(value: Any) -> str:
    if value is _ABSENT:
        return "(absent)"
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _WIDTH else text[:_WIDTH] + "..."
