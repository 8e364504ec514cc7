"""Checks of HorizontalPodAutoscalers and PodDisruptionBudgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import forbidden, invalid, not_supported, required
from kubewright.schema.structural.gotext import GoStruct
from kubewright.schema.structural.metarules import path_segment

from .labels import as_shown, label_selector
from .texts import Errors, Object, at_least_0, check, int_or_percent, percent_value, quantity_at_least_0

__all__ = ["autoscaler", "autoscaler_status", "budget"]

_SOURCES: Final = ("object", "external", "pods", "resource", "containerResource")
_TYPES: Final = ("ContainerResource", "External", "Object", "Pods", "Resource")
_NO_SOURCE: Final = "must populate information for the given metric source"


def autoscaler(obj: Object) -> Errors:
    """Errors of an autoscaler, in its second version."""
    spec = obj["spec"]
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    errors: Errors = []
    if least is not None and most < least:
        said = "must be greater than or equal to `minReplicas`"
        errors.append(invalid("spec.maxReplicas", most, said))
    errors += _reference("spec.scaleTargetRef", spec.get("scaleTargetRef") or {})
    metrics = spec.get("metrics", [])
    for place, metric in enumerate(metrics):
        errors += _metric(f"spec.metrics[{place}]", metric)
    if least == 0 and not any(each.get("type") in ("Object", "External") for each in metrics):
        said = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(forbidden("spec.metrics", said))
    for name in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(name)
        if rules is not None:
            errors += _scaling_rules(f"spec.behavior.{name}", rules)
    # What the types declare is checked after what is written by hand.
    if least is not None and least < 0:
        errors.append(invalid("spec.minReplicas", least, "must be greater than or equal to 0"))
    if most == 0:
        errors.append(required("spec.maxReplicas"))
    elif most < 0:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    return errors


def _reference(path: str, reference: Object, *, needs_group: bool = True) -> Errors:
    errors: Errors = []
    for name in ("kind", "name"):
        if value := reference.get(name, ""):
            errors += check(f"{path}.{name}", value, path_segment)
        else:
            errors.append(required(f"{path}.{name}"))
    version = reference.get("apiVersion", "")
    if version.count("/") > 1:
        said = f"unexpected GroupVersion string: {version}"
        errors.append(invalid(f"{path}.apiVersion", version, said))
    elif needs_group and "/" not in version:
        errors.append(invalid(f"{path}.apiVersion", version, "apiVersion must specify API group"))
    return errors


def _metric(path: str, metric: Object) -> Errors:
    errors: Errors = []
    kind = metric.get("type", "")
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric source type"))
    if kind not in _TYPES:
        errors.append(not_supported(f"{path}.type", kind, _TYPES))
    found = [name for name in _SOURCES if name in metric]
    if found:
        errors += _SOURCE_RULES[found[0]](f"{path}.{found[0]}", metric[found[0]])
    expected = kind[:1].lower() + kind[1:]
    if kind in _TYPES:
        if expected not in metric:
            errors.append(required(f"{path}.{expected}", _NO_SOURCE))
    else:
        errors.append(not_supported(f"{path}.type", kind, _TYPES))
    if len(found) != 1:
        said = "must populate the given metric source only"
        errors += [forbidden(f"{path}.{name}", said) for name in found if name != expected]
    return errors


def _identifier(path: str, metric: Object) -> Errors:
    name = metric.get("name", "")
    return (
        check(f"{path}.name", name, path_segment) if name else [required(f"{path}.name", "must specify a metric name")]
    )


def _target(path: str, target: Object) -> Errors:
    errors: Errors = []
    kind = target.get("type", "")
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric target type"))
    if kind not in ("Utilization", "Value", "AverageValue"):
        errors.append(invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue"))
    for name in ("value", "averageValue"):
        if (amount := target.get(name)) is not None and Quantity(amount) <= 0:
            errors.append(invalid(f"{path}.{name}", amount, "must be positive"))
    used = target.get("averageUtilization")
    if used is not None and used < 1:
        errors.append(invalid(f"{path}.averageUtilization", used, "must be greater than 0"))
    return errors


def _resource(path: str, source: Object, *, of_container: bool = False) -> Errors:
    errors: Errors = []
    if not source.get("name"):
        errors.append(required(f"{path}.name", "must specify a resource name"))
    if of_container and not source.get("container"):
        errors.append(required(f"{path}.container", "must specify a container"))
    target = source.get("target") or {}
    errors += _target(f"{path}.target", target)
    has_use, has_value = target.get("averageUtilization") is not None, target.get("averageValue") is not None
    if not has_use and not has_value:
        said = "must set either a target raw value or a target utilization"
        errors.append(required(f"{path}.target.averageUtilization", said))
    if has_use and has_value:
        said = "may not set both a target raw value and a target utilization"
        errors.append(forbidden(f"{path}.target.averageValue", said))
    return errors


def _container_resource(path: str, source: Object) -> Errors:
    return _resource(path, source, of_container=True)


def _pods(path: str, source: Object) -> Errors:
    target = source.get("target") or {}
    errors = _identifier(f"{path}.metric", source.get("metric") or {}) + _target(f"{path}.target", target)
    average = target.get("averageValue")
    if average is None or Quantity(average) <= 0:
        said = "must specify a positive target averageValue"
        errors.append(required(f"{path}.target.averageValue", said))
    return errors


def _object(path: str, source: Object) -> Errors:
    target = source.get("target") or {}
    described = _reference(f"{path}.describedObject", source.get("describedObject") or {}, needs_group=False)
    errors = [*described, *_identifier(f"{path}.metric", source.get("metric") or {})]
    errors += _target(f"{path}.target", target)
    if target.get("value") is None and target.get("averageValue") is None:
        errors.append(required(f"{path}.target.averageValue", "must set either a target value or averageValue"))
    return errors


def _external(path: str, source: Object) -> Errors:
    target = source.get("target") or {}
    errors = _identifier(f"{path}.metric", source.get("metric") or {}) + _target(f"{path}.target", target)
    value, average = target.get("value"), target.get("averageValue")
    if value is None and average is None:
        said = "must set either a target value for metric or a per-pod target"
        errors.append(required(f"{path}.target.averageValue", said))
    if value is not None and average is not None:
        said = "may not set both a target value for metric and a per-pod target"
        errors.append(forbidden(f"{path}.target.value", said))
    return errors


_SOURCE_RULES: Final[dict[str, Callable[[str, Object], Errors]]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}


def _scaling_rules(path: str, rules: Object) -> Errors:
    errors: Errors = []
    window, where = rules.get("stabilizationWindowSeconds"), f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        errors.append(invalid(where, window, "must be greater than or equal to zero"))
    if window is not None and window > 3600:
        errors.append(invalid(where, window, "must be less than or equal to 3600"))
    chosen = rules.get("selectPolicy")
    if chosen is not None and chosen not in ("Disabled", "Max", "Min"):
        errors.append(not_supported(f"{path}.selectPolicy", chosen, ("Disabled", "Max", "Min")))
    policies = rules.get("policies") or []
    if not policies:
        errors.append(required(f"{path}.policies", "must specify at least one Policy"))
    for place, policy in enumerate(policies):
        here = f"{path}.policies[{place}]"
        if policy.get("type") not in ("Percent", "Pods"):
            errors.append(not_supported(f"{here}.type", policy.get("type", ""), ("Percent", "Pods")))
        for name in ("value", "periodSeconds"):
            number = policy.get(name, 0)
            if number <= 0:
                errors.append(invalid(f"{here}.{name}", number, "must be greater than zero"))
            elif name == "periodSeconds" and number > 1800:
                errors.append(invalid(f"{here}.{name}", number, "must be less than or equal to 1800"))
    if (tolerance := rules.get("tolerance")) is not None:
        errors += quantity_at_least_0(f"{path}.tolerance", tolerance)
    return errors


def autoscaler_status(new: Object, old: Object) -> Errors:
    """Errors of the status of an autoscaler."""
    status = new.get("status") or {}
    errors: Errors = []
    for name in ("currentReplicas", "desiredReplicas"):
        errors += at_least_0(f"status.{name}", status.get(name))
    return errors


def budget(obj: Object) -> Errors:
    """Errors of a PodDisruptionBudget."""
    spec = obj["spec"]
    errors: Errors = []
    both = [name for name in ("minAvailable", "maxUnavailable") if spec.get(name) is not None]
    if len(both) == 2:
        errors.append(invalid("spec", _shown(spec), "minAvailable and maxUnavailable cannot be both set"))
    for name in both:
        errors += int_or_percent(f"spec.{name}", spec[name])
        if (percent_value(spec[name]) or 0) > 100:
            errors.append(invalid(f"spec.{name}", spec[name], "must not be greater than 100%"))
    errors += label_selector("spec.selector", spec.get("selector"))
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in ("AlwaysAllow", "IfHealthyBudget"):
        known = ("AlwaysAllow", "IfHealthyBudget")
        errors.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, known))
    return errors


def _shown(spec: Object) -> GoStruct:
    made: dict[str, Any] = {
        "MinAvailable": spec.get("minAvailable"),
        "Selector": as_shown(spec.get("selector")),
        "MaxUnavailable": spec.get("maxUnavailable"),
        "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
    }
    return GoStruct(made)
