"""Which changes of an object are no news: the echoes of what its own controller has written.

A reconcile that writes the status of its object is told of that change by the watch, as everybody is. It knows already,
and a reconcile for it would do nothing. Go operators leave it out with a GenerationChangedPredicate, which also leaves
out what others change in the status, labels and annotations. Here it is exact: a pass *accounts for* a version of its
object when

    it began with that version, and stored its finalizer to get it; or
    it began with the version before, and wrote nothing but the status into it, which came back as written.

The server refuses a write whose object is not the version that it was made for, so that nothing of anybody else is
between the two. All versions up to that one are accounted for; everything later, and all of another uid, is news.

The watch may show a version before the write is answered. Then the key waits already for one more pass, and that one is
left out when it begins if nothing else has asked for it.

Owns these versions, one per object for as long as its echo is under way. Pure; refuses to know how they are written.
Versions compare as decimal numbers (KEP-5504); what is none is always news.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

__all__ = ["Echoes"]


class _Version(NamedTuple):
    uid: str
    number: int


class Echoes:
    """The versions that passes of one controller have accounted for.

    Guarantees: G1 a change by anybody else is never taken for an echo. G2 nothing is kept of an object whose echo has
    come, or that is gone.
    """

    __slots__ = ("_early", "_running", "_under_way")

    def __init__(self) -> None:
        self._under_way: dict[Hashable, _Version] = {}
        self._running: dict[Hashable, int] = {}  # the highest version that the watch has shown during the pass
        self._early: dict[Hashable, _Version] = {}

    def __len__(self) -> int:
        return len(self._under_way) + len(self._early)

    def begin(self, key: Hashable, uid: str, version: str) -> bool:
        """A pass of `key` begins, with this version. Whether it was accounted for, and waits only for its answer.

        If nothing but changes of the object itself has asked for the pass, there is nothing to do.
        """
        self._running[key] = 0
        if not self._early:
            return False
        known = self._early.pop(key, None)
        return known is not None and known.uid == uid and version.isdecimal() and int(version) <= known.number

    def end(self, key: Hashable) -> None:
        """The pass has ended."""
        del self._running[key]

    def account(self, key: Hashable, uid: str, version: str) -> None:
        """The pass that runs accounts for this version, as the answer to its write says."""
        if not version.isdecimal():
            return
        known = _Version(uid, int(version))
        if self._running.get(key, 0) >= known.number:
            self._early[key] = known
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
        self._early.pop(key, None)
