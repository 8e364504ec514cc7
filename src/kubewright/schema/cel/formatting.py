"""`"%s has %d".format([a, b])`: the clauses s, d, f, e, b, o, x and X, as cel-go's strings extension has them.

`%f` groups thousands and `%e` writes a power of ten, as Go's English number formatting does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from .convert import double_text, to_string
from .effort import check_effort, spend_work
from .errors import EvaluationError
from .ops import check_size, type_name
from .values import Duration, Timestamp, TypeValue, UInt, decode_key

__all__ = ["Clause", "clauses", "format_string"]

#: A double has no more digits than this after the point; a longer precision would only add zeros.
MAX_PRECISION: Final = 1100
_SUPERSCRIPT: Final = str.maketrans("0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b")

Clause = tuple[str, int]


def clauses(template: str, count: int) -> list[str | Clause]:
    """A template in its texts and clauses (letter and precision, -1 where none is given).

    Args:
        count: of the arguments that there are.

    Raises:
        ValueError: a clause is not one, or has no argument.
    """
    found: list[str | Clause] = []
    at = used = 0
    while at < len(template):
        next_at = template.find("%", at)
        if next_at < 0:
            found.append(template[at:])
            break
        if next_at > at:
            found.append(template[at:next_at])
        at = next_at + 1
        if template.startswith("%", at):
            found.append("%")
            at += 1
            continue
        if at >= len(template):
            raise ValueError("unexpected end of string")
        if used >= count:
            raise ValueError(f"index {used} out of range")
        used += 1
        precision = -1
        if template[at] == ".":
            end = at + 1
            while end < len(template) and template[end].isdigit():
                end += 1
            if end == at + 1 or end >= len(template) or end - at > 7:
                raise ValueError(
                    "could not parse formatting clause: error while parsing precision:"
                    " could not find end of precision specifier"
                )
            precision, at = min(int(template[at + 1 : end]), MAX_PRECISION), end
        letter = template[at]
        if letter not in "sdfebxXo":
            # The server reads bytes.
            shown = chr(letter.encode("utf-8", "surrogatepass")[0])
            raise ValueError(f'could not parse formatting clause: unrecognized formatting clause "{shown}"')
        found.append((letter, precision))
        at += 1
    return found


def format_string(template: str, args: list[Any]) -> str:
    """The text of a template with its arguments.

    Raises:
        EvaluationError: a clause is wrong, or does not fit its argument.
    """
    try:
        parts = clauses(template, len(args))
    except ValueError as error:
        raise EvaluationError(str(error)) from None
    shown: list[str] = []
    used = 0
    for part in parts:
        if isinstance(part, str):
            shown.append(part)
            continue
        try:
            shown.append(_CLAUSES[part[0]](args[used], part[1]))
        except ValueError as error:
            raise EvaluationError(f"error during formatting: {error}") from None
        used += 1
    size = sum(map(len, shown))
    check_size(size)
    # Costs do not count what is written.
    spend_work(size // 40)
    return "".join(shown)


def _string(value: Any, _: int = -1) -> str:
    check_effort(value)
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_inside, value))}]"
    if isinstance(value, dict):
        return _map(value)
    if value is None:
        return "null"
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, bool | int | float | str | bytes | Timestamp | Duration):
        return to_string(value)
    raise ValueError(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations,"
        f" and timestamps, was given {type_name(value)}"
    )


def _map(entries: dict[Any, Any]) -> str:
    pairs = sorted((_inside(decode_key(key)), _inside(value)) for key, value in entries.items())
    return "{" + ", ".join(f"{key}:{value}" for key, value in pairs) + "}"


def _inside(value: Any) -> str:
    """A value inside of a list or map."""
    if isinstance(value, str):
        return _go_quote(value)
    if isinstance(value, bytes):
        return "b" + _go_quote(value.decode(errors="replace"))
    if isinstance(value, Timestamp):
        return f'timestamp("{to_string(value)}")'
    if isinstance(value, Duration):
        return f'duration("{to_string(value)}")'
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return f'"{double_text(value)}"'
        return f"{value:.6f}"
    return _text(value)


def _go_quote(text: str) -> str:
    escapes = {
        '"': '\\"',
        "\\": "\\\\",
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
    }
    if text.isprintable():
        # Long texts that need no more are many.
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    shown = "".join(escapes.get(char) or (char if char.isprintable() else _escape_rune(ord(char))) for char in text)
    return f'"{shown}"'


def _escape_rune(rune: int) -> str:
    return f"\\x{rune:02x}" if rune < 0x80 else f"\\u{rune:04x}" if rune < 0x10000 else f"\\U{rune:08x}"


def _decimal(value: Any, _: int) -> str:
    if value.__class__ not in (int, UInt):
        raise ValueError(f"decimal clause can only be used on integers, was given {type_name(value)}")
    return str(int(value))


def _number(value: Any, clause: str) -> float:
    named = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    if isinstance(value, str) and value in named:
        return named[value]
    if not isinstance(value, float):
        raise ValueError(f"{clause} clause can only be used on doubles, was given {type_name(value)}")
    return value


def _not_finite(number: float) -> str | None:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "\u221e" if number > 0 else "-\u221e"
    return None


def _fixed(value: Any, precision: int) -> str:
    number = _number(value, "fixed-point")
    return _not_finite(number) or f"{number:,.{precision if precision >= 0 else 6}f}"


def _scientific(value: Any, precision: int) -> str:
    number = _number(value, "scientific")
    # The server takes the precision for a width: there are always six digits.
    width = precision if precision >= 0 else 6
    special = _not_finite(number)
    if special is not None:
        return special.rjust(width)
    mantissa, _, exponent = f"{number:.6e}".partition("e")
    power = int(exponent)
    shown = f"{'-' if power < 0 else ''}{abs(power):02d}".translate(_SUPERSCRIPT)
    return f"{mantissa}\u00d710{shown}".rjust(width)


def _binary(value: Any, _: int) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if value.__class__ not in (int, UInt):
        raise ValueError(f"only integers and bools can be formatted as binary, was given {type_name(value)}")
    return f"{int(value):b}"


def _octal(value: Any, _: int) -> str:
    if value.__class__ not in (int, UInt):
        raise ValueError(f"octal clause can only be used on integers, was given {type_name(value)}")
    return f"{int(value):o}"


def _hex(value: Any, _: int) -> str:
    if isinstance(value, str):
        return value.encode().hex()
    if isinstance(value, bytes):
        return value.hex()
    if value.__class__ not in (int, UInt):
        kinds = "only integers, byte buffers, and strings can be formatted as hex"
        raise ValueError(f"{kinds}, was given {type_name(value)}")
    return f"{int(value):x}"


_CLAUSES: Final[dict[str, Callable[[Any, int], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hex,
    "X": lambda value, precision: _hex(value, precision).upper(),
}
