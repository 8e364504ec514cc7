"""CronJobs: a Job at each time of their schedule.

Rules: `kubernetes/pkg/controller/cronjob`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kubewright.apiserver.builtin.validation.cron import Schedule
from kubewright.client import AlreadyExists
from kubewright.model.times import format_time, parse_time

from .api import Api
from .engine import Engine
from .jobrules import is_finished
from .kinds import CRON_JOBS, JOBS, Kind, Obj, Ref, ref_of
from .owners import controller_of, controller_ref, owner_ref_of
from .podstates import condition_of

__all__ = ["CronJobs"]


class CronJobs:
    """The CronJob controller."""

    name: str = CRON_JOBS.plural

    def __init__(self, engine: Engine, api: Api) -> None:
        self._engine, self._api, self._view = engine, api, engine.view

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == CRON_JOBS:
            yield ref_of(new or old or {})
        elif kind == JOBS:
            for each in (old, new):
                if (owner := owner_ref_of(each, CRON_JOBS)) is not None:
                    yield owner

    async def sync(self, ref: Ref) -> None:
        cron = self._view.get(CRON_JOBS, *ref)
        if cron is None:
            return
        jobs = self._view.owned(JOBS, cron["metadata"]["uid"])
        status = _seen(cron, jobs)
        try:
            if not cron["metadata"].get("deletionTimestamp"):
                await self._forget_old(cron, jobs)
                if not cron["spec"].get("suspend"):
                    await self._start(cron, status)
        finally:
            if status != (cron.get("status") or {}):
                await self._api.update(CRON_JOBS, {**cron, "status": status}, "status")

    async def _start(self, cron: Obj, status: dict[str, Any]) -> None:
        """Make the Job that is due, if one is, and see to it that the next one is made."""
        spec, now = cron["spec"], self._engine.clock()
        try:
            zone: tzinfo = ZoneInfo(spec["timeZone"]) if spec.get("timeZone") else UTC
            schedule = Schedule(spec["schedule"], zone)
        except (ValueError, ZoneInfoNotFoundError):
            return
        due = _due(cron, status, schedule, now)
        following = schedule.next(now)
        if following is not None:
            self._engine.after(self.name, ref_of(cron), (following - now).total_seconds())
        if due is None or status.get("lastScheduleTime") == format_time(due):
            return
        name = f"{cron['metadata']['name']}-{int(due.timestamp()) // 60}"
        active: list[dict[str, Any]] = status.get("active") or []
        if any(each["name"] == name for each in active):
            return
        if active and spec.get("concurrencyPolicy") == "Forbid":
            return
        if spec.get("concurrencyPolicy") == "Replace":
            for each in active:
                job = self._view.get(JOBS, cron["metadata"]["namespace"], each["name"])
                if job is not None:
                    await self._api.delete(JOBS, job, policy="Background")
            status.pop("active", None)
        job = await self._create(cron, name, due, zone)
        if job is None:
            return
        reference = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            **{field: job["metadata"][field] for field in ("name", "namespace", "uid", "resourceVersion")},
        }
        status["active"] = [*(status.get("active") or ()), reference]
        status["lastScheduleTime"] = format_time(due)

    async def _create(self, cron: Obj, name: str, due: datetime, zone: tzinfo) -> Obj | None:
        template, meta = cron["spec"]["jobTemplate"], cron["metadata"]
        its = template.get("metadata") or {}
        stamp = due.astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")
        made: Obj = {
            "metadata": {
                "name": name,
                "namespace": meta["namespace"],
                "labels": its.get("labels") or {},
                "annotations": {
                    **(its.get("annotations") or {}),
                    "batch.kubernetes.io/cronjob-scheduled-timestamp": stamp,
                },
                "ownerReferences": [controller_ref(CRON_JOBS, cron)],
            },
            "spec": template["spec"],
        }
        try:
            return await self._api.create(JOBS, made)
        except AlreadyExists:
            found = await self._api.read(JOBS, meta["namespace"], name)
            owner = controller_of(found) if found is not None else None
            return found if owner is not None and owner["uid"] == meta["uid"] else None

    async def _forget_old(self, cron: Obj, jobs: list[Obj]) -> None:
        for type_, field in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
            limit = cron["spec"].get(field)
            if limit is None:
                continue
            ended = [each for each in jobs if (condition_of(each, type_) or {}).get("status") == "True"]
            ended.sort(key=lambda each: (each["status"].get("startTime", "~"), each["metadata"]["name"]))
            for each in ended[: max(len(ended) - limit, 0)]:
                if not each["metadata"].get("deletionTimestamp"):
                    await self._api.delete(JOBS, each, policy="Background")


def _seen(cron: Obj, jobs: list[Obj]) -> dict[str, Any]:
    """The status, by what has become of the Jobs."""
    status: dict[str, Any] = dict(cron.get("status") or {})
    running = {each["metadata"]["uid"] for each in jobs if not is_finished(each)}
    active = [each for each in status.get("active") or () if each["uid"] in running]
    if active:
        status["active"] = active
    else:
        status.pop("active", None)
    for each in jobs:
        done = condition_of(each, "Complete")
        if done is not None and done["status"] == "True" and "completionTime" in each["status"]:
            status["lastSuccessfulTime"] = max(status.get("lastSuccessfulTime", ""), each["status"]["completionTime"])
    return status


def _due(cron: Obj, status: dict[str, Any], schedule: Schedule, now: datetime) -> datetime | None:
    """The last time that a Job should have been made and was not; None where there is none, or it is too late."""
    since = parse_time(status.get("lastScheduleTime") or cron["metadata"]["creationTimestamp"])
    deadline = cron["spec"].get("startingDeadlineSeconds")
    if deadline is not None:
        since = max(since, now - timedelta(seconds=deadline))
    due = schedule.last(since, now)
    if due is None or (deadline is not None and due + timedelta(seconds=deadline) < now):
        return None
    return due
