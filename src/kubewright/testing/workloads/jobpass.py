"""One pass over a Job: what is due of it now, and what is counted.

A Pod is counted in three steps, so that no crash counts it twice: its uid is written to the status as uncounted, its
finalizer is taken, and then it is counted.
Rules: `kubernetes/pkg/controller/job/job_controller.go`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from kubewright.client import ApiError
from kubewright.model.times import format_time, parse_time

from .api import Api
from .conditions import with_condition
from .engine import Engine
from .jobpods import failures_of, pod_of, take_finalizer
from .jobrules import (
    back_off_seconds,
    condition,
    failure_policy,
    finished_at,
    index_of,
    indexes_from,
    indexes_text,
    is_indexed,
    is_pod_failed,
    is_suspended,
    is_tracked,
    success_policy,
)
from .kinds import JOBS, PODS, Obj, ref_of
from .podstates import condition_of, deleted_first, is_active, is_ready, is_terminating, phase_of

__all__ = ["JobPass"]

_NEVER: Final = datetime.max


class JobPass:
    """One pass over a Job that has not finished."""

    def __init__(
        self, engine: Engine, api: Api, job: Obj, pods: list[Obj], failures: dict[str, tuple[int, datetime]]
    ) -> None:
        self._engine, self._api, self._now = engine, api, engine.clock()
        self._job, self._pods, self._failures = job, pods, failures
        self._spec = job["spec"]
        self._status: dict[str, Any] = dict(job.get("status") or {})
        uncounted = self._status.get("uncountedTerminatedPods") or {}
        self._counting = {each: list(uncounted.get(each) or ()) for each in ("succeeded", "failed")}
        self._active = [each for each in pods if is_active(each)]
        self._ready = sum(map(is_ready, self._active))
        self._going = sum(map(is_terminating, pods))
        self._done: set[int] = set()
        self._failed_indexes: set[int] = set()
        self._end: dict[str, Any] | None = None

    @property
    def _completions(self) -> int | None:
        found: int | None = self._spec.get("completions")
        return found

    def _condition(self, type_: str) -> dict[str, Any] | None:
        return condition_of({"status": self._status}, type_)

    async def run(self) -> None:
        before = self._job.get("status") or {}
        if "startTime" not in self._status and not is_suspended(self._job):
            self._status["startTime"] = format_time(self._now)
        new = {"succeeded": self._new("succeeded"), "failed": self._new("failed")}
        self._note_failures(new["succeeded"], new["failed"])
        counted_failed = [each for each in new["failed"] if failure_policy(self._job, each)[0] != "Ignore"]
        failed = before.get("failed", 0) + len(counted_failed) + len(self._counting["failed"])
        succeeded = before.get("succeeded", 0) + len(new["succeeded"]) + len(self._counting["succeeded"])
        self._end = self._finish(failed)
        if is_indexed(self._job):
            succeeded = self._count_indexes()
        active = len(self._active)
        problem: ApiError | None = None
        if self._end is not None:
            for pod in self._active:
                await self._api.delete(PODS, pod)
            self._going += active
            self._ready, active = 0, 0
        else:
            if not self._job["metadata"].get("deletionTimestamp"):
                active, problem = await self._manage(succeeded, failed)
            if self._is_complete(succeeded, active):
                message = "Reached expected number of succeeded pods"
                self._end = condition("SuccessCriteriaMet", "CompletionsReached", message, self._now)
            elif not self._job["metadata"].get("deletionTimestamp"):
                self._note_suspension()
        self._status |= {"active": active, "ready": self._ready, "terminating": self._going}
        await self._track()
        if problem is not None:
            raise problem

    def _is_complete(self, succeeded: int, active: int) -> bool:
        if self._completions is None:
            return succeeded > 0 and not active
        return succeeded >= self._completions and not active

    def _new(self, kind: str) -> list[Obj]:
        """The Pods that have ended so, and of which nothing is written yet."""
        found = []
        for pod in self._pods:
            if not is_tracked(pod) or pod["metadata"]["uid"] in self._counting[kind]:
                continue
            if is_indexed(self._job) and not 0 <= index_of(pod) < (self._completions or 0):
                continue
            if phase_of(pod) == "Succeeded" if kind == "succeeded" else is_pod_failed(pod, self._job):
                found.append(pod)
        return found

    def _note_failures(self, succeeded: list[Obj], failed: list[Obj]) -> None:
        uid = self._job["metadata"]["uid"]
        count = self._failures.get(uid, (0, _NEVER))[0]
        if succeeded:
            since = max(map(finished_at, succeeded))
            failed = [each for each in failed if finished_at(each) > since]
            count = 0
        if failed:
            self._failures[uid] = count + len(failed), max(map(finished_at, failed))
        elif succeeded:
            self._failures.pop(uid, None)

    # -- ends ---------------------------------------------------------------------------------------------------------

    def _finish(self, failed: int) -> dict[str, Any] | None:
        """The condition by which the Job is to end; None: it goes on."""
        met, target = self._condition("SuccessCriteriaMet"), self._condition("FailureTarget")
        if met is not None and met["status"] == "True":
            return met
        if target is not None and target["status"] == "True":
            return condition("Failed", target["reason"], target["message"], self._now)
        for pod in self._pods:
            if is_pod_failed(pod, self._job):
                action, message = failure_policy(self._job, pod)
                if action == "FailJob":
                    return self._failure("PodFailurePolicy", message)
        if failed > self._spec["backoffLimit"] or self._has_restarted_too_often():
            return self._failure("BackoffLimitExceeded", "Job has reached the specified backoff limit")
        seconds = self._spec.get("activeDeadlineSeconds")
        if seconds is None or is_suspended(self._job):
            return None
        left = seconds - (self._now - parse_time(self._status["startTime"])).total_seconds()
        if left <= 0:
            return self._failure("DeadlineExceeded", "Job was active longer than specified deadline")
        self._engine.after(JOBS.plural, ref_of(self._job), left)
        return None

    def _failure(self, reason: str, message: str) -> dict[str, Any]:
        return condition("FailureTarget", reason, message, self._now)

    def _has_restarted_too_often(self) -> bool:
        if self._spec["template"]["spec"].get("restartPolicy") != "OnFailure":
            return False
        restarts = 0
        for pod in self._pods:
            if phase_of(pod) in ("Running", "Pending"):
                status = pod["status"]
                each_of = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
                restarts += sum(each.get("restartCount", 0) for each in each_of)
        limit = self._spec["backoffLimit"]
        return restarts > 0 if not limit else bool(restarts >= limit)

    def _count_indexes(self) -> int:
        completions = self._completions or 0
        self._done = indexes_from(self._status.get("completedIndexes", ""), completions)
        self._done |= {index_of(each) for each in self._new("succeeded")}
        if "backoffLimitPerIndex" in self._spec:
            self._failed_indexes = {
                index_of(each)
                for each in self._pods
                if is_pod_failed(each, self._job) and 0 <= index_of(each) < completions and self._is_last(each)
            } - self._done
            most = self._spec.get("maxFailedIndexes")
            if self._end is None and most is not None and len(self._failed_indexes) > most:
                message = "Job has exceeded the specified maximal number of failed indexes"
                self._end = self._failure("MaxFailedIndexesExceeded", message)
            over = len(self._failed_indexes) + len(self._done) >= completions
            if self._end is None and self._failed_indexes and over:
                self._end = self._failure("FailedIndexes", "Job has failed indexes")
        if self._end is None and (message := success_policy(self._job, self._done)):
            self._end = condition("SuccessCriteriaMet", "SuccessPolicy", message, self._now)
        return len(self._done)

    def _is_last(self, pod: Obj) -> bool:
        """Whether the failure of a Pod ends its index."""
        action = failure_policy(self._job, pod)[0]
        if action in ("FailIndex", "Ignore"):
            return action == "FailIndex"
        return bool(failures_of(pod) >= self._spec["backoffLimitPerIndex"])

    def _note_suspension(self) -> None:
        old = self._condition("Suspended")
        wanted = "True" if is_suspended(self._job) else "False"
        if (old is None and wanted == "False") or (old is not None and old["status"] == wanted):
            return
        if wanted == "True":
            made = condition("Suspended", "JobSuspended", "Job suspended", self._now)
            self._status.pop("startTime", None)
        else:
            made = condition("Suspended", "JobResumed", "Job resumed", self._now, "False")
            self._status["startTime"] = format_time(self._now)
        self._status["conditions"] = with_condition(self._status.get("conditions") or [], made)

    # -- Pods ---------------------------------------------------------------------------------------------------------

    async def _manage(self, succeeded: int, failed: int) -> tuple[int, ApiError | None]:
        """Make and delete Pods. Returns how many are active then, and the first refusal."""
        active, parallelism = len(self._active), self._spec["parallelism"]
        if is_suspended(self._job):
            await self._remove(self._active)
            return 0, None
        if self._completions is None:
            wanted = active if succeeded else parallelism
        else:
            wanted = max(min(self._completions - succeeded - len(self._failed_indexes), parallelism), 0)
        surplus = self._surplus(active - wanted)
        if surplus:
            await self._remove(surplus)
            return active - len(surplus), None
        waits = self._going if self._spec.get("podReplacementPolicy") == "Failed" else 0
        missing = wanted - waits - active
        if missing <= 0:
            return active, None
        if "backoffLimitPerIndex" not in self._spec:
            count, last = self._failures.get(self._job["metadata"]["uid"], (0, _NEVER))
            seconds = back_off_seconds(count, last, self._now) if count else 0.0
            if seconds > 0:
                self._engine.after(JOBS.plural, ref_of(self._job), seconds)
                return active, None
        try:
            for index in self._free_indexes(missing) if is_indexed(self._job) else [-1] * missing:
                await self._api.create(PODS, pod_of(self._job, index, self._last_failed(index) if index >= 0 else None))
                active += 1
        except ApiError as error:
            return active, None if error.has_cause("NamespaceTerminating") else error
        return active, None

    def _surplus(self, number: int) -> list[Obj]:
        """The active Pods to be deleted: those of an index that another has, and as many as are too much."""
        taken: list[Obj] = []
        left = self._active
        if is_indexed(self._job):
            seen: set[int] = set()
            kept: list[Obj] = []
            for pod in left:
                index = index_of(pod)
                is_good = 0 <= index < (self._completions or 0) and index not in seen
                seen.add(index)
                (kept if is_good else taken).append(pod)
            left = kept
        more = number - len(taken)
        return taken + (deleted_first(left, (), self._now)[:more] if more > 0 else [])

    async def _remove(self, pods: list[Obj]) -> None:
        for pod in pods:
            await take_finalizer(self._api, pod)
            await self._api.delete(PODS, pod)
            self._going += 1
            self._ready -= is_ready(pod)

    def _free_indexes(self, number: int) -> list[int]:
        busy = {index_of(each) for each in self._active} | self._done | self._failed_indexes
        found: list[int] = []
        for index in range(self._completions or 0):
            if len(found) == number:
                break
            if index in busy:
                continue
            last = self._last_failed(index)
            if last is not None and "backoffLimitPerIndex" in self._spec:
                seconds = back_off_seconds(failures_of(last) + 1, finished_at(last), self._now)
                if seconds > 0:
                    self._engine.after(JOBS.plural, ref_of(self._job), seconds)
                    continue
            found.append(index)
        return found

    def _last_failed(self, index: int) -> Obj | None:
        found = [each for each in self._pods if index_of(each) == index and is_pod_failed(each, self._job)]
        return max(found, key=lambda each: (failures_of(each), finished_at(each)), default=None)

    # -- counting -----------------------------------------------------------------------------------------------------

    async def _track(self) -> None:
        """Count Pods that have ended, and end the Job where it is time."""
        tracked = {each["metadata"]["uid"] for each in self._pods if is_tracked(each)}
        self._count(tracked)
        freed = []
        for pod in self._pods:
            failed = is_pod_failed(pod, self._job)
            ends = bool(self._job["metadata"].get("deletionTimestamp")) or self._end is not None
            if is_tracked(pod) and (ends or failed or phase_of(pod) == "Succeeded"):
                freed.append(pod)
                self._note(pod, failed)
        if is_indexed(self._job):
            self._status["succeeded"] = len(self._done)
            self._status["completedIndexes"] = indexes_text(self._done)
            if "backoffLimitPerIndex" in self._spec:
                self._status["failedIndexes"] = indexes_text(self._failed_indexes)
        self._note_end()
        await self._write()
        for pod in freed:
            await take_finalizer(self._api, pod)
        self._count(tracked - {each["metadata"]["uid"] for each in freed})
        self._close()
        await self._write()

    def _note(self, pod: Obj, failed: bool) -> None:
        uid = pod["metadata"]["uid"]
        is_known = not is_indexed(self._job) or 0 <= index_of(pod) < (self._completions or 0)
        if phase_of(pod) == "Succeeded":
            if not is_indexed(self._job) and uid not in self._counting["succeeded"]:
                self._counting["succeeded"].append(uid)
        elif failed or (self._end is not None and self._end["type"] not in ("SuccessCriteriaMet", "Complete")):
            counts = failure_policy(self._job, pod)[0] != "Ignore"
            if counts and is_known and uid not in self._counting["failed"]:
                self._counting["failed"].append(uid)

    def _count(self, tracked: set[str]) -> None:
        for kind, uids in self._counting.items():
            left = [each for each in uids if each in tracked]
            if len(left) < len(uids):
                self._status[kind] = self._status.get(kind, 0) + len(uids) - len(left)
            self._counting[kind] = left

    def _note_end(self) -> None:
        """Say that the Job is about to end, before it does."""
        if self._end is None:
            return
        type_ = self._end["type"]
        if type_ in ("FailureTarget", "SuccessCriteriaMet"):
            if self._condition(type_) is None:
                self._status["conditions"] = [*(self._status.get("conditions") or ()), self._end]
            final = "Failed" if type_ == "FailureTarget" else "Complete"
            self._end = condition(final, self._end["reason"], self._end["message"], self._now)

    def _close(self) -> None:
        if self._end is None or any(self._counting.values()) or self._going > 0:
            return
        self._status["conditions"] = [*(self._status.get("conditions") or ()), self._end]
        if self._end["type"] == "Complete":
            self._status["completionTime"] = self._end["lastTransitionTime"]

    async def _write(self) -> None:
        zeros = ("active", "succeeded", "failed")
        status = {name: value for name, value in self._status.items() if name not in zeros or value}
        if not status.get("completedIndexes", "x"):
            del status["completedIndexes"]
        status["uncountedTerminatedPods"] = {kind: uids for kind, uids in self._counting.items() if uids}
        if status != (self._job.get("status") or {}):
            self._job = await self._api.update(JOBS, {**self._job, "status": status}, "status")
