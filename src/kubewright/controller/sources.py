"""Runs sources: async iterators that say which objects to reconcile.

A source runs while its controller works (with leader election: while it leads). One that returns has said all it has to
say. One that raises is started again after 1 s, doubled up to a minute while it yields nothing in between: what comes
from outside may be away for a while, and an operator that ends for it is of no use to the other objects.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from random import random
from typing import Any

from kubewright.client import Client
from kubewright.model import Key, Object, info_of

from .cause import Cause
from .handlers import LOW_PRIORITY, Add
from .lookup import Lookup
from .mapping import check_key
from .watching import Source

__all__ = ["SourceContext", "every", "run_source"]

_FIRST_SECONDS, _MOST_SECONDS = 1.0, 60.0


class SourceContext:
    """What a source works with.

    Attributes:
        client: of the operator, any verb.
        cache: reads that do not wait, of kinds that the controller watches.
        log: a logger of the controller.
        kind: what the controller reconciles.
    """

    def __init__(self, client: Client, cache: Lookup, log: logging.Logger, kind: type[Object]) -> None:
        self.client = client
        self.cache = cache
        self.log = log
        self.kind = kind


def every(
    seconds: float,
    *,
    keys: Callable[[Lookup], Sequence[Key]] | None = None,
    jitter: float = 0.1,
    priority: int = LOW_PRIORITY,
    name: str | None = None,
) -> Source:
    """A timer as a source: reconcile all objects again and again, or those that `keys` says.

    `return after(seconds)` is the same for one object, from its last reconcile on.

    Args:
        seconds: between two rounds.
        keys: which ones, from the cache; all of the controller's kind unless given.
        jitter: each round is up to this part of `seconds` sooner or later, as controller-runtime's SyncPeriod.
        priority: of these reconciles; below what changes unless given.

    Raises:
        ValueError: `seconds` is not positive, or `jitter` not from 0 to below 1.
    """
    if not 0 < seconds < float("inf"):
        raise ValueError(f"every(seconds={seconds!r}): must be positive and finite")
    if not 0 <= jitter < 1:
        raise ValueError(f"every(jitter={jitter!r}): must be a part of the time, from 0 to below 1")

    async def rounds(ctx: SourceContext) -> AsyncIterator[Key]:
        while True:
            await asyncio.sleep(seconds * (1 + jitter * (2 * random() - 1)))  # noqa: S311
            for key in ctx.cache.keys(ctx.kind) if keys is None else keys(ctx.cache):
                yield key

    return Source(rounds, name or f"every {seconds:g} s", priority)


async def run_source(source: Source, ctx: SourceContext, add: Add) -> None:
    """Add what the source says, until it ends or until cancelled."""
    info = info_of(ctx.kind)
    cause = Cause(source.name)
    seconds = _FIRST_SECONDS
    while True:
        try:
            iterator: Any = source.run(ctx)
            async for found in iterator:
                add(check_key(f"source {source.name}", found, info.namespaced), cause, source.priority)
                seconds = _FIRST_SECONDS
        except Exception:
            ctx.log.exception("source %s failed; again in %g s", source.name, seconds)
        else:
            ctx.log.info("source %s has ended", source.name)
            return
        await asyncio.sleep(seconds)
        seconds = min(2 * seconds, _MOST_SECONDS)
