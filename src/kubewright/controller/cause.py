"""Why a reconcile happens: the causes that a request keeps through all deduplication.

A `Cause` says what happened to which object. Equal causes are one (`merged`): the state before the first of them and
the one after the last are kept, so that `changed` is the difference that the reconcile has to answer for. It is worked
out when somebody asks, from the two states as they came; until then a cause costs a small struct.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from kubewright.cache.entry import Entry

__all__ = ["INITIAL", "REQUEUE", "RETRY", "Cause", "merged"]

_members = msgspec.json.Decoder(dict[str, Raw]).decode
_value = msgspec.json.Decoder().decode
_IDLE = frozenset({"resourceVersion", "managedFields", "generation"})


class Cause(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Something that happened. Its text is for people: `added`, `updated Deployment web`, `requeue`.

    Attributes:
        event: `present at start`, `added`, `updated`, `deleted`, `resync` (told again); `requeue` (a reconcile returned
            `after`), `retry` (one failed); or the name of a source.
        kind: of the object that it happened to; empty for the reconciled object itself.
        namespace, name: of that object, for another one than the reconciled.
    """

    event: str
    kind: str = ""
    namespace: str = ""
    name: str = ""
    old: Entry | None = None
    new: Entry | None = None

    @property
    def changed(self) -> frozenset[str]:
        """Which parts of the object an update changed: `spec`, `status`, `data` and so on, and of its metadata
        `labels`, `annotations`, `finalizers`, `ownerReferences`, `deletionTimestamp`.

        Empty where that is not known: for all that is no update, and when many reconciles were waiting.
        """
        if self.old is None or self.new is None:
            return frozenset()
        before, after = _members(self.old.data), _members(self.new.data)
        meta = _differing(_members(before.pop("metadata")), _members(after.pop("metadata")))
        return _differing(before, after) | (meta - _IDLE)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cause) and (
            self.event == other.event
            and self.name == other.name
            and self.kind == other.kind
            and self.namespace == other.namespace
        )

    def __ne__(self, other: object) -> bool:
        return not self == other  # or it would be that of Struct, which compares by identity

    def __hash__(self) -> int:
        return hash((self.event, self.kind, self.namespace, self.name))

    def __str__(self) -> str:
        return f"{self.event} {self.kind} {self.name}" if self.kind else self.event

    def __repr__(self) -> str:
        return f"<{self}>"


INITIAL = Cause("present at start")
REQUEUE = Cause("requeue")
RETRY = Cause("retry")


def merged(earlier: Cause, later: Cause) -> Cause:
    """One cause for two that are equal. Where the later state was not kept, nothing is known of the difference."""
    if later.new is earlier.new:
        return earlier
    if later.new is None:
        return later
    return Cause(later.event, later.kind, later.namespace, later.name, earlier.old, later.new)


def _differing(before: dict[str, Raw], after: dict[str, Raw]) -> frozenset[str]:
    return frozenset(
        name
        for name in {**before, **after}
        if name not in before
        or name not in after
        or (bytes(before[name]) != bytes(after[name]) and _value(before[name]) != _value(after[name]))
    )
