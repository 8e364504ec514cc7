"""What controllers ask of a Pod: whether it is ready, available, active; which one goes first; and its making.

Rules: `kubernetes/pkg/controller/controller_utils.go`, `kubernetes/pkg/api/v1/pod/util.go`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from functools import cmp_to_key
from typing import Any, Final

from kubewright.model.times import parse_time

from .kinds import Obj

__all__ = [
    "available_in",
    "condition_of",
    "deleted_first",
    "is_active",
    "is_available",
    "is_ready",
    "is_terminal",
    "is_terminating",
    "phase_of",
    "pod_from",
    "seconds_since",
]

_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}
_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_LONGEST_PREFIX: Final = 253


def condition_of(obj: Obj, type_: str) -> dict[str, Any] | None:
    for each in (obj.get("status") or {}).get("conditions") or ():
        if each["type"] == type_:
            found: dict[str, Any] = each
            return found
    return None


def phase_of(pod: Obj) -> str:
    return str((pod.get("status") or {}).get("phase") or "")


def is_ready(pod: Obj) -> bool:
    found = condition_of(pod, "Ready")
    return found is not None and found["status"] == "True"


def is_terminal(pod: Obj) -> bool:
    return phase_of(pod) in ("Succeeded", "Failed")


def is_active(pod: Obj) -> bool:
    return not is_terminal(pod) and not pod["metadata"].get("deletionTimestamp")


def is_terminating(pod: Obj) -> bool:
    return not is_terminal(pod) and bool(pod["metadata"].get("deletionTimestamp"))


def seconds_since(text: str | None, now: datetime) -> float:
    """How long ago a time of an object was; infinitely long where there is none."""
    return (now - parse_time(text)).total_seconds() if text else math.inf


def available_in(pod: Obj, min_ready_seconds: int, now: datetime) -> float | None:
    """In how many seconds a Pod is available: 0 now, None not unless it becomes ready."""
    found = condition_of(pod, "Ready")
    if found is None or found["status"] != "True":
        return None
    if not min_ready_seconds:
        return 0.0
    return max(min_ready_seconds - seconds_since(found.get("lastTransitionTime"), now), 0.0)


def is_available(pod: Obj, min_ready_seconds: int, now: datetime) -> bool:
    return available_in(pod, min_ready_seconds, now) == 0.0


def pod_from(template: Obj, owner: Obj, reference: dict[str, Any]) -> Obj:
    """A Pod as a template has it, without a name."""
    prefix = f"{owner['metadata']['name']}-"
    meta = template.get("metadata") or {}
    made: Obj = {"namespace": owner["metadata"]["namespace"], "generateName": prefix[:_LONGEST_PREFIX]}
    for field in ("labels", "annotations", "finalizers"):
        if meta.get(field):
            made[field] = meta[field]
    return {"metadata": {**made, "ownerReferences": [reference]}, "spec": template["spec"]}


def deleted_first(pods: Sequence[Obj], related: Sequence[Obj], now: datetime) -> list[Obj]:
    """The Pods, those that are the least loss first. `related` are those of the same owner."""
    on_node: dict[str, int] = {}
    for each in related:
        if is_active(each):
            node = each["spec"].get("nodeName", "")
            on_node[node] = on_node.get(node, 0) + 1

    def compare(one: Obj, other: Obj) -> int:
        return _compare(one, other, on_node, now)

    return sorted(pods, key=cmp_to_key(compare))


def _compare(one: Obj, other: Obj, on_node: dict[str, int], now: datetime) -> int:
    nodes = [each["spec"].get("nodeName", "") for each in (one, other)]
    pairs: list[tuple[Any, Any]] = [
        (bool(nodes[0]), bool(nodes[1])),
        (_PHASES.get(phase_of(one), 3), _PHASES.get(phase_of(other), 3)),
        (is_ready(one), is_ready(other)),
        (_cost(one), _cost(other)),
        (-on_node.get(nodes[0], 0), -on_node.get(nodes[1], 0)),
    ]
    for before, after in pairs:
        if before != after:
            return -1 if before < after else 1
    if is_ready(one):
        times = [(condition_of(each, "Ready") or {}).get("lastTransitionTime") for each in (one, other)]
        if times[0] != times[1]:
            return _by_age(times[0], times[1], one, other, now)
    restarts = [_restarts(each) for each in (one, other)]
    if restarts[0] != restarts[1]:
        return -1 if restarts[0] > restarts[1] else 1
    made = [each["metadata"].get("creationTimestamp") for each in (one, other)]
    if made[0] != made[1]:
        return _by_age(made[0], made[1], one, other, now)
    return 0


def _by_age(one_at: str | None, other_at: str | None, one: Obj, other: Obj, now: datetime) -> int:
    """The younger first, on a logarithmic scale; as chance (the uids) has it within one step of it."""
    ranks = [_rank(each, now) for each in (one_at, other_at)]
    if ranks[0] == ranks[1]:
        return -1 if one["metadata"]["uid"] < other["metadata"]["uid"] else 1
    return -1 if ranks[0] < ranks[1] else 1


def _rank(at: str | None, now: datetime) -> int:
    nanoseconds = seconds_since(at, now) * 1e9
    if nanoseconds <= 0:
        return -1
    return int(math.log2(nanoseconds)) if math.isfinite(nanoseconds) else 1 << 30


def _cost(pod: Obj) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(_COST, "0")
    try:
        return int(text)
    except ValueError:
        return 0


def _restarts(pod: Obj) -> tuple[int, int]:
    status = pod.get("status") or {}
    sidecars = {
        each["name"] for each in pod["spec"].get("initContainers") or () if each.get("restartPolicy") == "Always"
    }
    regular = [each.get("restartCount", 0) for each in status.get("containerStatuses") or ()]
    others = [
        each.get("restartCount", 0) for each in status.get("initContainerStatuses") or () if each["name"] in sidecars
    ]
    return max(regular, default=0), max(others, default=0)
