"""Owner references and finalizers: what ties the life of one object to another (meta/v1 OwnerReference).

An owner is told by its UID alone. Group, kind and name say where it is, not which one it is: an owner that was deleted
and created again has them all in common with its predecessor, whose children the garbage collector is removing. Taking
such a child over by name (as controller-runtime does) races with that removal, so that it is an `AlreadyOwned` error
here: try again, and the child is gone.

| rule | because |
|---|---|
| at most one owner is the controller | the server refuses a second one |
| a namespaced owner has children in its own namespace only | the collector would not find it and delete the child |
| a cluster-scoped child has no namespaced owner | the same |
| an owner has a UID before it owns | the reference is nothing without |

All functions change `metadata` in place and say whether they changed anything; none of them writes to a server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .gvk import Key, split_api_version
from .meta import OwnerReference
from .names import label_key_problem
from .resource import Object, info_of, key_of

__all__ = [
    "AlreadyOwned",
    "OwnerError",
    "add_finalizer",
    "controller_among",
    "controller_of",
    "has_finalizer",
    "is_controlled_by",
    "is_owned_by",
    "owner_reference",
    "remove_finalizer",
    "remove_owner",
    "set_controller",
    "set_owner",
]

_STANDARD_FINALIZERS: Final = ("orphan", "foregroundDeletion", "kubernetes")


class OwnerError(ValueError):
    """An object cannot own another."""


class AlreadyOwned(OwnerError):
    """The child has another controller.

    Attributes: `child` its key, `kind` its kind, `current` the reference to the controller it has, `wanted` the
    reference that was to be set.
    """

    def __init__(self, kind: str, child: Key, current: OwnerReference, wanted: OwnerReference) -> None:
        super().__init__(kind, child, current, wanted)
        self.kind, self.child, self.current, self.wanted = kind, child, current, wanted

    def __str__(self) -> str:
        has = f"{self.kind} {self.child} is already controlled by {self.current.kind} {self.current.name}"
        if _names(self.current) == _names(self.wanted):
            return (
                f"{has} with UID {self.current.uid}, an earlier one of the same name (this one has {self.wanted.uid}); "
                "the garbage collector removes the child: try again later"
            )
        return f"{has}, so that {self.wanted.kind} {self.wanted.name} cannot control it; give the child another name"


def _names(reference: OwnerReference) -> tuple[str, str, str]:
    return split_api_version(reference.api_version)[0], reference.kind, reference.name


def owner_reference(owner: Object, *, controller: bool = True, block_owner_deletion: bool = True) -> OwnerReference:
    """The reference to `owner` for a child's `owner_references`.

    Args:
        controller: the owner manages the child; False leaves the field out.
        block_owner_deletion: a foreground deletion of the owner waits for the child; False leaves the field out.

    Raises:
        OwnerError: the owner has no UID or no name yet.
        TypeError: the class of the owner has no kind.
    """
    info = info_of(type(owner))
    if not owner.metadata.uid or not owner.metadata.name:
        what = "UID" if owner.metadata.name else "name"
        raise OwnerError(
            f"{info.kind} {key_of(owner)}: has no {what} yet and cannot own; use the object that the server returned"
        )
    return OwnerReference(
        api_version=info.api_version,
        kind=info.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=True if controller else None,
        block_owner_deletion=True if block_owner_deletion else None,
    )


def set_controller(owner: Object, child: Object, *, block_owner_deletion: bool = True) -> bool:
    """Make `owner` the controller of `child`. Says whether the child changed.

    A reference to the same owner is completed in place; those to other owners stay.

    Raises:
        AlreadyOwned: the child has another controller.
        OwnerError: the rules of the module's table.
    """
    wanted = owner_reference(owner, block_owner_deletion=block_owner_deletion)
    _check_scope(owner, child)
    current = controller_of(child)
    if current is not None and current.uid != wanted.uid:
        raise AlreadyOwned(type(child).kind, key_of(child), current, wanted)
    return _put(child, wanted)


def set_owner(owner: Object, child: Object, *, block_owner_deletion: bool = False) -> bool:
    """Make `owner` one of the owners of `child`, which lives as long as any of them. Says whether the child changed.

    An owner that is the controller already stays so: owning is a part of controlling.

    Raises:
        OwnerError: the rules of the module's table.
    """
    wanted = owner_reference(owner, controller=False, block_owner_deletion=block_owner_deletion)
    _check_scope(owner, child)
    current = _reference(child, wanted.uid)
    if current is not None and current.controller:
        return False
    return _put(child, wanted)


def remove_owner(owner: Object, child: Object) -> bool:
    """Take the references to `owner` out of `child`. Says whether there was one."""
    uid = owner.metadata.uid
    kept = [each for each in child.metadata.owner_references if each.uid != uid]
    changed = len(kept) != len(child.metadata.owner_references)
    if changed:
        child.metadata.owner_references = kept
    return changed


def controller_of(child: Object) -> OwnerReference | None:
    """The reference to the owner that manages `child`: the entry itself, not a copy."""
    return controller_among(child.metadata.owner_references)


def controller_among(references: Iterable[OwnerReference]) -> OwnerReference | None:
    """As `controller_of`, of the references alone."""
    return next((each for each in references if each.controller), None)


def is_controlled_by(child: Object, owner: Object) -> bool:
    """Whether `owner` is the controller of `child`, by UID."""
    current = controller_of(child)
    return current is not None and bool(current.uid) and current.uid == owner.metadata.uid


def is_owned_by(child: Object, owner: Object) -> bool:
    """Whether `owner` is any of the owners of `child`, by UID."""
    return bool(owner.metadata.uid) and _reference(child, owner.metadata.uid) is not None


def _reference(child: Object, uid: str) -> OwnerReference | None:
    return next((each for each in child.metadata.owner_references if each.uid == uid), None)


def _put(child: Object, wanted: OwnerReference) -> bool:
    references = child.metadata.owner_references
    for place, each in enumerate(references):
        if each.uid == wanted.uid:
            if each == wanted:
                return False
            references[place] = wanted
            return True
    references.append(wanted)
    return True


def _check_scope(owner: Object, child: Object) -> None:
    owner_info, child_info = info_of(type(owner)), info_of(type(child))
    namespace = owner.metadata.namespace
    if not owner_info.namespaced or not namespace:
        return
    if child_info.namespaced and child.metadata.namespace == namespace:
        return
    who = f"{owner_info.kind} {key_of(owner)} cannot own {child_info.kind} {key_of(child)}"
    if not child_info.namespaced:
        raise OwnerError(f"{who}: the child is cluster-scoped, the owner is not; delete it in a finalizer instead")
    if not child.metadata.namespace:
        raise OwnerError(f"{who}: the child has no namespace; set metadata.namespace to {namespace!r}")
    raise OwnerError(
        f"{who}: owners and children share a namespace; put the child into {namespace!r}, "
        "or delete it in a finalizer instead"
    )


# -- finalizers -------------------------------------------------------------------------------------------------------


def has_finalizer(obj: Object, finalizer: str) -> bool:
    """Whether the deletion of `obj` waits for `finalizer`."""
    return finalizer in obj.metadata.finalizers


def add_finalizer(obj: Object, finalizer: str) -> bool:
    """Hold back the deletion of `obj` until `remove_finalizer`. Says whether the object changed.

    Write the change before the first effect outside of the cluster.

    Raises:
        ValueError: the name is not `dns.prefix/name`, or the object is being deleted and takes no new ones.
    """
    if has_finalizer(obj, finalizer):
        return False
    problem = label_key_problem(finalizer)
    if problem is None and "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
        problem = "has no domain; write it as example.com/name"
    if problem:
        raise ValueError(f"finalizer {finalizer!r}: {problem}")
    if obj.metadata.deletion_timestamp is not None:
        raise ValueError(
            f"finalizer {finalizer!r}: {type(obj).kind} {key_of(obj)} is being deleted and takes no new one; "
            "look at metadata.deletion_timestamp first"
        )
    obj.metadata.finalizers.append(finalizer)
    return True


def remove_finalizer(obj: Object, finalizer: str) -> bool:
    """No longer hold back the deletion. Says whether the object changed. Write it as the last thing."""
    if not has_finalizer(obj, finalizer):
        return False
    obj.metadata.finalizers = [each for each in obj.metadata.finalizers if each != finalizer]
    return True
