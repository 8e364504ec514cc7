"""One timer for all that waits in a transport.

Owns the rule "who is due is told so". A thing that waits has a `due_at` on the loop's clock, which it moves as it
likes, and an `on_due`. It knows nothing of what they wait for.

A timer per request would be two heap operations and a handle for each, and nearly all are cancelled. Here a request
writes one float and compares it with the next wake-up; as deadlines mostly lie a constant time ahead, the timer is
set anew about once per that time. A `due_at` moved *later* needs no call at all: the sweep that comes too early finds
nothing due and sleeps until the next. While nothing is due there is no timer.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import Protocol


class Timed(Protocol):
    """Something that waits. `due_at` is in seconds on the loop's clock, `inf` while it waits for nothing."""

    due_at: float

    def on_due(self, now: float) -> None:
        """End the wait: called with `due_at <= now`. It must move `due_at` or be discarded."""
        ...


class Deadlines:
    """The sweep. Everything is called from the loop's own thread."""

    __slots__ = ("_handle", "_items", "_loop", "_wake_at")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._items: set[Timed] = set()
        self._wake_at = inf
        self._handle: asyncio.TimerHandle | None = None

    def add(self, item: Timed) -> None:
        """Watch an item from now on."""
        self._items.add(item)
        self.arm(item.due_at)

    def discard(self, item: Timed) -> None:
        """Watch it no longer; of no effect if it is not watched."""
        self._items.discard(item)

    def arm(self, due_at: float) -> None:
        """Say that an item's `due_at` has moved to an earlier time."""
        if due_at < self._wake_at:
            if self._handle is not None:
                self._handle.cancel()
            self._wake_at = due_at
            self._handle = self._loop.call_at(due_at, self._sweep)

    def stop(self) -> None:
        """Forget all items and the timer."""
        self._items.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        self._wake_at = inf

    def _sweep(self) -> None:
        # A loop may call a little early (its clock's resolution), and nobody must then be called twice.
        now = max(self._loop.time(), self._wake_at)
        self._handle = None
        self._wake_at = inf
        for item in [item for item in self._items if item.due_at <= now]:
            if item.due_at <= now:  # still: telling one may have ended the wait of another
                item.on_due(now)
        self.arm(min((item.due_at for item in self._items), default=inf))
