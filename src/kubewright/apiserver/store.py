"""Objects in memory: one revision for all of them, a history to look back into, nothing else.

Owns which object is at which key at which revision. It knows no kinds, no rules and no event loop: values go in, every
commit gives a `Change`, who has a stake in changes reads them from the history (`watch.py`).

| thing | what it is |
|---|---|
| revision | of the whole store; each write takes the next one, and the object has it as `resourceVersion` |
| collection | the objects of one resource and their history (`collection.py`) |
| key | `namespace/name`, or `name` for what has no namespace |

Guarantees: G1 revisions of commits are consecutive. G2 a commit happens as a whole or, where the journal refuses it,
not at all. G3 `page(revision=r)` is what `page()` was at r. G4 after `fork` neither store sees what is written to the
other.
Cost: a write is O(log n) and a move of pointers; `fork` is O(collections), the first write to each copies its maps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from .collection import Change, ChangeType, Collection, Compacted, Entry, Page

__all__ = [
    "Change",
    "ChangeType",
    "Collection",
    "Compacted",
    "Entry",
    "Exists",
    "Missing",
    "Moved",
    "Objects",
    "Page",
    "Store",
]

_FIRST: Final = 1


class Exists(Exception):
    """The key is taken."""


class Missing(Exception):
    """Nothing is at the key."""


class Moved(Exception):
    """What is at the key is not what was expected: somebody else was faster."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.key, entry.revision)
        self.entry = entry


Objects = Callable[[], Iterable[tuple[str, dict[str, Any]]]]
"""Gives keys and objects, the same ones each time."""


class _Provided:
    """Objects that are still to be made. Stores that were forked share what one of them has made."""

    __slots__ = ("_after", "_made", "_make")

    def __init__(self, after: int, make: Objects) -> None:
        self._after, self._make = after, make
        self._made: Collection | None = None

    def collection(self, floor: int) -> Collection:
        """The collection, which is shared: who writes to it copies it."""
        if self._made is None:
            made = self._made = Collection(0)
            made.is_shared = True
            for revision, (key, obj) in enumerate(self._make(), self._after + 1):
                obj["metadata"]["resourceVersion"] = str(revision)
                entry = made.live[key] = Entry(key, obj, revision)
                made.log.append(Change("ADDED", entry, None))
            made.keys = list(made.live)
        if not floor:
            return self._made
        found = self._made.copy()
        found.compact(floor)
        return found


Journal = Callable[[str, Change], None]
"""Told of each commit before it happens; what it raises refuses the commit."""

Listener = Callable[[str, Change, int], None]
"""Told of each commit after it happened: the resource, the change, its number in the log of the collection. Must be
quick, must not write."""


class Store:
    """All objects. One writer: calls come from one thread, and none of them waits.

    Args:
        history_limit: how many changes of each collection are kept for watches and for lists of older revisions. When
            twice as many are there the older half goes.
        journal: writes commits down; see `Journal`.
    """

    def __init__(self, *, history_limit: int = 10_000, journal: Journal | None = None) -> None:
        if history_limit < 1:
            raise ValueError(f"Store.history_limit: {history_limit} must be 1 or more")
        self.revision = _FIRST
        self.history_limit = history_limit
        self.journal = journal
        self.listeners: list[Listener] = []
        self._collections: dict[str, Collection] = {}
        self._provided: dict[str, _Provided] = {}
        self._floor = 0

    # -- reading ------------------------------------------------------------------------------------------------------

    def collection(self, resource: str) -> Collection:
        """The objects of a resource (`group/plural`), empty when there are none."""
        found = self._collections.get(resource)
        if found is None:
            given = self._provided.pop(resource, None)
            found = Collection(self._floor) if given is None else given.collection(self._floor)
            self._collections[resource] = found
        return found

    def get(self, resource: str, key: str) -> Entry | None:
        """What is at a key now."""
        found = self._collections.get(resource)
        if found is None and resource in self._provided:
            found = self.collection(resource)
        return None if found is None else found.live.get(key)

    @property
    def resources(self) -> Iterator[str]:
        """The resources that something was ever stored of."""
        return iter([*self._collections, *self._provided])

    def provide(self, resource: str, count: int, make: Objects) -> None:
        """Let a resource have `count` objects from now on, that are made when somebody first looks at it.

        They have the next revisions, and are created as far as anybody can see. Nothing is written down, and nobody is
        told: it is for what is there before a server serves.

        Args:
            make: their keys, in byte order, and the objects.
        """
        assert resource not in self._collections, f"{resource}: is there already"
        self._provided[resource] = _Provided(self.revision, make)
        self.revision += count

    # -- writing ------------------------------------------------------------------------------------------------------

    def create(self, resource: str, key: str, obj: dict[str, Any]) -> Entry:
        """Store a new object, which is the store's from now on. Raises Exists."""
        collection = self._writable(resource)
        if key in collection.live:
            raise Exists(key)
        entry = self._entry(key, obj)
        self._commit(resource, collection, Change("ADDED", entry, None))
        return entry

    def update(self, resource: str, key: str, obj: dict[str, Any], expected: Entry) -> Entry:
        """Replace an object. Raises Missing, Moved: what is there is not `expected`."""
        collection = self._writable(resource)
        self._check(collection, key, expected)
        entry = self._entry(key, obj)
        self._commit(resource, collection, Change("MODIFIED", entry, expected))
        return entry

    def delete(self, resource: str, key: str, expected: Entry, last: dict[str, Any] | None = None) -> Entry:
        """Remove an object; gives its last state, which has the revision of the deletion.

        Args:
            last: another last state than what is stored (without its last finalizer).
        """
        collection = self._writable(resource)
        self._check(collection, key, expected)
        left = expected.object if last is None else last
        entry = self._entry(key, {**left, "metadata": dict(left["metadata"])})
        self._commit(resource, collection, Change("DELETED", entry, expected))
        return entry

    def _entry(self, key: str, obj: dict[str, Any]) -> Entry:
        revision = self.revision + 1
        obj["metadata"]["resourceVersion"] = str(revision)
        return Entry(key, obj, revision)

    @staticmethod
    def _check(collection: Collection, key: str, expected: Entry) -> None:
        found = collection.live.get(key)
        if found is None:
            raise Missing(key)
        if found is not expected:
            raise Moved(found)

    def _writable(self, resource: str) -> Collection:
        found = self.collection(resource)
        if found.is_shared:
            found = self._collections[resource] = found.copy()
        return found

    def _commit(self, resource: str, collection: Collection, change: Change) -> None:
        if self.journal is not None:
            self.journal(resource, change)
        number = collection.end
        self.apply(resource, collection, change)
        for listener in self.listeners:
            listener(resource, change, number)

    def apply(self, resource: str, collection: Collection, change: Change) -> None:
        """Make a change that has been written down. For journals that are read back."""
        self.revision = change.revision
        collection.put(change, self.history_limit)

    # -- history ------------------------------------------------------------------------------------------------------

    def compact(self, revision: int | None = None) -> None:
        """Forget what was before a revision (None: the present one), as etcd's compaction does."""
        wanted = self.revision if revision is None else min(revision, self.revision)
        self._floor = max(self._floor, wanted)
        for resource in list(self.resources):
            self._writable(resource).compact(wanted)

    def renew(self, resource: str) -> None:
        """The storage of a resource is set up anew: no watch starts at an older revision than the present one."""
        self._writable(resource).watch_floor = self.revision

    def as_of(self, resource: str, revision: int) -> Store:
        """Another store in which one resource is as it was at a revision, for who reads. Raises Compacted."""
        made = self.fork()
        made.revision = revision
        made._collections[resource] = self.collection(resource).as_of(revision)
        return made

    def fork(self) -> Store:
        """Another store with the same contents, revision and history, without journal and listeners."""
        made = Store(history_limit=self.history_limit)
        made.revision, made._floor = self.revision, self._floor
        for collection in self._collections.values():
            collection.is_shared = True
        made._collections = dict(self._collections)
        made._provided = dict(self._provided)
        return made
