"""Cron schedules (`robfig/cron` v3, standard parser): whether a text is one, and if not, why; and when one is due."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

__all__ = ["Schedule", "schedule_problem"]

_MONTHS: Final = {
    name: place
    for place, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_DAYS: Final = {name: place for place, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_FIELDS: Final[tuple[tuple[int, int, dict[str, int]], ...]] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_NAMED: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_UNIT: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?)(ns|us|µs|ms|s|m|h)", re.ASCII)
_MOST_DAYS: Final = 366 * 5
"""robfig/cron looks no further for the next time."""
_DURATION: Final = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?(?:ns|us|µs|ms|s|m|h))+", re.ASCII)


class _Bad(Exception):
    pass


def schedule_problem(text: str) -> str:
    """What is wrong with a schedule; "" where nothing is."""
    if not text:
        return "empty spec string"
    if text.startswith(("TZ=", "CRON_TZ=")):
        _, _, text = text.partition(" ")
        text = text.strip()
    if text.startswith("@"):
        return _descriptor(text)
    fields = text.split()
    if len(fields) != 5:
        return f"expected exactly 5 fields, found {len(fields)}: {_shown(fields)}"
    try:
        for field, (least, most, names) in zip(fields, _FIELDS, strict=True):
            _field(field, least, most, names)
    except _Bad as bad:
        return str(bad)
    return ""


def _shown(fields: list[str]) -> str:
    return "[" + " ".join(fields) + "]"


def _descriptor(text: str) -> str:
    if text in _NAMED:
        return ""
    if text.startswith("@every "):
        duration = text.removeprefix("@every ")
        if _DURATION.fullmatch(duration) is None:
            return f'failed to parse duration {text}: time: invalid duration "{duration}"'
        return ""
    return f"unrecognized descriptor: {text}"


def _field(text: str, least: int, most: int, names: dict[str, int]) -> None:
    for part in text.split(","):
        if part:
            _part(part, least, most, names)


def _part(text: str, least: int, most: int, names: dict[str, int]) -> range:
    """The values of one part of a field. Raises _Bad."""
    pieces = text.split("/")
    bounds = pieces[0].split("-")
    if bounds[0] in ("*", "?"):
        start, end = least, most
        if len(bounds) > 1:
            raise _Bad(f"too many hyphens: {text}")
    else:
        start = _number(bounds[0], names)
        if len(bounds) > 2:
            raise _Bad(f"too many hyphens: {text}")
        end = _number(bounds[1], names) if len(bounds) == 2 else start
    step = 1
    if len(pieces) == 2:
        step = _number(pieces[1], {})
        if len(bounds) == 1:
            end = most
    elif len(pieces) > 2:
        raise _Bad(f"too many slashes: {text}")
    if start < least:
        raise _Bad(f"beginning of range ({start}) below minimum ({least}): {text}")
    if end > most:
        raise _Bad(f"end of range ({end}) above maximum ({most}): {text}")
    if start > end:
        raise _Bad(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise _Bad(f"step of range should be a positive number: {text}")
    return range(start, end + 1, step)


def _number(text: str, names: dict[str, int]) -> int:
    known = names.get(text.lower())
    if known is not None:
        return known
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text, re.ASCII) is None:
        raise _Bad(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    value = int(text)
    if value < 0:
        raise _Bad(f"negative number ({value}) not allowed: {text}")
    return value


class Schedule:
    """When something is due.

    Args:
        text: the schedule; with `TZ=` or `CRON_TZ=` it has a zone of its own.
        zone: of a schedule that has none.

    Raises:
        ValueError: it is none; the message says why. ZoneInfoNotFoundError: there is no such zone.
    """

    def __init__(self, text: str, zone: tzinfo = UTC) -> None:
        if problem := schedule_problem(text):
            raise ValueError(problem)
        self._zone = zone
        if text.startswith(("TZ=", "CRON_TZ=")):
            from zoneinfo import ZoneInfo  # who only validates does without

            said, _, text = text.partition(" ")
            self._zone = ZoneInfo(said.partition("=")[2])
        text = text.strip()
        self._every: timedelta | None = None
        if text.startswith("@every "):
            seconds = sum(float(number) * _UNITS[unit] for number, unit in _UNIT.findall(text))
            self._every = timedelta(seconds=max(int(seconds), 1))
            return
        fields = _NAMED.get(text, text).split()
        values = [_values(each, *bounds) for each, bounds in zip(fields, _FIELDS, strict=True)]
        self._minutes, self._hours = sorted(values[0]), sorted(values[1])
        self._days, self._months, self._weekdays = (frozenset(each) for each in values[2:])
        # With a star in one of the two fields of days both have to fit; without, one of them is enough.
        self._needs_both = any(_is_star(fields[place]) for place in (2, 4))

    def next(self, after: datetime) -> datetime | None:
        """The first time after another one; None: there is none within five years."""
        if self._every is not None:
            return after.replace(microsecond=0) + self._every
        return next(self._from(after), None)

    def last(self, after: datetime, until: datetime) -> datetime | None:
        """The last time after the one and not after the other; None: there is none."""
        if self._every is not None:
            count = (until - after.replace(microsecond=0)) // self._every
            return after.replace(microsecond=0) + count * self._every if count > 0 else None
        for days in (1, 40, 370, _MOST_DAYS):
            found = None
            for each in self._from(max(after, until - timedelta(days=days))):
                if each > until:
                    break
                found = each
            if found is not None or after >= until - timedelta(days=days):
                return found
        return None

    def _from(self, after: datetime) -> Iterator[datetime]:
        day = after.astimezone(self._zone).date()
        for _ in range(_MOST_DAYS):
            if self._fits(day):
                yield from self._of_day(day, after)
            day += timedelta(days=1)

    def _of_day(self, day: date, after: datetime) -> Iterator[datetime]:
        for hour in self._hours:
            for minute in self._minutes:
                local = datetime.combine(day, time(hour, minute), self._zone)
                found = local.astimezone(UTC)
                # A time that the clocks leave out is none.
                if found > after and found.astimezone(self._zone).replace(tzinfo=None) == local.replace(tzinfo=None):
                    yield found

    def _fits(self, day: date) -> bool:
        if day.month not in self._months:
            return False
        in_month, in_week = day.day in self._days, day.isoweekday() % 7 in self._weekdays
        return in_month and in_week if self._needs_both else in_month or in_week


def _values(field: str, least: int, most: int, names: dict[str, int]) -> set[int]:
    return {value for part in field.split(",") if part for value in _part(part, least, most, names)}


def _is_star(field: str) -> bool:
    """Whether a field leaves it to the others: a star, without a step of more than one."""
    return any(
        part.partition("/")[0] in ("*", "?") and part.partition("/")[2] in ("", "1") for part in field.split(",")
    )
