"""How long a key that failed has to wait before its next attempt.

Owns failures per key. Refuses to know queues and clocks (`now` is an argument).

    ExponentialBackoff   client-go's ItemExponentialFailureRateLimiter with controller-runtime's numbers: 5 ms doubling
                         to 1000 s, each key for itself, so that one object that cannot be reconciled delays no other;
                         with jitter, which neither of them has
    TokenBucket          client-go's BucketRateLimiter: so many retries a second of all keys together
    Longest              client-go's MaxOfRateLimiter: the longest of what several say

controller-runtime's default is the first alone since it has priorities; client-go's is the longest of the first two.

Why jitter, and by default: what fails seldom fails alone. When a webhook or a database goes away, the objects of one
moment fail together, and without jitter they are tried together from then on, in ever larger and rarer waves, against
the very thing that has just come back. Waiting a bit more or less costs no single object anything.

Cost: one dict entry per key that has failed since it was last forgotten.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from random import Random
from typing import Generic, Protocol, TypeVar

__all__ = ["ExponentialBackoff", "Longest", "RateLimiter", "TokenBucket"]

K = TypeVar("K", bound=Hashable)
K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)


class RateLimiter(Protocol[K_contra]):
    """Decides on delays. Each call is short and never waits."""

    def delay_seconds(self, key: K_contra, now: float) -> float:
        """Count one more failure of `key`; how long to wait from now on."""
        ...

    def forget(self, key: K_contra) -> None:
        """`key` has succeeded: its next failure is its first."""
        ...

    def failures(self, key: K_contra) -> int:
        """How often `key` has failed since it was last forgotten."""
        ...


class ExponentialBackoff:
    """`base_seconds` * 2^failures, up to `jitter` of that sooner or later, never below the base nor above the cap.

    A delay is drawn evenly from [d - jitter * d, d + jitter * d] as far as that lies between base and cap, where d is
    the delay without jitter. So those at the base and at the cap are spread out as well (to one side, half as far) and
    do not pile up there. Up to a jitter of 1/3, keys with one failure more wait longer until the cap is near.
    """

    def __init__(
        self,
        base_seconds: float = 0.005,
        cap_seconds: float = 1000.0,
        *,
        jitter: float = 0.25,
        random: Random | None = None,
    ) -> None:
        """A limiter that has seen no failure.

        Args:
            jitter: which part of a delay chance may add or take; 0: none, as in client-go.
            random: where chance comes from; its own by default. One with a seed makes the delays repeatable.

        Raises:
            ValueError: not 0 < base_seconds <= cap_seconds, both finite; or not 0 <= jitter <= 1.
        """
        if not 0 < base_seconds <= cap_seconds < math.inf:
            raise ValueError(
                f"base_seconds={base_seconds!r}, cap_seconds={cap_seconds!r}: both must be positive and finite, and "
                "the cap not below the base; the defaults are 0.005 and 1000"
            )
        if not 0 <= jitter <= 1:
            raise ValueError(f"jitter={jitter!r}: must be a part of the delay, from 0 to 1; the default is 0.25")
        self._base_seconds = base_seconds
        self._cap_seconds = cap_seconds
        self._jitter = jitter
        self._chance = (random if random is not None else Random()).random  # noqa: S311
        self._failures: dict[Hashable, int] = {}

    def delay_seconds(self, key: Hashable, now: float) -> float:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # 2.0**1024 raises: a key may fail more often than a float has exponents.
        seconds = min(self._base_seconds * 2.0 ** min(failures, 512), self._cap_seconds)
        if not self._jitter:
            return seconds
        least = max(seconds - self._jitter * seconds, self._base_seconds)
        most = min(seconds + self._jitter * seconds, self._cap_seconds)
        return min(least + self._chance() * (most - least), most)  # rounding may go one step beyond

    def forget(self, key: Hashable) -> None:
        self._failures.pop(key, None)

    def failures(self, key: Hashable) -> int:
        return self._failures.get(key, 0)


class TokenBucket:
    """`per_second` retries of all keys together, after a burst of `burst`; client-go's numbers unless given.

    A retry takes its token ahead of time (a reservation): the n-th beyond the burst waits n / per_second.
    """

    def __init__(self, per_second: float = 10.0, burst: int = 100) -> None:
        """A full bucket.

        Raises:
            ValueError: not per_second > 0, or not burst >= 1.
        """
        if not per_second > 0 or burst < 1:
            raise ValueError(
                f"per_second={per_second!r}, burst={burst!r}: per_second must be positive and burst 1 or more; "
                "client-go's are 10 and 100"
            )
        self._per_second = per_second
        self._burst = burst
        self._tokens = float(burst)  # negative: taken ahead of time
        self._at: float | None = None

    def delay_seconds(self, key: Hashable, now: float) -> float:
        if self._at is not None and now > self._at:
            self._tokens = min(self._tokens + (now - self._at) * self._per_second, float(self._burst))
        self._at = now if self._at is None else max(now, self._at)
        self._tokens -= 1.0
        return max(0.0, -self._tokens / self._per_second)

    def forget(self, key: Hashable) -> None:
        """Nothing: tokens are of no key."""

    def failures(self, key: Hashable) -> int:
        return 0


class Longest(Generic[K]):
    """Of several limiters, the one that lets a key wait longest."""

    def __init__(self, *limiters: RateLimiter[K]) -> None:
        """Raises ValueError without any limiter."""
        if not limiters:
            raise ValueError("Longest(): of no limiters; give it some, such as ExponentialBackoff(), TokenBucket()")
        self._limiters = limiters

    def delay_seconds(self, key: K, now: float) -> float:
        return max([limiter.delay_seconds(key, now) for limiter in self._limiters])

    def forget(self, key: K) -> None:
        for limiter in self._limiters:
            limiter.forget(key)

    def failures(self, key: K) -> int:
        return max(limiter.failures(key) for limiter in self._limiters)
