"""Typed reads from the cache that see our own writes.

A watch is behind: for some milliseconds after a write the cache still shows what was there before, and an operator that
believes it does its work twice. A `Reader` is told the answer to each write and puts it over the cache until the cache
has reached that version. A read then is answered at once, and never from before one's own writes.

    read = the newer of (what the watch showed, what our last write was answered with)

What is put over the cache is dropped once the informer has observed its version, whatever became of the object then. A
deletion has no version of its own. The watch has shown it when it has reached the last version that the object is known
to have had, and shows the object (by uid) no more.

Answers may come in another order than the writes were carried out in: of two for an object the higher version stands,
and nothing stands against its deletion.

Guarantees: R1 after a write through this Reader's operator, a read of that object shows that write or something newer.
R2 what is read is a fresh object; changing it changes nothing here. R3 lists are taken at one moment.
Caveats: writes of other processes are seen when the watch shows them. Versions that are not decimal numbers (not those
of a kube-apiserver, see KEP-5504) cannot be compared; then reads come from the watch alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from kubewright.model import GroupVersionKind, Key, Object, decode, encode, info_of, key_of, origin_of
from kubewright.model.selector import Selector

from .entry import Entry, labels_of, owners_of
from .frame import entry_of
from .informer import Informer
from .listwatch import ListWatchError

__all__ = ["OWNER_INDEX", "CacheNotSynced", "Reader", "controller_uids"]

T = TypeVar("T", bound=Object)

OWNER_INDEX = "controller-uid"
_SWEEP_AT = 256


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


def is_gone(obj: Object) -> bool:
    """Whether the answer to a write shows an object's last state: nothing holds it back any more.

    What still has finalizers, or a grace period to run (a Pod), is there until the watch says otherwise.
    """
    meta = obj.metadata
    return meta.deletion_timestamp is not None and not meta.finalizers and not meta.deletion_grace_period_seconds


class _Written(msgspec.Struct, frozen=True):
    """An answer; `entry` is None for a deletion, and `version` then the last one that the object is known to have had.

    For the objects of one kind, kept until the watch has caught up.
    """

    uid: str
    version: int
    entry: Entry | None


class Reader:
    """Reads of any number of kinds.

    Args:
        informer: gets the informer of a kind, starting it and waiting for its first list where needed. What it raises
            (CacheNotSynced), `find` and `list` raise.
        running: the informer of a kind if there is one.
    """

    def __init__(
        self,
        informer: Callable[[type[Object]], Awaitable[Informer]],
        running: Callable[[type[Object]], Informer | None],
    ) -> None:
        self._informer = informer
        self._running = running
        self._written: dict[GroupVersionKind, dict[Key, _Written]] = {}
        self._sweep_at = _SWEEP_AT

    async def find(self, kind: type[T], key: Key) -> T | None:
        """The object named `key`, or None. Starts to watch the kind where it is not watched yet."""
        entry = self._newest(await self._informer(kind), info_of(kind).gvk, key)
        return None if entry is None else decode(kind, entry.data)

    async def list(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        labels: str | Mapping[str, str] | None = None,
        owner: str | None = None,
    ) -> Sequence[T]:
        """Objects of a kind: of one namespace, with labels, with a controller owner (its uid); in no particular order.

        Raises:
            ValueError: `labels` is not a selector.
        """
        informer = await self._informer(kind)
        matches = None if labels is None else Selector.of(labels).matches
        if owner is None:
            found = informer.store.list(namespace, matches)
        else:
            informer.store.add_index(OWNER_INDEX, controller_uids)
            found = informer.store.by_index(OWNER_INDEX, owner, namespace)
            if matches is not None:
                found = [entry for entry in found if matches(labels_of(entry.data))]
        written = self._written.get(info_of(kind).gvk)
        if written:
            found = list(self._over(found, informer, info_of(kind).gvk, namespace, matches, owner))
        return [decode(kind, entry.data) for entry in found]

    def cached(self, kind: type[Object], key: Key) -> bytes | None:
        """The JSON of an object, without managedFields; None when it is absent or the kind is not watched."""
        informer = self._running(kind)
        if informer is None:
            return None
        entry = self._newest(informer, info_of(kind).gvk, key)
        return None if entry is None else entry.data

    def watches(self, kind: type[Object]) -> bool:
        """Whether a kind is watched, so that what `cached` does not know of is not there."""
        informer = self._running(kind)
        return informer is not None and informer.has_synced

    # -- writes ----------------------------------------------------------------------------------------------------

    def wrote(self, obj: Object) -> None:
        """Tell what the server answered to a write of `obj`."""
        version = obj.metadata.resource_version
        informer = self._running(type(obj))
        if informer is None or not version.isdecimal():
            return
        if is_gone(obj):
            # Its version is the one before the deletion: it may have been observed already.
            self._put(informer, obj, _Written(obj.metadata.uid, int(version), None))
        elif informer.observed_version < int(version):
            self._put(informer, obj, _Written(obj.metadata.uid, int(version), entry_of(origin_of(obj) or encode(obj))))

    def deleted(self, obj: Object) -> None:
        """Tell that the server has removed the object with the uid of `obj`, a state of it."""
        version = obj.metadata.resource_version
        informer = self._running(type(obj))
        if informer is not None and obj.metadata.uid:
            self._put(informer, obj, _Written(obj.metadata.uid, int(version) if version.isdecimal() else 0, None))

    def _put(self, informer: Informer, obj: Object, written: _Written) -> None:
        gvk, key = info_of(type(obj)).gvk, key_of(obj)
        of_kind = self._written.setdefault(gvk, {})
        known = of_kind.get(key)
        if known is not None and known.uid == written.uid and (known.entry is None or written.entry is None):
            written = _Written(written.uid, max(known.version, written.version), None)
        elif known is not None and known.version > written.version:
            return
        if not _holds(written, informer.store.get(key), informer.observed_version):
            of_kind.pop(key, None)
            return
        of_kind[key] = written
        if len(of_kind) >= self._sweep_at:
            for each in list(of_kind):
                self._newest(informer, gvk, each)
            self._sweep_at = max(_SWEEP_AT, 2 * len(of_kind))

    # -- one over the other ----------------------------------------------------------------------------------------

    def _newest(self, informer: Informer, gvk: GroupVersionKind, key: Key) -> Entry | None:
        shown = informer.store.get(key)
        of_kind = self._written.get(gvk)
        written = of_kind.get(key) if of_kind else None
        if written is None:
            return shown
        if _holds(written, shown, informer.observed_version):
            return written.entry
        assert of_kind is not None
        del of_kind[key]
        return shown

    def _over(
        self,
        shown: Sequence[Entry],
        informer: Informer,
        gvk: GroupVersionKind,
        namespace: str | None,
        matches: Callable[[Mapping[str, str]], bool] | None,
        owner: str | None,
    ) -> Iterator[Entry]:
        written = {key: entry for key in list(self._written[gvk]) for entry in (self._newest(informer, gvk, key),)}
        for entry in shown:
            if entry.key not in written:
                yield entry
        for key, newest in written.items():
            if newest is None or (namespace is not None and key.namespace != namespace):
                continue
            if matches is not None and not matches(labels_of(newest.data)):
                continue
            if owner is not None and owner not in controller_uids(newest):
                continue
            yield newest


def _holds(written: _Written, shown: Entry | None, observed: int) -> bool:
    """Whether `written` is newer than what the watch shows."""
    if written.entry is None:
        return observed < written.version or (shown is not None and shown.uid == written.uid)
    return observed < written.version
