"""What our own writes to one kind were answered with, until the watch has caught up.

Pure: it decides what stands over the cache, and what the cache has missed. Who reads and who is told, others know.

    newest    a read is answered with the newer of what the watch showed and what our last write was answered with
    missed    after a list that ended a gap in the events: objects that we made, and that are in no event and not in the
              list. Without this nobody would hear that they are gone: a child that was made and removed while its watch
              had expired would never be made again
    is_echo   whether a state that the watch shows is one that a write of ours was answered with

What stands over the cache is dropped once the cache has observed its version, whatever became of the object then. A
deletion has no version of its own: the watch has shown it when it has reached the last version that the object is
known to have had, and shows the object (by uid) no more.

Answers may come in another order than the writes were carried out in: of two for an object the higher version stands,
and nothing stands against its deletion. They may come late, too, after the list that covers them: gaps are remembered
for as long as an answer may take.

Memory: one entry per write that the watch has not shown yet, 1,024 versions and keys, 16 gaps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from msgspec import Struct

from kubewright.model import Key

from .entry import Entry

__all__ = ["OwnWrites", "Written"]

T = TypeVar("T")

_SWEEP_AT = 256
_REMEMBERED = 1024
_GAPS = 16


class Written(Struct, frozen=True):
    """An answer. `version` of a deletion (`gone`) is the last one that the object is known to have had, 0 for unknown.

    `entry` is the last state known from an answer; None where only a deletion was answered.
    """

    uid: str
    version: int
    entry: Entry | None
    gone: bool = False


class _Gap(Struct, frozen=True):
    """Versions after the first up to the last were never in an event."""

    covers: Callable[[str], bool]
    after: int
    until: int


class OwnWrites:
    """The answers to writes of one kind.

    Args:
        shown: what the watch has shown of an object.
        observed: the version that the watch of a namespace has reached.
    """

    def __init__(self, shown: Callable[[Key], Entry | None], observed: Callable[[str], int]) -> None:
        self._shown = shown
        self._observed = observed
        self._written: dict[Key, Written] = {}
        self._sweep_at = _SWEEP_AT
        self._superseded: list[tuple[Key, Written]] = []
        self._thin_out_at = _SWEEP_AT
        self._gaps: deque[_Gap] = deque(maxlen=_GAPS)
        self._versions: dict[str, None] = {}
        self._outside: dict[Key, None] = {}

    def __len__(self) -> int:
        """How many answers are kept."""
        return len(self._written) + len(self._superseded)

    def __iter__(self) -> Iterator[Key]:
        """The keys that an answer may stand over."""
        return iter([*self._written])

    # -- answers ---------------------------------------------------------------------------------------------------

    def put(self, key: Key, written: Written) -> None:
        """One more answer."""
        self._outside.pop(key, None)
        known = self._written.get(key)
        if known is not None and known.uid == written.uid and (known.gone or written.gone):
            last = written if written.entry is not None and written.version >= known.version else known
            version = max(known.version, written.version)
            written = Written(written.uid, version, last.entry or written.entry, gone=True)
        elif known is not None and known.version > written.version:
            if known.uid != written.uid:
                self._supersede(key, written)
            return
        elif known is not None and known.uid != written.uid:
            self._supersede(key, known)
        if not self._holds(key, written):
            self._written.pop(key, None)
            return
        self._written[key] = written
        if len(self._written) >= self._sweep_at:
            for each in self:
                self.newest(each)
            self._sweep_at = max(_SWEEP_AT, 2 * len(self._written))

    def _supersede(self, key: Key, written: Written) -> None:
        """Keep the answer about an object whose name is another one's by now: the watch may never show that it was."""
        self._superseded.append((key, written))
        if len(self._superseded) >= self._thin_out_at:
            self._superseded = [(k, each) for k, each in self._superseded if self._observed(k.namespace) < each.version]
            self._thin_out_at = max(_SWEEP_AT, 2 * len(self._superseded))

    def put_outside(self, key: Key, uid: str, version: int) -> None:
        """As `put`, of a state that the cache does not select: it will never be shown, and is none that went."""
        self.put(key, Written(uid, version, None, gone=True))
        _remember(self._outside, key)

    def is_outside(self, key: Key) -> bool:
        """Whether the object exists for all that we know, but is not selected: the last we wrote was not."""
        return key in self._outside and self._shown(key) is None

    def note_version(self, resource_version: str) -> None:
        """The version of an answer, for `is_echo`."""
        _remember(self._versions, resource_version)

    def is_echo(self, entry: Entry) -> bool:
        """Whether a write of ours was answered with exactly this state. Versions are unique in a kind."""
        return entry.resource_version in self._versions

    # -- reads -----------------------------------------------------------------------------------------------------

    def newest(self, key: Key) -> Entry | None:
        """The newest state of an object; None when it is not there, or not any more."""
        written = self._written.get(key)
        if written is None:
            return self._shown(key)
        if self._holds(key, written):
            return None if written.gone else written.entry
        del self._written[key]
        return self._shown(key)

    def _holds(self, key: Key, written: Written) -> bool:
        """Whether it is newer than what the watch shows."""
        if self._observed(key.namespace) < written.version:
            return True
        shown = self._shown(key) if written.gone else None
        return shown is not None and shown.uid == written.uid

    # -- gaps ------------------------------------------------------------------------------------------------------

    def missed(
        self, listed: Mapping[Key, object], after: int, until: int, covers: Callable[[str], bool]
    ) -> list[Entry]:
        """What was ours, is in no event, and is not in a list at version `until` that follows the version `after`.

        In the order in which it was written. Call it before the list is taken in.

        Args:
            listed: what is there by the list: entries, or anything else for objects whose uid is unknown.
            covers: the namespaces that the list is of.
        """
        went_back = until < after  # a server that was restored from a backup: nothing written since is there
        if not went_back and after != until:
            self._gaps.append(_Gap(covers, after, until))
        found = []
        for key, written in [*self._superseded, *self._written.items()]:
            if not covers(key.namespace):
                continue
            if went_back:
                if written.version > until and self._written.get(key) is written:
                    del self._written[key]
            elif not after < written.version <= until:
                continue
            present = listed.get(key)
            is_there = present is not None and not (isinstance(present, Entry) and present.uid != written.uid)
            if written.entry is not None and not is_there and not self._is_shown(written.entry):
                found.append(written.entry)
        self._superseded = [
            (key, each)
            for key, each in self._superseded
            if not covers(key.namespace) or (each.version > until and not went_back)
        ]
        return sorted(found, key=lambda entry: int(entry.resource_version))

    def was_missed(self, key: Key, version: int) -> bool:
        """Whether an answer comes after the list that covers it, and the object is not there any more."""
        if self._shown(key) is not None:
            return False
        return any(gap.after < version <= gap.until and gap.covers(key.namespace) for gap in self._gaps)

    def _is_shown(self, entry: Entry) -> bool:
        """Whether the watch has shown that state of the object, or a later one."""
        shown = self._shown(entry.key)
        if shown is None or shown.uid != entry.uid:
            return False
        return not shown.resource_version.isdecimal() or int(shown.resource_version) >= int(entry.resource_version)

    def forget(self, covers: Callable[[str], bool]) -> None:
        """Drop what was written in namespaces that are watched no more."""
        for key in self:
            if covers(key.namespace):
                del self._written[key]
        self._superseded = [(key, each) for key, each in self._superseded if not covers(key.namespace)]


def _remember(known: dict[T, None], one: T) -> None:
    """Add one; the oldest goes when there are too many."""
    known[one] = None
    if len(known) > _REMEMBERED:
        del known[next(iter(known))]
