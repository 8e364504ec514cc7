"""The status of a Deployment, with its conditions. Values in, values out.

Rules: `kubernetes/pkg/controller/deployment/progress.go`, `.../sync.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from kubewright.model.times import format_time

from .conditions import with_condition, without_condition
from .kinds import Obj
from .podstates import condition_of, seconds_since
from .rollouts import is_complete, max_unavailable, replica_sum, replicas_of, status_sum

__all__ = ["check_again_in", "has_deadline", "rollout_status", "status_of", "with_progress"]

_FOREVER: Final = 2**31 - 1
_AVAILABLE: Final = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
_UNAVAILABLE: Final = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")


def has_deadline(deployment: Obj) -> bool:
    return bool(deployment["spec"].get("progressDeadlineSeconds", _FOREVER) != _FOREVER)


def _progressing(status: str, reason: str, message: str, now: datetime) -> dict[str, Any]:
    return _condition("Progressing", (status, reason, message), now)


def _condition(type_: str, said: tuple[str, str, str], now: datetime) -> dict[str, Any]:
    status, reason, message = said
    times = {"lastUpdateTime": format_time(now), "lastTransitionTime": format_time(now)}
    return {"type": type_, "status": status, **times, "reason": reason, "message": message}


def with_progress(deployment: Obj, status: str, reason: str, message: str, now: datetime) -> Obj:
    """The deployment with another condition Progressing."""
    old = deployment.get("status") or {}
    conditions = with_condition(old.get("conditions") or [], _progressing(status, reason, message, now))
    return {**deployment, "status": {**old, "conditions": conditions}}


def status_of(deployment: Obj, sets: Sequence[Obj], new: Obj | None, now: datetime) -> dict[str, Any]:
    """The status but for the condition Progressing. `sets` are all ReplicaSets, the new one among them."""
    old = deployment.get("status") or {}
    available = status_sum(sets, "availableReplicas")
    status: dict[str, Any] = {
        "observedGeneration": deployment["metadata"].get("generation", 0),
        "replicas": status_sum(sets, "replicas"),
        "updatedReplicas": status_sum([new] if new is not None else [], "replicas"),
        "readyReplicas": status_sum(sets, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(replica_sum(sets) - available, 0),
    }
    status = {name: value for name, value in status.items() if value}
    going = _terminating(sets)
    if going is not None:
        status["terminatingReplicas"] = going
    if "collisionCount" in old:
        status["collisionCount"] = old["collisionCount"]
    enough = available >= replicas_of(deployment) - max_unavailable(deployment)
    said = _condition("Available", _AVAILABLE if enough else _UNAVAILABLE, now)
    status["conditions"] = with_condition(old.get("conditions") or [], said)
    return status


def _terminating(sets: Sequence[Obj]) -> int | None:
    total = 0
    for each in sets:
        status = each.get("status") or {}
        if "terminatingReplicas" in status:
            total += status["terminatingReplicas"]
        elif status.get("observedGeneration", 0):
            return None
    return total


def rollout_status(deployment: Obj, sets: Sequence[Obj], new: Obj | None, now: datetime) -> dict[str, Any]:
    """The whole status, in a rollout."""
    status = status_of(deployment, sets, new, now)
    if not has_deadline(deployment):
        status["conditions"] = without_condition(status["conditions"], "Progressing")
    current = condition_of(deployment, "Progressing")
    done = current is not None and current.get("reason") == "NewReplicaSetAvailable"
    if has_deadline(deployment) and not (done and status.get("replicas", 0) == status.get("updatedReplicas", 0)):
        _note_progress(deployment, status, new, current, now)
    failure = _failure(sets, new)
    if failure is None:
        status["conditions"] = without_condition(status["conditions"], "ReplicaFailure")
    else:
        status["conditions"] = with_condition(status["conditions"], failure)
    return status


def _note_progress(
    deployment: Obj, status: dict[str, Any], new: Obj | None, current: dict[str, Any] | None, now: datetime
) -> None:
    what = f'ReplicaSet "{new["metadata"]["name"]}"' if new else f'Deployment "{deployment["metadata"]["name"]}"'
    conditions: list[dict[str, Any]] = status["conditions"]
    if is_complete(deployment, status):
        made = _progressing("True", "NewReplicaSetAvailable", f"{what} has successfully progressed.", now)
        status["conditions"] = with_condition(conditions, made)
    elif _has_progressed(deployment.get("status") or {}, status):
        made = _progressing("True", "ReplicaSetUpdated", f"{what} is progressing.", now)
        # Also where it says so already: lastUpdateTime is when there was progress last.
        status["conditions"] = with_condition(conditions, made, keep=False)
    elif _is_late(deployment, current, now):
        made = _progressing("False", "ProgressDeadlineExceeded", f"{what} has timed out progressing.", now)
        status["conditions"] = with_condition(conditions, made)


def _has_progressed(old: dict[str, Any], new: dict[str, Any]) -> bool:
    def before(status: dict[str, Any]) -> int:
        return int(status.get("replicas", 0) - status.get("updatedReplicas", 0))

    grown = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return before(new) < before(old) or any(new.get(each, 0) > old.get(each, 0) for each in grown)


def _is_late(deployment: Obj, current: dict[str, Any] | None, now: datetime) -> bool:
    if current is None or current.get("reason") == "NewReplicaSetAvailable":
        return False
    if current.get("reason") == "ProgressDeadlineExceeded":
        return True
    return bool(seconds_since(current.get("lastUpdateTime"), now) > deployment["spec"]["progressDeadlineSeconds"])


def check_again_in(deployment: Obj, status: dict[str, Any], now: datetime) -> float | None:
    """In how many seconds it could be too late for progress; None: never."""
    current = condition_of(deployment, "Progressing")
    if not has_deadline(deployment) or current is None:
        return None
    if is_complete(deployment, status) or current.get("reason") == "ProgressDeadlineExceeded":
        return None
    left = deployment["spec"]["progressDeadlineSeconds"] - seconds_since(current.get("lastUpdateTime"), now)
    return float(max(left, 0.0)) + 1.0


def _failure(sets: Sequence[Obj], new: Obj | None) -> dict[str, Any] | None:
    for each in (*([new] if new is not None else []), *sets):
        found = condition_of(each, "ReplicaFailure")
        if found is not None:
            return {
                "type": "ReplicaFailure",
                "status": found["status"],
                "lastUpdateTime": found.get("lastTransitionTime"),
                "lastTransitionTime": found.get("lastTransitionTime"),
                "reason": found.get("reason", ""),
                "message": found.get("message", ""),
            }
    return None
