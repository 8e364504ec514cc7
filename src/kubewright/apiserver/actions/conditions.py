"""Conditions of a Pod, and the answer of an action that went well."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["SUCCESS", "with_pod_condition"]

SUCCESS: Final = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def with_pod_condition(status: dict[str, Any], condition: dict[str, Any], now: str) -> dict[str, Any]:
    """The status of a Pod with another condition; the time stays where the condition does."""
    made: list[dict[str, Any]] = []
    new = {"lastProbeTime": None, "lastTransitionTime": now, **condition}
    for old in status.get("conditions") or ():
        if old.get("type") != condition["type"]:
            made.append(old)
        elif old.get("status") == condition["status"]:
            new["lastTransitionTime"] = old.get("lastTransitionTime", now)
    return {**status, "conditions": [*made, new]}
