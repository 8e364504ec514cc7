"""Create-or-patch: for what cannot be said as a whole, as `ctx.apply` wants it, but only as a change of what is there.

The present state comes from the cache, one's own writes included; the change is sent as a merge patch of the fields
that differ, under the version that was looked at: a list, which a merge patch replaces whole, cannot undo what somebody
else put into it. Nothing differs: nothing is sent. The rules are those of controllerutil's CreateOrPatch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar

import orjson

from kubewright.client import MergePatch
from kubewright.model import Object, encode, info_of, key_of
from kubewright.model.owners import set_controller
from kubewright.model.patch import merge_diff

__all__ = ["Outcome", "changed", "mutated"]

T = TypeVar("T", bound=Object)

Outcome: TypeAlias = Literal["created", "patched", "unchanged"]


def mutated(obj: T, mutate: Callable[[T], object], owner: Object | None) -> T:
    """A copy of `obj` that `mutate` has changed, and that belongs to `owner`.

    Raises:
        ValueError: the copy is called otherwise, or was replaced by another.
        AlreadyOwned: it is the child of another object.
    """
    new = copy.deepcopy(obj)
    returned = mutate(new)
    if returned is not None and returned is not new:
        raise ValueError(f"create_or_patch: mutate returned {type(returned).__name__}; change the object in place")
    if key_of(new) != key_of(obj):
        raise ValueError(f"create_or_patch: mutate renamed {key_of(obj)} to {key_of(new)}; name and namespace stay")
    if owner is not None:
        set_controller(owner, new)
    return new


def changed(before: T, after: T) -> tuple[MergePatch | None, MergePatch | None]:
    """What to patch: the object and, where it is a subresource, its status; None where nothing differs."""
    change: dict[str, Any] = merge_diff(orjson.loads(encode(before)), orjson.loads(encode(after))) or {}
    status = change.pop("status", None) if info_of(type(before)).status else None
    version = before.metadata.resource_version or None
    return (
        MergePatch(change, resource_version=version) if change else None,
        MergePatch({"status": status}) if status is not None else None,
    )
