"""Events and autoscalers are one thing in two versions."""

from __future__ import annotations

from typing import Any

import pytest
from differential import CATALOG, decoded

Object = dict[str, Any]

OLD_EVENT: Object = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "e", "namespace": "n"},
    "involvedObject": {"kind": "Pod", "name": "p"},
    "message": "m",
    "reason": "R",
    "type": "Normal",
    "count": 3,
    "firstTimestamp": "2026-01-01T00:00:00Z",
    "lastTimestamp": "2026-01-01T00:00:00Z",
    "source": {"component": "c"},
    "reportingComponent": "r",
}
OLD_AUTOSCALER: Object = {
    "apiVersion": "autoscaling/v1",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "h", "namespace": "n"},
    "spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": 50, "scaleTargetRef": {"kind": "D", "name": "d"}},
}


def _converted(obj: Object, api_version: str) -> Object:
    kind = CATALOG.of_kind(obj["apiVersion"], obj["kind"])
    assert kind is not None
    assert kind.converter is not None
    made: Object = kind.converter.convert_now(obj, api_version)  # type: ignore[attr-defined]
    return made


def test_an_event_has_other_names_in_its_other_version() -> None:
    made = _converted(decoded(OLD_EVENT), "events.k8s.io/v1")
    assert made["regarding"] == {"kind": "Pod", "name": "p"}
    assert (made["note"], made["deprecatedCount"], made["reportingController"]) == ("m", 3, "r")
    assert made["deprecatedSource"] == {"component": "c"}
    assert "involvedObject" not in made


def test_the_target_of_an_old_autoscaler_is_a_metric_of_the_new_one() -> None:
    made = _converted(decoded(OLD_AUTOSCALER), "autoscaling/v2")
    target = {"type": "Utilization", "averageUtilization": 50}
    assert made["spec"]["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    assert "targetCPUUtilizationPercentage" not in made["spec"]


def test_what_the_old_version_has_no_field_for_is_an_annotation() -> None:
    new = _converted(decoded(OLD_AUTOSCALER), "autoscaling/v2")
    memory = {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 70}}
    new["spec"]["metrics"].append({"type": "Resource", "resource": memory})
    old = _converted(new, "autoscaling/v1")
    assert old["spec"]["targetCPUUtilizationPercentage"] == 50
    assert "autoscaling.alpha.kubernetes.io/metrics" in old["metadata"]["annotations"]
    assert _converted(old, "autoscaling/v2")["spec"]["metrics"] == new["spec"]["metrics"]


@pytest.mark.parametrize(("obj", "there"), [(OLD_EVENT, "events.k8s.io/v1"), (OLD_AUTOSCALER, "autoscaling/v2")])
def test_there_and_back_is_the_same(obj: Object, there: str) -> None:
    before = decoded(obj)
    assert _converted(_converted(before, there), obj["apiVersion"]) == before
