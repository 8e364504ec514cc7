"""Paths into objects as definitions have them: names of fields, without filters (`.spec.a['b.c']`)."""

from __future__ import annotations

from typing import Any

__all__ = ["at", "steps_of"]


def steps_of(path: str) -> tuple[str, ...]:
    """The names that a path goes through; none for an empty one."""
    steps: list[str] = []
    rest = path.removeprefix(".")
    while rest:
        if rest.startswith("['"):
            step, _, rest = rest[2:].partition("']")
        else:
            places = [place for each in ".[" if (place := rest.find(each)) >= 0]
            end = min(places, default=len(rest))
            step, rest = rest[:end], rest[end:]
        steps.append(step)
        rest = rest.removeprefix(".")
    return tuple(steps)


def at(obj: dict[str, Any], steps: tuple[str, ...]) -> Any:
    """What is at a path; None where nothing is."""
    value: Any = obj
    for step in steps:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value
