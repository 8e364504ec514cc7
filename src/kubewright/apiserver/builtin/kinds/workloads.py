"""Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs, CronJobs, autoscalers, disruption budgets."""

from __future__ import annotations

from typing import Final

from ..rules import Rules

__all__ = ["RULES"]

RULES: Final[dict[tuple[str, str], Rules]] = {
    ("apps/v1", "Deployment"): Rules(has_status=True, counts="spec+annotations"),
    ("apps/v1", "StatefulSet"): Rules(has_status=True, counts="spec"),
    ("apps/v1", "DaemonSet"): Rules(has_status=True, counts="spec"),
    ("apps/v1", "ReplicaSet"): Rules(has_status=True, counts="spec"),
}
