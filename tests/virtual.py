"""Run asyncio code in virtual time: a loop whose clock jumps to the next timer whenever there is nothing else to do.

    virtual.run(main())         as asyncio.run, in no time; `loop.time()` starts at 1000.0
    await virtual.settle()      let everything that can run now run, without moving the clock

Hours of backoff pass in milliseconds, and always in the same order. Where nothing is scheduled and nothing can come
from outside, the code under test waits for something that never happens: that raises `Deadlock` instead of hanging.

Threads of `run_in_executor` (and `asyncio.to_thread`) are waited for in real time, the clock standing still. Sockets
work, but their silence looks like idleness: what does real I/O belongs on a real loop.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

__all__ = ["Deadlock", "Loop", "run", "settle"]

T = TypeVar("T")
START_AT = 1000.0


class Deadlock(RuntimeError):
    """Everything waits, and nothing is scheduled that could end it."""


class _Selector(selectors.DefaultSelector):
    """Takes "wait up to `timeout`" to mean "nothing to do before then", and moves the clock there."""

    loop: Loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if events or timeout == 0:
            return events
        if self.loop.threads:
            return super().select(None)  # the thread's result arrives through the loop's own pipe
        if timeout is None:
            raise Deadlock("all tasks wait, and no timer is set that could wake one")
        self.loop.now += timeout
        return []


class Loop(asyncio.SelectorEventLoop):
    """An event loop in virtual time."""

    def __init__(self) -> None:
        selector = _Selector()
        selector.loop = self
        self.now = START_AT
        self.threads = 0
        super().__init__(selector)
        # `now + (when - now)` may fall short of `when` by a rounding error, which must not make the loop spin.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self.now

    def run_in_executor(self, executor: Executor | None, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        self.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._thread_done)
        return future

    async def shutdown_default_executor(self, *args: Any) -> None:
        self.threads += 1  # a thread joins the others
        try:
            await super().shutdown_default_executor(*args)
        finally:
            self.threads -= 1

    def _thread_done(self, _: asyncio.Future[Any]) -> None:
        self.threads -= 1


def run(main: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, in virtual time."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(main)


async def settle(turns: int = 50) -> None:
    """Let everything run that can run at this moment. The clock does not move."""
    for _ in range(turns):
        await asyncio.sleep(0)
