"""The objects of one resource, and the log that leads back to what they were.

| thing | what it is |
|---|---|
| live, keys | the objects by key; the keys in byte order |
| log | the changes in order; undone backwards it gives the collection at an older revision |
| floor | the revision below which the log does not reach: older ones are gone (`Compacted`) |

There is no version chain per key: reading an old revision costs as much as has changed since, which is what pages of a
list and lagging watchers need, and the present costs nothing extra. Objects are never changed once they are here;
readers get them as they are, without copies. Which revision is next, and who is told, is decided by the `Store`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import Any, Final, Literal, NamedTuple

import orjson

__all__ = ["Change", "ChangeType", "Collection", "Compacted", "Entry", "Page"]

ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]

_ENCODED_KEPT: Final = 1_000
"""How many of the newest changes keep their encoded events: enough for watchers that are not behind."""


class Compacted(Exception):
    """A revision that is gone. `floor` is the oldest that is still there."""

    def __init__(self, revision: int, floor: int) -> None:
        super().__init__(revision, floor)
        self.revision, self.floor = revision, floor


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

    def put(self, change: Change, history_limit: int) -> None:
        """Make a change. When twice `history_limit` are in the log the older half goes."""
        key = change.entry.key
        if change.type == "DELETED":
            del self.live[key]
            del self.keys[bisect_left(self.keys, key)]
        else:
            if key not in self.live:
                insort(self.keys, key)
            self.live[key] = change.entry
        log = self.log
        log.append(change)
        if len(log) > _ENCODED_KEPT:
            log[-_ENCODED_KEPT - 1].forget()
        if len(log) >= 2 * history_limit:
            self._cut(history_limit)

    def compact(self, revision: int) -> None:
        """Forget what was before a revision."""
        self._cut(bisect_right(self.log, revision, key=_revision))
        self.floor = max(self.floor, revision)

    def _cut(self, count: int) -> None:
        if count:
            self.floor = self.log[count - 1].revision
            self.dropped += count
            del self.log[:count]

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

    def as_of(self, revision: int) -> Collection:
        """Another one as it was at a revision, for who reads. Raises Compacted."""
        made = Collection(self.floor)
        made.live = {entry.key: entry for entry in self.page(revision=revision).entries}
        made.keys = list(made.live)
        return made

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
