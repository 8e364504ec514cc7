"""What a change of a CRD is: which rule it is under, whom it breaks, and how.

A change breaks when something that worked stops working or starts to mean something else: a manifest that is refused, a
field that disappears, a stored object whose meaning changes on read, a client that asks for what is gone, an applier
whose items are merged in another way. Whatever only allows more is told as a change that breaks nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

__all__ = ["APPLIERS", "CLIENTS", "DiffReport", "READERS", "STORED", "WRITERS", "Change"]

WRITERS = "who creates or changes objects"
READERS = "who reads objects with types or assumptions of the old schema"
STORED = "objects that are stored already"
CLIENTS = "clients, controllers and scripts"
APPLIERS = "who applies objects (server-side apply, kubectl apply, GitOps)"


class Change(msgspec.Struct, frozen=True):
    """One difference between two CRDs.

    `rule` names the kind of change, such as `maximum-lowered`; `path` is a field (`.spec.size`, items as `[]`, values
    of a map as `{}`), empty for the CRD or version itself. `old` and `new` are what the document says, None where it
    says nothing.
    """

    crd: str
    rule: str
    what: str
    is_breaking: bool
    who: str = ""
    how: str = ""
    version: str = ""
    path: str = ""
    old: Any = None
    new: Any = None

    def __str__(self) -> str:
        where = " ".join(each for each in (self.crd, self.version, self.path) if each)
        mark = "BREAKS" if self.is_breaking else "ok"
        said = f"{mark}: {where}: {self.what}"
        if self.who:
            said += f"; {self.who}: {self.how}"
        return f"{said} [{self.rule}]"


class DiffReport(msgspec.Struct, frozen=True):
    """All changes, breaking ones first."""

    changes: tuple[Change, ...]

    @classmethod
    def of(cls, changes: Iterable[Change]) -> DiffReport:
        """The report of changes, sorted: what breaks first, then as found."""
        return cls(tuple(sorted(changes, key=lambda change: not change.is_breaking)))

    @property
    def breaking(self) -> tuple[Change, ...]:
        """What breaks somebody."""
        return tuple(change for change in self.changes if change.is_breaking)

    @property
    def is_breaking(self) -> bool:
        """Whether anything breaks."""
        return bool(self.breaking)

    def lines(self) -> Iterator[str]:
        """The report as text."""
        yield from map(str, self.changes)
        count = len(self.breaking)
        if not self.changes:
            yield "no changes"
        else:
            yield f"{count} breaking, {len(self.changes) - count} other changes"

    def as_json(self) -> dict[str, Any]:
        """The report for programs."""
        return {"breaking": self.is_breaking, "changes": [_as_json(change) for change in self.changes]}


def _as_json(change: Change) -> dict[str, Any]:
    made: dict[str, Any] = {
        "crd": change.crd,
        "rule": change.rule,
        "breaking": change.is_breaking,
        "what": change.what,
    }
    for name in ("version", "path", "who", "how", "old", "new"):
        value = getattr(change, name)
        if value not in ("", None):
            made[name] = value
    return made
