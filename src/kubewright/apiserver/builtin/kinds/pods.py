"""What is done to Pods: quality of service, deletion with grace (`registry/core/pod`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import FieldError, forbidden, invalid
from kubewright.schema.structural.values import copied, same

from ...strategy import Context, Grace
from ..validation import statuses, warnings
from ..validation.pods import any_pod, pod, pod_update
from ..validation.texts import Object
from .checks import changed

__all__ = ["POD"]


def _prepare_create(obj: Object, context: Context) -> None:
    status: Object = {"phase": "Pending"}
    if obj["spec"].get("schedulingGates"):
        gated = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": context.now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
        status["conditions"] = [gated]
    status["qosClass"] = _quality(obj["spec"])
    obj["status"] = status


def _quality(spec: Object) -> str:
    """The quality-of-service class."""
    if spec.get("resources"):
        return _quality_of(spec["resources"])
    found = {_quality_of(each.get("resources") or {}) for each in _all_containers(spec)}
    if not found:
        return "BestEffort"
    return found.pop() if len(found) == 1 else "Burstable"


def _all_containers(spec: Object) -> list[Object]:
    return [*spec.get("initContainers", ()), *(spec.get("containers") or ())]


def _quality_of(resources: Object) -> str:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    found = set()
    for name in ("cpu", "memory"):
        wanted, most = Quantity(requests.get(name, "0")), Quantity(limits.get(name, "0"))
        if wanted != most:
            return "Burstable"
        found.add("BestEffort" if wanted == 0 else "Guaranteed")
    return found.pop() if len(found) == 1 else "Burstable"


def _prepare_status(new: Object, old: Object, context: Context) -> None:
    meta, before = new["metadata"], old["metadata"]
    for name in ("ownerReferences", "deletionTimestamp"):
        meta.pop(name, None)
        if name in before:
            meta[name] = before[name]
    status = new.setdefault("status", {})
    if not status.get("qosClass") and (quality := (old.get("status") or {}).get("qosClass")):
        status["qosClass"] = quality


def _grace(obj: Object, requested_seconds: int | None, context: Context) -> Grace:
    """Nobody stops the containers of a Pod that runs nowhere, or no more: it is deleted at once."""
    spec, phase = obj["spec"], (obj.get("status") or {}).get("phase")
    seconds = requested_seconds
    if seconds is None:
        seconds = spec.get("terminationGracePeriodSeconds", 0)
    if not spec.get("nodeName") or phase in ("Failed", "Succeeded"):
        seconds = 0
    return Grace(max(seconds, 1) if seconds < 0 else seconds)


def _validate(obj: Object, context: Context) -> list[FieldError]:
    return pod(obj)


def _validate_update(new: Object, old: Object, context: Context) -> list[FieldError]:
    return pod_update(new, old)


def _of_spec(name: str) -> Callable[[Object], str]:
    return lambda obj: str(obj["spec"].get(name) or "")


def _of_status(name: str) -> Callable[[Object], str]:
    return lambda obj: str((obj.get("status") or {}).get(name) or "")


def _pod_ip(obj: Object) -> str:
    ips = (obj.get("status") or {}).get("podIPs") or [{}]
    return str(ips[0].get("ip", ""))


def _host_network(obj: Object) -> str:
    return "true" if obj["spec"].get("hostNetwork") else "false"


def resized(new: Object, old: Object, context: Context) -> list[FieldError]:
    """Errors of a resize: of the containers only their resources may change, of those not the quality of service."""
    errors = any_pod(new)
    before = (old.get("status") or {}).get("qosClass") or _quality(old["spec"])
    if before != _quality(new["spec"]):
        said = "Pod QOS Class may not change as a result of resizing"
        errors.append(invalid("spec", before, said))
    ours, theirs = new["spec"].get("containers") or [], old["spec"].get("containers") or []
    if [each["name"] for each in ours] != [each["name"] for each in theirs]:
        return [*errors, forbidden("spec", "containers may not be renamed or reordered on resize")]
    made: Object = copied(new["spec"])
    for container, was in zip(made.get("containers") or (), theirs, strict=True):
        for name in ("resources", "resizePolicy"):
            container.pop(name, None)
            if name in was:
                container[name] = was[name]
    if not same(made, old["spec"]):
        errors.append(forbidden("spec", "only cpu and memory resources are mutable"))
    return errors


POD: Final[dict[str, Any]] = {
    "has_status": True,
    "counts": "spec",
    "returns_deleted": True,
    "prepare_create": _prepare_create,
    "prepare_status": _prepare_status,
    "validate": _validate,
    "validate_update": _validate_update,
    "validate_status": changed(statuses.pod),
    "warnings": warnings.pod,
    "grace": _grace,
    "labels": {
        "spec.nodeName": _of_spec("nodeName"),
        "spec.host": _of_spec("nodeName"),
        "spec.restartPolicy": _of_spec("restartPolicy"),
        "spec.schedulerName": _of_spec("schedulerName"),
        "spec.serviceAccountName": _of_spec("serviceAccountName"),
        "spec.hostNetwork": _host_network,
        "status.phase": _of_status("phase"),
        "status.podIP": _pod_ip,
        "status.podIPs": _pod_ip,
        "status.nominatedNodeName": _of_status("nominatedNodeName"),
    },
}
