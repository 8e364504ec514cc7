"""Tell handlers all objects once more, from time to time.

It is a replay of the store and never touches the server (client-go's resync): each object is told as `Updated` with
itself as the old state. It is for who compares with the world outside of the cluster, which sends no events.
"""

from __future__ import annotations

import asyncio
from random import Random

from .handlers import Handlers
from .scope import Scope
from .store import Store, Updated

__all__ = ["is_resync", "resync"]

_SLICE = 500  # objects told between two turns of the event loop


def is_resync(delta: Updated) -> bool:
    """Whether nothing has changed: the state is told once more."""
    return delta.old.resource_version == delta.entry.resource_version


async def resync(store: Store, scope: Scope, handlers: Handlers, *, random: Random) -> None:
    """Tell `handlers` the objects of a scope every `resync_seconds`, stretched once by a factor in [0.9, 1.1).

    The factor (controller-runtime's) keeps the kinds apart, which all start at the same moment.
    """
    assert scope.resync_seconds is not None
    seconds = scope.resync_seconds * (0.9 + random.random() / 5)
    while True:
        await asyncio.sleep(seconds)
        keys = [entry.key for entry in store if scope.covers(entry.namespace)]
        for start in range(0, len(keys), _SLICE):
            present = [entry for key in keys[start : start + _SLICE] if (entry := store.get(key)) is not None]
            handlers.tell([Updated(entry, entry) for entry in present])
            await asyncio.sleep(0)
