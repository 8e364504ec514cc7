"""The cells of Jobs and CronJobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from kubewright.model.times import parse_time

from ...table.ages import human_duration
from .parts import containers, of, selector, since, status_of

__all__ = ["ROWS"]

Object = dict[str, Any]


def _job(obj: Object, now: datetime) -> dict[str, Any]:
    spec, status = obj["spec"], obj.get("status") or {}
    done, parallel = status.get("succeeded", 0), spec.get("parallelism", 0)
    if spec.get("completions") is not None:
        completions = f"{done}/{spec['completions']}"
    else:
        completions = f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"
    return {
        "Status": _word(obj, status),
        "Completions": completions,
        "Duration": _duration(status, now),
        "Selector": selector(spec.get("selector")),
        **containers(of(spec, "template", "spec", absent={})),
    }


def _word(obj: Object, status: Object) -> str:
    def holds(kind: str) -> bool:
        return status_of(status.get("conditions"), kind) == "True"

    for kind in ("Complete", "Failed"):
        if holds(kind):
            return kind
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return next((kind for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if holds(kind)), "Running")


def _duration(status: Object, now: datetime) -> str:
    start, end = status.get("startTime"), status.get("completionTime")
    if not start:
        return ""
    until = parse_time(end) if end else now
    return human_duration((until - parse_time(start)).total_seconds())


def _cron_job(obj: Object, now: datetime) -> dict[str, Any]:
    spec, status = obj["spec"], obj.get("status") or {}
    job = of(spec, "jobTemplate", "spec", absent={})
    last = status.get("lastScheduleTime")
    suspended = spec.get("suspend")
    return {
        "Schedule": spec.get("schedule", ""),
        "Timezone": spec.get("timeZone", "<none>"),
        "Suspend": "<unset>" if suspended is None else str(bool(suspended)),
        "Active": len(status.get("active") or ()),
        "Last Schedule": since(last, now) if last else "<none>",
        "Selector": selector(job.get("selector")),
        **containers(of(job, "template", "spec", absent={})),
    }


ROWS: Final = {("batch/v1", "Job"): _job, ("batch/v1", "CronJob"): _cron_job}
