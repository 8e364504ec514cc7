"""Pieces that cells of several kinds are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ...table.ages import human_since
from ..selectors import selector_text

__all__ = ["age", "containers", "default_mark", "labels_text", "more", "of", "selector", "since", "status_of"]

Object = dict[str, Any]


def age(obj: Object, now: datetime) -> str:
    """How old an object is."""
    return human_since(obj["metadata"].get("creationTimestamp"), now)


def since(when: Any, now: datetime) -> str:
    """How long ago something was; `<unknown>` for what never was."""
    return human_since(when, now)


def of(obj: Mapping[str, Any], *path: str, absent: Any = "") -> Any:
    """A value below an object, by the names on the way."""
    found: Any = obj
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return absent if found is None else found


def labels_text(labels: Mapping[str, str] | None) -> str:
    """Labels as text; `<none>` for none."""
    return ",".join(f"{name}={value}" for name, value in sorted((labels or {}).items())) or "<none>"


def selector(found: Object | None) -> str:
    """A LabelSelector as text; `<none>` for one that selects everything."""
    return selector_text(found or {}) or "<none>"


def containers(spec: Mapping[str, Any]) -> dict[str, str]:
    """The two wide columns of the containers of a template."""
    found = spec.get("containers") or ()
    return {
        "Containers": ",".join(each.get("name", "") for each in found),
        "Images": ",".join(each.get("image", "") for each in found),
    }


def more(items: Sequence[str], most: int, absent: str = "<unset>", *, total: int | None = None) -> str:
    """The first few of many."""
    total = len(items) if total is None else total
    shown = ",".join(items[:most])
    return f"{shown} + {total - most} more..." if total > most else shown or absent


def default_mark(obj: Object, annotation: str) -> str:
    """The name of a class, marked where it is the default one."""
    name = str(obj["metadata"].get("name", ""))
    return f"{name} (default)" if obj["metadata"].get("annotations", {}).get(annotation) == "true" else name


def status_of(conditions: Iterable[Mapping[str, Any]] | None, kind: str) -> str:
    """The status of a condition; "" where there is none."""
    for each in conditions or ():
        if each.get("type") == kind:
            return str(each.get("status", ""))
    return ""
