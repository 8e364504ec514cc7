"""Timestamps and durations as text and as parts, in integer nanoseconds. Go's rules: RFC 3339, `1h30m`, IANA zones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from .errors import EvaluationError
from .ops import timestamp
from .values import Duration, Timestamp

__all__ = ["format_duration", "format_timestamp", "parse_duration", "parse_timestamp", "part"]

SECOND: Final = 10**9
_EPOCH: Final = datetime(1970, 1, 1)
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)
_UNITS: Final = {
    "ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": SECOND, "m": 60 * SECOND,
    "h": 3600 * SECOND,
}  # fmt: skip
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
_OFFSET: Final = re.compile(r"([+-])?(\d\d):(\d\d)", re.ASCII)


def parse_timestamp(text: str) -> Timestamp:
    """An instant from RFC 3339.

    Raises:
        ValueError: it is none, or not in the years 1 to 9999.
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise ValueError(f"invalid timestamp {text!r}")
    year, month, day, hour, minute, second = (int(found[each]) for each in range(1, 7))
    moment = datetime(year, month, day, hour, minute, second)
    ns = _seconds(moment) * SECOND + int((found[7] or "0")[:9].ljust(9, "0"))
    offset = 0
    if found[8]:
        if int(found[9]) > 24 or int(found[10]) > 60:
            raise ValueError("offset out of range")
        offset = (int(found[9]) * 60 + int(found[10])) * 60
        offset = offset if found[8] == "+" else -offset
    try:
        return timestamp(ns - offset * SECOND, offset)
    except EvaluationError as error:
        raise ValueError(str(error)) from None


def _seconds(moment: datetime) -> int:
    since = moment - _EPOCH
    return since.days * 86_400 + since.seconds


def _moment(value: Timestamp) -> datetime:
    return _EPOCH + timedelta(seconds=value.ns // SECOND)


def format_timestamp(value: Timestamp) -> str:
    fraction = value.ns % SECOND
    tail = f".{fraction:09d}".rstrip("0") if fraction else ""
    if not value.offset:
        return f"{_moment(value).isoformat()}{tail}Z"
    moment = _moment(Timestamp(value.ns + value.offset * SECOND))
    minutes = abs(value.offset) // 60
    return f"{moment.isoformat()}{tail}{'-' if value.offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"


def parse_duration(text: str) -> Duration:
    """A duration as Go writes it: `1h30m`, `-1.5s`, `0`.

    Raises:
        ValueError: it is none, or over 64 bits of nanoseconds.
    """
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return Duration(0)
    total = 0
    at = 0
    while at < len(rest):
        found = _PART.match(rest, at)
        if found is None or not (found[1] or found[2]):
            raise ValueError(f"time: invalid duration {_quote(text)}")
        unit = _UNITS[found[3]]
        # Longer numbers are out of range anyway; Python limits how long a number it reads.
        whole, fraction = (found[1] or "0").lstrip("0") or "0", (found[2] or "")[:30]
        if len(whole) > 20:
            raise ValueError(f"time: invalid duration {_quote(text)}")
        total += int(whole) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        at = found.end()
    total = -total if text[:1] == "-" else total
    if not rest or not -(2**63) <= total < 2**63:
        raise ValueError(f"time: invalid duration {_quote(text)}")
    return Duration(total)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def format_duration(value: Duration) -> str:
    whole, rest = divmod(abs(value.ns), SECOND)
    seconds = whole + rest / 1e9
    text = format(Decimal(repr(float(seconds))), "f")
    text = text[:-2] if text.endswith(".0") else text
    return f"{'-' if value.ns < 0 else ''}{text}s"


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo:
    if name in ("", "UTC"):
        return UTC
    found = _OFFSET.fullmatch(name)
    if found is not None:
        offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
        try:
            return timezone(-offset if found[1] == "-" else offset)
        except ValueError:
            raise EvaluationError(f"unknown time zone {name}") from None
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise EvaluationError(f"unknown time zone {name}") from None


def part(value: Timestamp, name: str, zone: str = "UTC") -> int:
    """A part of an instant in a zone: year, month (0 to 11), day_of_year, day_of_month (both from 0), ...

    Raises:
        EvaluationError: there is no such zone.
    """
    where = _zone(zone)
    try:
        moment = _moment(value).replace(tzinfo=UTC).astimezone(where)
    except OverflowError:
        raise EvaluationError("timestamp overflow") from None
    match name:
        case "year":
            return moment.year
        case "month":
            return moment.month - 1
        case "day_of_year":
            return moment.timetuple().tm_yday - 1
        case "day_of_month":
            return moment.day - 1
        case "date":
            return moment.day
        case "day_of_week":
            return moment.isoweekday() % 7
        case "hours":
            return moment.hour
        case "minutes":
            return moment.minute
        case "seconds":
            return moment.second
        case _:
            return value.ns % SECOND // 10**6
