"""Who is told of changes: the handlers of one informer, in the order of their coming.

Owns that one which raises, or is removed meanwhile, disturbs none of the others. Refuses to know what changes mean.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from .entry import Entry
from .store import Added, Delta

__all__ = ["Handler", "Handlers", "Registration"]

logger = logging.getLogger(__name__)

Handler = Callable[[Delta], None]
"""Told of one change, after the store shows it. Must not block; what it raises is logged and stops nothing."""


class Told(Protocol):
    """What the handlers are told of."""

    @property
    def store(self) -> Iterable[Entry]: ...

    @property
    def has_synced(self) -> bool: ...


class Registration:
    """A handler's place in an informer."""

    def __init__(self, handlers: Handlers, informer: Told, handler: Handler, *, echoes: bool) -> None:
        self._handlers = handlers
        self._informer = informer
        self.handler = handler
        self.echoes = echoes
        self.active = True

    @property
    def has_synced(self) -> bool:
        """Whether this handler has been told a whole initial state."""
        return self._informer.has_synced

    def remove(self) -> None:
        """Tell the handler nothing more, from now on. A second call does nothing."""
        self.active = False
        self._handlers.forget(self)


class Handlers:
    """The handlers of one informer, whose `name` is for the log."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._all: tuple[Registration, ...] = ()  # replaced, never changed: a dispatch goes through its own
        self.some_skip_echoes = False

    def add(self, handler: Handler, informer: Told, *, echoes: bool) -> Registration:
        """One more, which is told what there is as `Added(initial=True)` before this returns."""
        registration = Registration(self, informer, handler, echoes=echoes)
        self._set((*self._all, registration))
        self._tell((registration,), [Added(entry, initial=True) for entry in informer.store])
        return registration

    def forget(self, registration: Registration) -> None:
        self._set(tuple(other for other in self._all if other is not registration))

    def clear(self) -> None:
        self._set(())

    def _set(self, registrations: tuple[Registration, ...]) -> None:
        self._all = registrations
        self.some_skip_echoes = any(not each.echoes for each in registrations)

    def tell(self, deltas: Sequence[Delta]) -> None:
        """Tell all of them these changes."""
        self._tell(self._all, deltas)

    def tell_echo(self, deltas: Sequence[Delta]) -> None:
        """Tell those who want to hear of our own writes."""
        self._tell([each for each in self._all if each.echoes], deltas)

    def _tell(self, registrations: Iterable[Registration], deltas: Iterable[Delta]) -> None:
        for registration in registrations:
            handler = registration.handler
            for delta in deltas:
                if not registration.active:
                    break
                try:
                    handler(delta)
                except Exception:
                    logger.exception("informer %s: handler %r failed on %s", self._name, handler, delta.key)
