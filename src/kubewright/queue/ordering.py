"""In which order keys that are ready are handed out: by priority, and none waits for ever.

Owns the keys that are ready, each at most once, with priority and time. Refuses to know what a key is, why it is ready,
and clocks (`now` is an argument). The rule is controller-runtime's priority queue's, with *ageing*, which that lacks:

    normally            the highest priority; inside of one, first ready, first served
    each `share`-th     the key that has been ready longest, whatever its priority, if that is `age_seconds` or more

A steadily busy high priority thus leaves the lower ones one hand-out in `share`, and no more. Rejected: priorities that
rise with time. After a minute the 100,000 objects of a start would all stand before what users change now, which is
what priorities are there against.

Bound: a key that has been ready for `age_seconds`, with k - 1 keys before it (by the time since when they are ready;
those of one moment by priority and place), is handed out at the latest with the (share * k)-th hand-out from then on.

Cost: O(1) a call for the few priorities that there are; 16 bytes and a float a key.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Prioritised"]

K = TypeVar("K", bound=Hashable)

_SPARE_LEVELS = 32


class _Level(Generic[K]):
    """The keys of one priority. One that was raised stays in `keys` as a ghost until it is in front."""

    __slots__ = ("ghosts", "keys", "priority", "ready_at")

    def __init__(self, priority: int) -> None:
        self.priority = priority
        self.keys: deque[K] = deque()
        self.ready_at: deque[float] = deque()
        self.ghosts: dict[K, int] = {}

    def settle(self) -> None:
        """Take the ghosts from the front."""
        ghosts = self.ghosts
        while ghosts and self.keys and (left := ghosts.get(self.keys[0], 0)):
            key = self.keys.popleft()
            self.ready_at.popleft()
            if left == 1:
                del ghosts[key]
            else:
                ghosts[key] = left - 1


class Prioritised(Generic[K]):
    """Ready keys by priority, with ageing. See the module for the rule and the bound.

    Args:
        age_seconds: how long a key of lower priority is passed over without limit.
        share: from then on, at least one hand-out in so many goes to the key that has waited longest.

    Raises:
        ValueError: `share` is not 1 or more, or `age_seconds` is negative.
    """

    def __init__(self, *, age_seconds: float = 10.0, share: int = 8) -> None:
        if share < 1:
            raise ValueError(f"share={share!r}: must be 1 or more; 1 hands out by age alone")
        if not age_seconds >= 0:
            raise ValueError(f"age_seconds={age_seconds!r}: must not be negative; 0 ages at once")
        self._age_seconds = age_seconds
        self._share = share
        self._levels: dict[int, _Level[K]] = {}
        self._order: list[_Level[K]] = []  # the highest first; empty ones stay, as there are few
        self._passed = 0  # hand-outs since the last one that went to the oldest key
        self._keys = 0

    def __len__(self) -> int:
        return self._keys

    def push(self, key: K, priority: int, now: float) -> None:
        """`key` has become ready."""
        level = self._levels.get(priority)
        if level is None:
            level = self._new(priority)
        level.keys.append(key)
        level.ready_at.append(now)
        self._keys += 1

    def move(self, key: K, priority: int, to: int, now: float) -> None:
        """`key`, which is ready at `priority`, is ready at the end of another one from now on."""
        level = self._levels[priority]
        level.ghosts[key] = level.ghosts.get(key, 0) + 1
        level.settle()
        self._keys -= 1
        self.push(key, to, now)

    def pop(self, now: float) -> K:
        """Take out the key whose turn it is. Raises IndexError when there is none."""
        if not self._keys:
            raise IndexError("pop from an empty queue")
        for level in self._order:
            if level.keys:
                break
        if level.ghosts or len(level.keys) != self._keys:
            level = self._aged(level, now)
        level.ready_at.popleft()
        key = level.keys.popleft()
        self._keys -= 1
        if level.ghosts:
            level.settle()
        return key

    def clear(self) -> None:
        """Take out all keys."""
        self._levels.clear()
        self._order.clear()
        self._keys = 0

    def _aged(self, highest: _Level[K], now: float) -> _Level[K]:
        """Whose turn it is where several priorities have keys."""
        filled = [level for level in self._order if level.keys]
        if len(filled) > 1:
            self._passed += 1
            if self._passed >= self._share:
                oldest = min(filled, key=_ready_at)
                if now - oldest.ready_at[0] >= self._age_seconds:
                    self._passed = 0
                    return oldest
        return highest

    def _new(self, priority: int) -> _Level[K]:
        if len(self._order) > _SPARE_LEVELS:
            self._order = [level for level in self._order if level.keys]
            self._levels = {level.priority: level for level in self._order}
        level = self._levels[priority] = _Level(priority)
        insort(self._order, level, key=_descending)
        return level


def _ready_at(level: _Level[K]) -> float:
    return level.ready_at[0]


def _descending(level: _Level[K]) -> int:
    return -level.priority
