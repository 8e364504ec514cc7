"""Work that goes on beside a server, in one task, as long as something is due.

Without an event loop nothing runs, and what is due waits for the next `start` on one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

__all__ = ["Background"]


class Background:
    """One piece of work, at most once at a time.

    Args:
        name: of the task.
        work: does all that is due, also what gets due meanwhile.
    """

    def __init__(self, name: str, work: Callable[[], Coroutine[None, None, None]]) -> None:
        self._name, self._work = name, work
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, unless it goes on already."""
        if self._task is not None and not self._task.done():
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # nobody runs: it is due until somebody does
        self._task = loop.create_task(self._work(), name=self._name)

    async def settle(self) -> None:
        """Until it has ended. A cancelled `settle` stops nothing."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def close(self) -> None:
        """End it now."""
        if self._task is not None:
            self._task.cancel()
