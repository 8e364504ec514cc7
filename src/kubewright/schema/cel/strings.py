"""The strings extension of cel-go, version 2, as Kubernetes has it. Positions count characters."""

from __future__ import annotations

from typing import Any, Final

from .effort import spend_long
from .errors import EvaluationError
from .formatting import format_string
from .ops import check_size
from .signatures import Library

__all__ = ["STRINGS"]

STRINGS: Final = Library("strings")

_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
#: What Go's TrimSpace takes for white space.
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029"
    "\u202f\u205f\u3000"
)
_QUOTED: Final = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)


def _out_of_range(at: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {at}")


def _char_at(text: str, at: int) -> str:
    if not 0 <= at <= len(text):
        raise _out_of_range(at)
    return text[at : at + 1]


def _index_of(text: str, part: str, at: int = 0) -> int:
    if at < 0:
        raise _out_of_range(at)
    if not part:
        return min(at, len(text))
    return text.find(part, at) if at < len(text) else -1


def _last_index_of(text: str, part: str) -> int:
    if not part:
        return len(text)
    if len(text.encode()) < len(part.encode()):
        return -1
    return _last_index_of_from(text, part, len(text) - 1)


def _last_index_of_from(text: str, part: str, at: int) -> int:
    if at < 0:
        raise _out_of_range(at)
    if not part:
        return min(at, len(text))
    return text.rfind(part, 0, at + len(part)) if at < len(text) else -1


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    if len(new) > len(old):
        times = text.count(old)
        check_size(len(text) + (times if count < 0 else min(times, count)) * (len(new) - len(old)))
    return text.replace(old, new, -1 if count < 0 else count)


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def _substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def _substring_to(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for at in (start, end):
        if not 0 <= at <= len(text):
            raise _out_of_range(at)
    return text[start:end]


def _join(items: list[Any], separator: str = "") -> str:
    spend_long(4 * len(items))
    for item in items:
        if not isinstance(item, str):
            raise EvaluationError(f"join: invalid input: {item}")
    check_size(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


STRINGS.add_all(
    (
        ("string_char_at_int", ".charAt (string, int) -> string", _char_at),
        ("string_index_of_string", ".indexOf (string, string) -> int", _index_of),
        ("string_index_of_string_int", ".indexOf (string, string, int) -> int", _index_of),
        ("string_last_index_of_string", ".lastIndexOf (string, string) -> int", _last_index_of),
        ("string_last_index_of_string_int", ".lastIndexOf (string, string, int) -> int", _last_index_of_from),
        ("string_lower_ascii", ".lowerAscii (string) -> string", lambda text: text.translate(_LOWER)),
        ("string_replace_string_string", ".replace (string, string, string) -> string", _replace),
        ("string_replace_string_string_int", ".replace (string, string, string, int) -> string", _replace),
        ("string_split_string", ".split (string, string) -> list(string)", _split),
        ("string_split_string_int", ".split (string, string, int) -> list(string)", _split),
        ("string_substring_int", ".substring (string, int) -> string", _substring),
        ("string_substring_int_int", ".substring (string, int, int) -> string", _substring_to),
        ("string_trim", ".trim (string) -> string", lambda text: text.strip(_SPACE)),
        ("string_upper_ascii", ".upperAscii (string) -> string", lambda text: text.translate(_UPPER)),
        ("string_format", ".format (string, list(dyn)) -> string", format_string),
        ("strings_quote", "strings.quote (string) -> string", lambda text: f'"{text.translate(_QUOTED)}"'),
        ("list_join", ".join (list(string)) -> string", _join),
        ("list_join_string", ".join (list(string), string) -> string", _join),
    )
)
