"""Which changes are no news: the echoes of what a controller itself has written.

A reconcile that writes the status of its object, or a child, is told of that change by the watch, as everybody is. It
knows already, and a reconcile for it would do nothing. Go operators leave it out with a GenerationChangedPredicate,
which also leaves out what others change in the status, labels and annotations. Here it is exact: a pass *accounts for*
a version of an object when

    of its object    it began with that version, and stored its finalizer to get it; or it began with the version
                     before, and wrote nothing but the status into it, and the object came back with nothing else
                     changed: an admission may do more, and some kinds take metadata with their status
    of a child       it wrote it as its controller and was given that version in answer, and had not looked for objects
                     of that kind before, nor while it waited for the answer: then all that it can know of the child is
                     that version

The server refuses the write of a status whose object is not the version that it was made for: nothing of anybody
else is between the two. All versions up to the one that was accounted for are no news; everything later is, and
everything of another uid, and a deletion.

The watch may show a version before the write is answered. Then the key waits already for one more pass, and that one is
left out when it begins if nothing else has asked for it.

Owns these versions, one per object for as long as its echo is under way. Pure; refuses to know how they are written.
Versions compare as decimal numbers (KEP-5504); what is none is always news.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

__all__ = ["Echoes", "Version"]


class Version(NamedTuple):
    """A version of an object."""

    uid: str
    number: int

    def covers(self, uid: str, version: str) -> bool:
        """Whether a version is this one, or one before it."""
        return self.uid == uid and version.isdecimal() and int(version) <= self.number


class Echoes:
    """The versions that passes of one controller have accounted for. Keys name objects, or kinds and objects.

    Guarantees: G1 a change by anybody else is never taken for an echo. G2 nothing is kept of an object whose echo has
    come, or that is gone.

    Attributes: `early`, by the object that was reconciled, the echoes that came before their answers. They are of use
    to a pass that waits already; if none does, whoever knows that takes them out. `kinds`, of children whose events are
    asked about: of others no echo would ever come.
    """

    __slots__ = ("_running", "_under_way", "early", "kinds")

    def __init__(self) -> None:
        self._under_way: dict[Hashable, Version] = {}
        self._running: dict[Hashable, int] = {}  # the highest version that the watch has shown during the pass
        self.early: dict[Hashable, dict[Hashable, Version]] = {}
        self.kinds: set[str] = set()

    def __len__(self) -> int:
        return len(self._under_way) + len(self.early)

    def begin(self, key: Hashable) -> None:
        """From now on a version of this object may be accounted for."""
        self._running[key] = 0

    def end(self, key: Hashable) -> None:
        """No longer."""
        self._running.pop(key, None)

    def account(self, key: Hashable, uid: str, version: str, of: Hashable) -> None:
        """Between `begin` and `end`: this version is accounted for, as the answer to a write in a pass of `of` says."""
        if not version.isdecimal():
            return
        known = Version(uid, int(version))
        if self._running.get(key, 0) >= known.number:
            self.early.setdefault(of, {})[key] = known
        else:
            self._under_way[key] = known

    def covers(self, key: Hashable, uid: str, version: str) -> bool:
        """The watch shows this version. Whether that is no news."""
        running = self._running.get(key)
        known = self._under_way.get(key)
        if running is None and known is None:
            return False
        number = int(version) if version.isdecimal() else 0
        if running is not None:
            self._running[key] = number
        if known is None:
            return False
        if known.uid == uid and 0 < number < known.number:
            return True
        del self._under_way[key]
        return known == (uid, number)

    def forget(self, key: Hashable) -> None:
        """The object is gone."""
        self._under_way.pop(key, None)
