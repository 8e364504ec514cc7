"""The parts of one kind: its scopes, each with the reflector that follows it, and what can be said of all together.

Owns who covers a namespace, and how the state of the whole follows from that of the parts: it is as bad as its worst
part and as old as its oldest, since a reader of the whole relies on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .actions import Condition
from .listwatch import ListWatchError
from .reflector import Reflector
from .scope import Scope

__all__ = ["Parts"]

_WORSE = (Condition.LIVE, Condition.SYNCING, Condition.FAILING, Condition.NOT_INSTALLED, Condition.FORBIDDEN)
"""Conditions, better ones first."""


class Parts:
    """Scopes and reflectors by namespace; `""` for the one that covers all others."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[Scope, Reflector]] = {}

    def __contains__(self, namespace: str) -> bool:
        return namespace in self._parts

    def __iter__(self) -> Iterator[tuple[Scope, Reflector]]:
        return iter(self._parts.values())

    @property
    def scopes(self) -> tuple[Scope, ...]:
        return tuple(scope for scope, _ in self)

    def add(self, scope: Scope, reflector: Reflector) -> None:
        self._parts[scope.namespace] = scope, reflector

    def remove(self, namespace: str) -> tuple[Scope, Reflector]:
        """Take one out. Raises KeyError."""
        return self._parts.pop(namespace)

    def covering(self, namespace: str) -> tuple[Scope, Reflector] | None:
        """The part that objects of a namespace are in; None where none of them covers it."""
        found = self._parts.get(namespace) or self._parts.get("")
        return found if found is not None and found[0].covers(namespace) else None

    def of(self, reflector: Reflector) -> Scope:
        """The scope that a reflector follows."""
        return next(scope for scope, each in self if each is reflector)

    def listen(self, moved: Callable[[], None] | None) -> None:
        """Have `moved` called with each line; None: no more."""
        for _, reflector in self:
            reflector.moved = moved

    # Together

    @property
    def have_told(self) -> bool:
        """Whether the state of each has been taken in; False where there are none."""
        return bool(self._parts) and all(reflector.has_told for _, reflector in self)

    @property
    def is_absent(self) -> bool:
        return any(reflector.is_absent for _, reflector in self)

    @property
    def condition(self) -> Condition:
        return max((reflector.condition for _, reflector in self), key=_WORSE.index, default=Condition.SYNCING)

    @property
    def problem(self) -> ListWatchError | None:
        """One of them, where there are several."""
        return next((reflector.problem for _, reflector in self if reflector.problem is not None), None)

    @property
    def last_event_at(self) -> float | None:
        times = [reflector.last_event_at for _, reflector in self]
        heard = [time for time in times if time is not None]
        return min(heard) if heard and len(heard) == len(times) else None

    @property
    def observed_version(self) -> int:
        return min((reflector.observed_version for _, reflector in self), default=0)
