"""Reading again and trying again when another writer was faster.

Owns the loop around one read-modify-write; it knows no client. The figures are those of client-go's
`retry.DefaultRetry` (5 attempts, 10 ms apart, 10 % jitter): a conflict says that somebody has just written, and the
cure is a fresh read, not a long wait.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .errors import Conflict

__all__ = ["retry_on_conflict"]

R = TypeVar("R")


async def retry_on_conflict(
    fn: Callable[[], Awaitable[R]], *, attempts: int = 5, delay_seconds: float = 0.01, jitter: float = 0.1
) -> R:
    """Call `fn` until it does not raise Conflict; its result.

    `fn` reads the object, changes it and writes it, all three: an object that was read outside of it is as old the
    second time as the first, and so is one from a cache that has not seen the other write.

    ```python
    async def scale_up() -> Web:
        web = await client.get(Web, "a")
        web.spec.replicas += 1
        return await client.update(web)

    web = await retry_on_conflict(scale_up)
    ```

    Args:
        attempts: calls of `fn`, the first one included; at least 1.
        delay_seconds: the wait between two of them, up to `jitter` times longer.

    Raises:
        Conflict: the one of the last attempt.
        ValueError: `attempts` is less than 1.
        Whatever else `fn` raises, at once; AlreadyExists is not a Conflict.
    """
    if attempts < 1:
        raise ValueError(f"attempts: {attempts} is less than 1")
    for _ in range(attempts - 1):
        try:
            return await fn()
        except Conflict:
            await asyncio.sleep(delay_seconds * (1 + random.random() * jitter))  # noqa: S311
    return await fn()
