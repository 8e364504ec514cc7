"""What the API server has, as it was last seen: list, watch, store, tell.

`Watcher` (what to ask next, pure) -> `Store` (what is there, and what a change changed, pure) -> `Informer` (the shell
that runs both over a `ListWatch`). Objects are kept as bytes and decoded above this room.
"""

__all__ = [
    "Action",
    "Added",
    "Condition",
    "Deleted",
    "Delta",
    "Denied",
    "Entry",
    "Expired",
    "Handler",
    "IndexFunction",
    "Informer",
    "InformerStopped",
    "ListPage",
    "ListWatch",
    "ListWatchError",
    "Meta",
    "NotInstalled",
    "Registration",
    "Rejected",
    "Store",
    "Throttled",
    "Unavailable",
    "Unreadable",
    "Updated",
    "Watch",
    "Watcher",
    "labels_of",
    "owners_of",
]

from .actions import Action, Condition
from .entry import Entry, Meta, labels_of, owners_of
from .frame import Unreadable
from .handlers import Handler, Registration
from .informer import Informer
from .listwatch import (
    Denied,
    Expired,
    ListPage,
    ListWatch,
    ListWatchError,
    NotInstalled,
    Rejected,
    Throttled,
    Unavailable,
    Watch,
)
from .store import Added, Deleted, Delta, IndexFunction, Store, Updated
from .waits import InformerStopped
from .watcher import Watcher
