"""Checks of statuses, which controllers write: counts, conditions, addresses.

Rules: the `Validate...Status...` of `pkg/apis/*/validation`. A Job is checked most, because its controller may be
another one: a finished Job says by conditions, times and counts how it came to that, and stays finished.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import (
    OMITTED,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubewright.schema.structural.gotext import GoStruct
from kubewright.schema.structural.metarules import dns_subdomain, qualified_name

from .resources import amount, quota_resource_name
from .texts import Errors, Object, at_least_0, check, immutable, ip_errors, regex_error

__all__ = ["budget", "claim", "daemon_set", "ingress", "job", "node", "pod", "quota", "service"]

_REASON: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_SAID: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'"
)
_KNOWN_CONDITIONS: Final = ("PodScheduled", "Ready", "Initialized")
_DAEMON_COUNTS: Final = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


def _status(obj: Object) -> Object:
    return obj.get("status") or {}


def _counts(status: Object, names: Iterable[str]) -> Errors:
    return [error for name in names for error in at_least_0(f"status.{name}", status.get(name))]


def daemon_set(new: Object, old: Object) -> Errors:
    """Errors of the status of a DaemonSet."""
    errors = _counts(_status(new), _DAEMON_COUNTS)
    before, after = _status(old).get("collisionCount"), _status(new).get("collisionCount", 0)
    if before is not None and after < before:
        errors.append(invalid("status.collisionCount", after, "cannot be decremented"))
    return errors


def budget(new: Object, old: Object) -> Errors:
    """Errors of the status of a PodDisruptionBudget."""
    status = _status(new)
    errors = _conditions("status.conditions", status.get("conditions") or ())
    return errors + _counts(status, ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"))


def _conditions(path: str, conditions: Iterable[Object]) -> Errors:
    """Errors of conditions of the kind that all newer types share."""
    errors: Errors = []
    seen: set[str] = set()
    for place, each in enumerate(conditions):
        here, kind, status, reason = (
            f"{path}[{place}]",
            each.get("type", ""),
            each.get("status", ""),
            each.get("reason"),
        )
        if kind in seen:
            errors.append(duplicate(here, kind))
        seen.add(kind)
        errors += check(f"{here}.type", kind, qualified_name) if kind else [required(f"{here}.type", "is required")]
        if not status:
            errors.append(required(f"{here}.status"))
        elif status not in ("True", "False", "Unknown"):
            errors.append(not_supported(f"{here}.status", status, ("False", "True", "Unknown")))
        if each.get("observedGeneration", 0) < 0:
            said = "must be greater than or equal to zero"
            errors.append(invalid(f"{here}.observedGeneration", each["observedGeneration"], said))
        if not each.get("lastTransitionTime"):
            errors.append(required(f"{here}.lastTransitionTime"))
        if not reason:
            errors.append(required(f"{here}.reason"))
        elif re.fullmatch(_REASON, reason, re.ASCII) is None:
            examples = ("my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")
            errors.append(invalid(f"{here}.reason", reason, regex_error(_REASON_SAID, _REASON, *examples)))
    return errors


# -- addresses --------------------------------------------------------------------------------------------------------


def service(new: Object, old: Object) -> Errors:
    """Errors of the status of a Service."""
    points = (_status(new).get("loadBalancer") or {}).get("ingress") or ()
    if points and new["spec"].get("type") != "LoadBalancer":
        return [forbidden("status.loadBalancer.ingress", "may only be used when `spec.type` is 'LoadBalancer'")]
    errors: Errors = []
    for place, point in enumerate(points):
        here, mode = f"status.loadBalancer.ingress[{place}]", point.get("ipMode")
        errors += _point_ip(here, point)
        if mode is None:
            if point.get("ip"):
                errors.append(required(f"{here}.ipMode", "must be specified when `ip` is set"))
        elif not point.get("ip"):
            errors.append(forbidden(f"{here}.ipMode", "may not be specified when `ip` is not set"))
        elif mode not in ("Proxy", "VIP"):
            errors.append(not_supported(f"{here}.ipMode", mode, ("Proxy", "VIP")))
        errors += _point_host(here, point)
    return errors


def ingress(new: Object, old: Object) -> Errors:
    """Errors of the status of an Ingress."""
    errors: Errors = []
    for place, point in enumerate((_status(new).get("loadBalancer") or {}).get("ingress") or ()):
        here = f"status.loadBalancer.ingress[{place}]"
        errors += _point_ip(here, point) + _point_host(here, point)
    return errors


def _point_ip(path: str, point: Object) -> Errors:
    return ip_errors(f"{path}.ip", point["ip"]) if point.get("ip") else []


def _point_host(path: str, point: Object) -> Errors:
    host = point.get("hostname")
    if not host:
        return []
    errors = check(f"{path}.hostname", host, dns_subdomain)
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return errors
    return [*errors, invalid(f"{path}.hostname", host, "must be a DNS name, not an IP address")]


def node(new: Object, old: Object) -> Errors:
    """Errors of the addresses of a Node."""
    errors: Errors = []
    seen: list[Object] = []
    for place, address in enumerate(_status(new).get("addresses") or ()):
        if address in seen:
            shown = GoStruct(Type=address.get("type", ""), Address=address.get("address", ""))
            errors.append(duplicate(f"status.addresses[{place}]", shown))
        seen.append(address)
    return errors


# -- amounts ----------------------------------------------------------------------------------------------------------


def claim(new: Object, old: Object) -> Errors:
    """Errors of the status of a PersistentVolumeClaim."""
    errors: Errors = []
    for name, value in (_status(new).get("capacity") or {}).items():
        if (whole := -(-Quantity(value).nanos // 10**9)) < 0:
            errors.append(invalid(f"status.capacity[{name}]", whole, "must be a valid resource quantity"))
    return errors


def quota(new: Object, old: Object) -> Errors:
    """Errors of the status of a ResourceQuota."""
    errors: Errors = []
    for part in ("hard", "used"):
        for name, value in sorted((_status(new).get(part) or {}).items()):
            where = f"status.{part}[{name}]"
            errors += quota_resource_name(where, name) + amount(where, name, value)
    return errors


# -- Pods -------------------------------------------------------------------------------------------------------------


def pod(new: Object, old: Object) -> Errors:
    """Errors of the status of a Pod."""
    status, before = _status(new), _status(old)
    errors: Errors = []
    for place, each in enumerate(status.get("conditions") or ()):
        where = f"status.conditions[{place}]"
        if each.get("observedGeneration", 0) < 0:
            errors.append(invalid(f"{where}.observedGeneration", each["observedGeneration"], _NOT_NEGATIVE))
        if each.get("type") not in _KNOWN_CONDITIONS:
            errors += check(f"{where}.Type", each.get("type", ""), qualified_name)
    nominated, was = status.get("nominatedNodeName", ""), before.get("nominatedNodeName", "")
    if nominated and nominated != was:
        errors += check("status.nominatedNodeName", nominated, dns_subdomain)
        if old["spec"].get("nodeName"):
            said = "may not be set on pods that are already bound to a node"
            errors.append(forbidden("status.nominatedNodeName", said))
    if status.get("observedGeneration", 0) < 0:
        errors.append(invalid("status.observedGeneration", status["observedGeneration"], _NOT_NEGATIVE))
    errors += immutable("status.qosClass", status.get("qosClass", ""), before.get("qosClass", ""))
    errors += _resurrected(status, before, old["spec"])
    return errors + _pod_ips(status)


_NOT_NEGATIVE: Final = "must be a non-negative integer"


def _resurrected(status: Object, before: Object, spec: Object) -> Errors:
    """Containers that ended for good and run again."""
    if spec.get("restartPolicy", "Always") == "Always":
        return []
    errors: Errors = []
    states = {each.get("name"): each.get("state") or {} for each in status.get("containerStatuses") or ()}
    for place, each in enumerate(before.get("containerStatuses") or ()):
        ended, name = (each.get("state") or {}).get("terminated"), each.get("name")
        if ended is None or name not in states or states[name].get("terminated") is not None:
            continue
        if spec.get("restartPolicy") == "Never" or not ended.get("exitCode"):
            said = "may not be transitioned to non-terminated state"
            errors.append(forbidden(f"status.containerStatuses[{place}].state", said))
    return errors


def _pod_ips(status: Object) -> Errors:
    first, found = status.get("podIP", ""), [each.get("ip", "") for each in status.get("podIPs") or ()]
    errors = [error for place, ip in enumerate(found) for error in ip_errors(f"status.podIPs[{place}]", ip)]
    if len(found) > 1 and (len(found) > 2 or (":" in found[0]) == (":" in found[1])):
        said = "may specify no more than one IP for each IP family"
        errors.append(invalid("status.podIPs", status["podIPs"], said))
    if bool(first) != bool(found):
        said = "podIP and podIPs must either both be set or both be unset"
        errors.append(invalid("status.podIPs", status.get("podIPs"), said))
    elif found and found[0] != first:
        errors.append(invalid("status.podIPs[0].ip", found[0], "must be equal to `podIP`"))
    return errors


# -- Jobs -------------------------------------------------------------------------------------------------------------


class _Job:
    """What the status of a Job says."""

    def __init__(self, obj: Object) -> None:
        self.spec, self.status = obj["spec"], _status(obj)
        self.conditions = {
            each.get("type") for each in self.status.get("conditions") or () if each.get("status") == "True"
        }
        self.is_complete, self.is_failed = "Complete" in self.conditions, "Failed" in self.conditions
        self.is_finished = self.is_complete or self.is_failed
        self.has_succeeded = "SuccessCriteriaMet" in self.conditions

    def get(self, name: str, absent: Any = None) -> Any:
        return self.status.get(name, absent)


def _wrong(said: str) -> FieldError:
    return invalid("status.conditions", OMITTED, said)


def job(new: Object, old: Object) -> Errors:
    """Errors of the status of a Job. What was wrong before and did not change is left alone."""
    now, was = _Job(new), _Job(old)
    errors = _counts(now.status, ("active", "succeeded", "failed", "ready", "terminating"))
    errors += _how_it_ended(now, was) + _when_it_ended(now, was) + _what_is_left(now, was)
    if now.has_succeeded:
        for name in ("Failed", "FailureTarget"):
            if name in now.conditions:
                errors.append(_wrong(f"cannot set SuccessCriteriaMet=True and {name}=true conditions"))
    for name in ("Failed", "Complete", "FailureTarget"):
        if name in was.conditions - now.conditions:
            errors.append(_wrong(f"cannot disable the terminal {name}=True condition"))
    for name in ("failed", "succeeded"):
        if now.get(name, 0) < was.get(name, 0) and not (name == "succeeded" and _may_shrink(now.spec)):
            errors.append(invalid(f"status.{name}", now.get(name, 0), f"cannot decrease the {name} counter"))
    ended, before = now.get("completionTime"), was.get("completionTime")
    if ended and before and ended != before:
        errors.append(invalid("status.completionTime", ended, "field is immutable"))
    started, before = now.get("startTime"), was.get("startTime")
    is_resuming = "Suspended" in was.conditions - now.conditions
    if before and started != before and not is_resuming and not now.spec.get("suspend"):
        errors.append(invalid("status.startTime", started, "field is immutable for unsuspended job once set"))
    if was.has_succeeded and not now.has_succeeded:
        errors.append(_wrong("cannot disable the SuccessCriteriaMet=True condition"))
    if was.is_complete and not was.has_succeeded and now.has_succeeded:
        errors.append(_wrong("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"))
    return errors


def _may_shrink(spec: Object) -> bool:
    return spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")


def _how_it_ended(now: _Job, was: _Job) -> Errors:
    errors: Errors = []
    complete_changed, failed_changed = now.is_complete != was.is_complete, now.is_failed != was.is_failed
    if now.is_complete and now.is_failed and (complete_changed or failed_changed):
        errors.append(_wrong("cannot set Complete=True and Failed=true conditions"))
    target, had_target = "FailureTarget" in now.conditions, "FailureTarget" in was.conditions
    if now.is_complete and target and (complete_changed or target != had_target):
        errors.append(_wrong("cannot set Complete=True and FailureTarget=true conditions"))
    ended, completion_changed = now.get("completionTime"), now.get("completionTime") != was.get("completionTime")
    if complete_changed or completion_changed:
        if ended and not now.is_complete:
            said = "cannot set completionTime when there is no Complete=True condition"
            errors.append(invalid("status.completionTime", ended, said))
        if not ended and now.is_complete:
            errors.append(required("status.completionTime", "completionTime is required for Complete jobs"))
    started = now.get("startTime")
    if (completion_changed or started != was.get("startTime")) and started and ended and ended < started:
        errors.append(invalid("status.completionTime", ended, "must be equal to or after `startTime`"))
    if failed_changed and now.is_failed and not target:
        errors.append(_wrong("cannot set Failed=True condition without the FailureTarget=true condition"))
    success_changed = now.has_succeeded != was.has_succeeded
    if now.is_complete and not now.has_succeeded and (complete_changed or success_changed):
        errors.append(_wrong("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"))
    return errors


def _when_it_ended(now: _Job, was: _Job) -> Errors:
    errors: Errors = []
    has_ended, active = now.is_finished != was.is_finished, now.get("active", 0)
    if now.is_finished and active > 0 and (has_ended or active != was.get("active", 0)):
        errors.append(invalid("status.active", active, "active>0 is invalid for finished job"))
    never_runs = now.spec.get("suspend") and now.spec.get("completions") == 0
    start_changed = now.get("startTime") != was.get("startTime")
    if now.is_finished and not now.get("startTime") and (has_ended or start_changed) and not never_runs:
        errors.append(required("status.startTime", "startTime is required for finished job"))
    return errors


def _what_is_left(now: _Job, was: _Job) -> Errors:
    errors: Errors = []
    has_ended = now.is_finished != was.is_finished
    uncounted = now.get("uncountedTerminatedPods") or {}
    left, changed = any(uncounted.values()), uncounted != (was.get("uncountedTerminatedPods") or {})
    if now.is_finished and left and (has_ended or changed):
        errors.append(invalid("status.uncountedTerminatedPods", uncounted, "must be empty for finished job"))
    done = now.get("completedIndexes", "")
    if done and done != was.get("completedIndexes", "") and now.spec.get("completionMode") != "Indexed":
        said = "cannot set non-empty completedIndexes when non-indexed completion mode"
        errors.append(invalid("status.completedIndexes", done, said))
    ready, active = now.get("ready"), now.get("active", 0)
    moved = ready != was.get("ready") or active != was.get("active", 0)
    if ready is not None and ready > active and moved:
        errors.append(invalid("status.ready", ready, "cannot set more ready pods than active"))
    ending = now.get("terminating")
    if now.is_finished and ending and (has_ended or ending != was.get("terminating")):
        errors.append(invalid("status.terminating", ending, "terminating>0 is invalid for finished job"))
    return errors
