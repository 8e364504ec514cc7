"""What the API server has, as it was last seen: list, watch, store, tell.

`Watcher` (what to ask next, pure) in a `Reflector` (the shell that asks a `ListWatch`), one for each `Scope` of a kind
-> `Store` (what is there, and what a change changed, pure) and the handlers, in an `Informer` -> `Reader` (typed, with
our own writes put over it). Objects are kept as bytes and decoded when they are read. `CacheOptions` say what is kept.
"""

__all__ = [
    "Action",
    "Added",
    "CacheOptions",
    "Condition",
    "Deleted",
    "Delta",
    "Denied",
    "Entry",
    "Expired",
    "Handler",
    "Index",
    "IndexFunction",
    "Informer",
    "InformerStopped",
    "KindCache",
    "ListPage",
    "ListWatch",
    "ListWatchError",
    "Meta",
    "NamespaceCache",
    "NotInstalled",
    "OutsideCache",
    "Registration",
    "Rejected",
    "Store",
    "Throttled",
    "Unavailable",
    "Unreadable",
    "Updated",
    "Watch",
    "Watcher",
    "drop",
    "field_index",
    "index",
    "is_resync",
    "keep",
    "labels_of",
    "owners_of",
]

from .actions import Action, Condition
from .entry import Entry, Meta, labels_of, owners_of
from .frame import Unreadable
from .handlers import Handler, Registration
from .index import Index, field_index, index
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
from .options import CacheOptions, KindCache, NamespaceCache
from .resync import is_resync
from .scope import OutsideCache
from .store import Added, Deleted, Delta, IndexFunction, Store, Updated
from .transform import drop, keep
from .waits import InformerStopped
from .watcher import Watcher
