"""Instants and spans of time in the forms that Go reads (`k8s.io/apimachinery/pkg/apis/meta/v1`).

| here | there | on the wire |
|---|---|---|
| `Time` = `datetime` | metav1.Time | `2026-01-02T15:04:05Z`, whole seconds |
| `MicroTime`, a `datetime` | metav1.MicroTime | `2026-01-02T15:04:05.000000Z`, always six digits |
| `Duration` | metav1.Duration, time.Duration | `1h30m0.5s` |

A plain datetime is enough for `Time`: Go's RFC 3339 reader takes a fraction, and servers cut it from the fields of
built-in kinds. They do not cut it from those of custom resources, and then a status that was computed is never equal to
the one that was stored: make instants with `now()` or `to_second()`. A datetime without a time zone is refused by every
server; everything here that writes one refuses it first.

`MicroTime` has to be a type of its own: Go's layout for it demands six digits, and an ordinary datetime that falls on a
whole second is written without them.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, tzinfo
from functools import total_ordering
from typing import Any, Final, Self, final

from .pydantics import core_schema_of

__all__ = ["Duration", "MicroTime", "Time", "format_time", "now", "parse_time", "to_second"]

Time = datetime

_RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt](?!24)\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)
_FRACTION: Final = re.compile(r"[.,](\d+)")


def now() -> datetime:
    """This second, in UTC, as a metav1.Time holds it."""
    return datetime.now(UTC).replace(microsecond=0)


def to_second(value: datetime) -> datetime:
    """The instant as a metav1.Time holds it: in UTC, its fraction of a second cut. Raises ValueError: no time zone."""
    return _in_utc(value).replace(microsecond=0)


def format_time(value: datetime) -> str:
    """As metav1.Time is written: `2026-01-02T15:04:05Z`. Raises ValueError: no time zone."""
    return to_second(value).replace(tzinfo=None).isoformat() + "Z"


def parse_time(text: str) -> datetime:
    """From RFC 3339 with or without a fraction, which is cut after the microseconds. Raises ValueError."""
    if _RFC3339.fullmatch(text) is None:
        raise ValueError(f"time {text!r}: is not RFC 3339; write it as 2026-01-02T15:04:05Z")
    try:
        return datetime.fromisoformat(_FRACTION.sub(_six_digits, text.upper(), count=1))
    except ValueError:
        raise ValueError(f"time {text!r}: there is no such day or hour; correct it") from None


def _six_digits(match: re.Match[str]) -> str:
    return f".{match.group(1)[:6]:0<6}"


def _in_utc(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise ValueError(f"time {value.isoformat()!r}: has no time zone; make it with now(), or datetime.now(UTC)")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"time {value.isoformat()!r}: is outside the years 1 to 9999 in UTC; correct it") from None


@final
class MicroTime(datetime):
    """An instant to the microsecond (metav1.MicroTime), such as a lease's `renew_time`.

    It is a datetime in every way: compare it with one, subtract one, add a timedelta.
    """

    @classmethod
    def now(cls, tz: tzinfo | None = UTC) -> Self:
        """This instant; in UTC unless another zone is given."""
        return super().now(UTC if tz is None else tz)

    @classmethod
    def of(cls, value: datetime) -> Self:
        """From any datetime with a time zone. Raises ValueError: it has none."""
        utc = _in_utc(value)
        return cls.combine(utc.date(), utc.timetz())

    @property
    def datetime(self) -> datetime:
        """The same instant as a plain datetime."""
        return datetime.combine(self.date(), self.timetz())

    @classmethod
    def from_wire(cls, value: Any) -> Self:
        """From RFC 3339 text with any number of fractional digits. Raises ValueError, TypeError."""
        if type(value) is not str:
            raise TypeError(f"time {value!r}: is not a JSON string; write it as 2026-01-02T15:04:05.000000Z")
        return cls.of(parse_time(value))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return core_schema_of(cls, cls.from_wire, cls.to_wire)

    def to_wire(self) -> str:
        """With six fractional digits, in UTC. Raises ValueError: no time zone."""
        return _in_utc(self).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, micro sign
    "μs": 1_000,  # U+03BC, Greek letter mu
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_SECOND: Final = 1_000_000_000
_MAX: Final = 2**63 - 1
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_DURATION_CURE: Final = "write numbers with units ns, us, ms, s, m or h, such as 1h30m, 90s or 1.5s"


@final
@total_ordering
class Duration:
    """A span of time in nanoseconds, written as Go writes it (time.Duration). Immutable; compared by value.

    ```python
    Duration("90s") == Duration("1m30s")
    Duration.of_seconds(0.25).timedelta
    ```

    A text that was read is sent back as it was read; `str` is Go's form (`1m30s`).

    Args:
        value: Go's text, a timedelta or another Duration.

    Raises:
        ValueError: the text is not a duration, or does not fit in Go's 64 bits (292 years).
    """

    __slots__ = ("_nanos", "_text")

    _nanos: int
    _text: str | None

    def __init__(self, value: str | timedelta | Duration = "0s") -> None:
        if isinstance(value, Duration):
            self._nanos, self._text = value._nanos, value._text
        elif isinstance(value, timedelta):
            self._nanos, self._text = _fits((value // timedelta(microseconds=1)) * 1_000, value), None
        elif type(value) is str:
            self._nanos, self._text = _parse_duration(value), value
        else:
            raise TypeError(f"duration {value!r}: is not a text or a timedelta; for a number say Duration.of_seconds()")

    @classmethod
    def of_nanoseconds(cls, nanoseconds: int) -> Duration:
        """Raises ValueError: it does not fit in 64 bits."""
        made = cls.__new__(cls)
        made._nanos, made._text = _fits(nanoseconds, nanoseconds), None
        return made

    @classmethod
    def of_seconds(cls, seconds: float) -> Duration:
        """To the nearest nanosecond. Raises ValueError: not finite, or does not fit in 64 bits."""
        if not math.isfinite(seconds):
            raise ValueError(f"duration {seconds!r}: is not a finite number of seconds; give one")
        return cls.of_nanoseconds(round(seconds * _SECOND) if abs(seconds) < _MAX else _MAX + 1)

    @classmethod
    def from_wire(cls, value: Any) -> Duration:
        """From Go's text. Raises ValueError, TypeError."""
        if type(value) is not str:
            raise TypeError(f"duration {value!r}: is not a JSON string; {_DURATION_CURE}")
        return cls(value)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return core_schema_of(cls, cls.from_wire, cls.to_wire)

    def to_wire(self) -> str:
        """What was read, unchanged; Go's form of a computed one."""
        return str(self) if self._text is None else self._text

    @property
    def nanoseconds(self) -> int:
        return self._nanos

    @property
    def seconds(self) -> float:
        """The whole span in seconds."""
        return self._nanos / _SECOND

    @property
    def timedelta(self) -> timedelta:
        """The span, cut to whole microseconds towards zero."""
        micros = abs(self._nanos) // 1_000
        return timedelta(microseconds=micros if self._nanos >= 0 else -micros)

    def __str__(self) -> str:
        return _format_duration(self._nanos)

    def __repr__(self) -> str:
        return f"Duration({self.to_wire()!r})"

    def __bool__(self) -> bool:
        """Whether it is not zero."""
        return self._nanos != 0

    def __eq__(self, other: object) -> bool:
        return self._nanos == other._nanos if isinstance(other, Duration) else NotImplemented

    def __lt__(self, other: Duration) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanos < other._nanos

    def __hash__(self) -> int:
        return hash(self._nanos)

    def __add__(self, other: Duration) -> Duration:
        if not isinstance(other, Duration):
            return NotImplemented
        return Duration.of_nanoseconds(self._nanos + other._nanos)

    def __sub__(self, other: Duration) -> Duration:
        if not isinstance(other, Duration):
            return NotImplemented
        return Duration.of_nanoseconds(self._nanos - other._nanos)

    def __mul__(self, factor: int) -> Duration:
        if type(factor) is not int:
            return NotImplemented
        return Duration.of_nanoseconds(self._nanos * factor)

    __rmul__ = __mul__

    def __neg__(self) -> Duration:
        return Duration.of_nanoseconds(-self._nanos)

    def __copy__(self) -> Duration:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Duration:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._text is None:
            return Duration.of_nanoseconds, (self._nanos,)
        return Duration, (self._text,)


def _fits(nanos: int, said: object) -> int:
    if not -_MAX - 1 <= nanos <= _MAX:
        raise ValueError(f"duration {said!r}: does not fit in 64 bits of nanoseconds; use less than 292 years")
    return nanos


def _parse_duration(text: str) -> int:
    """time.ParseDuration, with its rounding: fractions go through a double and are cut."""
    sign = text[:1] if text[:1] in ("-", "+") else ""
    rest = text[len(sign) :]
    if rest == "0":
        return 0
    total, position = 0, 0
    while position < len(rest):
        part = _PART.match(rest, position)
        if part is None or not (part.group(1) or part.group(2)):
            break
        unit = _UNITS[part.group(3)]
        whole = part.group(1).lstrip("0")
        total += int(whole or "0") * unit if len(whole) < 20 else 2**64
        total += _fraction(part.group(2) or "", unit)
        position = part.end()
    if position == 0 or position != len(rest):
        raise ValueError(f"duration {text!r}: is not a Go duration; {_DURATION_CURE}")
    return _fits(-total if sign == "-" else total, text)


def _fraction(digits: str, unit: int) -> int:
    value, scale = 0, 1.0
    for digit in digits:
        following = value * 10 + int(digit)
        if value > _MAX // 10 or following > _MAX + 1:
            break  # beyond a double's precision: Go ignores the rest, too
        value, scale = following, scale * 10
    return int(float(value) * (float(unit) / scale))


def _format_duration(nanos: int) -> str:
    """time.Duration.String: the largest units needed, no trailing zeros, below a second the unit that has digits."""
    if nanos == 0:
        return "0s"
    sign, rest = ("-" if nanos < 0 else ""), abs(nanos)
    if rest < _SECOND:
        unit, size = ("ns", 1) if rest < 1_000 else ("µs", 1_000) if rest < 1_000_000 else ("ms", 1_000_000)
        return f"{sign}{_decimal(rest, size)}{unit}"
    minutes, rest = divmod(rest, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    shown = f"{_decimal(rest, _SECOND)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{shown}"
    return f"{sign}{minutes}m{shown}" if minutes else f"{sign}{shown}"


def _decimal(amount: int, unit: int) -> str:
    whole, part = divmod(amount, unit)
    if not part:
        return str(whole)
    width = len(str(unit)) - 1
    return f"{whole}.{part:0{width}}".rstrip("0")
