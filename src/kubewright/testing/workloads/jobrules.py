"""What a Job makes of its Pods: which have failed, which indexes are done, by which policy it ends. No I/O.

Rules: `kubernetes/pkg/controller/job` (indexed_job_utils.go, pod_failure_policy.go, ...).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from kubewright.model.times import format_time, parse_time

from .kinds import Obj
from .podstates import condition_of, phase_of

__all__ = [
    "FAILURES",
    "FINALIZER",
    "INDEX",
    "back_off_seconds",
    "condition",
    "failure_policy",
    "finished_at",
    "index_of",
    "indexes_from",
    "indexes_text",
    "is_finished",
    "is_indexed",
    "is_pod_failed",
    "is_suspended",
    "is_tracked",
    "success_policy",
]

FINALIZER: Final = "batch.kubernetes.io/job-tracking"
INDEX: Final = "batch.kubernetes.io/job-completion-index"
FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
_FIRST_BACK_OFF_SECONDS: Final = 10.0
_LONGEST_BACK_OFF_SECONDS: Final = 600.0


def is_finished(job: Obj) -> bool:
    found = (condition_of(job, type_) for type_ in ("Complete", "Failed"))
    return any(each is not None and each["status"] == "True" for each in found)


def is_indexed(job: Obj) -> bool:
    return bool(job["spec"].get("completionMode") == "Indexed")


def is_suspended(job: Obj) -> bool:
    return bool(job["spec"].get("suspend"))


def is_tracked(pod: Obj) -> bool:
    return FINALIZER in (pod["metadata"].get("finalizers") or ())


def index_of(pod: Obj) -> int:
    """The completion index of a Pod; -1: it has none."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isdigit() else -1


def is_pod_failed(pod: Obj, job: Obj) -> bool:
    if phase_of(pod) == "Failed":
        return True
    if job["spec"].get("podReplacementPolicy") == "Failed":
        return False
    return bool(pod["metadata"].get("deletionTimestamp")) and phase_of(pod) != "Succeeded"


def condition(type_: str, reason: str, message: str, now: datetime, status: str = "True") -> dict[str, Any]:
    times = {"lastProbeTime": format_time(now), "lastTransitionTime": format_time(now)}
    return {"type": type_, "status": status, **times, "reason": reason, "message": message}


# -- indexes ----------------------------------------------------------------------------------------------------------


def indexes_text(indexes: Iterable[int]) -> str:
    """`0-2,5`: as `status.completedIndexes` has them."""
    parts: list[tuple[int, int]] = []
    for each in sorted(indexes):
        if parts and parts[-1][1] == each - 1:
            parts[-1] = parts[-1][0], each
        else:
            parts.append((each, each))
    said = []
    for first, last in parts:
        if first == last:
            said.append(str(first))
        else:
            said.append(f"{first},{last}" if last == first + 1 else f"{first}-{last}")
    return ",".join(said)


def indexes_from(text: str, completions: int) -> set[int]:
    made: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        made.update(range(int(first), int(last or first) + 1))
    return {each for each in made if each < completions}


# -- policies ---------------------------------------------------------------------------------------------------------


def failure_policy(job: Obj, pod: Obj) -> tuple[str, str]:
    """What the failure policy says of a failed Pod: the action, "" for none, and the message where the Job fails."""
    for place, rule in enumerate((job["spec"].get("podFailurePolicy") or {}).get("rules") or ()):
        meta, action = pod["metadata"], rule["action"]
        if rule.get("onExitCodes") is not None:
            found = _exited(pod, rule["onExitCodes"])
            if found is not None:
                said = f"Container {found['name']} for pod {meta['namespace']}/{meta['name']} failed with exit code "
                code = found["state"]["terminated"]["exitCode"]
                return action, f"{said}{code} matching {action} rule at index {place}"
        else:
            type_ = _has_condition(pod, rule.get("onPodConditions") or ())
            if type_:
                said = f"Pod {meta['namespace']}/{meta['name']} has condition {type_}"
                return action, f"{said} matching {action} rule at index {place}"
    return "", ""


def _exited(pod: Obj, rule: Obj) -> Obj | None:
    status = pod.get("status") or {}
    for each in [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]:
        ended = (each.get("state") or {}).get("terminated")
        if ended is None or not ended["exitCode"] or rule.get("containerName") not in (None, each["name"]):
            continue
        if (ended["exitCode"] in rule["values"]) is (rule["operator"] == "In"):
            found: Obj = each
            return found
    return None


def _has_condition(pod: Obj, patterns: Sequence[Obj]) -> str:
    for each in (pod.get("status") or {}).get("conditions") or ():
        if any(each["type"] == one["type"] and each["status"] == one.get("status", "True") for one in patterns):
            return str(each["type"])
    return ""


def success_policy(job: Obj, succeeded: set[int]) -> str:
    """The message where the indexes that have succeeded are enough; else ""."""
    for place, rule in enumerate((job["spec"].get("successPolicy") or {}).get("rules") or ()):
        wanted = succeeded
        if rule.get("succeededIndexes"):
            listed = indexes_from(rule["succeededIndexes"], job["spec"]["completions"])
            wanted = succeeded & listed
            enough = len(wanted) >= (rule.get("succeededCount") or len(listed))
        else:
            enough = len(wanted) >= (rule.get("succeededCount") or job["spec"]["completions"])
        if enough:
            return f"Matched rules at index {place}"
    return ""


# -- back-off ---------------------------------------------------------------------------------------------------------


def finished_at(pod: Obj) -> datetime:
    """When a Pod has ended."""
    status, meta = pod.get("status") or {}, pod["metadata"]
    ends = [((each.get("state") or {}).get("terminated") or {}) for each in status.get("containerStatuses") or ()]
    if ends and all(each.get("finishedAt") for each in ends):
        return max(parse_time(each["finishedAt"]) for each in ends)
    ready = condition_of(pod, "Ready")
    if ready is not None and ready["status"] == "False" and ready.get("lastTransitionTime"):
        return parse_time(ready["lastTransitionTime"])
    if meta.get("deletionTimestamp"):
        return parse_time(meta["deletionTimestamp"]) - timedelta(seconds=meta.get("deletionGracePeriodSeconds") or 0)
    return parse_time(meta["creationTimestamp"])


def back_off_seconds(failures: int, last_at: datetime, now: datetime) -> float:
    """How long a new Pod has to wait after so many failures in a row."""
    if not failures:
        return 0.0
    wait = min(_FIRST_BACK_OFF_SECONDS * 2.0 ** (failures - 1), _LONGEST_BACK_OFF_SECONDS)
    return max(wait - (now - last_at).total_seconds(), 0.0)
