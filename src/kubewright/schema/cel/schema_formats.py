"""Strings with a format as the values that rules see: instants, durations, bytes; in Go's words where they are none.

Validation is more lenient than this in places (`2026-01-02t03:04:05z` is a date-time, but no instant), and an update
keeps what it does not change, so that rules do meet values that are none. Every function raises ValueError then.

Rule: kube-openapi/pkg/validation/strfmt (ParseDateTime, ParseDuration, Base64), Go's time.Parse, encoding/base64.
"""

from __future__ import annotations

import base64
import calendar
import re
from typing import Final

from .clock import SECOND, parse_duration, parse_timestamp
from .values import Duration, Timestamp

__all__ = ["bytes_of", "date_of", "date_time_of", "duration_of"]

_DATE: Final = ("2006", "-", "01", "-", "02")
_LOCAL: Final = (*_DATE, "T", "15", ":", "04", ":", "05")
#: What each part of a layout reads: how many digits at least, and at most; its range and what that is called.
_PARTS: Final = {
    "2006": (4, 4, 0, 9999, "year"), "01": (2, 2, 1, 12, "month"), "02": (1, 2, 0, 99, "day"),
    "15": (1, 2, 0, 23, "hour"), "04": (2, 2, 0, 59, "minute"), "05": (2, 2, 0, 59, "second"),
}  # fmt: skip
_FRACTION: Final = re.compile(r"[.,]([0-9]+)")
_DURATION: Final = re.compile(r"(\d+)\s*([A-Za-zµ]+)", re.ASCII)
#: By Go's unit: its length in nanoseconds, and its names; what begins with the last one is meant too.
_UNITS: Final = (
    (1, ("ns", "nano")), (10**3, ("us", "µs", "micro")), (10**6, ("ms", "milli")), (SECOND, ("s", "sec")),
    (60 * SECOND, ("m", "min")), (3600 * SECOND, ("h", "hr", "hour")), (86400 * SECOND, ("d", "day")),
    (604800 * SECOND, ("w", "wk", "week")),
)  # fmt: skip
_ALPHABET: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def date_time_of(text: str) -> Timestamp:
    if not text:
        return Timestamp(0)
    try:
        return parse_timestamp(text)
    except ValueError:
        # The server's last resort is a time without a zone; what it says of the text is of that.
        return _parsed(text, _LOCAL)


def date_of(text: str) -> Timestamp:
    return _parsed(text, _DATE)


def _parsed(text: str, layout: tuple[str, ...]) -> Timestamp:
    shown, rest, fraction = "".join(layout), text, ""
    found: dict[str, int] = {}
    for part in layout:
        if part not in _PARTS:
            if not rest.startswith(part):
                raise ValueError(_unread(text, shown, rest, part))
            rest = rest[1:]
            continue
        least, most, low, high, name = _PARTS[part]
        digits = re.match(rf"[0-9]{{{least},{most}}}", rest)
        if digits is None:
            raise ValueError(_unread(text, shown, rest, part))
        found[part], rest = int(digits[0]), rest[digits.end() :]
        if not low <= found[part] <= high:
            raise ValueError(f"parsing time {_quote(text)}: {name} out of range")
        if part == "05" and (after := _FRACTION.match(rest)) is not None:
            fraction, rest = after[1][:9], rest[after.end() :]
    if rest:
        raise ValueError(f"parsing time {_quote(text)}: extra text: {_quote(rest)}")
    year, month, day = found["2006"], found["01"], found["02"]
    # Nothing later can read the year 0, which Go has.
    if not 1 <= day <= calendar.monthrange(year or 4, month)[1] or not year:
        raise ValueError(f"parsing time {_quote(text)}: day out of range")
    seconds = calendar.timegm((year, month, day, found.get("15", 0), found.get("04", 0), found.get("05", 0)))
    return Timestamp(seconds * SECOND + int(fraction.ljust(9, "0")))


def _unread(text: str, layout: str, rest: str, part: str) -> str:
    return f"parsing time {_quote(text)} as {_quote(layout)}: cannot parse {_quote(rest)} as {_quote(part)}"


def _quote(text: str) -> str:
    shown = "".join(
        f"\\{char}"
        if char in '"\\'
        else char
        if " " <= char < "\x80"
        else "".join(map("\\x{:02x}".format, _utf8(char)))
        for char in text
    )
    return f'"{shown}"'


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def duration_of(text: str) -> Duration:
    """Go's durations, and words such as `3 days 2 h`, which are added up; in 64 bits, as they are."""
    try:
        return parse_duration(text)
    except ValueError:
        pass
    total, is_known = 0, False
    for digits, unit in _DURATION.findall(text):
        if len(digits.lstrip("0")) > 19 or int(digits) >= 2**63:
            raise ValueError(f'strconv.Atoi: parsing "{digits}": value out of range')
        name = unit.lower()
        for size, names in _UNITS:
            if name in names or name.startswith(names[-1]):
                total, is_known = total + int(digits) * size, True
    if not is_known:
        raise ValueError(f"unable to parse {text} as duration")
    return Duration((total + 2**63) % 2**64 - 2**63)


def bytes_of(text: str) -> bytes:
    data = _utf8(text)
    kept: list[int] = []
    at, size = 0, len(data)

    def skip(place: int) -> int:
        while place < size and data[place] in b"\r\n":
            place += 1
        return place

    while (at := skip(at)) < size:
        char = data[at]
        if char in _ALPHABET:
            kept.append(char)
            at += 1
            continue
        missing = len(kept) % 4
        if char != ord("=") or missing < 2:
            raise _corrupt(at)
        end = at + 1
        if missing == 2:
            end = skip(end)
            if end == size:
                raise _corrupt(size)
            if data[end] != ord("="):
                raise _corrupt(end - 1)
            end += 1
        if (end := skip(end)) < size:
            raise _corrupt(end)
        break
    else:
        if len(kept) % 4:
            raise _corrupt(size - len(kept) % 4)
    return base64.urlsafe_b64decode(bytes(kept) + b"=" * (-len(kept) % 4))


def _corrupt(place: int) -> ValueError:
    return ValueError(f"illegal base64 data at input byte {place}")
