"""Who owns the replicas, seen from the object and from its Scale.

A Scale is never stored, so what it knows of owners is made from those of the object, and what a write of it makes of
them goes back there. `Replicas` says in which field the number is, for each version of the kind.

| | |
|---|---|
| to the Scale | who owns the field of the replicas owns `spec.replicas` of `autoscaling/v1`; all others own nothing |
| from the Scale | who owns `spec.replicas` no more loses the field; who owns it now gets it, in the request's version |

An applier is the same manager in both. Who updates is not, as its version is a part of its name: after any write
through the Scale its replicas are an entry of their own, without a time. That is the real server's, and clients see it.

Rule: `apimachinery/pkg/util/managedfields/scalehandler.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .entries import APPLY, Entries, ManagerId, Owned, sorted_entries
from .paths import FieldPath

__all__ = ["Replicas", "from_scale", "to_scale"]

Replicas = Mapping[str, FieldPath | None]
"""The path of the replicas by version of the kind; None for a version without a scale."""

_SCALE: Final = "autoscaling/v1"
_IN_SCALE: Final[FieldPath] = ("f:spec", "f:replicas")


def to_scale(managed: Sequence[Any] | None, replicas: Replicas) -> list[dict[str, Any]]:
    """The managed fields of the Scale of an object."""
    found = Entries.read(managed, is_checked=True) or Entries()
    made = []
    for who, owned in found.owned.items():
        path = replicas.get(owned.api_version)
        if path is not None and path in owned.paths:
            made.append(Owned(_SCALE, owned.time, frozenset({_IN_SCALE})).entry(who))
    return sorted_entries(made)


def from_scale(
    managed: Sequence[Any] | None, in_scale: Sequence[Any] | None, api_version: str, replicas: Replicas, *, custom: bool
) -> list[dict[str, Any]]:
    """The managed fields of an object whose Scale has been written.

    Args:
        managed: of the object before.
        in_scale: of the Scale now.
        api_version: of the object in the request.
        custom: whether the kind is a custom one.
    """
    before = (Entries.read(managed, is_checked=True) or Entries()).owned
    now = (Entries.read(in_scale, is_checked=True) or Entries()).owned
    made: list[dict[str, Any]] = []
    kept: set[ManagerId] = set()
    for who, owned in before.items():
        if owned.api_version not in replicas:
            continue
        path = replicas[owned.api_version]
        if path is None or path not in owned.paths or who in now:
            made.append(owned.entry(who, is_custom=custom))
            kept.add(who)
        elif left := owned.paths - {path}:
            made.append(owned.with_paths(left).entry(who, is_custom=custom))
    mine = replicas[api_version]
    assert mine is not None
    for who, owned in now.items():
        if who not in kept and _IN_SCALE in owned.paths:
            time = before[who].time if who in before else ""
            paths = frozenset({mine})
            as_here = who if who.operation == APPLY else who._replace(api_version=api_version)
            made.append(Owned(api_version, time, paths).entry(as_here, is_custom=custom))
    return sorted_entries(made)
