"""How long ago something was, for people: `5m`, `3h20m`, `2y31d`. (`apimachinery/pkg/util/duration`.)

The larger the time, the coarser: two units up to ten minutes, eight hours, eight days and eight years, one between.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubewright.model.times import parse_time

__all__ = ["human_duration", "human_since"]

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEAR = 365 * _DAY


def human_duration(seconds: float) -> str:
    """A time span in at most two units. What lies in the future is `<invalid>`, but for two seconds of clock skew."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 10 * _MINUTE:
        return _two(whole // _MINUTE, "m", whole % _MINUTE, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two(whole // _HOUR, "h", whole // _MINUTE % 60, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two(whole // _DAY, "d", whole // _HOUR % 24, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two(whole // _YEAR, "y", whole // _DAY % 365, "d")
    return f"{whole // _YEAR}y"


def human_since(when: Any, now: datetime) -> str:
    """How long a timestamp of an object is ago; `<unknown>` without one, `<invalid>` where it is none."""
    if when is None or when == "":
        return "<unknown>"
    if not isinstance(when, str):
        return "<invalid>"
    try:
        at = parse_time(when)
    except ValueError:
        return "<invalid>"
    return human_duration((now - at).total_seconds())


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"
