"""How long to wait before the next list or watch, as client-go's reflector does.

0.8 s doubling to 30 s, each wait stretched by a random factor in [1, 2) so that watchers that lost one API server do
not return to it at once; two minutes without a failure start again at 0.8 s. One value per watcher: lists and watches
of one collection fail together.

The wait may exceed the cap by the jitter (client-go's does), and is raised to what the server asked for.
"""

from __future__ import annotations

from random import Random

__all__ = ["Backoff"]

# No server has a good reason to ask for more, and a wrong header must not silence a watcher for a day.
_LONGEST_RETRY_AFTER_SECONDS = 600.0


class Backoff:
    """Growing, jittered waits. Pure: `now` is passed in, the generator of random numbers is given."""

    def __init__(
        self,
        random: Random,
        *,
        base_seconds: float = 0.8,
        cap_seconds: float = 30.0,
        reset_seconds: float = 120.0,
    ) -> None:
        self._random = random
        self._base_seconds = base_seconds
        self._cap_seconds = cap_seconds
        self._reset_seconds = reset_seconds
        self._next_seconds = base_seconds
        self._quiet_at = 0.0

    def first_is_free(self, now: float) -> bool:
        """Whether nothing has failed lately, so that the next try need not wait; counts as a failure."""
        if now < self._quiet_at:
            return False
        self.wait_seconds(now)
        return True

    def wait_seconds(self, now: float, at_least: float | None = None) -> float:
        """How long to wait from `now`; each call counts as one more failure."""
        if now >= self._quiet_at:
            self._next_seconds = self._base_seconds
        seconds = self._next_seconds * (1.0 + self._random.random())
        self._next_seconds = min(self._next_seconds * 2.0, self._cap_seconds)
        seconds = max(seconds, min(at_least or 0.0, _LONGEST_RETRY_AFTER_SECONDS))
        self._quiet_at = now + seconds + self._reset_seconds
        return seconds
