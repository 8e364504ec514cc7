"""Whether a node is one for a Pod: taints, selectors and affinities. Values in, values out.

Rules: `k8s.io/component-helpers/scheduling/corev1`, `kubernetes/pkg/scheduler/framework/plugins`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from .kinds import Obj
from .owners import labels_of

__all__ = ["fits_selectors", "tolerates", "untolerated"]

_HARD: Final = ("NoSchedule", "NoExecute")


def tolerates(toleration: dict[str, Any], taint: dict[str, Any]) -> bool:
    """Whether a toleration is for a taint."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def untolerated(
    tolerations: Sequence[dict[str, Any]], node: Obj, effects: Iterable[str] = _HARD
) -> dict[str, Any] | None:
    """The first taint of a node, of these effects, that is not tolerated."""
    for taint in node["spec"].get("taints") or ():
        if taint["effect"] in effects and not any(tolerates(each, taint) for each in tolerations):
            found: dict[str, Any] = taint
            return found
    return None


def fits_selectors(spec: Obj, node: Obj) -> bool:
    """Whether a node has the labels that a Pod's selector and required node affinity ask for."""
    labels = labels_of(node)
    if not (spec.get("nodeSelector") or {}).items() <= labels.items():
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_fits_term(term, labels, node["metadata"]["name"]) for term in required.get("nodeSelectorTerms") or ())


def _fits_term(term: dict[str, Any], labels: dict[str, str], name: str) -> bool:
    wanted = term.get("matchExpressions") or ()
    fields = term.get("matchFields") or ()
    if not wanted and not fields:
        return False
    return all(_matches(each, labels) for each in wanted) and all(
        _matches(each, {"metadata.name": name}) for each in fields
    )


def _matches(requirement: dict[str, Any], labels: dict[str, str]) -> bool:
    operator, values = requirement["operator"], requirement.get("values") or []
    value = labels.get(requirement["key"])
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    if operator == "NotIn":
        return value is None or value not in values
    if value is None:
        return False
    if operator == "In":
        return value in values
    try:
        return int(value) > int(values[0]) if operator == "Gt" else int(value) < int(values[0])
    except ValueError:
        return False
