"""What a list or a watch with selectors is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubewright.model.fieldselector import FieldSelector
from kubewright.model.selector import Selector

__all__ = ["selects", "shown_as"]


def selects(query: Mapping[str, str], obj: dict[str, Any] | None) -> bool:
    """Whether an object is one of those that a request asks for."""
    if obj is None:
        return False
    labels, fields = query.get("labelSelector"), query.get("fieldSelector")
    if labels and not Selector.parse(labels).matches(obj["metadata"].get("labels") or {}):
        return False
    if not fields:
        return True
    wanted = FieldSelector.parse(fields)
    return wanted.matches({each.field: _field(obj, each.field) for each in wanted.requirements})


def shown_as(query: Mapping[str, str], kind: str, new: dict[str, Any], old: dict[str, Any] | None) -> str | None:
    """The event that a watch is sent for a change; None for none. What leaves a selection is DELETED from it."""
    if kind == "DELETED":
        return "DELETED" if selects(query, old) else None
    is_in, was_in = selects(query, new), selects(query, old)
    if is_in:
        return "MODIFIED" if was_in else "ADDED"
    return "DELETED" if was_in else None


def _field(obj: Any, path: str) -> str:
    for name in path.split("."):
        obj = obj.get(name) if isinstance(obj, dict) else None
    return "" if obj is None else str(obj)
