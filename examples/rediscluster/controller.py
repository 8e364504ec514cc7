"""The RedisCluster controller: desired children, observed state, and what to say about it.

Each pass applies all children and derives the whole status anew from what is there, so that it does not matter which
event caused it, or whether one was missed.
"""

from __future__ import annotations

from kubewright import Condition, Context, ObjectMeta, Result, after, controller, set_condition
from kubewright.models.apps.v1 import Deployment, StatefulSet
from kubewright.models.core.v1 import ConfigMap, Pod, Service

from . import children
from .types import Phase, RedisCluster

__all__ = ["RedisClusterController"]

BACKUP_ANNOTATION = "cache.example.com/last-backup"


@controller(RedisCluster, owns=[ConfigMap, Service, StatefulSet, Deployment], workers=4, deadline_seconds=60)
class RedisClusterController:
    """Keeps the children of each RedisCluster, and its status."""

    async def reconcile(self, rc: RedisCluster, ctx: Context) -> Result | None:
        await ctx.apply(children.config(rc))
        await ctx.apply(children.headless_service(rc))
        redis = await ctx.apply(children.statefulset(rc))
        await self._sentinel(rc, ctx)

        pods = await ctx.list(Pod, labels=children.labels(rc, "redis"))
        ready = sorted(pod.metadata.name for pod in pods if is_ready(pod))
        primary = elect(rc.status.primary, ready)
        await ctx.apply(children.client_service(rc, primary))

        rc.status.replicas = redis.status.replicas
        rc.status.ready_replicas = len(ready)
        rc.status.primary = primary
        rc.status.selector = ",".join(f"{name}={value}" for name, value in children.labels(rc, "redis").items())
        rc.status.observed_generation = rc.metadata.generation
        rc.status.phase = phase = phase_of(rc, redis, len(ready))
        set_condition(
            rc.status.conditions,
            Condition(
                type="Ready",
                status="True" if phase == "Ready" else "False",
                reason="AllReplicasReady" if phase == "Ready" else "ReplicasNotReady",
                message=f"{len(ready)} of {rc.spec.replicas} replicas are ready",
            ),
        )
        # The StatefulSet and its Pods are two watches: where one is ahead of the other, look again.
        return None if len(ready) == (redis.status.ready_replicas or 0) else after(0.5)

    async def _sentinel(self, rc: RedisCluster, ctx: Context) -> None:
        if rc.spec.sentinel.enabled:
            await ctx.apply(children.sentinel(rc))
            return
        for leftover in await ctx.owned(Deployment):
            await ctx.delete(leftover)

    async def finalize(self, rc: RedisCluster, ctx: Context) -> None:
        """Record a last backup on a ConfigMap that outlives the cluster."""
        rc.status.phase = "Deleting"
        stamp = rc.metadata.deletion_timestamp
        record = ConfigMap(
            metadata=ObjectMeta(
                name=f"{rc.metadata.name}-backup",
                annotations={BACKUP_ANNOTATION: stamp.isoformat() if stamp else ""},
            ),
            data={"version": rc.spec.version, "uid": rc.metadata.uid},
        )
        await ctx.apply(record, owned=False)


def is_ready(pod: Pod) -> bool:
    if pod.metadata.deletion_timestamp is not None:
        return False
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


def phase_of(rc: RedisCluster, redis: StatefulSet, ready: int) -> Phase:
    if (redis.status.observed_generation or 0) < redis.metadata.generation:
        return rc.status.phase if rc.status.phase != "Ready" else "Updating"
    if redis.status.current_revision != redis.status.update_revision:
        return "Updating"
    if redis.status.replicas == rc.spec.replicas == ready:
        return "Ready"
    if rc.status.phase in ("Pending", "Creating"):
        return "Creating"
    return "Scaling" if redis.status.replicas != rc.spec.replicas or rc.status.phase == "Scaling" else "Degraded"


def elect(current: str, ready: list[str]) -> str:
    """The primary stays while it is ready; else the first ready replica becomes it."""
    if current in ready:
        return current
    return ready[0] if ready else ""
