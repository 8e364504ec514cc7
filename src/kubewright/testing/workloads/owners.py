"""Who controls what: references to controllers, and the taking and letting go of objects by their labels.

Rules: `kubernetes/pkg/controller/controller_ref_manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec
import orjson

from kubewright.client import Invalid, NotFound
from kubewright.model.selector import LabelSelector, Selector

from .api import Api
from .kinds import REPLICATION_CONTROLLERS, Kind, Obj, Ref, ref_of
from .view import View

__all__ = [
    "claim",
    "concerned",
    "controller_of",
    "controller_ref",
    "labels_of",
    "owner_ref_of",
    "selector_of",
]


def controller_ref(kind: Kind, owner: Obj) -> dict[str, Any]:
    """A reference that makes `owner` the controller of who has it."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Obj) -> dict[str, Any] | None:
    """The reference to an object's controller."""
    for each in obj["metadata"].get("ownerReferences") or ():
        if each.get("controller"):
            found: dict[str, Any] = each
            return found
    return None


def owner_ref_of(obj: Obj | None, kind: Kind) -> Ref | None:
    """The object's controller, if it is of this kind."""
    found = controller_of(obj) if obj is not None else None
    if obj is None or found is None or found["kind"] != kind.kind:
        return None
    if found["apiVersion"].rpartition("/")[0] != kind.group:
        return None
    return Ref(obj["metadata"].get("namespace", "") if kind.namespaced else "", found["name"])


def labels_of(obj: Obj) -> dict[str, str]:
    found: dict[str, str] = obj["metadata"].get("labels") or {}
    return found


@lru_cache(maxsize=1024)
def _selector(text: bytes) -> Selector:
    return Selector.of(msgspec.json.decode(text, type=LabelSelector))


def selector_of(selector: dict[str, Any] | None) -> Selector:
    """A label selector of an object (`spec.selector`); None selects nothing."""
    return Selector.nothing() if selector is None else _selector(orjson.dumps(selector))


def _selector_for(kind: Kind, owner: Obj) -> Selector:
    """By which an owner selects what it controls; a ReplicationController has labels there."""
    selector = owner["spec"].get("selector")
    if kind == REPLICATION_CONTROLLERS:
        selector = {"matchLabels": selector} if selector else None
    return selector_of(selector)


def concerned(view: View, kind: Kind, old: Obj | None, new: Obj | None) -> Iterator[Ref]:
    """The owners of a kind that a change of what they control is for: its controllers, before and after; and those
    that may take it, where it has none."""
    for each in (old, new):
        if (owner := owner_ref_of(each, kind)) is not None:
            yield owner
    if new is not None and controller_of(new) is None and labels_of(new):
        for each in view.within(kind, new["metadata"]["namespace"]):
            if _selector_for(kind, each).matches(labels_of(new)):
                yield ref_of(each)


async def claim(api: Api, owner_kind: Kind, owner: Obj, kind: Kind, *, finalizer: str = "") -> list[Obj]:
    """The objects of a kind that `owner` controls: those that its selector does not match any more are let go, and
    those that it matches and nobody controls are taken.

    Raises ApiError.
    """
    uid, namespace = owner["metadata"]["uid"], owner["metadata"]["namespace"]
    selector = _selector_for(owner_kind, owner)
    is_going = bool(owner["metadata"].get("deletionTimestamp"))
    claimed = []
    for each in api.view.owned(kind, uid):
        if selector.matches(labels_of(each)):
            claimed.append(each)
        elif not is_going:
            await _release(api, uid, kind, each, finalizer)
    if is_going:
        return claimed
    for each in api.view.orphans(kind, namespace):
        if not each["metadata"].get("deletionTimestamp") and selector.matches(labels_of(each)):
            fresh = await api.read(owner_kind, namespace, owner["metadata"]["name"])
            if fresh is None or fresh["metadata"]["uid"] != uid or fresh["metadata"].get("deletionTimestamp"):
                return claimed
            references = [*(each["metadata"].get("ownerReferences") or ()), controller_ref(owner_kind, owner)]
            change: Obj = {"ownerReferences": references}
            if finalizer:
                change["finalizers"] = [*(each["metadata"].get("finalizers") or ()), finalizer]
            try:
                claimed.append(await api.patch(kind, each, {"metadata": change}))
            except NotFound:
                continue
    return sorted(claimed, key=lambda one: str(one["metadata"]["name"]))


async def _release(api: Api, uid: str, kind: Kind, obj: Obj, finalizer: str) -> None:
    left = [each for each in obj["metadata"].get("ownerReferences") or () if each["uid"] != uid]
    change: Obj = {"ownerReferences": left}
    if finalizer:
        change["finalizers"] = [each for each in obj["metadata"].get("finalizers") or () if each != finalizer]
    try:
        await api.patch(kind, obj, {"metadata": change})
    except (NotFound, Invalid):
        pass
