"""Events expire: an hour after their last write they are gone, and watches see them go. (`--event-ttl`.)

Owns when which Event is due, by the clock of the server. On a running event loop a timer removes what is due;
`settle` does it at once, for clocks that a test moves by hand.

Cost: a comparison for each commit; nothing for a request.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from datetime import UTC, datetime
from typing import Final

from kubewright.model.times import parse_time

from .registry.backend import Backend
from .registry.call import resource_key
from .store import Change, Entry, Missing, Moved

__all__ = ["EventExpiry"]

_EVENTS: Final = resource_key("", "events")
_SECONDS: Final = 3600.0


class EventExpiry:
    """Removes the Events of one server when their time is over."""

    def __init__(self, backend: Backend, before: EventExpiry | None = None) -> None:
        self._backend = backend
        self._timer: asyncio.TimerHandle | None = None
        self._due: deque[tuple[float, Entry]] = deque(before._due) if before is not None else deque()
        if before is None:
            live = backend.store.collection(_EVENTS).live.values()
            self._due.extend(sorted(((_written_at(each) + _SECONDS, each) for each in live), key=lambda due: due[0]))
        backend.store.listeners.append(self._changed)

    def fork(self, backend: Backend) -> EventExpiry:
        return EventExpiry(backend, self)

    async def settle(self) -> None:
        """Until nothing is due."""
        self._remove()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _changed(self, resource: str, change: Change, number: int) -> None:
        if resource == _EVENTS and change.type != "DELETED":
            self._due.append((self._backend.now().timestamp() + _SECONDS, change.entry))
            if self._timer is None:
                self._wait()

    def _wait(self) -> None:
        """Set the timer to the first that is due; without an event loop there is none."""
        self._timer = None
        with contextlib.suppress(RuntimeError):
            if self._due:
                seconds = max(self._due[0][0] - self._backend.now().timestamp(), 0.0)
                self._timer = asyncio.get_running_loop().call_later(seconds, self._remove)

    def _remove(self) -> None:
        store, now = self._backend.store, self._backend.now().timestamp()
        while self._due and self._due[0][0] <= now:
            _, entry = self._due.popleft()
            # What was written again since has another entry, which is due later.
            if store.get(_EVENTS, entry.key) is entry:
                with contextlib.suppress(Missing, Moved):
                    store.delete(_EVENTS, entry.key, entry)
        if self._timer is not None:
            self._timer.cancel()
        self._wait()


def _written_at(entry: Entry) -> float:
    """When an Event was made, of those that were there before the server; those that do not say it start anew."""
    try:
        return parse_time(entry.object["metadata"]["creationTimestamp"]).timestamp()
    except (KeyError, ValueError):
        return datetime.now(UTC).timestamp()
