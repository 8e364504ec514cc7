"""The objects of one collection as they were last seen, with their indexes.

Owns entries by key, the indexes over them, and the differences that each change makes (`Delta`). Refuses to know where
changes come from and who is told. No I/O, no clock, and every call is complete when it returns, so that on one event
loop a reader sees either the state before a change or the one after it.

Entries lie in one dict per namespace: to list a namespace costs its own size, and no key is stored beside the entry. An
index maps values to ordered sets of keys. What an index function returned is kept per entry only where it returned
anything, because with it the entry can be taken out again without a call of the function on an old object.

The differences are what handlers may rely on, so they are made here, where the old state is known:

    Added       the object was not there
    Updated     another version of the same object (same uid)
    Deleted     it is gone; `state_unknown` when that was found out later, and `entry` is the last state seen
    nothing     the same version once more; a deletion of what was not there

An object that was deleted and made again under one name is two objects: Deleted and Added, never one Updated.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableSequence, Sequence

import msgspec
from msgspec import Struct

from kubewright.model import Key

from .entry import Entry, labels_of

__all__ = ["Added", "Deleted", "Delta", "IndexFunction", "Store", "Updated"]

logger = logging.getLogger(__name__)

IndexFunction = Callable[[Entry], Iterable[str]]
"""The values to find an entry by, none or several. Pure: the same entry gives the same values."""


class Added(Struct, frozen=True, gc=False):
    """An object appeared. `initial`: it is part of the state that a handler begins with."""

    entry: Entry
    initial: bool = False

    @property
    def key(self) -> Key:
        return self.entry.key


class Updated(Struct, frozen=True, gc=False):
    """An object changed from `old` to `entry`. Both have the same key and uid."""

    old: Entry
    entry: Entry

    @property
    def key(self) -> Key:
        return self.entry.key


class Deleted(Struct, frozen=True, gc=False):
    """An object is gone (or has left what the selector covers).

    `entry` is its last state; with `state_unknown` the last one that was seen, the deletion itself having been missed.
    """

    entry: Entry
    state_unknown: bool = False

    @property
    def key(self) -> Key:
        return self.entry.key


Delta = Added | Updated | Deleted


class _Index:
    """One index: values to keys, and back."""

    def __init__(self, name: str, function: IndexFunction) -> None:
        self.name = name
        self.function = function
        self.keys: dict[str, dict[Key, None]] = {}
        self._values: dict[Key, tuple[str, ...]] = {}

    def put(self, key: Key, entry: Entry) -> None:
        try:
            values = tuple(dict.fromkeys(self.function(entry)))
        except Exception:
            # One object must not stop the others, nor be found under what it was before.
            logger.exception("index %s: the function failed on %s, which is left out of the index", self.name, key)
            values = ()
        before = self._values.get(key, ())
        if values == before:
            return
        self._take_out(key, [value for value in before if value not in values])
        if values:
            self._values[key] = values
        else:
            self._values.pop(key, None)
        for value in values:
            self.keys.setdefault(value, {}).setdefault(key)

    def drop(self, key: Key) -> None:
        self._take_out(key, self._values.pop(key, ()))

    def _take_out(self, key: Key, values: Iterable[str]) -> None:
        for value in values:
            keys = self.keys[value]
            del keys[key]
            if not keys:
                del self.keys[value]


class Store:
    """Entries by key.

    Guarantees:
        S1 After a call that changes it, entries, indexes and sizes agree.
        S2 The deltas that a call returns lead from the state before it to the state after it.
    """

    def __init__(self, indexes: Mapping[str, IndexFunction] | None = None) -> None:
        self._namespaces: dict[str, dict[str, Entry]] = {}
        self._indexes: dict[str, _Index] = {}
        self._objects = 0
        self._size_bytes = 0
        for name, function in (indexes or {}).items():
            self.add_index(name, function)

    # Reads

    def __len__(self) -> int:
        """How many objects."""
        return self._objects

    @property
    def size_bytes(self) -> int:
        """The bytes kept of all objects, without managedFields; what else an object costs is about 400 bytes."""
        return self._size_bytes

    def __contains__(self, key: tuple[str, str]) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[Entry]:
        """All entries. The store must not change meanwhile; `list` takes a copy."""
        for entries in self._namespaces.values():
            yield from entries.values()

    def get(self, key: tuple[str, str]) -> Entry | None:
        """The entry of `(namespace, name)`, or None."""
        entries = self._namespaces.get(key[0])
        return entries.get(key[1]) if entries is not None else None

    def list(
        self, namespace: str | None = None, labels: Callable[[Mapping[str, str]], bool] | None = None
    ) -> Sequence[Entry]:
        """Entries of one namespace (None: of all) whose labels satisfy the predicate, in no particular order.

        With `labels` each candidate's labels are decoded (about 2 microseconds); index what is asked for often.
        """
        found = list(self) if namespace is None else [*self._namespaces.get(namespace, {}).values()]
        return found if labels is None else [entry for entry in found if _has_labels(entry, labels)]

    def by_index(self, index: str, value: str, namespace: str | None = None) -> Sequence[Entry]:
        """Entries for which the index function returned `value`, in the order in which they came to have it.

        Raises:
            KeyError: there is no such index.
        """
        return [self._namespaces[key.namespace][key.name] for key in self.index_keys(index, value, namespace)]

    def index_keys(self, index: str, value: str, namespace: str | None = None) -> Sequence[Key]:
        """As `by_index`, the keys only."""
        keys = self._index(index).keys.get(value, {})
        return [key for key in keys if namespace is None or key.namespace == namespace]

    def index_size(self, index: str, value: str) -> int:
        """How many entries `by_index` would find, in all namespaces."""
        return len(self._index(index).keys.get(value, ()))

    def is_indexed(self, index: str, value: str, key: Key) -> bool:
        """Whether `by_index` would find that entry."""
        return key in self._index(index).keys.get(value, ())

    def index_values(self, index: str) -> Sequence[str]:
        """All values that the index has entries for. Raises KeyError as `by_index` does."""
        return list(self._index(index).keys)

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Index all entries, present and future. The same function under the same name again is no error.

        Raises:
            ValueError: another function has that name.
        """
        present = self._indexes.get(name)
        if present is not None:
            if present.function != function:
                raise ValueError(f"index: {name!r} is taken by {present.function!r}; choose another name")
            return
        index = _Index(name, function)
        for entry in self:
            index.put(entry.key, entry)
        self._indexes[name] = index

    def _index(self, name: str) -> _Index:
        try:
            return self._indexes[name]
        except KeyError:
            known = ", ".join(sorted(self._indexes)) or "none"
            raise KeyError(f"index: {name!r} does not exist (there are: {known}); add it with add_index") from None

    # Changes

    def upsert(self, entry: Entry) -> tuple[Delta, ...]:
        """Put an entry in the place of the one with its key."""
        entries = self._namespaces.get(entry.namespace)
        if entries is None:
            entries = self._namespaces[entry.namespace] = {}
        old = entries.get(entry.name)
        if old is None:
            self._objects += 1
            self._size_bytes += entry.stored_bytes
            deltas: tuple[Delta, ...] = (Added(entry),)
        else:
            same = old.uid == entry.uid
            # A resumed watch may repeat; versions are unique, so an equal one is the same state.
            if same and old.resource_version == entry.resource_version and entry.resource_version:
                return ()
            self._size_bytes += entry.stored_bytes - old.stored_bytes
            deltas = (Updated(old, entry),) if same else (Deleted(old, state_unknown=True), Added(entry))
        entries[entry.name] = entry
        if self._indexes:
            key = entry.key
            for index in self._indexes.values():
                index.put(key, entry)
        return deltas

    def remove(self, entry: Entry) -> tuple[Delta, ...]:
        """Take out what has the key of `entry`, which is its last state."""
        old = self._drop(entry.key)
        if old is None:
            return ()
        if old.uid != entry.uid:
            return (Deleted(old, state_unknown=True),)
        return (Deleted(entry),)

    def discard(self, key: Key) -> tuple[Delta, ...]:
        """Take out `key`, of whose last state nothing is known."""
        old = self._drop(key)
        return () if old is None else (Deleted(old, state_unknown=True),)

    def replace(
        self,
        entries: Iterable[Entry],
        keep: Collection[tuple[str, str]] = (),
        within: Callable[[str], bool] | None = None,
    ) -> Sequence[Delta]:
        """Make `entries` the whole state. Deletions come first, then what is new or changed, in the given order.

        Args:
            keep: keys that exist but are not in `entries`, their state being unreadable: what was last seen stays.
            within: the namespaces that `entries` are the state of; all by default. Of others nothing is said.
        """
        new = {entry.key: entry for entry in entries}
        deltas: MutableSequence[Delta] = []
        for namespace in [*self._namespaces]:
            if within is None or within(namespace):
                for name in [*self._namespaces[namespace]]:
                    key = Key(namespace, name)
                    if key not in new and key not in keep:
                        deltas.extend(self.discard(key))
        for entry in new.values():
            deltas.extend(self.upsert(entry))
        return deltas

    def _drop(self, key: Key) -> Entry | None:
        entries = self._namespaces.get(key.namespace)
        old = entries.pop(key.name, None) if entries is not None else None
        if old is None or entries is None:
            return None
        if not entries:
            del self._namespaces[key.namespace]
        self._objects -= 1
        self._size_bytes -= old.stored_bytes
        for index in self._indexes.values():
            index.drop(key)
        return old


def _has_labels(entry: Entry, labels: Callable[[Mapping[str, str]], bool]) -> bool:
    try:
        return labels(labels_of(entry.data))
    except msgspec.DecodeError:
        return False  # labels that are no labels match no selector
