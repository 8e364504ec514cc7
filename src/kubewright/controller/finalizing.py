"""The finalizer contract: two facts of an object make four cases.

| | has our finalizer | has it not |
|---|---|---|
| **lives** | RECONCILE | ADD it first, so that it is stored before the first side effect, then reconcile |
| **is being deleted** | FINALIZE, and when that returns, remove it as the last write | LEAVE it: we are done with it |

A name that an earlier version of the program has set (`former`) holds back a deletion as well as the present one, and
nobody else will remove it. An object that is being deleted with one of those is finalized too, if there is anything to
finalize; else the name is removed (RELEASE). Otherwise the deletion of all objects that were made before an upgrade
would hang for ever. Objects that live keep it: nobody is in its way.

Both writes are merge patches under the resource version that the decision was made on: `metadata.finalizers` is
replaced whole, so two writers must not undo each other, and a stale cache must not bring back a finalizer that somebody
removed. A conflict means: look again.

Guarantees: G1 no reconcile of an object before its finalizer is stored. G2 the finalizer is removed only after
finalize returned. G3 finalizers of others are never touched.
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from typing import Any

from kubewright.model import Object

__all__ = ["Step", "add_patch", "next_step", "remove_patch"]


class Step(enum.Enum):
    RECONCILE = enum.auto()
    ADD = enum.auto()
    FINALIZE = enum.auto()
    RELEASE = enum.auto()
    LEAVE = enum.auto()


def next_step(obj: Object, finalizer: str | None, former: Collection[str] = ()) -> Step:
    """Which of the cases `obj` is in. Without a `finalizer` there is nothing to finalize.

    Args:
        former: names that were used before.
    """
    held = obj.metadata.finalizers
    if obj.metadata.deletion_timestamp is not None:
        if finalizer is not None and (finalizer in held or any(name in held for name in former)):
            return Step.FINALIZE
        return Step.RELEASE if any(name in held for name in former) else Step.LEAVE
    return Step.RECONCILE if finalizer is None or finalizer in held else Step.ADD


def add_patch(obj: Object, finalizer: str) -> dict[str, Any]:
    """The merge patch that appends `finalizer` to those of `obj`."""
    return _finalizers(obj, [*obj.metadata.finalizers, finalizer])


def remove_patch(obj: Object, *finalizers: str) -> dict[str, Any]:
    """The merge patch that removes `finalizers` from those of `obj`."""
    return _finalizers(obj, [name for name in obj.metadata.finalizers if name not in finalizers])


def _finalizers(obj: Object, names: list[str]) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": obj.metadata.resource_version, "finalizers": names or None}}
