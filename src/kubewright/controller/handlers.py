"""Which keys a change of an object adds to the queue, and why: a controller's own kind, and what it owns.

What was there at the start, and what a resync tells again, comes with a low priority, as controller-runtime's
LowPriorityWhenUnchanged, so that neither delays what people change meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, Protocol

from kubewright.cache import Added, Deleted, Delta, Handler, Updated
from kubewright.cache.entry import Entry, owners_of
from kubewright.model import GroupKind, Key
from kubewright.queue.state import MOST_CAUSES

from .cause import INITIAL, Cause
from .echoes import Echoes, Version

__all__ = ["LOW_PRIORITY", "Add", "are_echoes", "cause_of", "is_low", "owner_handler", "self_handler", "without_echoes"]

LOW_PRIORITY: Final = -100
"""Of what is reconciled though nothing has happened: objects present at the start, and timers."""

_ADDED, _UPDATED, _DELETED, _RESYNC = Cause("added"), Cause("updated"), Cause("deleted"), Cause("resync")


class Add(Protocol):
    """What adds a key to the queue."""

    def __call__(self, key: Key, cause: Cause, priority: int = 0, /) -> None: ...


def without_echoes(handler: Handler, echoes: Echoes, kind: str = "") -> Handler:
    """`handler`, not told of the echoes of what its own controller wrote.

    It has to stand before any predicate: an echo that is never seen is waited for. What is told though nothing has
    happened is told in any case: at the start somebody else may have been at work, and a resync is asked for.

    Args:
        kind: of children; empty for the controller's own.
    """

    covers = echoes.covers
    if kind:
        echoes.kinds.add(kind)

    def handle(delta: Delta) -> None:
        entry = delta.entry
        key = (kind, entry.namespace, entry.name) if kind else (entry.namespace, entry.name)
        if isinstance(delta, Deleted):
            echoes.forget(key)
        elif covers(key, entry.uid, entry.resource_version) and not is_low(delta):
            return
        handler(delta)

    return handle


def are_echoes(early: Mapping[Hashable, Version] | None, key: Key, now: Entry, causes: Sequence[Cause]) -> bool:
    """Whether nothing but echoes that came before their answers has asked for a pass.

    Args:
        early: those of the pass before.
        now: the object `key`, as the pass would begin with it.
    """
    if early is None or not causes or len(causes) == MOST_CAUSES:
        return False
    for cause in causes:
        state: Entry | None = now
        echo = early.get(key)
        if cause.kind:
            state, echo = cause.new, early.get((cause.kind, cause.namespace, cause.name))
        elif cause != _UPDATED:
            return False
        if state is None or echo is None or not echo.covers(state.uid, state.resource_version):
            return False
    return True


def self_handler(add: Add, *, keeps_states: Callable[[], bool] = bool) -> Handler:
    """Adds the key of the object itself.

    Args:
        keeps_states: whether causes may keep what an object was before and after; they cost memory while they wait.
    """

    def handle(delta: Delta) -> None:
        entry = delta.entry
        key = entry.key
        if isinstance(delta, Updated):
            old = delta.old
            if entry.resource_version == old.resource_version:
                add(key, _RESYNC, LOW_PRIORITY)
            else:
                add(key, Cause("updated", "", "", "", old, entry) if keeps_states() else _UPDATED)
        elif isinstance(delta, Added):
            if delta.initial:
                add(key, INITIAL, LOW_PRIORITY)
            else:
                add(key, _ADDED)
        else:
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
    return Cause(event, kind_name, entry.namespace, entry.name, None, entry if event == "added" else None)


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
