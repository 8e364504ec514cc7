"""How long a key that failed has to wait before its next attempt.

Owns failures per key. Refuses to know queues and clocks. `ExponentialBackoff` is client-go's
ItemExponentialFailureRateLimiter with controller-runtime's numbers: 5 ms doubling to 1000 s, each key for itself, so
that one object that cannot be reconciled delays no other.

Cost: one dict entry per key that has failed since it was last forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, TypeVar

__all__ = ["ExponentialBackoff", "RateLimiter"]

K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)


class RateLimiter(Protocol[K_contra]):
    """Decides on delays. Each call is short and never waits."""

    def delay_seconds(self, key: K_contra) -> float:
        """Count one more failure of `key`; how long to wait now."""
        ...

    def forget(self, key: K_contra) -> None:
        """`key` has succeeded: its next failure is its first."""
        ...

    def failures(self, key: K_contra) -> int:
        """How often `key` has failed since it was last forgotten."""
        ...


class ExponentialBackoff:
    """`base_seconds` * 2^failures, at most `cap_seconds`."""

    def __init__(self, base_seconds: float = 0.005, cap_seconds: float = 1000.0) -> None:
        """A limiter that has seen no failure.

        Raises:
            ValueError: not 0 < base_seconds <= cap_seconds.
        """
        if not 0 < base_seconds <= cap_seconds:
            raise ValueError(
                f"base_seconds={base_seconds!r}, cap_seconds={cap_seconds!r}: both must be positive, and the cap not "
                "below the base; the defaults are 0.005 and 1000"
            )
        self._base_seconds = base_seconds
        self._cap_seconds = cap_seconds
        self._failures: dict[Hashable, int] = {}

    def delay_seconds(self, key: Hashable) -> float:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # 2.0**1024 raises: a key may fail more often than a float has exponents.
        return min(self._base_seconds * 2.0 ** min(failures, 512), self._cap_seconds)

    def forget(self, key: Hashable) -> None:
        self._failures.pop(key, None)

    def failures(self, key: Hashable) -> int:
        return self._failures.get(key, 0)
