"""Typed reads from the cache that see our own writes.

A watch is behind: for some milliseconds after a write the cache still shows what was there before, and an operator that
believes it does its work twice. A `Reader` is told the answer to each write and puts it over the cache until the cache
has reached that version (`written`). A read then is answered at once, and never from before one's own writes.

Guarantees: R1 after a write through this Reader's operator, a read of that object shows that write or something newer.
R2 what is read is a fresh object; changing it changes nothing here. R3 lists are taken at one moment. R4 what the cache
was told not to hold is never read as absent: `OutsideCache`. R5 an object that is none of its kind's class is reported
and left out of lists, and stops no other.
Caveats: writes of other processes are seen when the watch shows them. Versions that are not decimal numbers (not those
of a kube-apiserver, see KEP-5504) cannot be compared; then reads come from the watch alone. Kinds that are read live
have none of this but R2: they are as new as the server, and cost a request each.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from kubewright.client import Client
from kubewright.model import Key, Object, decode, encode, info_of, key_of, origin_of
from kubewright.model.fieldselector import FieldSelector

from .entry import Entry, owners_of
from .frame import entry_of
from .held import Decoded, by_index, held, held_of
from .index import Index
from .informer import Informer
from .listwatch import ListWatchError
from .query import Query, Wanted
from .written import Written

__all__ = ["OWNER_INDEX", "CacheNotSynced", "Reader", "controller_uids"]

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=Object)

OWNER_INDEX = "controller-uid"
_LATE_SECONDS = 120.0  # for the first list of a namespace that was added while the kind was watched already


class CacheNotSynced(Exception):
    """The first list of a kind did not come. The message names the kind, what the server said, and the cure.

    Attributes: `problems`, what the server said, by resource; empty where it said nothing.
    """

    def __init__(self, message: str, problems: Mapping[str, ListWatchError] | None = None) -> None:
        super().__init__(message)
        self.problems = dict(problems or {})


def controller_uids(entry: Entry) -> list[str]:
    """The index by controller owner: the uid of the one owner that manages the object."""
    return [owner.uid for owner in owners_of(entry.data) if owner.controller]


class _Ending(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    finalizers: list[str] | None = None


class _EndingObject(msgspec.Struct):
    metadata: _Ending


_decode_ending = msgspec.json.Decoder(_EndingObject).decode


def _is_gone(data: bytes) -> bool:
    """Whether the answer to a write shows an object's last state: nothing holds it back any more.

    What still has finalizers, or a grace period to run (a Pod), is there until the watch says otherwise.
    """
    if b'"deletionTimestamp"' not in data and b"\\u00" not in data:
        return False  # nor is it there with letters of it escaped
    meta = _decode_ending(data).metadata
    return meta.deletion_timestamp is not None and not meta.finalizers and not meta.deletion_grace_period_seconds


def _nowhere(kind: type[Object]) -> Client | None:
    return None


class Reader:
    """Reads of any number of kinds.

    Args:
        informer: gets the informer of a kind, starting it and waiting for its first list where needed. What it raises
            (CacheNotSynced), `find` and `list` raise.
        running: the informer of a kind if there is one.
        live: the client to read a kind with, if that kind is not to be read from the cache.
    """

    def __init__(
        self,
        informer: Callable[[type[Object]], Awaitable[Informer]],
        running: Callable[[type[Object]], Informer | None],
        live: Callable[[type[Object]], Client | None] = _nowhere,
    ) -> None:
        self._informer = informer
        self._running = running
        self._live = live
        self._decoded = Decoded(logger)

    # -- reads -----------------------------------------------------------------------------------------------------

    async def find(self, kind: type[T], key: Key) -> T | None:
        """The object named `key`, or None. Starts to watch the kind where it is not watched yet.

        Raises:
            OutsideCache: the cache was told not to hold it. CacheNotSynced.
            DecodeError: it is none of its class; `cached` has its bytes.
            ApiError: the kind is read live, and the server refuses.
        """
        if (client := self._live(kind)) is not None:
            return await client.find(kind, key.name, namespace=key.namespace or None)
        informer = await self._informer(kind)
        await self._wait_late(informer, key.namespace)
        entry = held(informer, key)
        return None if entry is None else decode(kind, entry.data)

    async def list(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        labels: str | Mapping[str, str] | None = None,
        owner: str | None = None,
        index: Mapping[Index[Any], str] | None = None,
        fields: str | Mapping[str, str] | None = None,
    ) -> Sequence[T]:
        """Objects of a kind, in no particular order.

        Args:
            namespace: None: of all namespaces (of all that the cache has).
            owner: the uid of their controller owner.
            index: values of indexes, all of which have to be there.
            fields: a field selector; any field can be selected by, and is indexed from then on.

        Raises:
            ValueError: `labels` or `fields` is not a selector, or an index is one of another kind.
            OutsideCache, CacheNotSynced, ApiError: as `find`.
        """
        wanted = [] if owner is None else [Wanted(OWNER_INDEX, controller_uids, owner)]
        wanted += [by_index(kind, each, value) for each, value in (index or {}).items()]
        if (client := self._live(kind)) is not None:
            return await _list_live(client, kind, namespace, labels, fields, wanted)
        query = Query(namespace, labels, fields, wanted)
        informer = await self._informer(kind)
        await self._wait_late(informer, query.namespace)
        return self._decoded.of(kind, held_of(informer, query))

    def keys(self, kind: type[T], index: Index[T], value: str, *, namespace: str | None = None) -> Sequence[Key]:
        """The names of the objects that an index has a value for. At once, so of kinds that are watched only.

        Raises:
            CacheNotSynced: the kind is not watched, or its first list has not come.
            OutsideCache: the cache was told not to hold that namespace.
        """
        informer = self._running(kind)
        if informer is None or not informer.has_synced:
            name = info_of(kind).resource_name
            raise CacheNotSynced(f"{name}: is not watched; let a controller watch it, or read it with `await ctx.list`")
        query = Query(namespace, wanted=[by_index(kind, index, value)])
        return [entry.key for entry in held_of(informer, query)]

    def cached(self, kind: type[Object], key: Key) -> bytes | None:
        """The JSON of an object, without managedFields; None when it is absent or the kind is not watched."""
        entry = self.entry(kind, key)
        return None if entry is None else entry.data

    def entry(self, kind: type[Object], key: Key) -> Entry | None:
        """As `cached`, with what tells the state of the object without decoding it."""
        informer = self._running(kind)
        return None if informer is None else informer.written.newest(key)

    def raw(self, kind: type[Object], key: Key) -> bytes | None:
        """As `cached`; of an object whose last state cannot be read that state, as it came."""
        informer = self._running(kind)
        unreadable = informer.unreadable.get(key) if informer is not None else None
        return unreadable.data if unreadable is not None else self.cached(kind, key)

    def watches(self, kind: type[Object], key: Key | None = None) -> bool:
        """Whether a kind is watched (and there where `key` is), so that what `cached` does not know of is not there."""
        informer = self._running(kind)
        if informer is None or not informer.has_synced:
            return False
        if key is None:
            return True
        scope = informer.scope_of(key.namespace)
        if scope is None or scope.labels or scope.shuts_out(key.namespace, key.name):
            return False
        return not scope.fields and informer.has_synced_in(key.namespace)

    async def _wait_late(self, informer: Informer, namespace: str | None) -> None:
        """Wait for a part of the cache that was added while the kind was watched already."""
        if not informer.has_synced_in(namespace) and (namespace is None or informer.scope_of(namespace) is not None):
            await informer.wait_synced(_LATE_SECONDS, namespace=namespace)

    # -- writes ----------------------------------------------------------------------------------------------------

    def wrote(self, obj: Object) -> None:
        """Tell what the server answered to a write of `obj`."""
        if self._running(type(obj)) is not None and obj.metadata.resource_version.isdecimal():
            self.wrote_entry(type(obj), entry_of(origin_of(obj) or encode(obj)))

    def wrote_entry(self, kind: type[Object], answer: Entry) -> None:
        """As `wrote`, of an answer that nobody has decoded."""
        informer, version = self._running(kind), answer.resource_version
        if informer is None or not version.isdecimal():
            return
        gone = _is_gone(answer.data)
        # A released object's version is the one before the deletion: it may have been observed already.
        if not gone and _is_past(informer, answer.key, int(version)):
            informer.written.note_version(version)
        else:
            informer.wrote(answer, gone=gone)

    def deleted(self, obj: Object) -> None:
        """Tell that the server has removed the object with the uid of `obj`, a state of it."""
        version = obj.metadata.resource_version
        informer = self._running(type(obj))
        if informer is not None and obj.metadata.uid and informer.scope_of(obj.metadata.namespace) is not None:
            number = int(version) if version.isdecimal() else 0
            informer.written.put(key_of(obj), Written(obj.metadata.uid, number, None, gone=True))


def _is_past(informer: Informer, key: Key, version: int) -> bool:
    """Whether the watch is past an answer of that version, so that there is nothing to remember."""
    return informer.observed(key.namespace) >= version and not informer.written.was_missed(key, version)


async def _list_live(
    client: Client,
    kind: type[T],
    namespace: str | None,
    labels: str | Mapping[str, str] | None,
    fields: str | Mapping[str, str] | None,
    wanted: Sequence[Wanted],
) -> Sequence[T]:
    selector = FieldSelector.of(fields) if fields is not None else None
    found = await client.list(kind, namespace=namespace, labels=labels, fields=selector)
    if not wanted:
        return found.items
    entries = {each.metadata.uid: entry_of(origin_of(each) or encode(each)) for each in found.items}
    return [
        each for each in found.items if all(want.value in want.function(entries[each.metadata.uid]) for want in wanted)
    ]
