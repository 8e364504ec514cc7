"""The arithmetic of a Deployment's rollout: how many Pods each ReplicaSet is to have. Values in, values out.

Rules: `kubernetes/pkg/controller/deployment/util/deployment_util.go`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from kubewright.model.intorstring import resolve_percent

from .kinds import Obj

__all__ = [
    "DESIRED",
    "HISTORY",
    "MAXIMUM",
    "REVISION",
    "active",
    "annotation",
    "available_sum",
    "by_age",
    "is_complete",
    "is_rolling",
    "is_saturated",
    "max_surge",
    "max_unavailable",
    "new_replicas",
    "proportional_sizes",
    "replica_sum",
    "replicas_of",
    "revision_of",
    "set_annotations",
    "status_sum",
]

REVISION: Final = "deployment.kubernetes.io/revision"
HISTORY: Final = "deployment.kubernetes.io/revision-history"
DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
MAXIMUM: Final = "deployment.kubernetes.io/max-replicas"
_LONGEST_HISTORY: Final = 2000
_OWN: Final = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        REVISION,
        HISTORY,
        DESIRED,
        MAXIMUM,
        "deprecated.deployment.rollback.to",
    }
)


def annotation(obj: Obj, name: str) -> str:
    return str((obj["metadata"].get("annotations") or {}).get(name, ""))


def replicas_of(obj: Obj) -> int:
    return int(obj["spec"].get("replicas", 0))


def is_rolling(deployment: Obj) -> bool:
    return bool(deployment["spec"]["strategy"]["type"] == "RollingUpdate")


def _fenceposts(deployment: Obj) -> tuple[int, int]:
    rolling = deployment["spec"]["strategy"].get("rollingUpdate") or {}
    surge = resolve_percent(rolling.get("maxSurge", 0), replicas_of(deployment), round_up=True)
    unavailable = resolve_percent(rolling.get("maxUnavailable", 0), replicas_of(deployment), round_up=False)
    return (surge, unavailable) if surge or unavailable else (0, 1)


def max_surge(deployment: Obj) -> int:
    return _fenceposts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: Obj) -> int:
    replicas = replicas_of(deployment)
    return min(_fenceposts(deployment)[1], replicas) if is_rolling(deployment) and replicas else 0


def revision_of(obj: Obj) -> int:
    text = annotation(obj, REVISION)
    return int(text) if text.isdigit() else 0


def by_age(sets: Iterable[Obj]) -> list[Obj]:
    return sorted(sets, key=lambda each: (each["metadata"].get("creationTimestamp", ""), each["metadata"]["name"]))


def active(sets: Iterable[Obj]) -> list[Obj]:
    return [each for each in sets if replicas_of(each) > 0]


def replica_sum(sets: Iterable[Obj]) -> int:
    return sum(replicas_of(each) for each in sets)


def status_sum(sets: Iterable[Obj], field: str) -> int:
    return sum((each.get("status") or {}).get(field, 0) for each in sets)


def available_sum(sets: Iterable[Obj]) -> int:
    return status_sum(sets, "availableReplicas")


def new_replicas(deployment: Obj, sets: Iterable[Obj], new: Obj) -> int:
    """How many replicas the new ReplicaSet may have now."""
    wanted = replicas_of(deployment)
    if not is_rolling(deployment):
        return wanted
    room = wanted + max_surge(deployment) - replica_sum(sets)
    if room <= 0:
        return replicas_of(new)
    return replicas_of(new) + min(room, wanted - replicas_of(new))


def is_saturated(deployment: Obj, new: Obj | None) -> bool:
    if new is None or not annotation(new, DESIRED).isdigit():
        return False
    wanted = replicas_of(deployment)
    return replicas_of(new) == wanted == int(annotation(new, DESIRED)) == available_sum([new])


def _proportion(deployment: Obj, each: Obj, to_add: int, added: int) -> int:
    """A ReplicaSet's share of the replicas that a scaled Deployment adds or takes away."""
    if not replicas_of(each) or not to_add or to_add == added:
        return 0
    share, allowed = _share(deployment, each), to_add - added
    return min(share, allowed) if to_add > 0 else max(share, allowed)


def _share(deployment: Obj, each: Obj) -> int:
    if not replicas_of(deployment):
        return -replicas_of(each)
    text = annotation(each, MAXIMUM)
    before = int(text) if text.isdigit() else 0
    if not before:
        before = (deployment.get("status") or {}).get("replicas", 0)
        if not before:
            return 0
    wanted = replicas_of(each) * (replicas_of(deployment) + max_surge(deployment)) / before
    return math.floor(wanted + 0.5) - replicas_of(each)


def is_complete(deployment: Obj, status: Obj) -> bool:
    wanted = replicas_of(deployment)
    counted = (status.get("updatedReplicas", 0), status.get("replicas", 0), status.get("availableReplicas", 0))
    seen = status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
    return counted == (wanted, wanted, wanted) and seen


def set_annotations(deployment: Obj, each: Obj, revision: int) -> dict[str, str]:
    """The annotations of a new ReplicaSet: the deployment's, its revision, and those that it had before."""
    made = dict(each["metadata"].get("annotations") or {})
    copied = deployment["metadata"].get("annotations") or {}
    made |= {name: value for name, value in copied.items() if name not in _OWN}
    before = made.get(REVISION, "")
    if before and not before.isdigit():
        return made
    if int(before or 0) < revision:
        made[REVISION] = str(revision)
        if before:
            history = [part for part in made.get(HISTORY, "").split(",") if part]
            while history and len(",".join([*history, before])) > _LONGEST_HISTORY:
                history.pop(0)
            made[HISTORY] = ",".join([*history, before])
    return made


def proportional_sizes(deployment: Obj, running: list[Obj]) -> dict[str, int]:
    """The sizes of ReplicaSets, by name, when the deployment in the middle of a rollout is scaled."""
    wanted = replicas_of(deployment)
    allowed = wanted + max_surge(deployment) if wanted else 0
    to_add, added = allowed - replica_sum(running), 0
    ordered = by_age(running)
    if to_add > 0:
        ordered.reverse()
    ordered.sort(key=replicas_of, reverse=True)
    sizes = {}
    for each in ordered:
        share = _proportion(deployment, each, to_add, added)
        sizes[each["metadata"]["name"]] = replicas_of(each) + share
        added += share
    if ordered and to_add:
        largest = ordered[0]["metadata"]["name"]
        sizes[largest] = max(sizes[largest] + to_add - added, 0)
    return sizes
