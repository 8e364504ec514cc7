"""Conditions as controllers write them."""

from __future__ import annotations

from typing import Any

__all__ = ["with_condition", "without_condition"]

Conditions = list[dict[str, Any]]


def with_condition(conditions: Conditions, condition: dict[str, Any], *, keep: bool = True) -> Conditions:
    """The conditions with another one, at the end. It stays as it is where status and reason are the same (unless
    `keep` is False), and keeps its `lastTransitionTime` where the status is.
    """
    made = dict(condition)
    for each in conditions:
        if each["type"] == made["type"]:
            if keep and each["status"] == made["status"] and each.get("reason") == made.get("reason"):
                return conditions
            if each["status"] == made["status"] and "lastTransitionTime" in each:
                made["lastTransitionTime"] = each["lastTransitionTime"]
    return [*without_condition(conditions, made["type"]), made]


def without_condition(conditions: Conditions, type_: str) -> Conditions:
    return [each for each in conditions if each["type"] != type_]
