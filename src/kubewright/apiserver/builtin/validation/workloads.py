"""Checks of Deployments, ReplicaSets, StatefulSets, DaemonSets and ReplicationControllers."""

from __future__ import annotations

from typing import Any, Final

from kubewright.schema.structural.fielderrors import forbidden, invalid, not_supported, required
from kubewright.schema.structural.gotext import GoStruct
from kubewright.schema.structural.values import copied

from ..selectors import matches
from .claims import claim_spec
from .labels import as_shown, is_valid_selector, label_selector
from .pods import pod_template
from .texts import (
    Errors,
    Object,
    at_least_0,
    dns_label_errors,
    immutable,
    int_or_percent,
    percent_value,
)

__all__ = [
    "daemon_set",
    "daemon_set_update",
    "deployment",
    "deployment_update",
    "replica_set",
    "replica_set_update",
    "replicas_status",
    "replication_controller",
    "replication_controller_update",
    "stateful_set",
    "stateful_set_update",
]

_NO_MATCH: Final = "`selector` does not match template `labels`"


def _selector(spec: Object, kind: str) -> Errors:
    """Errors of `spec.selector`."""
    selector = spec.get("selector")
    if selector is None:
        return [required("spec.selector")]
    errors = label_selector("spec.selector", selector)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid("spec.selector", as_shown(selector), f"empty selector is invalid for {kind}"))
    return errors


def _same_selector(new: Object, old: Object) -> Errors:
    after, before = (as_shown(each["spec"].get("selector")) for each in (new, old))
    return immutable("spec.selector", after, before)


def _matching(spec: Object, template: Object) -> Errors:
    """Errors of a template whose labels the selector does not select. No selector selects nothing."""
    selector = spec.get("selector")
    found = template["metadata"].get("labels")
    if selector != {} and not matches(selector, found or {}):
        return [invalid("spec.template.metadata.labels", found, _NO_MATCH)]
    return []


def _restart_always(template: Object, kind: str) -> Errors:
    spec = template["spec"]
    errors: Errors = []
    if (policy := spec.get("restartPolicy", "")) != "Always":
        errors.append(not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        said = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden("spec.template.spec.activeDeadlineSeconds", said))
    return errors


def _of_replicas(spec: Object) -> Errors:
    """Errors of the template of a ReplicaSet or Deployment."""
    if not is_valid_selector(spec.get("selector")):
        return [invalid("spec.selector", as_shown(spec["selector"]), "invalid label selector")]
    template = spec["template"]
    errors = _matching(spec, template) + pod_template("spec.template", template)
    return errors + _restart_always(template, "ReplicaSet")


# -- Deployments ------------------------------------------------------------------------------------------------------


def deployment(obj: Object) -> Errors:
    """Errors of a Deployment."""
    spec = obj["spec"]
    errors = at_least_0("spec.replicas", spec.get("replicas"))
    errors += _selector(spec, "deployment") + _of_replicas(spec)
    errors += _deployment_strategy("spec.strategy", spec["strategy"])
    for name in ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"):
        errors += at_least_0(f"spec.{name}", spec.get(name))
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
        errors.append(invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return errors


def _deployment_strategy(path: str, strategy: Object) -> Errors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        said = "may not be specified when strategy `type` is 'Recreate'"
        return [forbidden(f"{path}.rollingUpdate", said)] if rolling is not None else []
    if kind != "RollingUpdate":
        shown = GoStruct(Type=kind, RollingUpdate=rolling)
        return [not_supported(path, shown, ("Recreate", "RollingUpdate"))]
    return _rolling(f"{path}.rollingUpdate", rolling or {})


def _rolling(path: str, rolling: Object) -> Errors:
    gone, more = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    errors = int_or_percent(f"{path}.maxUnavailable", gone) + int_or_percent(f"{path}.maxSurge", more)
    if _number(gone) == 0 and _number(more) == 0:
        errors.append(invalid(f"{path}.maxUnavailable", gone, "may not be 0 when `maxSurge` is 0"))
    return errors + _at_most_all(f"{path}.maxUnavailable", gone)


def _number(value: int | str) -> int:
    if isinstance(value, int):
        return value
    percent = percent_value(value)
    if percent is not None:
        return percent
    return int(value) if value.lstrip("-").isdecimal() else 0


def _at_most_all(path: str, value: int | str) -> Errors:
    return [invalid(path, value, "must not be greater than 100%")] if (percent_value(value) or 0) > 100 else []


def deployment_update(new: Object, old: Object) -> Errors:
    """Errors of a changed Deployment."""
    return deployment(new) + _same_selector(new, old)


def replicas_status(new: Object, old: Object, *, names: tuple[str, ...]) -> Errors:
    """Errors of the counts in a status: none negative, none of `names` above `replicas`."""
    status = new.get("status") or {}
    errors: Errors = []
    counted = ("observedGeneration", "replicas", *names, "unavailableReplicas", "terminatingReplicas", "collisionCount")
    for name in counted:
        errors += at_least_0(f"status.{name}", status.get(name))
    most, ready = status.get("replicas", 0), status.get("readyReplicas", 0)
    for name in names:
        if status.get(name, 0) > most:
            errors.append(invalid(f"status.{name}", status.get(name, 0), "cannot be greater than status.replicas"))
    if status.get("availableReplicas", 0) > ready:
        said = "cannot be greater than readyReplicas"
        errors.append(invalid("status.availableReplicas", status.get("availableReplicas", 0), said))
    before = (old.get("status") or {}).get("collisionCount")
    if before is not None and status.get("collisionCount", 0) < before:
        errors.append(invalid("status.collisionCount", status.get("collisionCount", 0), "cannot be decremented"))
    return errors


# -- ReplicaSets, ReplicationControllers ------------------------------------------------------------------------------


def replica_set(obj: Object) -> Errors:
    """Errors of a ReplicaSet."""
    spec = obj["spec"]
    errors = at_least_0("spec.replicas", spec.get("replicas"))
    errors += at_least_0("spec.minReadySeconds", spec.get("minReadySeconds"))
    return errors + _selector(spec, "deployment") + _of_replicas(spec)


def replica_set_update(new: Object, old: Object) -> Errors:
    """Errors of a changed ReplicaSet."""
    return replica_set(new) + _same_selector(new, old)


def replication_controller(obj: Object) -> Errors:
    """Errors of a ReplicationController."""
    spec = obj["spec"]
    errors: Errors = []
    if not spec.get("selector"):
        errors.append(required("spec.selector"))
    template = spec.get("template")
    if template is None:
        errors.append(required("spec.template"))
    else:
        if not matches({"matchLabels": spec.get("selector") or {}}, template["metadata"].get("labels", {})):
            found = template["metadata"].get("labels")
            errors.append(invalid("spec.template.metadata.labels", found, _NO_MATCH))
        errors += pod_template("spec.template", template) + _restart_always(template, "ReplicationController")
    for name in ("replicas", "minReadySeconds"):
        errors += at_least_0(f"spec.{name}", spec.get(name))
    return errors


def replication_controller_update(new: Object, old: Object) -> Errors:
    """Errors of a changed ReplicationController."""
    return replication_controller(new)


# -- StatefulSets -----------------------------------------------------------------------------------------------------


def stateful_set(obj: Object, *, is_update: bool = False) -> Errors:
    """Errors of a StatefulSet."""
    spec = obj["spec"]
    errors = _pod_management(spec.get("podManagementPolicy", ""))
    errors += _stateful_strategy("spec.updateStrategy", spec["updateStrategy"])
    for name, value in (spec.get("persistentVolumeClaimRetentionPolicy") or {}).items():
        if value not in ("Retain", "Delete"):
            where = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
            errors.append(not_supported(where, value, ("Retain", "Delete")))
    if not is_update:
        for place, each in enumerate(spec.get("volumeClaimTemplates", ())):
            errors += claim_spec(f"spec.volumeClaimTemplates[{place}].spec", each["spec"])
    errors += at_least_0("spec.replicas", spec.get("replicas"))
    errors += at_least_0("spec.minReadySeconds", spec.get("minReadySeconds"))
    errors += at_least_0("spec.ordinals.start", (spec.get("ordinals") or {}).get("start"))
    if not is_update and spec.get("serviceName"):
        errors += dns_label_errors("spec.serviceName", spec["serviceName"])
    errors += _selector(spec, "statefulset")
    if not is_valid_selector(spec.get("selector")):
        errors.append(invalid("spec.selector", as_shown(spec["selector"]), ""))
    else:
        errors += _stateful_template(spec)
    template = spec["template"]["spec"]
    if (policy := template.get("restartPolicy", "")) != "Always":
        errors.append(not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))
    if template.get("activeDeadlineSeconds") is not None:
        said = "activeDeadlineSeconds in StatefulSet is not Supported"
        errors.append(forbidden("spec.template.spec.activeDeadlineSeconds", said))
    return errors


def _pod_management(policy: str) -> Errors:
    if not policy:
        return [required("spec.podManagementPolicy")]
    if policy in ("OrderedReady", "Parallel"):
        return []
    return [invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")]


def _stateful_strategy(path: str, strategy: Object) -> Errors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        if rolling is None:
            return []
        shown = GoStruct(Partition=rolling.get("partition", 0), MaxUnavailable=rolling.get("maxUnavailable"))
        return [invalid(f"{path}.rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")]
    if kind != "RollingUpdate":
        shown = GoStruct(Type=kind, RollingUpdate=rolling)
        return [invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")]
    if rolling is None:
        return []
    here = f"{path}.rollingUpdate"
    errors = at_least_0(f"{here}.partition", rolling.get("partition"))
    if (gone := rolling.get("maxUnavailable")) is not None:
        errors += int_or_percent(f"{here}.maxUnavailable", gone)
        if _number(gone) == 0:
            errors.append(invalid(f"{here}.maxUnavailable", gone, "cannot be 0"))
        errors += _at_most_all(f"{here}.maxUnavailable", gone)
    return errors


def _stateful_template(spec: Object) -> Errors:
    template = copied(spec["template"])
    for name in ("hostname", "subdomain"):
        template["spec"].pop(name, None)
    claims = {each["metadata"].get("name", "") for each in spec.get("volumeClaimTemplates", ())}
    if claims:
        others = [each for each in template["spec"].get("volumes", ()) if each.get("name") not in claims]
        made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in sorted(claims)]
        template["spec"]["volumes"] = [*made, *others]
    return _matching(spec, template) + pod_template("spec.template", template)


_FIXED: Final = ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy")


def stateful_set_update(new: Object, old: Object) -> Errors:
    """Errors of a changed StatefulSet."""
    errors = stateful_set(new, is_update=True)
    empty: dict[str, Any] = {"serviceName": "", "podManagementPolicy": ""}
    for name in _FIXED:
        after, before = (each["spec"].get(name, empty.get(name)) for each in (new, old))
        if name == "selector":
            errors += _same_selector(new, old)
        else:
            errors += immutable(f"spec.{name}", after, before)
    return errors


# -- DaemonSets -------------------------------------------------------------------------------------------------------


def daemon_set(obj: Object) -> Errors:
    """Errors of a DaemonSet."""
    spec = obj["spec"]
    selector, template = spec.get("selector"), spec["template"]
    errors = label_selector("spec.selector", selector)
    if is_valid_selector(selector):
        errors += _matching(spec, template)
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid("spec.selector", as_shown(selector), "empty selector is invalid for daemonset"))
    errors += pod_template("spec.template", template)
    errors += _restart_always(template, "DaemonSet")
    errors += at_least_0("spec.minReadySeconds", spec.get("minReadySeconds"))
    errors += _daemon_strategy("spec.updateStrategy", spec["updateStrategy"])
    return errors + at_least_0("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))


def _daemon_strategy(path: str, strategy: Object) -> Errors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        shown = GoStruct(Type=kind, RollingUpdate=rolling)
        return [not_supported(path, shown, ("RollingUpdate", "OnDelete"))]
    here = f"{path}.rollingUpdate"
    gone, more = (rolling or {}).get("maxUnavailable", 0), (rolling or {}).get("maxSurge", 0)
    both = (("maxUnavailable", gone), ("maxSurge", more))
    errors = [each for name, value in both for each in int_or_percent(f"{here}.{name}", value)]
    errors += [each for name, value in both for each in _at_most_all(f"{here}.{name}", value)]
    has_gone, has_more = _number(gone) != 0, _number(more) != 0
    if has_gone and has_more:
        errors.append(invalid(f"{here}.maxSurge", more, "may not be set when maxUnavailable is non-zero"))
    elif not has_gone and not has_more:
        errors.append(required(f"{here}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return errors


def daemon_set_update(new: Object, old: Object) -> Errors:
    """Errors of a changed DaemonSet."""
    return _same_selector(new, old) + daemon_set(new)
