"""Jobs: Pods until enough of them have succeeded, counted once each by their finalizer.

What is due of one that runs is in `jobpass`. Not simulated: scheduling in gangs.
Rules: `kubernetes/pkg/controller/job/job_controller.go`, `.../ttlafterfinished`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from kubewright.model.times import parse_time

from .api import Api
from .engine import Engine
from .jobpass import JobPass
from .jobpods import take_finalizer
from .jobrules import FINALIZER, is_finished, is_tracked
from .kinds import JOBS, PODS, Kind, Obj, Ref, ref_of
from .owners import claim, concerned, owner_ref_of
from .podstates import condition_of

__all__ = ["Jobs"]

_OWN: Final = "kubernetes.io/job-controller"


class Jobs:
    """The Job controller, and the one of `ttlSecondsAfterFinished`."""

    name: str = JOBS.plural

    def __init__(self, engine: Engine, api: Api) -> None:
        self._engine, self._api, self._view = engine, api, engine.view
        self._failures: dict[str, tuple[int, datetime]] = {}

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == JOBS:
            yield ref_of(new or old or {})
        elif kind == PODS:
            yield from concerned(self._view, JOBS, old, new)

    async def sync(self, ref: Ref) -> None:
        job = self._view.get(JOBS, *ref)
        if job is None:
            await self._free_orphans(ref)
        elif job["spec"].get("managedBy", _OWN) != _OWN:
            return
        elif is_finished(job):
            self._failures.pop(job["metadata"]["uid"], None)
            for pod in self._view.owned(PODS, job["metadata"]["uid"]):
                await take_finalizer(self._api, pod)
            await self._expire(job)
        else:
            pods = await claim(self._api, JOBS, job, PODS, finalizer=FINALIZER)
            await JobPass(self._engine, self._api, job, pods, self._failures).run()

    async def _free_orphans(self, ref: Ref) -> None:
        """The Pods of a Job that is gone are counted by nobody any more."""
        for pod in self._view.within(PODS, ref.namespace):
            if is_tracked(pod) and owner_ref_of(pod, JOBS) == ref:
                await take_finalizer(self._api, pod)

    async def _expire(self, job: Obj) -> None:
        seconds = job["spec"].get("ttlSecondsAfterFinished")
        if seconds is None or job["metadata"].get("deletionTimestamp"):
            return
        ended = next(found for type_ in ("Complete", "Failed") if (found := condition_of(job, type_)) is not None)
        now = self._engine.clock()
        left = seconds - (now - parse_time(ended["lastTransitionTime"])).total_seconds()
        if left > 0:
            self._engine.after(self.name, ref_of(job), left)
        else:
            await self._api.delete(JOBS, job, policy="Foreground")
