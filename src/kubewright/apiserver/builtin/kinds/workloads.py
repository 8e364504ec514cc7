"""Deployments, StatefulSets, DaemonSets, ReplicaSets, ReplicationControllers, Jobs, CronJobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kubewright.schema.structural.fielderrors import FieldError
from kubewright.schema.structural.metarules import dns_label
from kubewright.schema.structural.values import same

from ...strategy import Context
from ..defaults.workloads import NO_GENERATION, TEMPLATE_GENERATION
from ..rules import Rules
from ..validation import jobs, statuses, warnings, workloads
from ..validation.texts import Object

__all__ = ["RULES"]

_READY: Final = ("updatedReplicas", "readyReplicas", "availableReplicas")


def _checked(check: Callable[[Object], list[FieldError]]) -> Any:
    return lambda obj, context: check(obj)


def _checked_change(check: Callable[[Object, Object], list[FieldError]]) -> Any:
    return lambda new, old, context: check(new, old)


def _counts(*names: str) -> Any:
    return lambda new, old, context: workloads.replicas_status(new, old, names=names)


def _keep_labels(new: Object, old: Object, context: Context) -> None:
    """The status of a Deployment does not change its labels."""
    new["metadata"].pop("labels", None)
    if "labels" in old["metadata"]:
        new["metadata"]["labels"] = old["metadata"]["labels"]


def _template_generation(new: Object, old: Object, context: Context) -> None:
    """An annotation of old that DaemonSets keep for their revisions."""
    name = TEMPLATE_GENERATION
    before = int(old["metadata"].get("annotations", {}).get(name, "1"))
    changed = not same(new["spec"]["template"], old["spec"]["template"])
    new["metadata"].setdefault("annotations", {})[name] = str(before + 1 if changed else before)


def _first_template_generation(obj: Object, context: Context) -> None:
    annotations = obj["metadata"].setdefault("annotations", {})
    if annotations.get(TEMPLATE_GENERATION, NO_GENERATION) == NO_GENERATION:
        annotations[TEMPLATE_GENERATION] = "1"


def _label_job(obj: Object, context: Context) -> None:
    """A Job selects its Pods by labels that nobody else has."""
    spec, meta = obj["spec"], obj["metadata"]
    if spec.get("manualSelector"):
        return
    labels = spec["template"]["metadata"].setdefault("labels", {})
    are_shared = not meta.get("labels") or meta["labels"] is labels
    uid = meta.get("uid", "")
    for name in ("job-name", "batch.kubernetes.io/job-name"):
        labels.setdefault(name, meta.get("name", ""))
    for name in ("controller-uid", "batch.kubernetes.io/controller-uid"):
        labels.setdefault(name, uid)
    spec.setdefault("selector", {}).setdefault("matchLabels", {}).setdefault("batch.kubernetes.io/controller-uid", uid)
    if are_shared:
        meta["labels"] = dict(labels)


def _succeeded(obj: Object) -> str:
    return str((obj.get("status") or {}).get("succeeded", 0))


def _replicas(obj: Object) -> str:
    return str((obj.get("status") or {}).get("replicas", 0))


RULES: Final[dict[tuple[str, str], Rules]] = {
    ("apps/v1", "Deployment"): Rules(
        warnings=warnings.workload(names_pods=True),
        has_status=True,
        counts="spec+annotations",
        validate=_checked(workloads.deployment),
        validate_update=_checked_change(workloads.deployment_update),
        prepare_status=_keep_labels,
        validate_status=_counts(*_READY),
    ),
    ("apps/v1", "ReplicaSet"): Rules(
        warnings=warnings.workload(names_pods=True),
        has_status=True,
        counts="spec",
        validate=_checked(workloads.replica_set),
        validate_update=_checked_change(workloads.replica_set_update),
        validate_status=_counts("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    ),
    ("apps/v1", "StatefulSet"): Rules(
        warnings=warnings.stateful_set,
        name_rule=dns_label,
        has_status=True,
        counts="spec",
        validate=_checked(workloads.stateful_set),
        validate_update=_checked_change(workloads.stateful_set_update),
        validate_status=_counts("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
    ),
    ("apps/v1", "DaemonSet"): Rules(
        warnings=warnings.workload(names_pods=False),
        has_status=True,
        counts="spec",
        prepare_create=_first_template_generation,
        prepare_update=_template_generation,
        validate=_checked(workloads.daemon_set),
        validate_update=_checked_change(workloads.daemon_set_update),
        validate_status=_checked_change(statuses.daemon_set),
    ),
    ("v1", "ReplicationController"): Rules(
        warnings=warnings.workload(names_pods=True),
        has_status=True,
        counts="spec",
        propagation="Orphan",
        validate=_checked(workloads.replication_controller),
        validate_update=_checked_change(workloads.replication_controller_update),
        validate_status=_counts("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
        labels={"status.replicas": _replicas},
    ),
    ("batch/v1", "Job"): Rules(
        warnings=warnings.job,
        has_status=True,
        counts="spec",
        propagation="Orphan",
        prepare_create=_label_job,
        validate=_checked(jobs.job),
        validate_update=_checked_change(jobs.job_update),
        validate_status=_checked_change(statuses.job),
        labels={"status.successful": _succeeded},
        label_error='field label "{}" not supported for Job',
    ),
    ("batch/v1", "CronJob"): Rules(
        warnings=warnings.cron_job,
        has_status=True,
        counts="spec",
        validate=_checked(jobs.cron_job),
        validate_update=_checked_change(jobs.cron_job_update),
    ),
}
