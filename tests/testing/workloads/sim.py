"""Workloads in process, on virtual time, and how their objects are looked at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson

from kubewright.apiserver import ApiServer, new_server
from kubewright.apiserver.inprocess import in_process_client
from kubewright.client import Client
from kubewright.testing.workloads import VirtualClock, Workloads
from kubewright.testing.workloads.kinds import Kind, Obj

_MERGE = (("accept", "application/json"), ("content-type", "application/merge-patch+json"))


class Sim:
    """A server with workloads, and a test's own client."""

    def __init__(self, server: ApiServer, client: Client, workloads: Workloads) -> None:
        self.server, self.client, self.workloads = server, client, workloads

    async def create(self, kind: Kind, manifest: Obj, namespace: str = "default") -> Obj:
        body = {"apiVersion": kind.api_version, "kind": kind.kind, **manifest}
        found: Obj = orjson.loads((await self.client.raw("POST", kind.path(namespace), body=body)).body)
        return found

    async def patch(self, kind: Kind, name: str, change: Obj, part: str = "", namespace: str = "default") -> None:
        await self.client.raw("PATCH", kind.path(namespace, name, part), body=change, headers=_MERGE)

    async def delete(self, kind: Kind, name: str, namespace: str = "default") -> None:
        await self.client.raw("DELETE", kind.path(namespace, name))

    async def get(self, kind: Kind, name: str, namespace: str = "default") -> Obj:
        found: Obj = orjson.loads((await self.client.raw("GET", kind.path(namespace, name))).body)
        return found

    async def list(self, kind: Kind, namespace: str = "default") -> list[Obj]:
        found: list[Obj] = orjson.loads((await self.client.raw("GET", kind.path(namespace))).body)["items"]
        return found

    async def settle(self) -> None:
        """Also the garbage."""
        for _ in range(3):
            await self.workloads.settle()
            await self.server.settle()

    async def advance(self, seconds: float) -> None:
        await self.settle()
        await self.workloads.advance(seconds)
        await self.settle()

    def now(self) -> str:
        return self.workloads.clock().strftime("%H:%M:%S")


@asynccontextmanager
async def simulated(*, nodes: int = 3, seed: int = 1, **options: Any) -> AsyncIterator[Sim]:
    clock = VirtualClock()
    server = new_server(seed=seed, now=clock, garbage=True)
    try:
        async with (
            in_process_client(server) as client,
            Workloads(client, nodes=nodes, clock=clock, **options) as workloads,
        ):
            yield Sim(server, client, workloads)
    finally:
        server.close()


def run(test: Callable[[Sim], Awaitable[None]]) -> None:
    """A test on three nodes."""

    async def main() -> None:
        async with simulated() as sim:
            await test(sim)

    asyncio.run(main())


def container(pod: Obj, place: int = 0) -> Obj:
    found: Obj = pod["status"]["containerStatuses"][place]
    return found


def condition(obj: Obj, type_: str) -> Obj:
    return next((each for each in obj["status"].get("conditions") or () if each["type"] == type_), {})
