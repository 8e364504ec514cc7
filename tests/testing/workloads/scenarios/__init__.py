"""What is done on both sides, a module per kind of object; all of it is in SCENARIOS once this is imported."""

from __future__ import annotations

from . import daemon_sets, deployments, jobs, limits, replica_sets, services, stateful_sets
from .registered import SCENARIOS, Scenario

__all__ = [
    "SCENARIOS",
    "Scenario",
    "daemon_sets",
    "deployments",
    "jobs",
    "limits",
    "replica_sets",
    "services",
    "stateful_sets",
]
