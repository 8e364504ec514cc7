"""The cells of the kinds that make Pods, of autoscalers and of disruption budgets."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from ..selectors import selector_text
from .parts import containers, labels_text, of, selector

__all__ = ["ROWS"]

Object = dict[str, Any]


def _template(obj: Object) -> dict[str, Any]:
    return containers(of(obj, "spec", "template", "spec", absent={}))


def _status(obj: Object, name: str) -> int:
    return int(of(obj, "status", name, absent=0))


def _deployment(obj: Object, now: datetime) -> dict[str, Any]:
    return {
        "Ready": f"{_status(obj, 'readyReplicas')}/{obj['spec'].get('replicas', 0)}",
        "Up-to-date": _status(obj, "updatedReplicas"),
        "Available": _status(obj, "availableReplicas"),
        "Selector": selector_text(obj["spec"].get("selector") or {}),
        **_template(obj),
    }


def _replicas(shown: Callable[[Any], str]) -> Callable[[Object, datetime], dict[str, Any]]:
    def row(obj: Object, now: datetime) -> dict[str, Any]:
        return {
            "Desired": obj["spec"].get("replicas", 0),
            "Current": _status(obj, "replicas"),
            "Ready": _status(obj, "readyReplicas"),
            "Selector": shown(obj["spec"].get("selector")),
            **_template(obj),
        }

    return row


def _stateful_set(obj: Object, now: datetime) -> dict[str, Any]:
    return {"Ready": f"{_status(obj, 'readyReplicas')}/{obj['spec'].get('replicas', 0)}", **_template(obj)}


def _daemon_set(obj: Object, now: datetime) -> dict[str, Any]:
    return {
        "Desired": _status(obj, "desiredNumberScheduled"),
        "Current": _status(obj, "currentNumberScheduled"),
        "Ready": _status(obj, "numberReady"),
        "Up-to-date": _status(obj, "updatedNumberScheduled"),
        "Available": _status(obj, "numberAvailable"),
        "Node Selector": labels_text(of(obj, "spec", "template", "spec", "nodeSelector", absent={})),
        "Selector": selector(obj["spec"].get("selector")),
        **_template(obj),
    }


def _revision(obj: Object, now: datetime) -> dict[str, Any]:
    owner = next((each for each in obj["metadata"].get("ownerReferences", ()) if each.get("controller")), None)
    shown = "<none>"
    if owner is not None:
        group = owner["apiVersion"].rpartition("/")[0]
        kind = f"{owner['kind']}.{group}" if group else owner["kind"]
        shown = f"{kind.lower()}/{owner['name']}"
    return {"Controller": shown, "Revision": obj.get("revision", 0)}


def _budget(obj: Object, now: datetime) -> dict[str, Any]:
    spec = obj["spec"]
    return {
        "Min Available": str(spec.get("minAvailable", "N/A")),
        "Max Unavailable": str(spec.get("maxUnavailable", "N/A")),
        "Allowed Disruptions": _status(obj, "disruptionsAllowed"),
    }


# -- autoscalers ------------------------------------------------------------------------------------------------------


def _autoscaler(obj: Object, now: datetime) -> dict[str, Any]:
    spec = obj["spec"]
    target = spec.get("scaleTargetRef") or {}
    shown = [_metric(place, each, of(obj, "status", "currentMetrics", absent=[])) for place, each in _metrics(spec)]
    targets = ", ".join(shown[:2]) or "<none>"
    return {
        "Reference": f"{target.get('kind', '')}/{target.get('name', '')}",
        "Targets": f"{targets} + {len(shown) - 2} more..." if len(shown) > 2 else targets,
        "MinPods": str(spec.get("minReplicas", "<unset>")),
        "MaxPods": spec.get("maxReplicas", 0),
        "Replicas": _status(obj, "currentReplicas"),
    }


def _metrics(spec: Object) -> list[tuple[int, Object]]:
    return list(enumerate(spec.get("metrics") or ()))


def _metric(place: int, metric: Object, statuses: list[Object]) -> str:
    kind = metric.get("type", "")
    name = kind[:1].lower() + kind[1:]
    source = metric.get(name) or {}
    target = source.get("target") or {}
    current = of(statuses[place], name, "current", absent=None) if place < len(statuses) else None
    if kind in ("Resource", "ContainerResource"):
        return f"{source.get('name', '')}: {_resource(target, current)}"
    if kind == "Pods":
        return f"{_amount(current, 'averageValue')}/{target.get('averageValue', '0')}"
    if kind in ("External", "Object"):
        if target.get("averageValue") is not None:
            return f"{_amount(current, 'averageValue')}/{target['averageValue']} (avg)"
        return f"{_amount(current, 'value')}/{target.get('value', '0')}"
    return "<unknown type>"


def _resource(target: Object, current: Object | None) -> str:
    if target.get("averageValue") is not None:
        return f"{_amount(current, 'averageValue')}/{target['averageValue']}"
    used = (current or {}).get("averageUtilization")
    wanted = target.get("averageUtilization")
    return f"{'<unknown>' if used is None else f'{used}%'}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _amount(current: Object | None, name: str) -> str:
    return "<unknown>" if current is None else str(current.get(name, "0"))


def _old_autoscaler(obj: Object, now: datetime) -> dict[str, Any]:
    spec = obj["spec"]
    wanted = spec.get("targetCPUUtilizationPercentage")
    made: Object = {"spec": dict(spec), "status": {**(obj.get("status") or {})}}
    if wanted is not None:
        target = {"type": "Utilization", "averageUtilization": wanted}
        made["spec"]["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
        used = made["status"].get("currentCPUUtilizationPercentage")
        if used is not None:
            current = {"averageUtilization": used}
            made["status"]["currentMetrics"] = [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
    return _autoscaler(made, now)


ROWS: Final = {
    ("apps/v1", "Deployment"): _deployment,
    ("apps/v1", "ReplicaSet"): _replicas(selector),
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("apps/v1", "DaemonSet"): _daemon_set,
    ("apps/v1", "ControllerRevision"): _revision,
    ("v1", "ReplicationController"): _replicas(labels_text),
    ("policy/v1", "PodDisruptionBudget"): _budget,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): _autoscaler,
    ("autoscaling/v1", "HorizontalPodAutoscaler"): _old_autoscaler,
}
