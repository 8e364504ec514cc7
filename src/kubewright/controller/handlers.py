"""Which keys a change of an object adds to the queue, and why: a controller's own kind, and what it owns.

What was there at the start, and what a resync tells again, comes with a low priority, as controller-runtime's
LowPriorityWhenUnchanged, so that neither delays what people change meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from kubewright.cache import Added, Deleted, Delta, Handler, Updated
from kubewright.cache.entry import Entry, owners_of
from kubewright.model import GroupKind, Key

from .cause import INITIAL, Cause
from .echoes import Echoes

__all__ = ["LOW_PRIORITY", "Add", "cause_of", "is_low", "owner_handler", "self_handler"]

LOW_PRIORITY: Final = -100
"""Of what is reconciled though nothing has happened: objects present at the start, and timers."""

_ADDED, _UPDATED, _DELETED, _RESYNC = Cause("added"), Cause("updated"), Cause("deleted"), Cause("resync")


class Add(Protocol):
    """What adds a key to the queue."""

    def __call__(self, key: Key, cause: Cause, priority: int = 0, /) -> None: ...


def self_handler(add: Add, echoes: Echoes | None = None, *, keeps_states: Callable[[], bool] = bool) -> Handler:
    """Adds the key of the object itself, unless the change is an echo of what its own controller wrote.

    Args:
        keeps_states: whether causes may keep what an object was before and after; they cost memory while they wait.
    """

    def handle(delta: Delta) -> None:
        key = delta.key
        if isinstance(delta, Updated):
            entry = delta.entry
            if echoes is not None and echoes.covers(key, entry.uid, entry.resource_version):
                return
            if entry.resource_version == delta.old.resource_version:
                add(key, _RESYNC, LOW_PRIORITY)
            else:
                add(key, Cause("updated", old=delta.old, new=entry) if keeps_states() else _UPDATED)
        elif isinstance(delta, Added):
            if delta.initial:
                add(key, INITIAL, LOW_PRIORITY)
            else:
                add(key, _ADDED)
        else:
            if echoes is not None:
                echoes.forget(key)
            add(key, _DELETED)

    return handle


def is_low(delta: Delta) -> bool:
    """Whether nothing has happened: the object was there at the start, or is told again (a resync)."""
    if isinstance(delta, Updated):
        return delta.old.resource_version == delta.entry.resource_version
    return isinstance(delta, Added) and delta.initial


def cause_of(kind_name: str, delta: Delta, *, keeps_states: bool) -> Cause:
    """Why a change of another object wakes a reconcile."""
    entry = delta.entry
    if isinstance(delta, Updated):
        if keeps_states:
            return Cause("updated", kind_name, entry.namespace, entry.name, delta.old, entry)
        return Cause("updated", kind_name, entry.namespace, entry.name)
    event = "deleted" if isinstance(delta, Deleted) else INITIAL.event if delta.initial else "added"
    return Cause(event, kind_name, entry.namespace, entry.name)


def owner_handler(
    kind_name: str,
    owner: GroupKind,
    owner_namespaced: bool,
    add: Add,
    *,
    any_owner: bool = False,
    keeps_states: Callable[[], bool] = bool,
) -> Handler:
    """Adds the key of the controller owner, before and after the change: a child that is orphaned wakes its old owner.

    Owners are matched by group and kind, whatever the version, and looked for in the child's namespace unless they are
    cluster-scoped (controller-runtime's `EnqueueRequestForOwner` with `OnlyControllerOwner`; without it, `any_owner`).
    """

    def keys(entry: Entry) -> list[Key]:
        return [
            Key(entry.namespace if owner_namespaced else "", reference.name)
            for reference in owners_of(entry.data)
            if (any_owner or reference.controller)
            and reference.kind == owner.kind
            and reference.api_version.rpartition("/")[0] == owner.group
        ]

    def handle(delta: Delta) -> None:
        found = keys(delta.entry)
        if isinstance(delta, Updated):
            found += [key for key in keys(delta.old) if key not in found]
        if not found:
            return
        cause = cause_of(kind_name, delta, keeps_states=keeps_states())
        priority = LOW_PRIORITY if is_low(delta) else 0
        for key in found:
            add(key, cause, priority)

    return handle
