"""ReplicaSets and ReplicationControllers: as many Pods as they say, taken, made and deleted; their status.

Rules: `kubernetes/pkg/controller/replicaset` (the ReplicationController's is the same one, behind an adapter).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubewright.client import ApiError
from kubewright.model.times import format_time

from .api import Api
from .clock import Clock
from .conditions import with_condition, without_condition
from .engine import Engine
from .kinds import PODS, REPLICA_SETS, REPLICATION_CONTROLLERS, Kind, Obj, Ref, ref_of
from .owners import claim, concerned, controller_of, controller_ref, labels_of
from .podstates import available_in, deleted_first, is_active, is_ready, is_terminating, pod_from

__all__ = ["ReplicaSets"]


class ReplicaSets:
    """The controller of one of the two kinds."""

    def __init__(self, engine: Engine, api: Api, kind: Kind) -> None:
        assert kind in (REPLICA_SETS, REPLICATION_CONTROLLERS)
        self.name = kind.plural
        self._engine, self._api, self._view, self._kind = engine, api, engine.view, kind
        self._clock: Clock = engine.clock

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == self._kind:
            yield ref_of(new or old or {})
        elif kind == PODS:
            yield from concerned(self._view, self._kind, old, new)

    async def sync(self, ref: Ref) -> None:
        owner = self._view.get(self._kind, *ref)
        if owner is None:
            return
        claimed = await claim(self._api, self._kind, owner, PODS)
        active = [each for each in claimed if is_active(each)]
        going = [each for each in claimed if is_terminating(each)]
        failure: ApiError | None = None
        # What was made or deleted just now counts with the next pass, as it does in a controller's cache.
        if not owner["metadata"].get("deletionTimestamp"):
            failure = await self._manage(owner, active)
        await self._tell(owner, active, going, failure)
        if failure is not None:
            raise failure

    async def _manage(self, owner: Obj, active: list[Obj]) -> ApiError | None:
        """Make what is missing, delete what is too much. The first refusal ends it, and is returned."""
        difference = len(active) - owner["spec"].get("replicas", 0)
        reference = controller_ref(self._kind, owner)
        try:
            for _ in range(-difference):
                await self._api.create(PODS, pod_from(owner["spec"]["template"], owner, reference))
            if difference > 0:
                related = self._related(owner)
                ordered = deleted_first(active, related, self._clock()) if difference < len(active) else active
                for each in ordered[:difference]:
                    await self._api.delete(PODS, each)
        except ApiError as error:
            if error.has_cause("NamespaceTerminating"):
                return None
            return error
        return None

    def _related(self, owner: Obj) -> list[Obj]:
        """The Pods of all sets with the same owner, which is a Deployment."""
        reference = controller_of(owner)
        if reference is None:
            return self._view.owned(PODS, owner["metadata"]["uid"])
        sets = self._view.owned(self._kind, reference["uid"])
        return [pod for each in sets for pod in self._view.owned(PODS, each["metadata"]["uid"])]

    async def _tell(self, owner: Obj, active: list[Obj], going: list[Obj], failure: ApiError | None) -> None:
        old: dict[str, Any] = owner.get("status") or {}
        spec, now = owner["spec"], self._clock()
        least = spec.get("minReadySeconds", 0)
        waits = [available_in(each, least, now) for each in active]
        template = (spec["template"].get("metadata") or {}).get("labels") or {}
        status: dict[str, Any] = {
            "replicas": len(active),
            "fullyLabeledReplicas": sum(template.items() <= labels_of(each).items() for each in active),
            "readyReplicas": sum(is_ready(each) for each in active),
            "availableReplicas": sum(each == 0.0 for each in waits),
            "observedGeneration": owner["metadata"].get("generation", 0),
        }
        if self._kind == REPLICA_SETS:
            status["terminatingReplicas"] = len(going)
        conditions: list[dict[str, Any]] = old.get("conditions") or []
        if failure is None:
            conditions = without_condition(conditions, "ReplicaFailure")
        elif not any(each["type"] == "ReplicaFailure" for each in conditions):
            reason = "FailedCreate" if len(active) < spec.get("replicas", 0) else "FailedDelete"
            said = failure.message if reason == "FailedCreate" else f"unable to delete pods: {failure.message}"
            made = {"type": "ReplicaFailure", "status": "True", "reason": reason, "message": said}
            conditions = with_condition(conditions, {**made, "lastTransitionTime": format_time(now)})
        if conditions:
            status["conditions"] = conditions
        if any(status.get(each) != old.get(each, 0) for each in status if each not in ("conditions",)) or (
            (old.get("conditions") or []) != conditions
        ):
            owner = await self._api.update(self._kind, {**owner, "status": status}, "status")
        later = [each for each in waits if each]
        if later and failure is None:
            self._engine.after(self.name, ref_of(owner), min(later))
