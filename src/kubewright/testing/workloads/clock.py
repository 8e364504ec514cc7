"""What time it is in a cluster: as on the event loop, or as the test says.

A clock is a function that gives the time, so that it can be the server's too: `new_server(now=clock)`.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Protocol

__all__ = ["Clock", "LoopClock", "VirtualClock"]


class Clock(Protocol):
    """Gives the time, with a zone."""

    def __call__(self) -> datetime: ...


class VirtualClock:
    """Stands still until it is told to go on.

    Args:
        start: where it begins.
    """

    def __init__(self, start: datetime = datetime(2030, 1, 1, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def move_to(self, when: datetime) -> None:
        """Go on to a later time; nothing where that is past already."""
        self._now = max(self._now, when)


class LoopClock:
    """Goes as the event loop's clock does, which in tests may be a virtual one.

    Args:
        start: the time at its making (default: the real one). To be made on the loop.
    """

    def __init__(self, start: datetime | None = None) -> None:
        self._time = asyncio.get_running_loop().time
        self._start = start or datetime.now(UTC)
        self._started_at = self._time()

    def __call__(self) -> datetime:
        return self._start + timedelta(seconds=self._time() - self._started_at)
