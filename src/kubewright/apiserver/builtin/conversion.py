"""Kinds that are one thing in two versions: Events (core and events.k8s.io), autoscalers (v1 and v2).

What a version has no field for goes the way that the real server sends it: into other names for Events, into
annotations for autoscalers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .decoding import decode
from .gotypes import GoTypes

__all__ = ["CONVERTERS", "event_to_core"]

Object = dict[str, Any]

_TO_EVENTS: Final = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_TO_CORE: Final = {new: old for old, new in _TO_EVENTS.items()}
_METRICS: Final = "autoscaling.alpha.kubernetes.io/metrics"
_BEHAVIOR: Final = "autoscaling.alpha.kubernetes.io/behavior"
_CURRENT: Final = "autoscaling.alpha.kubernetes.io/current-metrics"
_CONDITIONS: Final = "autoscaling.alpha.kubernetes.io/conditions"
_CPU: Final = "targetCPUUtilizationPercentage"


class _Built:
    """A converter that asks nobody."""

    def __init__(self, types: GoTypes) -> None:
        self._types = types

    def one(self, obj: Object, api_version: str) -> Object:
        raise NotImplementedError

    def convert_now(self, obj: Object, api_version: str, *, defaults: bool = True) -> Object:
        """The object in another version."""
        if obj.get("apiVersion") == api_version:
            return obj
        made = {**self.one(obj, api_version), "apiVersion": api_version}
        return decode(made, self._types.of_kind(api_version, obj["kind"]))[0]

    def schema(self, api_version: str) -> None:
        """The schemas of built-in kinds are their components."""

    def reads_otherwise(self, api_version: str) -> bool:
        """What is stored is what is served."""
        return False

    async def convert(self, objects: Sequence[Object], api_version: str) -> list[Object]:
        """The objects in another version."""
        return [self.convert_now(each, api_version) for each in objects]


class _Events(_Built):
    def one(self, obj: Object, api_version: str) -> Object:
        names = _TO_CORE if api_version == "v1" else _TO_EVENTS
        return {names.get(name, name): value for name, value in obj.items()}


class _Autoscalers(_Built):
    def one(self, obj: Object, api_version: str) -> Object:
        return _to_v1(obj) if api_version == "autoscaling/v1" else _to_v2(obj)


def event_to_core(obj: Object) -> Object:
    """An Event of events.k8s.io with the names of core."""
    return {_TO_CORE.get(name, name): value for name, value in obj.items()}


def _is_cpu(metric: Object) -> bool:
    target = metric.get("resource", {}).get("target", {})
    return (
        metric.get("type") == "Resource"
        and metric["resource"].get("name") == "cpu"
        and target.get("averageUtilization") is not None
    )


def _to_v1(obj: Object) -> Object:
    spec, status = dict(obj["spec"]), dict(obj.get("status") or {})
    annotations = dict(obj["metadata"].get("annotations") or {})
    rest = []
    for metric in spec.pop("metrics", ()):
        if _CPU not in spec and _is_cpu(metric):
            spec[_CPU] = metric["resource"]["target"]["averageUtilization"]
        else:
            rest.append(metric)
    for name, value in ((_METRICS, rest), (_BEHAVIOR, spec.pop("behavior", None))):
        if value:
            annotations[name] = json.dumps(value, separators=(",", ":"))
    for metric in status.get("currentMetrics") or ():
        used = metric.get("resource", {}).get("current", {}).get("averageUtilization")
        if metric.get("type") == "Resource" and metric["resource"].get("name") == "cpu" and used is not None:
            status["currentCPUUtilizationPercentage"] = used
    for name, key in ((_CURRENT, "currentMetrics"), (_CONDITIONS, "conditions")):
        if value := status.pop(key, None):
            annotations[name] = json.dumps(value, separators=(",", ":"))
    return {**obj, "metadata": _annotated(obj["metadata"], annotations), "spec": spec, "status": status}


def _to_v2(obj: Object) -> Object:
    spec, status = dict(obj["spec"]), dict(obj.get("status") or {})
    annotations = dict(obj["metadata"].get("annotations") or {})
    metrics = _read(annotations, _METRICS) or []
    cpu = spec.pop(_CPU, None)
    if cpu is not None:
        target = {"type": "Utilization", "averageUtilization": cpu}
        metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}, *metrics]
    if metrics:
        spec["metrics"] = metrics
    if (behavior := _read(annotations, _BEHAVIOR)) is not None:
        spec["behavior"] = behavior
    used = status.pop("currentCPUUtilizationPercentage", None)
    current = _read(annotations, _CURRENT)
    if current is None and used is not None:
        current = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": used}}}]
    more = {"currentMetrics": current, "conditions": _read(annotations, _CONDITIONS)}
    status |= {name: value for name, value in more.items() if value is not None}
    return {**obj, "metadata": _annotated(obj["metadata"], annotations), "spec": spec, "status": status}


def _read(annotations: dict[str, str], name: str) -> Any:
    """Take an annotation; one that is no JSON says nothing."""
    text = annotations.pop(name, None)
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return None


def _annotated(meta: Object, annotations: dict[str, str]) -> Object:
    made = {name: value for name, value in meta.items() if name != "annotations"}
    return {**made, "annotations": annotations} if annotations else made


CONVERTERS: Final[Mapping[tuple[str, str], Callable[[GoTypes], _Built]]] = {
    ("", "events"): _Events,
    ("events.k8s.io", "events"): _Events,
    ("autoscaling", "horizontalpodautoscalers"): _Autoscalers,
}
