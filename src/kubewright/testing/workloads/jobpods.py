"""The Pods of a Job: how they are made, how often they have failed, and that they are counted.

Rules: `kubernetes/pkg/controller/job/indexed_job_utils.go`, `.../tracking_utils.go`.
"""

from __future__ import annotations

from typing import Final

from kubewright.client import NotFound

from .api import Api
from .jobrules import FAILURES, FINALIZER, INDEX, failure_policy
from .kinds import JOBS, PODS, Obj
from .owners import controller_ref
from .podstates import pod_from

__all__ = ["failures_of", "pod_of", "take_finalizer"]

_INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"


async def take_finalizer(api: Api, pod: Obj) -> None:
    """Let a Pod go that is counted, or that nobody counts. Raises ApiError."""
    finalizers = pod["metadata"].get("finalizers") or []
    if FINALIZER in finalizers:
        left = [each for each in finalizers if each != FINALIZER]
        try:
            await api.patch(PODS, pod, {"metadata": {"finalizers": left}})
        except NotFound:
            pass


def failures_of(pod: Obj) -> int:
    """How often the index of a Pod had failed when it was made."""
    return int((pod["metadata"].get("annotations") or {}).get(FAILURES, "0"))


def pod_of(job: Obj, index: int, last_failed: Obj | None) -> Obj:
    """A new Pod; with an index where it is not negative, and then after the last of it that has failed."""
    pod = pod_from(job["spec"]["template"], job, controller_ref(JOBS, job))
    meta, name = pod["metadata"], job["metadata"]["name"]
    meta["finalizers"] = [*(meta.get("finalizers") or ()), FINALIZER]
    if index < 0:
        return pod
    annotations = {**(meta.get("annotations") or {}), INDEX: str(index)}
    if "backoffLimitPerIndex" in job["spec"]:
        ignored = last_failed is not None and failure_policy(job, last_failed)[0] == "Ignore"
        annotations[FAILURES] = str(0 if last_failed is None else failures_of(last_failed) + (not ignored))
    meta |= {"annotations": annotations, "labels": {**(meta.get("labels") or {}), INDEX: str(index)}}
    meta["generateName"] = f"{name}-{index}-"
    spec = {**pod["spec"], "hostname": f"{name}-{index}"}
    for field in ("initContainers", "containers"):
        if spec.get(field):
            spec[field] = [_with_index(each) for each in spec[field]]
    return {"metadata": meta, "spec": spec}


def _with_index(container: Obj) -> Obj:
    """A container that knows its Pod's index."""
    env = container.get("env") or []
    if any(each["name"] == _INDEX_VARIABLE for each in env):
        return container
    source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}
    return {**container, "env": [*env, {"name": _INDEX_VARIABLE, "valueFrom": source}]}
