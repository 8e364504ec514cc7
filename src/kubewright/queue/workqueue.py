"""The work queue on an event loop: `QueueState`, somebody who waits for it, and one timer.

Owns the waiters and the timer; the rules are in `state`. No task runs on its behalf and nothing is polled: an add wakes
one waiter, and one timer stands at the earliest time that any key waits for.

A waiter that is woken still has to take its key itself, when it runs. So a get that is cancelled in between has taken
nothing; it passes the wake-up on. (The alternative, to hand the key over in the future's result, has to put it back
then, out of order.)
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic

from typing_extensions import TypeVar

from .metrics import QueueMetrics
from .ordering import Prioritised
from .ratelimit import RateLimiter
from .state import Item, QueueState

__all__ = ["WorkQueue"]

K = TypeVar("K", bound=Hashable)
C = TypeVar("C", default=object)


class WorkQueue(Generic[K, C]):
    """Keys to work on, each by one worker at a time, as client-go's rate limiting queue.

    Expected flow, for any number of workers:

        while (item := await queue.get()) is not None:
            try:
                await work(item.key)
            except Exception:
                queue.add_rate_limited(item.key, priority=item.priority)
            else:
                queue.forget(item.key)
            finally:
                queue.done(item.key)

    Guarantees: those of `QueueState` (G1 never on two workers, G2 no lost wake-up, G3 deduplication, G4 order,
        G5 earliest time, G6 highest priority, G7 nothing starves, G8 causes), and
        G9 `get` returns None only when the queue is shut down and nothing is ready. What is added during its run before
           that is handed out to the worker that was at it, on its next get.
    Cancellation: a cancelled get() has taken nothing. A cancelled drained() changes nothing.
    Attributes: `ready`, the keys that could be handed out now; for its length.
    Caveats: made on the running event loop, and used on its thread only: from another one, go through
        `loop.call_soon_threadsafe`. len() is old when you read it. Times are the loop's.
    """

    def __init__(
        self,
        *,
        limiter: RateLimiter[K] | None = None,
        metrics: QueueMetrics | None = None,
        ordering: Prioritised[K] | None = None,
        merge: Callable[[C, C], C] | None = None,
    ) -> None:
        """An empty queue.

        Args:
            limiter: backoff of failed keys; by default 5 ms doubling to 1000 s with jitter, per key.
            metrics: hooks; none by default.
            ordering: who is next; by default priorities that age after 10 s, one hand-out in 8 being the oldest's.
            merge: makes one of two causes that are equal, the earlier and the later; by default the earlier stands.
        """
        self._loop = asyncio.get_running_loop()
        self._time = self._loop.time
        self._state: QueueState[K, C] = QueueState(limiter=limiter, metrics=metrics, ordering=ordering, merge=merge)
        self.ready = self._state.ready
        self._getters: deque[asyncio.Future[None]] = deque()
        self._drained: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.Handle | None = None
        self._timer_at = 0.0  # not asked of the handle: that of uvloop has no time when it is (almost) now

    def __len__(self) -> int:
        """Keys that could be handed out now: neither those worked on nor those that wait for a time."""
        return len(self._state)

    @property
    def working(self) -> int:
        """Keys that were handed out and are not done."""
        return self._state.working

    @property
    def later(self) -> int:
        """Keys that wait for a time."""
        return self._state.later

    @property
    def is_shut_down(self) -> bool:
        return self._state.is_shut_down

    def is_waiting(self, key: K) -> bool:
        """Whether `key` needs a run that has not begun, or one more after the one that is under way."""
        return self._state.is_waiting(key)

    def num_requeues(self, key: K) -> int:
        """Failures of `key` since it was last forgotten."""
        return self._state.num_requeues(key)

    def unfinished_work_seconds(self) -> float:
        """The sum of what all keys that are worked on have taken so far (workqueue_unfinished_work_seconds)."""
        return self._state.unfinished_work_seconds(self._loop.time())

    def longest_running_seconds(self) -> float:
        """The most that one of them has taken so far (workqueue_longest_running_processor_seconds)."""
        return self._state.longest_running_seconds(self._loop.time())

    def add(self, key: K, cause: C | None = None, priority: int = 0) -> None:
        """`key` needs a run, because of `cause`. Nothing after a shutdown."""
        if self._state.add(key, self._time(), cause, priority) and self._getters:
            self._wake()

    def add_after(self, key: K, seconds: float, cause: C | None = None, priority: int = 0) -> None:
        """`key` needs a run `seconds` from now; of several such times the earliest stands.

        Raises:
            ValueError: `seconds` is infinite or no number.
        """
        if self._state.add_after(key, seconds, self._loop.time(), cause, priority):
            self._wake()
        self._arm()

    def add_rate_limited(self, key: K, cause: C | None = None, priority: int = 0) -> float:
        """`key` has failed: it needs a run after its backoff. How long that is, in seconds."""
        seconds = self._state.add_rate_limited(key, self._loop.time(), cause, priority)
        self._arm()
        return seconds

    def forget(self, key: K) -> None:
        """`key` has succeeded: its next backoff is the first again. What is planned for it stays."""
        self._state.forget(key)

    def done(self, key: K) -> None:
        """The work on `key` has ended, well or not; once for each key that `get` returned.

        Raises:
            ValueError: `key` is not worked on.
        """
        if self._state.done(key, self._time()):
            self._wake()
        elif self._drained:
            self._settle()

    async def get(self) -> Item[K, C] | None:
        """The next key, when there is one; None when there will be none any more.

        Waits without bound, as a worker does; `asyncio.timeout` bounds it, and loses nothing.
        """
        while (item := self._state.get(self._time())) is None:
            if self._state.is_shut_down:
                return None
            getter = self._loop.create_future()
            self._getters.append(getter)
            try:
                await getter
            except BaseException:
                if getter.done() and not getter.cancelled():
                    self._wake()  # the wake-up was meant for a get that goes on
                elif getter in self._getters:
                    self._getters.remove(getter)
                raise
        return item

    def shut_down(self, *, drain: bool = True) -> None:
        """Take no more keys. `drain`: what waits is still handed out, in order; else it is dropped.

        Keys that wait for a time are dropped in either case. Keys that are worked on are not touched.
        """
        self._state.shut_down(drain=drain)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._getters:
            self._wake()
        self._settle()

    async def drained(self) -> None:
        """Return when nothing is ready and nothing is worked on (keys that wait for a time aside)."""
        while not self._state.is_idle:
            waiter = self._loop.create_future()
            self._drained.append(waiter)
            try:
                await waiter
            finally:
                if waiter in self._drained:
                    self._drained.remove(waiter)

    def _wake(self) -> None:
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                return

    def _settle(self) -> None:
        """After what may have been the last key: release those who wait for the end."""
        while self._drained and self._state.is_idle:
            waiter = self._drained.popleft()
            if not waiter.done():
                waiter.set_result(None)

    def _arm(self) -> None:
        """Have one timer at the earliest time. One that stands earlier is left: it finds nothing and moves on."""
        wake_at = self._state.wake_at
        if wake_at is None:
            return
        if self._timer is not None:
            if self._timer_at <= wake_at:
                return
            self._timer.cancel()
        self._timer_at = wake_at
        self._timer = self._loop.call_at(wake_at, self._fire, wake_at)

    def _fire(self, at: float) -> None:
        self._timer = None
        # Loops fire up to a clock tick early; asked again at that time, the state would find nothing due.
        for _ in range(self._state.tick(max(at, self._loop.time()))):
            self._wake()
        self._arm()
