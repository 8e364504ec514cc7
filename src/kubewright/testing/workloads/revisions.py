"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had.

Those of a StatefulSet are named by their data, those of a DaemonSet by the template, as ReplicaSets are.

Rules: `kubernetes/pkg/controller/history`, `.../statefulset/stateful_set_utils.go`, `.../daemon/update.go`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from kubewright.client import AlreadyExists

from .api import Api
from .hashing import revision_hash, template_hash
from .kinds import DAEMON_SETS, REVISIONS, Kind, Obj
from .owners import claim, controller_ref

__all__ = ["HASH", "History", "claimed", "forget_old", "history_of", "revision_label", "template_of"]

HASH: Final = "controller-revision-hash"
_COLLISIONS: Final = "collisionCount"
_NAMED_BY: Final = "controller.kubernetes.io/hash"


class History(NamedTuple):
    """The revisions of an owner, in order; the one of its template; how many collisions of names there were."""

    revisions: list[Obj]
    update: Obj
    collisions: int


def revision_label(obj: Obj) -> str:
    """Which revision a Pod is of."""
    return str((obj["metadata"].get("labels") or {}).get(HASH, ""))


def template_of(revision: Obj) -> Obj:
    """The template that a revision keeps."""
    kept = revision["data"]["spec"]["template"]
    return {name: value for name, value in kept.items() if name != "$patch"}


def _data(owner: Obj) -> dict[str, Any]:
    return {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}


async def claimed(api: Api, kind: Kind, owner: Obj) -> list[Obj]:
    """The revisions that are the owner's, in their order."""
    found = await claim(api, kind, owner, REVISIONS)
    return sorted(
        found, key=lambda each: (each["revision"], each["metadata"]["creationTimestamp"], each["metadata"]["name"])
    )


async def history_of(api: Api, kind: Kind, owner: Obj) -> History:
    """The history, with a revision for the template of now: made, or moved to its end, where it has to be."""
    revisions = await claimed(api, kind, owner)
    collisions = int((owner.get("status") or {}).get("collisionCount") or 0)
    data = _data(owner)
    number = max((each["revision"] for each in revisions), default=0) + 1
    equal = [each for each in revisions if each["data"] == data]
    if equal and equal[-1] is revisions[-1]:
        return History(revisions, equal[-1], collisions)
    if equal:
        moved = await api.update(REVISIONS, {**equal[-1], "revision": number})
        rest = [each for each in revisions if each is not equal[-1]]
        return History([*rest, moved], moved, collisions)
    made, collisions = await _create(api, kind, owner, data, number, collisions)
    return History([*revisions, made], made, collisions)


async def _create(
    api: Api, kind: Kind, owner: Obj, data: dict[str, Any], number: int, collisions: int
) -> tuple[Obj, int]:
    meta = owner["metadata"]
    labels = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    annotations = meta.get("annotations") or {}
    of_daemons = kind == DAEMON_SETS
    while True:
        if of_daemons:
            hashed = template_hash(
                owner["spec"]["template"], collisions or (owner.get("status") or {}).get(_COLLISIONS)
            )
        else:
            hashed = revision_hash(data, collisions)
        made: Obj = {
            "metadata": {
                "name": f"{meta['name'][:223]}-{hashed}",
                "namespace": meta["namespace"],
                "labels": {**labels, HASH if of_daemons else _NAMED_BY: hashed},
                "ownerReferences": [controller_ref(kind, owner)],
            },
            "data": data,
            "revision": number,
        }
        if annotations:
            made["metadata"]["annotations"] = annotations
        try:
            return await api.create(REVISIONS, made), collisions
        except AlreadyExists:
            found = await api.read(REVISIONS, meta["namespace"], made["metadata"]["name"])
            if found is not None and found["data"] == data:
                return found, collisions
            collisions += 1


async def forget_old(api: Api, owner: Obj, revisions: list[Obj], live: Collection[str]) -> None:
    """Delete what is more than `revisionHistoryLimit` of the revisions whose names are not live."""
    old = [each for each in revisions if each["metadata"]["name"] not in live]
    limit = owner["spec"].get("revisionHistoryLimit", 10)
    for each in old[: max(len(old) - limit, 0)]:
        await api.delete(REVISIONS, each)
