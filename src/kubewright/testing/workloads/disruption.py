"""The status of PodDisruptionBudgets, by which the API server decides on evictions.

Rules: `kubernetes/pkg/controller/disruption`. Pods of a controller that is a custom resource are counted by themselves:
its scale is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kubewright.model.intorstring import resolve_percent
from kubewright.model.times import format_time

from .api import Api
from .engine import Engine
from .kinds import (
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    Kind,
    Obj,
    Ref,
    ref_of,
)
from .owners import controller_of, labels_of, selector_of
from .podstates import condition_of, is_ready, seconds_since

__all__ = ["DisruptionBudgets"]

_DELETION_SECONDS: Final = 120.0
"""An eviction that has not deleted its Pod by then has not happened."""
_SCALED: Final = {each.kind: each for each in (REPLICA_SETS, REPLICATION_CONTROLLERS, DEPLOYMENTS, STATEFUL_SETS)}


class DisruptionBudgets:
    """The disruption controller."""

    name: str = DISRUPTION_BUDGETS.plural

    def __init__(self, engine: Engine, api: Api) -> None:
        self._engine, self._api, self._view = engine, api, engine.view

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == DISRUPTION_BUDGETS:
            yield ref_of(new or old or {})
        elif kind == PODS:
            pods = [each for each in (old, new) if each is not None]
            for each in self._view.within(DISRUPTION_BUDGETS, pods[0]["metadata"]["namespace"]):
                if any(_selects(each, pod) for pod in pods):
                    yield ref_of(each)
        elif kind in _SCALED.values() and _is_scaled(old, new):
            for each in self._view.within(DISRUPTION_BUDGETS, (new or old or {})["metadata"]["namespace"]):
                yield ref_of(each)

    async def sync(self, ref: Ref) -> None:
        budget = self._view.get(DISRUPTION_BUDGETS, *ref)
        if budget is None:
            return
        now = self._engine.clock()
        pods = [each for each in self._view.within(PODS, ref.namespace) if _selects(budget, each)]
        expected, desired = self._expected(budget["spec"], pods)
        old: dict[str, Any] = budget.get("status") or {}
        disrupted, left = {}, []
        for name, at in (old.get("disruptedPods") or {}).items():
            is_there = any(each["metadata"]["name"] == name and not _is_going(each) for each in pods)
            if is_there and seconds_since(at, now) <= _DELETION_SECONDS:
                disrupted[name] = at
                left.append(_DELETION_SECONDS - seconds_since(at, now))
        healthy = sum(
            is_ready(each) and not _is_going(each) and each["metadata"]["name"] not in disrupted for each in pods
        )
        allowed = max(healthy - desired, 0) if expected > 0 else 0
        status: dict[str, Any] = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "disruptionsAllowed": allowed,
            "observedGeneration": budget["metadata"].get("generation", 0),
        }
        if disrupted:
            status["disruptedPods"] = disrupted
        status["conditions"] = [_allowed(budget, allowed, format_time(now))]
        if status != old:
            await self._api.update(DISRUPTION_BUDGETS, {**budget, "status": status}, "status")
        if left:
            self._engine.after(self.name, ref, min(left) + 1.0)

    def _expected(self, spec: Obj, pods: list[Obj]) -> tuple[int, int]:
        """How many Pods there should be, and how many of them have to be healthy."""
        if spec.get("maxUnavailable") is not None:
            expected = self._scale(pods)
            return expected, max(expected - resolve_percent(spec["maxUnavailable"], expected, round_up=True), 0)
        least = spec.get("minAvailable", 1)
        if isinstance(least, int):
            return len(pods), least
        expected = self._scale(pods)
        return expected, resolve_percent(least, expected, round_up=True)

    def _scale(self, pods: list[Obj]) -> int:
        """How many Pods the controllers of these want."""
        scales: dict[str, int] = {}
        for pod in pods:
            owner = controller_of(pod)
            if owner is None:
                continue
            kind = _SCALED.get(owner["kind"])
            found = None if kind is None else self._view.get(kind, pod["metadata"]["namespace"], owner["name"])
            if found is None:
                scales[owner["uid"]] = scales.get(owner["uid"], 0) + 1
                continue
            above = controller_of(found)
            if kind == REPLICA_SETS and above is not None and above["kind"] == DEPLOYMENTS.kind:
                found = self._view.get(DEPLOYMENTS, pod["metadata"]["namespace"], above["name"]) or found
            scales[found["metadata"]["uid"]] = found["spec"].get("replicas", 1)
        return sum(scales.values())


def _is_scaled(old: Obj | None, new: Obj | None) -> bool:
    return bool(old and new and old["spec"].get("replicas") != new["spec"].get("replicas"))


def _selects(budget: Obj, pod: Obj) -> bool:
    return selector_of(budget["spec"].get("selector")).matches(labels_of(pod))


def _is_going(pod: Obj) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _allowed(budget: Obj, number: int, now: str) -> dict[str, Any]:
    status, reason = ("True", "SufficientPods") if number else ("False", "InsufficientPods")
    old = condition_of(budget, "DisruptionAllowed")
    since = old["lastTransitionTime"] if old is not None and old["status"] == status else now
    return {
        "type": "DisruptionAllowed",
        "status": status,
        "observedGeneration": budget["metadata"].get("generation", 0),
        "lastTransitionTime": since,
        "reason": reason,
        "message": "",
    }
