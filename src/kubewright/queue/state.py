"""The rules of client-go's work queue, as a data structure without clock, loop and tasks.

Owns which keys wait, which are worked on, which come later, how urgently, and why. Refuses to know time (`now` is an
argument), who waits for a key, and what a key means. A key is in one of these places, or in two:

    ready      keys that may be handed out, in the order of `ordering`
    waiting    dict of all keys that need a run: those that are ready, and those that were added during their run
    working    dict of keys that were handed out and are not done
    later      heap of keys with the time at which they are to be added

    add     waiting already: the cause is noted, and a higher priority counts. Else waiting, and ready unless working.
    get     from ready and waiting to working.
    done    out of working; waiting (added meanwhile): ready.

So waiting = ready + (waiting and working), and ready and working have no key in common. Later stands apart: an add now
does not take back an add at a time, and of two times the earlier stays.

The heap has an entry per time; those that an earlier time of their key has replaced are skipped, and swept out when
they are more than half. One wake-up time for all, in place of a timer per key.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Hashable
from typing import Generic

import msgspec
from typing_extensions import TypeVar

from .metrics import NoMetrics, QueueMetrics
from .ordering import Prioritised
from .ratelimit import ExponentialBackoff, RateLimiter

__all__ = ["MOST_CAUSES", "Item", "QueueState"]

K = TypeVar("K", bound=Hashable)
C = TypeVar("C", default=object)

MOST_CAUSES = 16


class Item(msgspec.Struct, Generic[K, C], frozen=True):
    """A key that was handed out, and why.

    `causes`: those of all adds that this run answers, without repetitions, in order, at most `MOST_CAUSES`;
    `more_causes` counts what was beyond that. `attempt`: failures since the key was last forgotten (0: none).
    `added_at`: the first of those adds, on the queue's clock (for an add at a time: that time). `priority`: the highest
    of those adds.
    """

    key: K
    causes: tuple[C, ...]
    more_causes: int
    attempt: int
    added_at: float
    priority: int = 0


class _Reasons(Generic[C]):
    """Why a key waits, since when, and how urgently."""

    __slots__ = ("causes", "more", "priority", "since")

    def __init__(self, since: float, priority: int, cause: C | None) -> None:
        self.since = since
        self.priority = priority
        self.causes: list[C] = [] if cause is None else [cause]
        self.more = 0

    def note(self, cause: C | None, merge: Callable[[C, C], C] | None) -> None:
        if cause is None:
            return
        causes = self.causes
        for place, known in enumerate(causes):
            if known is cause or known == cause:
                if merge is not None:
                    causes[place] = merge(known, cause)
                return
        if len(causes) < MOST_CAUSES:
            causes.append(cause)
        else:
            self.more += 1

    def merge(self, other: _Reasons[C], merge: Callable[[C, C], C] | None) -> None:
        for cause in other.causes:
            self.note(cause, merge)
        self.more += other.more


class QueueState(Generic[K, C]):
    """A work queue as a step function: each call takes `now` and is complete when it returns.

    Guarantees:
        G1 A key is never handed out while it is worked on.
        G2 After each add there is a get of that key, unless the queue is shut down: no wake-up is lost.
        G3 Any number of adds before a get are answered by it; any number during the work by one more run after done.
        G4 Keys are handed out by priority, and inside of one in the order in which they became ready.
        G5 Of several times for a key the earliest stands. An add now does not take it back.
        G6 Of several priorities of adds that one run answers the highest stands; a key whose priority rises goes to the
           end of its new one.
        G7 No key starves: the bound is that of `Prioritised`.
        G8 No cause is lost by deduplication: it is noted once, merged with its like, or counted.

    Attributes: `ready`, the keys that could be handed out now; to look at.
    """

    def __init__(
        self,
        *,
        limiter: RateLimiter[K] | None = None,
        metrics: QueueMetrics | None = None,
        ordering: Prioritised[K] | None = None,
        merge: Callable[[C, C], C] | None = None,
    ) -> None:
        """An empty queue; by default 5 ms to 1000 s backoff per key with jitter, no metrics, priorities that age.

        Args:
            merge: makes one of two causes that are equal, the earlier and the later; by default the earlier stands.
        """
        self._limiter: RateLimiter[K] = limiter if limiter is not None else ExponentialBackoff()
        self._metrics: QueueMetrics = metrics if metrics is not None else NoMetrics()
        self.ready: Prioritised[K] = ordering if ordering is not None else Prioritised()
        self._merge = merge
        self._depths: dict[int, int] = {}  # keys in `waiting`, by priority
        self._tell_depth(0)
        self._waiting: dict[K, _Reasons[C]] = {}
        self._working: dict[K, float] = {}  # since when
        self._later: dict[K, tuple[float, _Reasons[C]]] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._pushes = 0  # makes heap entries of one time FIFO, and spares keys the comparison
        self._shut_down = False

    # Reads

    def __len__(self) -> int:
        """Keys that could be handed out now."""
        return len(self.ready)

    @property
    def working(self) -> int:
        """Keys that were handed out and are not done."""
        return len(self._working)

    @property
    def later(self) -> int:
        """Keys that wait for their time."""
        return len(self._later)

    @property
    def is_shut_down(self) -> bool:
        return self._shut_down

    @property
    def is_idle(self) -> bool:
        """Nothing is ready and nothing is worked on."""
        return not self._waiting and not self._working

    @property
    def wake_at(self) -> float | None:
        """When to call `tick` next; None: no key waits for a time."""
        return self._heap[0][0] if self._heap else None

    def is_waiting(self, key: K) -> bool:
        """Whether `key` needs a run that has not begun, or one more after the one that is under way."""
        return key in self._waiting

    def num_requeues(self, key: K) -> int:
        """Failures of `key` since it was last forgotten."""
        return self._limiter.failures(key)

    def unfinished_work_seconds(self, now: float) -> float:
        """The sum of what all keys that are worked on have taken so far."""
        return sum(now - since for since in self._working.values())

    def longest_running_seconds(self, now: float) -> float:
        """The most that a key that is worked on has taken so far; 0 when none is."""
        return max((now - since for since in self._working.values()), default=0.0)

    # Steps

    def add(self, key: K, now: float, cause: C | None = None, priority: int = 0) -> bool:
        """`key` needs a run. Whether it became ready, so that one more `get` can succeed."""
        if self._shut_down:
            return False
        return self._add(key, now, now, cause, priority)

    def add_after(self, key: K, seconds: float, now: float, cause: C | None = None, priority: int = 0) -> bool:
        """`key` needs a run `seconds` from now (at once if not positive). Whether it became ready.

        Raises:
            ValueError: `seconds` is infinite or no number.
        """
        if not math.isfinite(seconds):
            raise ValueError(f"seconds={seconds!r}: must be finite; to wait for the next event, add nothing")
        if self._shut_down:
            return False
        if seconds <= 0:
            return self._add(key, now, now, cause, priority)
        self._metrics.retried()
        at = now + seconds
        planned = self._later.get(key)
        if planned is not None:
            reasons = planned[1]
            reasons.note(cause, self._merge)
            reasons.priority = max(reasons.priority, priority)
            if planned[0] <= at:
                return False
            reasons.since = at
        else:
            reasons = _Reasons(at, priority, cause)
        self._later[key] = (at, reasons)
        self._pushes += 1
        heapq.heappush(self._heap, (at, self._pushes, key))
        if len(self._heap) > 2 * len(self._later) + 64:
            self._heap = [entry for entry in self._heap if self._later[entry[2]][0] == entry[0]]
            heapq.heapify(self._heap)
        return False

    def add_rate_limited(self, key: K, now: float, cause: C | None = None, priority: int = 0) -> float:
        """`key` has failed: it needs a run after its backoff. How long that is, in seconds."""
        if self._shut_down:
            return 0.0
        seconds = self._limiter.delay_seconds(key, now)
        self.add_after(key, seconds, now, cause, priority)
        return seconds

    def forget(self, key: K) -> None:
        """`key` has succeeded: its next backoff is the first again. What is planned for it stays."""
        self._limiter.forget(key)

    def tick(self, now: float) -> int:
        """Add the keys whose time has come. How many became ready."""
        became_ready = 0
        heap = self._heap
        while heap:
            at, _, key = heap[0]
            planned = self._later.get(key)
            if planned is not None and planned[0] == at:
                if at > now:
                    break
                del self._later[key]
                became_ready += self._add(key, at, now, None, planned[1].priority, planned[1])
            heapq.heappop(heap)
        return became_ready

    def get(self, now: float) -> Item[K, C] | None:
        """The next key, from now on worked on; None when none is ready."""
        if not len(self.ready):
            return None
        key = self.ready.pop(now)
        reasons = self._waiting.pop(key)
        self._working[key] = now
        self._metrics.queued_for(now - reasons.since)
        priority = reasons.priority
        self._depths[priority] -= 1
        return Item(key, tuple(reasons.causes), reasons.more, self._limiter.failures(key), reasons.since, priority)

    def done(self, key: K, now: float) -> bool:
        """The work on `key` has ended, well or not. Whether it is ready again, having been added meanwhile.

        Raises:
            ValueError: `key` is not worked on.
        """
        since = self._working.pop(key, None)
        if since is None:
            raise ValueError(f"done({key!r}): the key is not worked on; call done once for each get")
        self._metrics.worked_for(now - since)
        reasons = self._waiting.get(key)
        if reasons is None:
            return False
        self.ready.push(key, reasons.priority, now)
        return True

    def shut_down(self, *, drain: bool) -> None:
        """Take no more adds and forget all times. `drain`: what waits is still handed out; else it is dropped."""
        self._shut_down = True
        self._later.clear()
        self._heap.clear()
        if not drain:
            self.ready.clear()
            self._waiting.clear()
            self._depths = dict.fromkeys(self._depths, 0)

    def _add(
        self, key: K, since: float, now: float, cause: C | None, priority: int, planned: _Reasons[C] | None = None
    ) -> bool:
        reasons = self._waiting.get(key)
        if reasons is None:
            self._waiting[key] = planned if planned is not None else _Reasons(since, priority, cause)
            self._metrics.added()
            if priority not in self._depths:
                self._tell_depth(priority)
            self._depths[priority] += 1
            if key in self._working:
                return False
            self.ready.push(key, priority, now)
            return True
        if planned is not None:
            reasons.merge(planned, self._merge)
        reasons.note(cause, self._merge)
        if priority > reasons.priority:
            if priority not in self._depths:
                self._tell_depth(priority)
            self._depths[reasons.priority] -= 1
            self._depths[priority] += 1
            if key not in self._working:
                self.ready.move(key, reasons.priority, priority, now)
            reasons.priority = priority
        return False

    def _tell_depth(self, priority: int) -> None:
        self._depths[priority] = 0
        self._metrics.depth(priority, lambda: self._depths[priority])
