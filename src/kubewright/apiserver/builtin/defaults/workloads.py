"""Defaults of the kinds that make Pods, and of autoscalers (`pkg/apis/{apps,batch,autoscaling}/*/defaults.go`)."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["DEFAULTS"]

Object = dict[str, Any]

TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
NO_GENERATION: Final = "0"

_HISTORY: Final = 10
_UNLIMITED: Final = 2**31 - 1


def _deployment(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("replicas", 1)
    strategy = spec["strategy"]
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", _HISTORY)
    spec.setdefault("progressDeadlineSeconds", 600)


def _daemon_set(obj: Object) -> None:
    strategy = obj["spec"]["updateStrategy"]
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    obj["spec"].setdefault("revisionHistoryLimit", _HISTORY)
    # Every version of one has this annotation from the one that it is kept in.
    annotations = obj["metadata"].get("annotations") or {}
    obj["metadata"]["annotations"] = {TEMPLATE_GENERATION: NO_GENERATION, **annotations}


def _stateful_set(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("podManagementPolicy", "OrderedReady")
    for template in spec.get("volumeClaimTemplates", ()):
        template["apiVersion"], template["kind"] = "v1", "PersistentVolumeClaim"
    strategy = spec["updateStrategy"]
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
        strategy["rollingUpdate"].setdefault("maxUnavailable", 1)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", _HISTORY)


def _replica_set(obj: Object) -> None:
    obj["spec"].setdefault("replicas", 1)


def _job(obj: Object) -> None:
    spec = obj["spec"]
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", _UNLIMITED if "backoffLimitPerIndex" in spec else 6)
    labels = spec["template"]["metadata"].get("labels")
    if labels and not obj["metadata"].get("labels"):
        # The same labels, not a copy: those that the server adds to the template become the Job's too.
        obj["metadata"]["labels"] = labels
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)


def _cron_job(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)


def _pod_condition(pattern: Object) -> None:
    if not pattern.get("status"):
        pattern["status"] = "True"


def _autoscaler_v1(obj: Object) -> None:
    obj["spec"].setdefault("minReplicas", 1)


def _autoscaler(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    if (behavior := spec.get("behavior")) is not None:
        percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
        pods = {"type": "Pods", "value": 4, "periodSeconds": 15}
        up = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [pods, percent]}
        down = {"selectPolicy": "Max", "policies": [percent]}
        behavior["scaleUp"] = {**up, **behavior.get("scaleUp", {})}
        behavior["scaleDown"] = {**down, **behavior.get("scaleDown", {})}


DEFAULTS: Final = {
    "apps/v1.Deployment": _deployment,
    "apps/v1.DaemonSet": _daemon_set,
    "apps/v1.StatefulSet": _stateful_set,
    "apps/v1.ReplicaSet": _replica_set,
    "batch/v1.Job": _job,
    "batch/v1.CronJob": _cron_job,
    "batch/v1.PodFailurePolicyOnPodConditionsPattern": _pod_condition,
    "autoscaling/v1.HorizontalPodAutoscaler": _autoscaler_v1,
    "autoscaling/v2.HorizontalPodAutoscaler": _autoscaler,
}
