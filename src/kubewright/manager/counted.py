"""A list-watch that counts what it asks for, and remembers when it was last answered.

It stands between an informer and its collection, where a request begins and is answered; no event passes through it, so
it costs nothing while a watch runs. When events came is the informer's to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kubewright.cache import Informer, ListWatch, NotInstalled
from kubewright.cache.listwatch import ListPage, Watch
from kubewright.observe.instruments import CacheMetrics, Watched

__all__ = ["CountedListWatch", "counts_of"]


def counts_of(informer: Informer, metrics: CacheMetrics, silence_seconds: Callable[[], float]) -> Watched:
    """Show what an informer has; where to count what its collections are asked for."""
    return metrics.watch(
        informer.name,
        objects=lambda: len(informer.store),
        size_bytes=lambda: informer.store.size_bytes,
        synced=lambda: informer.has_synced,
        silence_seconds=silence_seconds,
        unreadable=lambda: len(informer.unreadable),
    )


class CountedListWatch:
    """One collection of `informer`, counted in `counts`."""

    def __init__(self, source: ListWatch, informer: Informer, counts: Watched | None) -> None:
        self._source = source
        self._informer = informer
        self._counts = counts
        self._loop = asyncio.get_running_loop()
        self._asked_at = self._loop.time()
        self._answered_at: float | None = None
        self._has_watched = False

    def silence_seconds(self) -> float:
        """How long ago the server last sent anything about this collection, or was first asked."""
        event_at = self._informer.last_event_at
        heard_at = max(self._asked_at, self._answered_at or self._asked_at, event_at or self._asked_at)
        return self._loop.time() - heard_at

    async def list_page(self, request: ListPage) -> bytes:
        try:
            body = await self._source.list_page(request)
        except NotInstalled:
            self._answered_at = self._loop.time()  # it is known that there are none
            raise
        self._answered_at = self._loop.time()
        if self._counts is not None:
            self._counts.lists.inc()
        return body

    async def watch(self, request: Watch, on_line: Callable[[bytes], None], on_open: Callable[[], None]) -> None:
        if self._counts is not None and self._has_watched:
            self._counts.restarts.inc()
        self._has_watched = True

        def opened() -> None:
            self._answered_at = self._loop.time()
            if self._counts is not None:
                self._counts.watches.inc()
            on_open()

        await self._source.watch(request, on_line, opened)
