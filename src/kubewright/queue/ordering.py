"""In which order keys that are ready are handed out.

The seam between the queue's rules (who is ready) and its policy (who is first). `Fifo` is client-go's: first ready,
first served. A policy with priorities keeps the three calls and sorts otherwise.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, Protocol, TypeVar

__all__ = ["Fifo", "Ready"]

K = TypeVar("K")


class Ready(Protocol[K]):
    """Keys that are ready, each at most once; the queue sees to that."""

    def push(self, key: K) -> None:
        """`key` has become ready."""
        ...

    def pop(self) -> K:
        """Take out the key whose turn it is. Raises IndexError when there is none."""
        ...

    def __len__(self) -> int: ...


class Fifo(Generic[K]):
    """First ready, first served."""

    def __init__(self) -> None:
        self._keys: deque[K] = deque()

    def push(self, key: K) -> None:
        self._keys.append(key)

    def pop(self) -> K:
        return self._keys.popleft()

    def __len__(self) -> int:
        return len(self._keys)
