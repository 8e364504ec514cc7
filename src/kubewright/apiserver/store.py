"""Objects in memory: one revision for all of them, a history to look back into, nothing else.

Owns which object is at which key at which revision. It knows no kinds, no rules and no event loop: values go in, every
commit gives a `Change`, who has a stake in changes reads them from the history (`watch.py`).

| thing | what it is |
|---|---|
| revision | of the whole store; each write takes the next one, and the object has it as `resourceVersion` |
| collection | the objects of one resource: live ones by key, keys in byte order, the log of changes |
| key | `namespace/name`, or `name` for what has no namespace |
| log | the changes of a collection in order; undone backwards it gives the collection at an older revision |
| floor | the revision below which the log does not reach: older ones are gone (`Compacted`) |

There is no version chain per key: reading an old revision costs as much as has changed since, which is what pages of a
list and lagging watchers need, and the present costs nothing extra. Objects are never changed once they are here;
readers get them as they are, without copies.

Guarantees: G1 revisions of commits are consecutive. G2 a commit happens as a whole or, where the journal refuses it,
not at all. G3 `page(revision=r)` is what `page()` was at r. G4 after `fork` neither store sees what is written to the
other.
Cost: a write is O(log n) and a move of pointers; `fork` is O(collections), the first write to each copies its maps.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

import orjson

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

ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]

_FIRST: Final = 1
_ENCODED_KEPT: Final = 1_000
"""How many of the newest changes keep their encoded events: enough for watchers that are not behind."""


class Compacted(Exception):
    """A revision that is gone. `floor` is the oldest that is still there."""

    def __init__(self, revision: int, floor: int) -> None:
        super().__init__(revision, floor)
        self.revision, self.floor = revision, floor


class Exists(Exception):
    """The key is taken."""


class Missing(Exception):
    """Nothing is at the key."""


class Moved(Exception):
    """What is at the key is not what was expected: somebody else was faster."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.key, entry.revision)
        self.entry = entry


class Entry:
    """An object at a revision. Immutable; `views` is a cache that who serves it may fill."""

    __slots__ = ("_json", "key", "object", "revision", "views")

    def __init__(self, key: str, obj: dict[str, Any], revision: int) -> None:
        self.key, self.object, self.revision = key, obj, revision
        self._json: bytes | None = None
        self.views: dict[object, Any] | None = None

    def forget(self) -> None:
        """Drop what can be made again."""
        self._json = self.views = None

    @property
    def json(self) -> bytes:
        """The object as JSON, encoded once."""
        encoded = self._json
        if encoded is None:
            # Copied, as the encoder's bytes keep its whole buffer, which is several times as large.
            encoded = self._json = bytes(memoryview(orjson.dumps(self.object)))
        return encoded


class Change:
    """One commit. `entry` is the object after it (deleted: as it was, with the revision of the deletion); `previous`
    the one before it, None when it was created. `encoded` is a cache for those who send events."""

    __slots__ = ("encoded", "entry", "previous", "revision", "type")

    def __init__(self, type: ChangeType, entry: Entry, previous: Entry | None) -> None:  # noqa: A002 - the field's name
        self.type: ChangeType = type
        self.entry, self.previous = entry, previous
        self.revision = entry.revision
        self.encoded: dict[Any, Any] = {}

    def forget(self) -> None:
        """Drop what can be encoded again, of the events and of the object that is no more."""
        self.encoded = {}
        if self.previous is not None:
            self.previous.forget()


class Page(NamedTuple):
    """A part of a collection, in the order of keys. `remaining` counts what comes after it."""

    entries: list[Entry]
    remaining: int


class Collection:
    """The objects of one resource. Made and changed by its `Store` only."""

    __slots__ = ("dropped", "floor", "is_shared", "keys", "live", "log", "watch_floor")

    def __init__(self, floor: int) -> None:
        self.live: dict[str, Entry] = {}
        self.keys: list[str] = []
        self.log: list[Change] = []
        self.dropped = 0
        """Changes that were cut off the front of the log: `dropped + place` is a change's number for ever."""
        self.floor = floor
        self.watch_floor = 0
        """Below this revision no watch starts, though the log may reach further: the storage was set up anew."""
        self.is_shared = False

    def copy(self) -> Collection:
        made = Collection(self.floor)
        made.live, made.keys, made.log = dict(self.live), list(self.keys), list(self.log)
        made.dropped, made.watch_floor = self.dropped, self.watch_floor
        return made

    @property
    def end(self) -> int:
        """The number of the next change."""
        return self.dropped + len(self.log)

    def number_after(self, revision: int) -> int:
        """The number of the first change after a revision. Raises Compacted: some are gone, or not for watches."""
        floor = max(self.floor, self.watch_floor)
        if revision < floor:
            raise Compacted(revision, floor)
        return self.dropped + bisect_right(self.log, revision, key=_revision)

    def changes(self, number: int) -> list[Change]:
        """The changes from a number on. Raises Compacted: that one is gone."""
        if number < self.dropped:
            raise Compacted(0, self.floor)
        return self.log[number - self.dropped :]

    def page(self, scope: str = "", after: str = "", limit: int = 0, revision: int | None = None) -> Page:
        """Entries in the order of keys.

        Args:
            scope: what keys start with: `namespace/`, or nothing.
            after: start behind this key.
            limit: at most so many; 0 for all.
            revision: as it was then. Raises Compacted: that is gone.
        """
        keys, found = self.keys, self.live
        if revision is not None and (undone := self._undone(revision)):
            found = {**found, **{key: entry for key, entry in undone.items() if entry is not None}}
            gone = {key for key, entry in undone.items() if entry is None}
            keys = sorted(found.keys() - gone)
        start, end = 0, len(keys)
        if scope:
            start, end = bisect_left(keys, scope), bisect_left(keys, scope[:-1] + chr(ord(scope[-1]) + 1))
        if after:
            start = max(start, bisect_right(keys, after))
        stop = min(end, start + limit) if limit else end
        return Page([found[key] for key in keys[start:stop]], max(end - stop, 0))

    def _undone(self, revision: int) -> dict[str, Entry | None]:
        """What has to be put back to be at an older revision."""
        if revision < self.floor:
            raise Compacted(revision, self.floor)
        undone: dict[str, Entry | None] = {}
        for change in reversed(self.log):
            if change.revision <= revision:
                break
            undone[change.entry.key] = change.previous
        return undone


def _revision(change: Change) -> int:
    return change.revision


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
        Store._cut(found, bisect_right(found.log, floor, key=_revision))
        found.floor = max(found.floor, floor)
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
        key = change.entry.key
        self.revision = change.revision
        if change.type == "DELETED":
            del collection.live[key]
            del collection.keys[bisect_left(collection.keys, key)]
        else:
            if key not in collection.live:
                insort(collection.keys, key)
            collection.live[key] = change.entry
        log = collection.log
        log.append(change)
        if len(log) > _ENCODED_KEPT:
            log[-_ENCODED_KEPT - 1].forget()
        if len(log) >= 2 * self.history_limit:
            self._cut(collection, self.history_limit)

    @staticmethod
    def _cut(collection: Collection, count: int) -> None:
        if count:
            collection.floor = collection.log[count - 1].revision
            collection.dropped += count
            del collection.log[:count]

    # -- history ------------------------------------------------------------------------------------------------------

    def compact(self, revision: int | None = None) -> None:
        """Forget what was before a revision (None: the present one), as etcd's compaction does."""
        wanted = self.revision if revision is None else min(revision, self.revision)
        self._floor = max(self._floor, wanted)
        for resource in list(self.resources):
            collection = self._writable(resource)
            self._cut(collection, bisect_right(collection.log, wanted, key=_revision))
            collection.floor = max(collection.floor, wanted)

    def renew(self, resource: str) -> None:
        """The storage of a resource is set up anew: no watch starts at an older revision than the present one."""
        self._writable(resource).watch_floor = self.revision

    def as_of(self, resource: str, revision: int) -> Store:
        """Another store in which one resource is as it was at a revision, for who reads. Raises Compacted."""
        made = self.fork()
        now = self.collection(resource)
        then = Collection(now.floor)
        then.live = {entry.key: entry for entry in now.page(revision=revision).entries}
        then.keys = list(then.live)
        made._collections[resource] = then
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
