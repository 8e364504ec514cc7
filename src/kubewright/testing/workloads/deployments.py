"""Deployments: a ReplicaSet for each template, and the rollout from one to the next.

Rules: `kubernetes/pkg/controller/deployment` (sync.go, rolling.go, recreate.go).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kubewright.client import AlreadyExists, ApiError

from .api import Api
from .deploymentstatus import check_again_in, has_deadline, rollout_status, status_of, with_progress
from .engine import Engine
from .hashing import template_hash
from .kinds import DEPLOYMENTS, PODS, REPLICA_SETS, Kind, Obj, Ref, ref_of
from .owners import claim, concerned, controller_of, controller_ref, owner_ref_of, selector_of
from .podstates import condition_of, is_terminal
from .rollouts import (
    DESIRED,
    MAXIMUM,
    REVISION,
    active,
    annotation,
    available_sum,
    by_age,
    is_complete,
    is_rolling,
    is_saturated,
    max_surge,
    max_unavailable,
    new_replicas,
    proportional_sizes,
    replica_sum,
    replicas_of,
    revision_of,
    set_annotations,
)

__all__ = ["Deployments"]

_HASH: Final = "pod-template-hash"
_LONGEST_NAME: Final = 253
_ENDLESS: Final = 2**31 - 1


class Deployments:
    """The Deployment controller."""

    name: str = DEPLOYMENTS.plural

    def __init__(self, engine: Engine, api: Api) -> None:
        self._engine, self._api, self._view, self._clock = engine, api, engine.view, engine.clock

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == DEPLOYMENTS:
            yield ref_of(new or old or {})
        elif kind == REPLICA_SETS:
            yield from concerned(self._view, DEPLOYMENTS, old, new)
        elif kind == PODS and old is not None and (new is None or (is_terminal(new) and not is_terminal(old))):
            # A Recreate waits for the last Pod to go.
            owner = owner_ref_of(old, REPLICA_SETS)
            of_it = self._view.get(REPLICA_SETS, *owner) if owner else None
            if (found := owner_ref_of(of_it, DEPLOYMENTS)) is not None:
                yield found

    async def sync(self, ref: Ref) -> None:
        deployment = self._view.get(DEPLOYMENTS, *ref)
        if deployment is None:
            return
        if not selector_of(deployment["spec"]["selector"]):
            return
        sets = await claim(self._api, DEPLOYMENTS, deployment, REPLICA_SETS)
        if deployment["metadata"].get("deletionTimestamp"):
            deployment, new, old = await self._split(deployment, sets)
            await self._tell(deployment, status_of(deployment, _with(old, new), new, self._clock()))
            return
        deployment = await self._note_pause(deployment)
        if deployment["spec"].get("paused") or self._is_scaled(deployment, sets):
            await self._scaled(deployment, sets)
        elif is_rolling(deployment):
            await self._roll(deployment, sets)
        else:
            await self._recreate(deployment, sets)

    async def _note_pause(self, deployment: Obj) -> Obj:
        if not has_deadline(deployment):
            return deployment
        current = condition_of(deployment, "Progressing") or {}
        if current.get("reason") == "ProgressDeadlineExceeded":
            return deployment
        paused, noted = bool(deployment["spec"].get("paused")), current.get("reason") == "DeploymentPaused"
        if paused == noted:
            return deployment
        said = (
            ("DeploymentPaused", "Deployment is paused") if paused else ("DeploymentResumed", "Deployment is resumed")
        )
        changed = with_progress(deployment, "Unknown", *said, self._clock())
        return await self._api.update(DEPLOYMENTS, changed, "status")

    # -- ReplicaSets --------------------------------------------------------------------------------------------------

    async def _split(
        self, deployment: Obj, sets: list[Obj], *, create: bool = False
    ) -> tuple[Obj, Obj | None, list[Obj]]:
        """The deployment, its new ReplicaSet, and the old ones; revisions are written where they differ."""
        new = _new_of(deployment, sets)
        old = [each for each in by_age(sets) if new is None or each["metadata"]["uid"] != new["metadata"]["uid"]]
        revision = max((revision_of(each) for each in old), default=0) + 1
        if new is not None:
            deployment, new = await self._keep(deployment, new, revision)
        elif create:
            deployment, new = await self._create(deployment, old, revision)
        return deployment, new, old

    async def _keep(self, deployment: Obj, new: Obj, revision: int) -> tuple[Obj, Obj]:
        annotations = set_annotations(deployment, new, revision)
        least = deployment["spec"].get("minReadySeconds", 0)
        if annotations != (new["metadata"].get("annotations") or {}) or new["spec"].get("minReadySeconds", 0) != least:
            meta, spec = {**new["metadata"], "annotations": annotations}, {**new["spec"], "minReadySeconds": least}
            return deployment, await self._api.update(REPLICA_SETS, {**new, "metadata": meta, "spec": spec})
        changed = _with_revision(deployment, annotations.get(REVISION, ""))
        if has_deadline(deployment) and condition_of(deployment, "Progressing") is None:
            said = f'Found new replica set "{new["metadata"]["name"]}"'
            changed = with_progress(changed, "True", "FoundNewReplicaSet", said, self._clock())
        if changed is not deployment:
            deployment = await self._api.update(DEPLOYMENTS, changed, "status")
        return deployment, new

    async def _create(self, deployment: Obj, old: list[Obj], revision: int) -> tuple[Obj, Obj]:
        new = self._made(deployment, old, revision)
        name = new["metadata"]["name"]
        try:
            created = await self._api.create(REPLICA_SETS, new)
        except AlreadyExists:
            created = await self._existing(deployment, name)
            changed = _with_revision(deployment, str(revision))
        except ApiError as error:
            if not error.has_cause("NamespaceTerminating") and has_deadline(deployment):
                said = f'Failed to create new replica set "{name}": {error.message}'
                changed = with_progress(deployment, "False", "ReplicaSetCreateError", said, self._clock())
                if changed["status"] != deployment.get("status"):
                    await self._api.update(DEPLOYMENTS, changed, "status")
            raise
        else:
            changed = _with_revision(deployment, str(revision))
            if has_deadline(deployment):
                said = f'Created new replica set "{name}"'
                changed = with_progress(changed, "True", "NewReplicaSetCreated", said, self._clock())
        if changed is not deployment:
            deployment = await self._api.update(DEPLOYMENTS, changed, "status")
        return deployment, created

    async def _existing(self, deployment: Obj, name: str) -> Obj:
        """The ReplicaSet that has the name of the new one already. Raises AlreadyExists: another template's."""
        namespace = deployment["metadata"]["namespace"]
        found = await self._api.read(REPLICA_SETS, namespace, name)
        owner = (controller_of(found) if found is not None else None) or {}
        is_own = owner.get("uid") == deployment["metadata"]["uid"]
        if found is not None and is_own and _template_of(found) == _template_of(deployment):
            return found
        status = deployment.get("status") or {}
        collided = {**deployment, "status": {**status, "collisionCount": status.get("collisionCount", 0) + 1}}
        await self._api.update(DEPLOYMENTS, collided, "status")
        raise AlreadyExists(message=f'replicasets.apps "{name}" already exists')

    def _made(self, deployment: Obj, old: list[Obj], revision: int) -> Obj:
        spec, meta = deployment["spec"], deployment["metadata"]
        hashed = template_hash(spec["template"], (deployment.get("status") or {}).get("collisionCount"))
        template_meta = spec["template"].get("metadata") or {}
        labels = {**(template_meta.get("labels") or {}), _HASH: hashed}
        selector = spec["selector"]
        matched = {**(selector.get("matchLabels") or {}), _HASH: hashed}
        made: Obj = {
            "metadata": {
                "name": f"{meta['name'][: _LONGEST_NAME - 1 - len(hashed)]}-{hashed}",
                "namespace": meta["namespace"],
                "labels": labels,
                "ownerReferences": [controller_ref(DEPLOYMENTS, deployment)],
            },
            "spec": {
                "replicas": 0,
                "minReadySeconds": spec.get("minReadySeconds", 0),
                "selector": {**selector, "matchLabels": matched},
                "template": {**spec["template"], "metadata": {**template_meta, "labels": labels}},
            },
        }
        made["spec"]["replicas"] = new_replicas(deployment, [*old, made], made)
        annotations = set_annotations(deployment, made, revision)
        made["metadata"]["annotations"] = annotations | _sizes(deployment)
        return made

    # -- scaling ------------------------------------------------------------------------------------------------------

    def _is_scaled(self, deployment: Obj, sets: list[Obj]) -> bool:
        """Whether the deployment has another size than when its active ReplicaSets were last written."""
        wanted = str(replicas_of(deployment))
        return any(annotation(each, DESIRED) not in ("", wanted) for each in active(sets))

    async def _scaled(self, deployment: Obj, sets: list[Obj]) -> None:
        deployment, new, old = await self._split(deployment, sets)
        new, old = await self._scale(deployment, new, old)
        if deployment["spec"].get("paused"):
            await self._clean_up(deployment, old)
        await self._tell(deployment, status_of(deployment, _with(old, new), new, self._clock()))

    async def _scale(self, deployment: Obj, new: Obj | None, old: list[Obj]) -> tuple[Obj | None, list[Obj]]:
        sets, wanted = _with(old, new), replicas_of(deployment)
        running = active(sets)
        sizes: dict[str, int] = {}
        force = False
        if len(running) <= 1 and sets:
            only = running[0] if running else new if new is not None else by_age(old)[-1]
            sizes = {only["metadata"]["name"]: wanted}
        elif is_saturated(deployment, new):
            sizes = {each["metadata"]["name"]: 0 for each in active(old)}
        elif is_rolling(deployment):
            sizes, force = proportional_sizes(deployment, running), True
        changed = {
            each["metadata"]["name"]: await self._resize(each, sizes[each["metadata"]["name"]], deployment, force=force)
            for each in sets
            if each["metadata"]["name"] in sizes
        }
        new = None if new is None else changed.get(new["metadata"]["name"], new)
        return new, [changed.get(each["metadata"]["name"], each) for each in old]

    async def _resize(self, each: Obj, size: int, deployment: Obj, *, force: bool = False) -> Obj:
        if replicas_of(each) == size and not force:
            return each
        annotations = {**(each["metadata"].get("annotations") or {}), **_sizes(deployment)}
        if replicas_of(each) == size and annotations == each["metadata"].get("annotations"):
            return each
        meta, spec = {**each["metadata"], "annotations": annotations}, {**each["spec"], "replicas": size}
        return await self._api.update(REPLICA_SETS, {**each, "metadata": meta, "spec": spec})

    # -- rollouts -----------------------------------------------------------------------------------------------------

    async def _roll(self, deployment: Obj, sets: list[Obj]) -> None:
        deployment, new, old = await self._split(deployment, sets, create=True)
        assert new is not None
        size, wanted = replicas_of(new), replicas_of(deployment)
        target = min(wanted, new_replicas(deployment, [*old, new], new)) if size < wanted else wanted
        if target != size:
            new = await self._resize(new, target, deployment)
        else:
            before = old
            old = await self._shrink(deployment, new, old)
            if before == old and is_complete(deployment, deployment.get("status") or {}):
                await self._clean_up(deployment, old)
        await self._tell_rollout(deployment, old, new)

    async def _shrink(self, deployment: Obj, new: Obj, old: list[Obj]) -> list[Obj]:
        """Take from the old ReplicaSets what the new one makes unnecessary, what is not available first."""
        if not replica_sum(old):
            return old
        least = replicas_of(deployment) - max_unavailable(deployment)
        most = replica_sum([*old, new]) - least - (replicas_of(new) - available_sum([new]))
        if most <= 0:
            return old
        sizes = {each["metadata"]["name"]: replicas_of(each) for each in old}
        ordered, taken = by_age(old), 0
        for each in ordered:
            name = each["metadata"]["name"]
            unhealthy = min(most - taken, sizes[name] - available_sum([each]))
            if sizes[name] and unhealthy > 0:
                sizes[name] -= unhealthy
                taken += unhealthy
        spare = available_sum([*old, new]) - least
        for each in ordered:
            name = each["metadata"]["name"]
            if spare > 0 and sizes[name]:
                number = min(sizes[name], spare)
                sizes[name] -= number
                spare -= number
        return [await self._resize(each, sizes[each["metadata"]["name"]], deployment) for each in old]

    async def _recreate(self, deployment: Obj, sets: list[Obj]) -> None:
        deployment, new, old = await self._split(deployment, sets)
        if active(old):
            old = [await self._resize(each, 0, deployment) for each in old]
            await self._tell_rollout(deployment, old, new)
            return
        if self._old_pods_run(old):
            await self._tell_rollout(deployment, old, new)
            return
        if new is None:
            deployment, new, old = await self._split(deployment, sets, create=True)
        assert new is not None
        new = await self._resize(new, replicas_of(deployment), deployment)
        if is_complete(deployment, deployment.get("status") or {}):
            await self._clean_up(deployment, old)
        await self._tell_rollout(deployment, old, new)

    def _old_pods_run(self, old: list[Obj]) -> bool:
        if any((each.get("status") or {}).get("replicas", 0) for each in old):
            return True
        return any(not is_terminal(pod) for each in old for pod in self._view.owned(PODS, each["metadata"]["uid"]))

    async def _clean_up(self, deployment: Obj, old: list[Obj]) -> None:
        limit = deployment["spec"].get("revisionHistoryLimit", _ENDLESS)
        if limit == _ENDLESS:
            return
        alive = [each for each in old if not each["metadata"].get("deletionTimestamp")]
        ordered = sorted(by_age(alive), key=revision_of)
        for each in ordered[: max(len(alive) - limit, 0)]:
            status = each.get("status") or {}
            seen = status.get("observedGeneration", 0) >= each["metadata"].get("generation", 0)
            if not replicas_of(each) and not status.get("replicas", 0) and seen:
                await self._api.delete(REPLICA_SETS, each)

    # -- status -------------------------------------------------------------------------------------------------------

    async def _tell_rollout(self, deployment: Obj, old: list[Obj], new: Obj | None) -> None:
        status = rollout_status(deployment, _with(old, new), new, self._clock())
        if not await self._tell(deployment, status):
            seconds = check_again_in(deployment, status, self._clock())
            if seconds is not None:
                self._engine.after(self.name, ref_of(deployment), seconds)

    async def _tell(self, deployment: Obj, status: dict[str, Any]) -> bool:
        if status == (deployment.get("status") or {}):
            return False
        await self._api.update(DEPLOYMENTS, {**deployment, "status": status}, "status")
        return True


def _with(old: list[Obj], new: Obj | None) -> list[Obj]:
    return old if new is None else [*old, new]


def _template_of(owner: Obj) -> Obj:
    """The template without the label that the controller gives it."""
    template = owner["spec"]["template"]
    meta = dict(template.get("metadata") or {})
    labels = {name: value for name, value in (meta.pop("labels", None) or {}).items() if name != _HASH}
    meta.pop("creationTimestamp", None)
    return {"labels": labels, "meta": {name: value for name, value in meta.items() if value}, "spec": template["spec"]}


def _new_of(deployment: Obj, sets: list[Obj]) -> Obj | None:
    wanted = _template_of(deployment)
    return next((each for each in by_age(sets) if _template_of(each) == wanted), None)


def _sizes(deployment: Obj) -> dict[str, str]:
    wanted = replicas_of(deployment)
    return {DESIRED: str(wanted), MAXIMUM: str(wanted + max_surge(deployment))}


def _with_revision(deployment: Obj, revision: str) -> Obj:
    annotations = deployment["metadata"].get("annotations") or {}
    if annotations.get(REVISION) == revision:
        return deployment
    meta = {**deployment["metadata"], "annotations": {**annotations, REVISION: revision}}
    return {**deployment, "metadata": meta}
