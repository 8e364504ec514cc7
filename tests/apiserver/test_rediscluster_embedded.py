"""The RedisCluster operator on the embedded server, unchanged: apply, status, ownership, drift, finalizer.

Its StatefulSets and Pods are simulated by `Workloads`.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import yaml
from examples.rediscluster.operator import operator
from examples.rediscluster.types import RedisCluster

import virtual
from kubewright.apiserver import new_server
from kubewright.apiserver.inprocess import in_process_client
from kubewright.client import MergePatch, install_crds
from kubewright.model import decode
from kubewright.models.apps.v1 import Deployment, StatefulSet
from kubewright.models.core.v1 import ConfigMap, Service
from kubewright.testing.workloads import LoopClock, Workloads

SAMPLE = Path("examples/rediscluster/sample.yaml")


def sample() -> RedisCluster:

    return decode(RedisCluster, json.dumps(yaml.safe_load(SAMPLE.read_text())).encode())


def test_the_operator_makes_changes_repairs_and_ends_its_clusters() -> None:
    async def main() -> None:
        clock = LoopClock()
        async with in_process_client(new_server(seed=1, now=clock)) as kube, Workloads(kube, clock=clock) as workloads:
            await install_crds(kube, operator.crds())
            async with operator.start(kube):
                await kube.create(sample())
                await asyncio.sleep(5)
                redis = await kube.get(StatefulSet, "sample")
                owner = redis.metadata.owner_references[0]
                assert (owner.kind, owner.name, owner.controller) == ("RedisCluster", "sample", True)
                assert (await kube.get(RedisCluster, "sample")).status.phase == "Creating"

                # There were no nodes.
                await workloads.add_nodes(3)
                await asyncio.sleep(60)
                cluster = await kube.get(RedisCluster, "sample")
                assert (cluster.status.phase, cluster.status.ready_replicas) == ("Ready", 3)
                assert cluster.status.primary == "sample-0"
                service = await kube.get(Service, "sample")
                assert service.spec.selector["statefulset.kubernetes.io/pod-name"] == "sample-0"
                managers = {(each.manager, each.operation) for each in redis.metadata.managed_fields}
                assert ("rediscluster-operator", "Apply") in managers

                # Somebody changes what the operator owns, and deletes a child: both come back.
                await kube.patch(service, MergePatch({"spec": {"selector": {"app.kubernetes.io/name": "other"}}}))
                await kube.delete(await kube.get(ConfigMap, "sample-config"))
                await asyncio.sleep(5)
                assert (await kube.get(Service, "sample")).spec.selector["app.kubernetes.io/name"] == "redis"
                assert (await kube.get(ConfigMap, "sample-config")).data["redis.conf"]

                await kube.patch(cluster, MergePatch({"spec": {"sentinel": {"enabled": False}, "version": "7.4.0"}}))
                await asyncio.sleep(5)
                assert await kube.find(Deployment, "sample-sentinel") is None
                image = (await kube.get(StatefulSet, "sample")).spec.template.spec.containers[0].image
                assert image == "redis:7.4.0"

                before = kube_revision(await kube.list(RedisCluster))
                await asyncio.sleep(600)
                assert kube_revision(await kube.list(RedisCluster)) == before

                await kube.delete(await kube.get(RedisCluster, "sample"))
                await asyncio.sleep(5)
                assert await kube.find(RedisCluster, "sample") is None
                assert (await kube.get(ConfigMap, "sample-backup")).data["version"] == "7.4.0"

    virtual.run(main())


def kube_revision(listed: Any) -> str:
    """The revision of the whole server: nothing was written as long as it stays."""
    return str(listed.resource_version)
