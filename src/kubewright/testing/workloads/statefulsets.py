"""StatefulSets: Pods with names and claims of their own, one after another.

Rules: `kubernetes/pkg/controller/statefulset/stateful_set_control.go`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubewright.client import AlreadyExists
from kubewright.model.intorstring import resolve_percent

from .api import Api
from .engine import Engine
from .kinds import CLAIMS, PODS, STATEFUL_SETS, Kind, Obj, Ref, ref_of
from .owners import claim, concerned
from .podstates import available_in, is_available, is_ready, is_terminal, phase_of
from .revisions import forget_old, history_of, revision_label
from .statefulpods import claim_owners, claims_of, ordinal_of, start_of, versioned_pod

__all__ = ["StatefulSets"]


class StatefulSets:
    """The StatefulSet controller."""

    name: str = STATEFUL_SETS.plural

    def __init__(self, engine: Engine, api: Api) -> None:
        self._engine, self._api, self._view = engine, api, engine.view

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == STATEFUL_SETS:
            yield ref_of(new or old or {})
        elif kind == PODS:
            yield from concerned(self._view, STATEFUL_SETS, old, new)

    async def sync(self, ref: Ref) -> None:
        owner = self._view.get(STATEFUL_SETS, *ref)
        if owner is None:
            return
        history = await history_of(self._api, STATEFUL_SETS, owner)
        claimed = await claim(self._api, STATEFUL_SETS, owner, PODS)
        pods = [each for each in claimed if ordinal_of(owner, each) >= 0]
        name = (owner.get("status") or {}).get("currentRevision")
        current = next((each for each in history.revisions if each["metadata"]["name"] == name), history.update)
        one = _Pass(self._engine, self._api, owner, current, history.update)
        try:
            status = await one.run(pods)
        except BaseException:
            await self._tell(owner, one.status(pods, history.collisions))
            raise
        status["collisionCount"] = history.collisions
        await self._tell(owner, status)
        live = {current["metadata"]["name"], history.update["metadata"]["name"], *map(revision_label, pods)}
        await forget_old(self._api, owner, history.revisions, live)
        least = owner["spec"].get("minReadySeconds", 0)
        later = [each for pod in pods if (each := available_in(pod, least, self._engine.clock()))]
        if later:
            self._engine.after(self.name, ref, min(later))

    async def _tell(self, owner: Obj, status: dict[str, Any]) -> None:
        wanted = owner["spec"].get("replicas", 1)
        counts = [status[each] for each in ("updatedReplicas", "readyReplicas", "replicas")]
        if counts == [wanted] * 3:
            status["currentReplicas"], status["currentRevision"] = status["updatedReplicas"], status["updateRevision"]
        old: dict[str, Any] = owner.get("status") or {}
        if old.get("conditions"):
            status["conditions"] = old["conditions"]
        if any(old.get(name, 0) != value for name, value in status.items() if name != "collisionCount"):
            await self._api.update(STATEFUL_SETS, {**owner, "status": status}, "status")


class _Pass:
    """One pass over the Pods of a set."""

    def __init__(self, engine: Engine, api: Api, owner: Obj, current: Obj, update: Obj) -> None:
        self._api, self._view, self._now = api, engine.view, engine.clock()
        self._owner, self._current, self._update = owner, current, update
        self._least = owner["spec"].get("minReadySeconds", 0)
        self._is_ordered: bool = owner["spec"].get("podManagementPolicy") != "Parallel"

    def status(self, pods: Iterable[Obj], collisions: int = 0) -> dict[str, Any]:
        found = [each for each in pods if phase_of(each)]
        ready = [each for each in found if phase_of(each) == "Running" and is_ready(each)]
        staying = [revision_label(each) for each in found if not each["metadata"].get("deletionTimestamp")]
        names = self._current["metadata"]["name"], self._update["metadata"]["name"]
        return {
            "observedGeneration": self._owner["metadata"].get("generation", 0),
            "replicas": len(found),
            "readyReplicas": len(ready),
            "availableReplicas": sum(is_available(each, self._least, self._now) for each in ready),
            "currentReplicas": staying.count(names[0]),
            "updatedReplicas": staying.count(names[1]),
            "currentRevision": names[0],
            "updateRevision": names[1],
            "collisionCount": collisions,
        }

    async def run(self, pods: list[Obj]) -> dict[str, Any]:
        start, wanted = start_of(self._owner), self._owner["spec"].get("replicas", 1)
        by_ordinal = {ordinal_of(self._owner, each): each for each in pods}
        ordinals = range(start, start + wanted)
        if self._owner["metadata"].get("deletionTimestamp"):
            return self.status(pods)
        replicas = [
            by_ordinal.get(each) or versioned_pod(self._owner, self._current, self._update, each) for each in ordinals
        ]
        condemned = [by_ordinal[each] for each in sorted(by_ordinal, reverse=True) if each not in ordinals]
        unavailable = [each for each in [*replicas, *reversed(condemned)] if self._is_unavailable(each)]
        for each in replicas:
            if await self._replica(each) and self._is_ordered:
                return self.status([*replicas, *condemned])
        for each in condemned:
            await self._fix_claims(each)
        for each in condemned:
            if await self._condemn(each, unavailable[0] if unavailable else None) and self._is_ordered:
                return self.status([*replicas, *condemned])
        status = self.status([*replicas, *condemned])
        if self._owner["spec"]["updateStrategy"]["type"] == "RollingUpdate":
            status["currentReplicas"] -= await self._roll(replicas)
        return status

    def _is_unavailable(self, pod: Obj) -> bool:
        return not is_available(pod, self._least, self._now) or bool(pod["metadata"].get("deletionTimestamp"))

    async def _replica(self, pod: Obj) -> bool:
        """See to one Pod; True where those after it have to wait for it."""
        if is_terminal(pod):
            if not pod["metadata"].get("deletionTimestamp"):
                await self._api.delete(PODS, pod)
            return True
        if not phase_of(pod):
            if self._has_stale_claim(pod):
                return True
            await self._make_claims(pod)
            await self._api.create(PODS, pod)
            return True
        if phase_of(pod) == "Pending":
            await self._make_claims(pod)
        if self._is_ordered and self._is_unavailable(pod):
            return True
        await self._fix_claims(pod)
        return False

    async def _condemn(self, pod: Obj, first_unavailable: Obj | None) -> bool:
        if pod["metadata"].get("deletionTimestamp"):
            return True
        if self._is_ordered and self._is_unavailable(pod) and pod is not first_unavailable:
            return True
        await self._api.delete(PODS, pod)
        return True

    async def _roll(self, replicas: list[Obj]) -> int:
        """Delete Pods of an old revision, the last first, as many as may be unavailable. Returns how many."""
        rolling = self._owner["spec"]["updateStrategy"].get("rollingUpdate") or {}
        least = rolling.get("partition", 0)
        most = max(resolve_percent(rolling.get("maxUnavailable", 1), len(replicas), round_up=False), 1)
        old = [each for each in replicas if revision_label(each) != self._update["metadata"]["name"]]
        staying = [each for each in old if not each["metadata"].get("deletionTimestamp")]
        away = sum(map(self._is_unavailable, replicas))
        broken = [] if self._is_ordered else [each for each in staying if self._is_unavailable(each)]
        if away >= most and not broken:
            return 0
        candidates = [each for each in reversed(replicas[least:]) if each in staying]
        chosen = [each for each in candidates if each in broken]
        room = max(most - away, 0)
        chosen += [each for each in candidates if each not in broken][:room]
        for each in chosen:
            await self._api.delete(PODS, each)
        return len(chosen)

    # -- claims -------------------------------------------------------------------------------------------------------

    def _has_stale_claim(self, pod: Obj) -> bool:
        """Whether a claim is still that of an earlier Pod of the name, which is to take it with it."""
        ordinal, namespace = ordinal_of(self._owner, pod), self._owner["metadata"]["namespace"]
        for each in claims_of(self._owner, ordinal).values():
            found = self._view.get(CLAIMS, namespace, each["metadata"]["name"])
            if found is None:
                continue
            if any(one["kind"] == "Pod" for one in found["metadata"].get("ownerReferences") or ()):
                return True
        return False

    async def _make_claims(self, pod: Obj) -> None:
        ordinal, namespace = ordinal_of(self._owner, pod), self._owner["metadata"]["namespace"]
        for each in claims_of(self._owner, ordinal).values():
            if self._view.get(CLAIMS, namespace, each["metadata"]["name"]) is not None:
                continue
            owners = claim_owners(self._owner, each, pod, ordinal)
            meta = {**each["metadata"], **({"ownerReferences": owners} if owners else {})}
            try:
                await self._api.create(CLAIMS, {**each, "metadata": meta})
            except AlreadyExists:
                continue

    async def _fix_claims(self, pod: Obj) -> None:
        """Let the owners of the claims be those of the retention policy."""
        ordinal, namespace = ordinal_of(self._owner, pod), self._owner["metadata"]["namespace"]
        for each in claims_of(self._owner, ordinal).values():
            found = self._view.get(CLAIMS, namespace, each["metadata"]["name"])
            if found is None:
                continue
            owners = claim_owners(self._owner, found, pod, ordinal)
            if owners != (found["metadata"].get("ownerReferences") or []):
                await self._api.patch(CLAIMS, found, {"metadata": {"ownerReferences": owners}})
