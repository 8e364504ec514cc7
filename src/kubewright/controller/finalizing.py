"""The finalizer contract: two facts of an object make four cases.

| | has our finalizer | has it not |
|---|---|---|
| **lives** | RECONCILE | ADD it first, so that it is stored before the first side effect, then reconcile |
| **is being deleted** | FINALIZE, and when that returns, remove it as the last write | LEAVE it: we are done with it |

Both writes are merge patches under the resource version that the decision was made on: `metadata.finalizers` is
replaced whole, so two writers must not undo each other, and a stale cache must not bring back a finalizer that somebody
removed. A conflict means: look again.

Guarantees: G1 no reconcile of an object before its finalizer is stored. G2 the finalizer is removed only after
finalize returned. G3 finalizers of others are never touched.
"""

from __future__ import annotations

import enum
from typing import Any

from kubewright.model import Object

__all__ = ["Step", "add_patch", "next_step", "remove_patch"]


class Step(enum.Enum):
    RECONCILE = enum.auto()
    ADD = enum.auto()
    FINALIZE = enum.auto()
    LEAVE = enum.auto()


def next_step(obj: Object, finalizer: str | None) -> Step:
    """Which of the four cases `obj` is in. Without a `finalizer` there is nothing to do for one being deleted."""
    deleting = obj.metadata.deletion_timestamp is not None
    if finalizer is None:
        return Step.LEAVE if deleting else Step.RECONCILE
    has = finalizer in obj.metadata.finalizers
    if deleting:
        return Step.FINALIZE if has else Step.LEAVE
    return Step.RECONCILE if has else Step.ADD


def add_patch(obj: Object, finalizer: str) -> dict[str, Any]:
    """The merge patch that appends `finalizer` to those of `obj`."""
    return _finalizers(obj, [*obj.metadata.finalizers, finalizer])


def remove_patch(obj: Object, finalizer: str) -> dict[str, Any]:
    """The merge patch that removes `finalizer` from those of `obj`."""
    return _finalizers(obj, [name for name in obj.metadata.finalizers if name != finalizer])


def _finalizers(obj: Object, names: list[str]) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": obj.metadata.resource_version, "finalizers": names or None}}
