"""`pod-template-hash` is what a real controller manager makes of a template as it is stored."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from kubewright.client import Client, ClientConfig
from kubewright.schema.structural.gotext import as_json
from kubewright.testing import ClusterAccess
from kubewright.testing.workloads import kinds as k
from kubewright.testing.workloads.hashing import revision_hash

from .sim import simulated

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("templates.yaml").read_text())
HASHES = {f"d{number}": f"d{number}-{case['hash']}" for number, case in enumerate(CASES)}


async def make(client: Client, namespace: str) -> None:
    for number, case in enumerate(CASES):
        selector = {"matchLabels": {"app": "web"}}
        spec = {"replicas": 0, "selector": selector, "template": case["template"]}
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"d{number}"}, "spec": spec}
        await client.raw("POST", k.DEPLOYMENTS.path(namespace), body=body)


async def names(client: Client, namespace: str) -> dict[str, str]:
    found = orjson.loads((await client.raw("GET", k.REPLICA_SETS.path(namespace))).body)["items"]
    return {each["metadata"]["ownerReferences"][0]["name"]: each["metadata"]["name"] for each in found}


def test_templates_have_the_hashes_of_a_real_cluster() -> None:
    async def main() -> None:
        async with simulated() as sim:
            await make(sim.client, "default")
            await sim.settle()
            assert await names(sim.client, "default") == HASHES

    asyncio.run(main())


@pytest.mark.control_plane
def test_a_real_cluster_gives_these_hashes(control_plane_with_nodes: ClusterAccess, namespace_with_nodes: str) -> None:
    async def main() -> None:
        async with Client.connect(ClientConfig.from_kubeconfig(control_plane_with_nodes.kubeconfig_path)) as client:
            await make(client, namespace_with_nodes)
            for _ in range(300):
                found = await names(client, namespace_with_nodes)
                if len(found) == len(CASES):
                    break
                await asyncio.sleep(0.2)
            assert found == HASHES

    asyncio.run(main())


def test_revisions_are_hashed_as_go_writes_json() -> None:
    assert as_json({"b": "<ü&>", "a": [1, {}]}).encode() == b'{"a":[1,{}],"b":"\\u003c\xc3\xbc\\u0026\\u003e"}'
    assert revision_hash({"a": 1}, 0) != revision_hash({"a": 1}, 1)
