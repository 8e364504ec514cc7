"""Checks of Namespaces, Nodes, quotas, limits, priorities, leases and Events."""

from __future__ import annotations

import base64
from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import FieldError, duplicate, forbidden, invalid, required
from kubewright.schema.structural.gotext import GoStruct
from kubewright.schema.structural.metarules import label_value, qualified_name
from kubewright.schema.structural.values import same

from . import statuses
from .resources import amount, container_resource_name, quota_resource_name, resource_name
from .scheduling import taint_effect
from .texts import Errors, Object, at_least_0, check, immutable, one_of, qualified_errors

__all__ = [
    "event",
    "finalized",
    "finalizers",
    "lease",
    "limit_range",
    "namespace_status",
    "node",
    "node_update",
    "priority_class",
    "priority_class_update",
    "quota",
    "quota_update",
    "signing_request",
]

_MOST_PRIORITY: Final = 1_000_000_000
_FINALIZERS: Final = ("kubernetes", "orphan", "foregroundDeletion")


# -- Namespaces and Nodes ---------------------------------------------------------------------------------------------


def finalizers(obj: Object) -> Errors:
    """Errors of `spec.finalizers` of a Namespace."""
    errors: Errors = []
    for name in obj["spec"].get("finalizers", ()):
        errors += check("spec.finalizers", name, qualified_name)
        if "/" not in name and name not in _FINALIZERS:
            said = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid("spec.finalizers", name, said))
    return errors


def finalized(new: Object, old: Object) -> Errors:
    """Errors of finalizers of a Namespace that `finalize` changed."""
    errors: Errors = []
    for place, name in enumerate(new["spec"].get("finalizers", ())):
        where = f"spec.finalizers[{place}]"
        errors += check(where, name, qualified_name)
        if "/" not in name and name not in _FINALIZERS:
            errors.append(invalid(where, name, "name is neither a standard finalizer name nor is it fully qualified"))
    return errors


def namespace_status(new: Object, old: Object) -> Errors:
    """Errors of the status of a Namespace."""
    phase = (new.get("status") or {}).get("phase", "")
    is_leaving = bool(new["metadata"].get("deletionTimestamp"))
    wanted = "Terminating" if is_leaving else "Active"
    if phase == wanted:
        return []
    state = "not empty" if is_leaving else "empty"
    return [invalid("status.Phase", phase, f"may only be '{wanted}' if `deletionTimestamp` is {state}")]


def node(obj: Object) -> Errors:
    """Errors of a Node."""
    return _taints(obj) + _node_resources(obj)


def _node_resources(obj: Object) -> Errors:
    errors: Errors = []
    for part in ("capacity", "allocatable"):
        for name, value in ((obj.get("status") or {}).get(part) or {}).items():
            errors += amount(f"status.{part}.{name}", name, value)
    return errors


def _taints(obj: Object) -> Errors:
    errors: Errors = []
    seen: set[tuple[str, str]] = set()
    for place, taint in enumerate(obj["spec"].get("taints", ())):
        # The server looks for them below metadata.
        here, key, effect = f"metadata.taints[{place}]", taint.get("key", ""), taint.get("effect", "")
        errors += check(f"{here}.key", key, qualified_name)
        if problems := label_value(taint.get("value", "")):
            errors.append(invalid(f"{here}.value", taint.get("value", ""), ";".join(problems)))
        errors += taint_effect(f"{here}.effect", effect)
        if (key, effect) in seen:
            shown = {"Key": key, "Value": taint.get("value", ""), "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            said = "taints must be unique by key and effect pair"
            errors.append(FieldError("FieldValueDuplicate", here, _go(shown), said))
        seen.add((key, effect))
    return errors


def _go(fields: dict[str, Any]) -> GoStruct:
    return GoStruct(fields)


def node_update(new: Object, old: Object) -> Errors:
    """Errors of a changed Node."""
    errors = _node_resources(new) + statuses.node(new, old) + _taints(new)
    before = old["spec"].get("podCIDRs", [])
    if before and not same(new["spec"].get("podCIDRs", []), before):
        said = 'node updates may not change podCIDR except from "" to valid'
        errors.append(forbidden("spec.podCIDRs", said))
    was, now = old["spec"].get("providerID", ""), new["spec"].get("providerID", "")
    if was and now != was:
        said = "field cannot be modified once set" if now else "field cannot be cleared once set"
        errors.append(invalid("spec.providerID", None, said))
    return errors


# -- quotas and limits ------------------------------------------------------------------------------------------------

_SCOPES: Final = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)
_POD_RESOURCES: Final = frozenset(
    {
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
    }
)


def quota(obj: Object) -> Errors:
    """Errors of a ResourceQuota."""
    spec = obj["spec"]
    errors: Errors = []
    for name, value in (spec.get("hard") or {}).items():
        here = f"spec.hard[{name}]"
        errors += [*quota_resource_name(here, name), *amount(here, name, value)]
    return errors + _quota_scopes(spec)


def _quota_scopes(spec: Object) -> Errors:
    scopes = spec.get("scopes") or []
    errors: Errors = []
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        for name in sorted(spec.get("hard") or {}):
            of_pods = name in _POD_RESOURCES
            fits = name == "pods" if scope == "BestEffort" else of_pods
            if "/" not in name and scope in _SCOPES and not fits and scope != "VolumeAttributesClass":
                errors.append(invalid("spec.scopes", scopes, "unsupported scope applied to resource"))
    for pair in (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")):
        if all(each in scopes for each in pair):
            errors.append(invalid("spec.scopes", scopes, "conflicting scopes"))
    return errors


def quota_update(new: Object, old: Object) -> Errors:
    """Errors of a changed ResourceQuota."""
    errors = quota(new)
    after, before = (each["spec"].get("scopes") or [] for each in (new, old))
    if set(after) != set(before):
        errors.append(invalid("spec.scopes", after or None, "field is immutable"))
    return errors


def limit_range(obj: Object) -> Errors:
    """Errors of a LimitRange."""
    errors: Errors = []
    kinds: set[str] = set()
    for place, limit in enumerate(obj["spec"].get("limits") or ()):
        here, kind = f"spec.limits[{place}]", limit.get("type", "")
        errors += _limit_kind(f"{here}.type", kind)
        if kind in kinds:
            errors.append(duplicate(f"{here}.type", kind))
        kinds.add(kind)
        errors += _limit_names(here, kind, limit)
        if kind == "PersistentVolumeClaim" and not any("storage" in (limit.get(each) or {}) for each in ("min", "max")):
            said = "either minimum or maximum storage value is required, but neither was provided"
            errors.append(required(f"{here}.limits", said))
        names = {name for part in _PARTS for name in limit.get(part) or {}}
        for name in sorted(names):
            errors += _limit_amounts(here, kind, limit, name)
    return errors


_PARTS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def _limit_kind(path: str, kind: str) -> Errors:
    if errors := check(path, kind, qualified_name):
        return errors
    if "/" not in kind and kind not in ("Pod", "Container", "PersistentVolumeClaim"):
        return [invalid(path, kind, "must be a standard limit type or fully qualified")]
    return []


def _limit_names(path: str, kind: str, limit: Object) -> Errors:
    errors: Errors = []
    rule = container_resource_name if kind in ("Pod", "Container") else resource_name
    for part in _PARTS:
        found = limit.get(part) or {}
        if kind == "Pod" and part in ("default", "defaultRequest"):
            if found:
                errors.append(forbidden(f"{path}.{part}", "may not be specified when `type` is 'Pod'"))
            continue
        for name in found:
            errors += rule(f"{path}.{part}[{name}]", name)
    return errors


def _limit_amounts(path: str, kind: str, limit: Object, name: str) -> Errors:
    def read(part: str) -> Quantity | None:
        if kind == "Pod" and part in ("default", "defaultRequest"):
            return None
        text = (limit.get(part) or {}).get(name)
        return None if text is None else Quantity(text)

    least, most, default, wanted, ratio = (
        read(each) for each in ("min", "max", "default", "defaultRequest", _PARTS[4])
    )
    errors: Errors = []

    def compare(
        part: str, low: Quantity | None, high: Quantity | None, low_said: str, high_said: str, shown: Any
    ) -> None:
        if low is not None and high is not None and low > high:
            said = f"{low_said} value {low} is greater than {high_said} value {high}"
            errors.append(invalid(f"{path}.{part}[{name}]", str(shown), said))

    compare("min", least, most, "min", "max", least)
    compare("defaultRequest", least, wanted, "min", "default request", wanted)
    compare("defaultRequest", wanted, most, "default request", "max", wanted)
    compare("defaultRequest", wanted, default, "default request", "default limit", wanted)
    compare("default", least, default, "min", "default", least)
    compare("default", default, most, "default", "max", most)
    if ratio is not None and ratio < 1:
        errors.append(invalid(f"{path}.maxLimitRequestRatio[{name}]", str(ratio), f"ratio {ratio} is less than 1"))
    return errors


# -- others -----------------------------------------------------------------------------------------------------------


def priority_class(obj: Object) -> Errors:
    """Errors of a PriorityClass."""
    errors: Errors = []
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    if name.startswith("system-"):
        if name not in ("system-cluster-critical", "system-node-critical"):
            said = "priority class names with 'system-' prefix are reserved for system use only. error: "
            errors.append(forbidden("metadata.name", f"{said}{name} is not a known system priority class"))
    elif value > _MOST_PRIORITY:
        said = f"maximum allowed value of a user defined priority is {_MOST_PRIORITY}"
        errors.append(forbidden("value", said))
    policy = obj.get("preemptionPolicy")
    if policy is not None:
        errors += one_of("preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))
    return errors


def priority_class_update(new: Object, old: Object) -> Errors:
    """Errors of a changed PriorityClass."""
    errors: Errors = []
    if new.get("value", 0) != old.get("value", 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    return errors + immutable("preemptionPolicy", new.get("preemptionPolicy"), old.get("preemptionPolicy"))


def signing_request(obj: Object) -> Errors:
    """Errors of a CertificateSigningRequest, as far as that it holds a request."""
    request = obj["spec"].get("request") or ""
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in base64.b64decode(request):
        return [invalid("spec.request", request, "PEM block type must be CERTIFICATE REQUEST")]
    return []


def lease(obj: Object) -> Errors:
    """Errors of a Lease."""
    spec = obj["spec"]
    errors: Errors = []
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    errors += at_least_0("spec.leaseTransitions", spec.get("leaseTransitions"))
    if spec.get("preferredHolder") and not spec.get("strategy"):
        errors.append(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
    return errors


_EVENT_LENGTHS: Final = (("reportingInstance", 128), ("action", 128), ("reason", 128))


def event(obj: Object, *, is_core: bool) -> Errors:
    """Errors of an Event, in the names of core. `is_core`: it came as a core Event, of which less is asked."""
    errors: Errors = []
    about = (obj.get("involvedObject") or {}).get("namespace", "")
    namespace = obj["metadata"].get("namespace", "")
    elsewhere = invalid("involvedObject.namespace", about, "does not match event.namespace")
    if not obj.get("eventTime"):
        if (not about and namespace not in ("", "default")) or (about and about != namespace):
            errors.append(elsewhere)
    else:
        if not about and namespace not in ("default", "kube-system"):
            errors.append(elsewhere)
        errors += _new_event(obj, "reportingComponent" if is_core else "reportingController")
    return errors if is_core else errors + _events_v1(obj)


def _new_event(obj: Object, controller: str) -> Errors:
    reporter = obj.get("reportingComponent", "")
    errors = [] if reporter else [required(controller)]
    errors += qualified_errors(controller, reporter)
    for name, most in _EVENT_LENGTHS:
        value = obj.get(name, "")
        if not value:
            errors.append(required(name))
        if len(value.encode()) > most:
            errors.append(invalid(name, "", f"can have at most {most} characters"))
    if len(obj.get("message", "").encode()) > 1024:
        errors.append(invalid("message", "", "can have at most 1024 characters"))
    return errors


def _events_v1(obj: Object) -> Errors:
    errors: Errors = []
    series = obj.get("series")
    if series is not None:
        if series.get("count", 0) < 2:
            errors.append(invalid("series.count", "", "should be at least 2"))
        if not series.get("lastObservedTime"):
            errors.append(required("series.lastObservedTime"))
    if not obj.get("eventTime"):
        errors.append(required("eventTime"))
    kind = obj.get("type", "")
    if kind not in ("Normal", "Warning"):
        errors.append(invalid("type", "", f"has invalid value: {kind}"))
    unset = ("firstTimestamp", "lastTimestamp", "count", "source")
    return errors + [invalid(name, "", "needs to be unset") for name in unset if obj.get(name)]
