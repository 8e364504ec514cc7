"""How it is said what is wrong with a Pod, and which parts of it are at fault.

Knows no rule; the checks are in `podbaseline` and `podrestricted`. Wording: pod-security-admission/policy/helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .world import Object

__all__ = [
    "Violation",
    "called",
    "containers_of",
    "context_of",
    "in_quotes",
    "many",
    "setters_of",
]


class Violation(NamedTuple):
    """A rule that a Pod breaks. `detail` may be empty."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


def containers_of(spec: Object) -> Iterator[Object]:
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(field) or ()


def context_of(holder: Object) -> Object:
    found: Object = holder.get("securityContext") or {}
    return found


def in_quotes(items: Iterable[str]) -> str:
    return ", ".join(f'"{each}"' for each in items)


def many(word: str, count: int, plural: str = "") -> str:
    return word if count == 1 else plural or f"{word}s"


def called(containers: list[str]) -> str:
    return f"{many('container', len(containers))} {in_quotes(containers)}"


def setters_of(pod: bool, containers: list[str]) -> str:
    return " and ".join([*(["pod"] if pod else []), *([called(containers)] if containers else [])])
