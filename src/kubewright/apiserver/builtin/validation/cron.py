"""Whether a text is a cron schedule, and if not, why (`robfig/cron` v3, standard parser)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["schedule_problem"]

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
_NAMED: Final = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
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


def _part(text: str, least: int, most: int, names: dict[str, int]) -> None:
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
