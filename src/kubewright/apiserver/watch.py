"""Waiting for changes: who waits for what, and who is woken by a commit.

Nobody has a queue. A watcher has a place in the log of a collection (`cursor`) and reads on from there when it is
woken; the log is the one buffer for all, bounded by the store. Who is so slow that the log has lost his place is cut: a
commit never waits for anybody.

| scope | is woken by changes of |
|---|---|
| `""` | the whole collection |
| `"namespace/"` | one namespace |
| `"namespace/name"`, `"name"` | one object |

Guarantees: G1 every change of a scope wakes everybody who waits for it. G2 what was not in the scope may be cut from
the log without harm to a watcher that sleeps. Cost: a commit looks up three scopes, whatever the number of watchers.
"""

from __future__ import annotations

import asyncio
from typing import Final

from .store import Change, Compacted, Store

__all__ = ["Cursor", "Hub"]

_BATCH: Final = 500


class Hub:
    """The watchers of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._waiting: dict[tuple[str, str], list[asyncio.Future[int]]] = {}
        store.listeners.append(self._changed)

    def _changed(self, resource: str, change: Change, number: int) -> None:
        if not self._waiting:
            return
        key = change.entry.key
        scopes = ["", key]
        if "/" in key:
            scopes.append(key.partition("/")[0] + "/")
        for scope in scopes:
            for future in self._waiting.pop((resource, scope), ()):
                if not future.done():
                    future.set_result(number)

    def wait(self, resource: str, scope: str) -> asyncio.Future[int]:
        """Done at the next change in a scope, with its number. Whoever stops waiting cancels it."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault((resource, scope), [])
        if len(waiting) > 32 and len(waiting) & (len(waiting) - 1) == 0:
            waiting[:] = [each for each in waiting if not each.done()]
        waiting.append(future)
        return future


class Cursor:
    """A place in the log of a collection.

    Args:
        scope: see the head of the module.
        number: of the first change that is to be read.
    """

    __slots__ = ("hub", "number", "resource", "scope")

    def __init__(self, hub: Hub, resource: str, scope: str, number: int) -> None:
        self.hub, self.resource, self.scope, self.number = hub, resource, scope, number

    def read(self) -> list[Change]:
        """The next changes, in order, also those out of scope; empty when there are none.

        Raises Compacted: the log has lost this place.
        """
        collection = self.hub.store.collection(self.resource)
        if self.number >= collection.end:
            return []
        if self.number < collection.dropped:
            raise Compacted(0, collection.floor)
        start = self.number - collection.dropped
        found = collection.log[start : start + _BATCH]
        self.number += len(found)
        return found

    @property
    def is_at_end(self) -> bool:
        """Whether there is nothing more to read for now."""
        return self.number >= self.hub.store.collection(self.resource).end

    def woken(self, number: int) -> None:
        """Go on at a change that this scope was woken by: nothing before it is of interest."""
        self.number = max(self.number, number)
