"""Apply by several managers: the embedded server says of random writes what the real one says."""

from __future__ import annotations

import asyncio
import os
import random
import uuid
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from fidelity.doors import Door, RealDoor
from fidelity.embedded import EmbeddedDoor

from kubewright.testing import ClusterAccess

from .applying import CRD, Write, comparable, random_writes
from .odd_writes import GADGETS, filled, odd_writes

RUNS, WRITES, TOGETHER = 100, 12, 8
SEED = 20261201
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def ask(door: Door, method: str, path: str, body: Any, content_type: str = "application/json") -> Any:
    headers = {"content-type": content_type, "user-agent": "tester/1"}
    return await door.ask(method, path, headers, None if body is None else orjson.dumps(body))


async def prepared(door: Door, crd: dict[str, Any]) -> None:
    """The custom kind, served in all versions."""
    await ask(door, "POST", DEFINITIONS, crd)
    spec = crd["spec"]
    for version in spec["versions"]:
        path = f"/apis/{spec['group']}/{version['name']}/namespaces/default/{spec['names']['plural']}"
        for _ in range(200):
            if (await ask(door, "GET", path, None)).status == 200:
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("the custom kind is not served")


async def answers(door: Door, writes: list[Write]) -> list[Any]:
    namespace = f"f-{uuid.uuid4().hex[:10]}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    assert (await ask(door, "POST", "/api/v1/namespaces", body)).status == 201
    found = []
    live: dict[str, Any] | None = None
    for write in writes:
        path, body = write.path.format(namespace=namespace), filled(write.body, live)
        answer = await ask(door, write.method, path, body, write.content_type)
        if answer.status < 300 and "/scale" not in path and "dryRun" not in path:
            live = orjson.loads(answer.body)
        found.append(comparable(answer.status, answer.body, namespace))
    await ask(door, "DELETE", f"/api/v1/namespaces/{namespace}", None)
    return found


def _shown(writes: list[Write], place: int, real: Any, ours: Any, seed: int) -> str:
    lines = [f"seed {seed}, write {place}:"]
    lines += [
        f"  {number}: {each.method} {each.path} {orjson.dumps(each.body).decode()}"
        for number, each in enumerate(writes[: place + 1])
    ]
    for one, other in zip(real, ours, strict=False):
        if one != other:
            lines += [f"  real: {orjson.dumps(one).decode()}", f"  ours: {orjson.dumps(other).decode()}"]
    return "\n".join(lines)


@pytest.mark.control_plane
@pytest.mark.parametrize(("crd", "random_writes"), [(CRD, random_writes), (GADGETS, odd_writes)], ids=["usual", "odd"])
def test_random_writes_by_several_managers_end_the_same_on_both_servers(
    control_plane: ClusterAccess, crd: dict[str, Any], random_writes: Callable[[random.Random, int], list[Write]]
) -> None:
    runs = int(os.environ.get("KUBEWRIGHT_APPLY_RUNS", RUNS))
    different: list[str] = []

    async def one(real: Door, ours: Door, seed: int) -> None:
        writes = random_writes(random.Random(seed), WRITES)
        expected, found = await answers(real, writes), await answers(ours, writes)
        for place, (each, other) in enumerate(zip(expected, found, strict=True)):
            if each != other:
                different.append(_shown(writes, place, each, other, seed))
                return

    async def main() -> None:
        real, ours = RealDoor(control_plane), EmbeddedDoor()
        limit = asyncio.Semaphore(TOGETHER)

        async def bounded(seed: int) -> None:
            async with limit:
                await one(real, ours, seed)

        try:
            await prepared(real, crd)
            await prepared(ours, crd)
            async with asyncio.TaskGroup() as group:
                for number in range(runs):
                    group.create_task(bounded(SEED + number))
        finally:
            await ask(real, "DELETE", f"{DEFINITIONS}/{crd['metadata']['name']}", None)
            await real.close()

    asyncio.run(main())
    assert not different, f"{len(different)} of {runs} differ\n" + "\n\n".join(different[:5])
