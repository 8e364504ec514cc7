"""What there must be for a set of RedisClusters, and what there is: all of it, of every kind, nothing besides.

The left side comes from the specs alone, the right side from asking the server for every kind that it has. So a child
too many shows, a child of an owner that is gone shows, and so does one that nobody thought of.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
from examples.rediscluster.controller import is_ready
from examples.rediscluster.types import RedisCluster

from kubewright import Client
from kubewright.models.apps.v1 import Deployment, StatefulSet
from kubewright.models.core.v1 import ConfigMap, Pod

INSTANCE = "app.kubernetes.io/instance"
BACKUP = "cache.example.com/last-backup"


@dataclass(frozen=True)
class Wanted:
    """The spec of a cluster as a test has last written it."""

    replicas: int
    sentinel: bool
    version: str


class Found(NamedTuple):
    """An object that carries the label of a cluster. `owner`: the uid of its controller owner, or any other."""

    kind: str
    name: str
    uid: str
    owner: str

    @property
    def is_unowned_claim(self) -> bool:
        return self.kind == "PersistentVolumeClaim" and not self.owner


async def collections(client: Client) -> list[tuple[str, str]]:
    """Kind and path (with `{namespace}`) of every namespaced collection that can be listed, in one version each."""
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    found = []
    for root in ("/api", "/apis"):
        body = (await client.raw("GET", root, headers=(("accept", accept),))).body
        for group in orjson.loads(body)["items"]:
            name = group["metadata"].get("name", "")
            seen: set[str] = set()
            for version in group["versions"]:
                base = f"/apis/{name}/{version['version']}" if name else f"/api/{version['version']}"
                for resource in version.get("resources", []):
                    if resource["scope"] != "Namespaced" or not {"list", "watch"} <= set(resource["verbs"]):
                        continue
                    if resource["resource"] not in seen and name != "events.k8s.io":
                        seen.add(resource["resource"])
                        path = f"{base}/namespaces/{{namespace}}/{resource['resource']}"
                        found.append((resource["responseKind"]["kind"], path))
    return found


async def everything(client: Client, namespace: str, paths: Iterable[tuple[str, str]]) -> list[Found]:
    """All objects of the namespace that carry the label of a cluster."""

    async def listed(kind: str, path: str) -> list[Found]:
        answer = await client.raw("GET", path.format(namespace=namespace), query={"labelSelector": INSTANCE})
        return [_found(kind, item) for item in orjson.loads(answer.body)["items"]]

    return [found for each in await asyncio.gather(*(listed(*path) for path in paths)) for found in each]


def _found(kind: str, item: Mapping[str, Any]) -> Found:
    meta = item["metadata"]
    owners = sorted(meta.get("ownerReferences", []), key=lambda owner: not owner.get("controller"))
    return Found(kind, meta["name"], meta["uid"], owners[0]["uid"] if owners else "")


def children(name: str, wanted: Wanted) -> set[tuple[str, str]]:
    """Kind and name of the objects that the operator makes for a cluster."""
    made = {("ConfigMap", f"{name}-config"), ("Service", f"{name}-nodes"), ("Service", name), ("StatefulSet", name)}
    return made | ({("Deployment", f"{name}-sentinel")} if wanted.sentinel else set())


class State:
    """One look at a namespace: the clusters, what they are made of, and all else that carries their label."""

    def __init__(
        self,
        clusters: Iterable[RedisCluster],
        sets: Iterable[StatefulSet],
        sentinels: Iterable[Deployment],
        pods: Iterable[Pod],
        configs: Iterable[ConfigMap],
        found: Sequence[Found],
    ) -> None:
        self.clusters = {each.metadata.name: each for each in clusters}
        self.sets = {each.metadata.name: each for each in sets}
        self.sentinels = {each.metadata.name: each for each in sentinels}
        self.configs = {each.metadata.name: each for each in configs}
        self.ready: dict[str, list[str]] = {}
        for pod in pods:
            if pod.metadata.labels.get("app.kubernetes.io/component") == "redis" and is_ready(pod):
                self.ready.setdefault(pod.metadata.labels.get(INSTANCE, ""), []).append(pod.metadata.name)
        self.found = found

    @classmethod
    async def look(cls, client: Client, namespace: str, paths: Iterable[tuple[str, str]]) -> State:
        return cls(
            await client.list(RedisCluster, namespace=namespace),
            await client.list(StatefulSet, namespace=namespace),
            await client.list(Deployment, namespace=namespace),
            await client.list(Pod, namespace=namespace),
            await client.list(ConfigMap, namespace=namespace),
            await everything(client, namespace, paths),
        )

    def differences(self, wanted: Mapping[str, Wanted], recorded: Iterable[str]) -> list[str]:
        """What is not yet, or no longer, as the operator must have it; empty when it has converged.

        Each of `wanted` has exactly its children, as its spec says, all owned by the object that has its name now, and
        a status that is true. There is nothing else, but a backup record of each of `recorded`.
        """
        wrong = [f"{name} is there" for name in self.clusters if name not in wanted]
        wrong += [f"{name} is missing" for name in wanted if name not in self.clusters]
        wrong += self._misplaced(wanted)
        if not wrong:
            wrong += [said for name, spec in wanted.items() for said in self._untrue(name, spec)]
        for name in recorded:
            record = self.configs.get(f"{name}-backup")
            if record is None or not record.metadata.annotations.get(BACKUP):
                wrong.append(f"{name} has no backup record")
        return wrong

    def short(self, wanted: Mapping[str, Wanted]) -> list[str]:
        """The clusters whose StatefulSet does not run all its Pods: no matter of the operator.

        The StatefulSet controller can be stuck there: a set that is scaled down and up within a second may wait for a
        claim that is being deleted, and is not told when it is gone.
        """
        return [name for name, spec in wanted.items() if len(self.ready.get(name, ())) != spec.replicas]

    def _misplaced(self, wanted: Mapping[str, Wanted]) -> list[str]:
        owners = {rc.metadata.uid: name for name, rc in self.clusters.items()}
        uids = {each.uid for each in self.found} | owners.keys()
        expected = {(name, *child) for name, spec in wanted.items() for child in children(name, spec)}
        actual = sorted((owners[each.owner], each.kind, each.name) for each in self.found if each.owner in owners)
        wrong = [f"{child} is missing" for child in expected - set(actual)]
        wrong += [f"{child} is too much" for child in actual if child not in expected]
        wrong += [f"{child} is there twice" for child in set(actual) if actual.count(child) > 1]
        # Endpoints have no owner: they go with the Service of their name. Claims are made first and get their owner
        # later, by the StatefulSet controller; where the StatefulSet goes in between, they stay behind without one.
        services = {each.name for each in self.found if each.kind == "Service"}
        for each in self.found:
            excused = each.name in services if each.kind == "Endpoints" else each.is_unowned_claim
            if each.owner not in uids and not excused:
                wrong.append(f"{each.kind} {each.name} has no owner that lives")
        return wrong

    def _untrue(self, name: str, spec: Wanted) -> list[str]:
        rc, redis = self.clusters[name], self.sets.get(name)
        config, sentinel = self.configs.get(f"{name}-config"), self.sentinels.get(f"{name}-sentinel")
        if redis is None or config is None or (spec.sentinel and sentinel is None):
            return [f"{name}: its children came while they were looked at"]
        status, ready = rc.status, self.ready.get(name, [])
        image = f"redis:{spec.version}"
        runs = redis.status
        is_whole = runs.observed_generation == redis.metadata.generation and (
            runs.replicas == len(ready) == spec.replicas and runs.current_revision == runs.update_revision
        )
        pairs: dict[str, tuple[object, object]] = {
            "spec": ((rc.spec.replicas, rc.spec.sentinel.enabled, rc.spec.version), tuple_of(spec)),
            "deletion": (rc.metadata.deletion_timestamp, None),
            "StatefulSet": ((redis.spec.replicas, image_of(redis)), (spec.replicas, image)),
            "status.observedGeneration": (status.observed_generation, rc.metadata.generation),
            "status.replicas": (status.replicas, runs.replicas),
            "status.readyReplicas": (status.ready_replicas, len(ready)),
            "status.phase is Ready": (status.phase == "Ready", is_whole),
            "status.primary": (status.primary in ready if ready else status.primary == "", True),
            "sentinel.conf": ("sentinel.conf" in config.data, spec.sentinel),
        }
        if sentinel is not None:
            pairs["Deployment"] = (image_of(sentinel), image)
        return [f"{name}: {what} {is_} should be {ought}" for what, (is_, ought) in pairs.items() if is_ != ought]


def image_of(workload: StatefulSet | Deployment) -> str:
    pod = workload.spec.template.spec
    return (pod.containers[0].image or "") if pod else ""


def tuple_of(spec: Wanted) -> tuple[int, bool, str]:
    return spec.replicas, spec.sentinel, spec.version
