"""The API server goes away and comes back, etcd keeps everything: reads go on, nothing crashes, all converges.

Two processes' worth of work in one: an operator with its cache, and a reader that asks that cache all the time. What
was changed a moment before the server went, and what is changed a moment after it came back, has to be brought about
within the bound. The bound is that of two backoffs: the cache waits up to a minute between two tries (client-go's
reflector, 30 s and as much jitter), a reconcile as long as its object has been failing, which is no more than the
server was away.

    pytest tests/e2e/test_server_away.py                12 s away
    pytest -m soak tests/e2e/test_server_away.py        60 s away; some two minutes
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from operator_process import until
from probes import Probe, ProbeSpec

from kubewright import Client, ClientConfig, Context, ObjectMeta, Operator, controller
from kubewright.client import ApiError, MergePatch, TransportError
from kubewright.manager import Manager
from kubewright.testing import ControlPlane

pytestmark = [pytest.mark.control_plane, pytest.mark.slow]

OBJECTS = 100
MOST_SECONDS = 90.0
NAMESPACE = "default"


@controller(Probe, workers=8)
async def copy(probe: Probe, ctx: Context) -> None:
    probe.status.seen = probe.spec.value


@dataclass
class Reads:
    """What somebody saw who asked the cache all the time."""

    count: int = 0
    slowest_seconds: float = 0.0
    fewest: int = OBJECTS

    async def run(self, manager: Manager) -> None:
        while True:
            began = time.monotonic()
            listed = await manager.reader.list(Probe, namespace=NAMESPACE)
            self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - began)
            self.fewest = min(self.fewest, len(listed))
            self.count += 1
            await asyncio.sleep(0.05)


async def change_all(client: Client, value: int) -> None:
    """Change every object, as soon as the server lets us."""

    async def change(number: int) -> None:
        patch = MergePatch({"spec": {"value": value}})
        while True:
            try:
                await client.patch(Probe, patch, f"p{number}", namespace=NAMESPACE)
                return
            except (ApiError, TransportError):
                await asyncio.sleep(0.1)

    await asyncio.gather(*(change(number) for number in range(OBJECTS)))


@pytest.mark.parametrize("seconds", [12.0, pytest.param(60.0, marks=pytest.mark.soak)])
def test_reads_go_on_while_the_api_server_is_away_and_all_converges_when_it_is_back(
    private_control_plane: Callable[..., ControlPlane], seconds: float
) -> None:
    control_plane = private_control_plane()
    config = ClientConfig.load(control_plane.access.kubeconfig_path)
    operator = Operator("probes", controllers=[copy], namespace=NAMESPACE)

    async def main() -> None:
        async with Client.connect(config) as direct, Client.connect(config) as client:

            async def unseen() -> list[str]:
                listed = await direct.list(Probe, namespace=NAMESPACE)
                return [each.metadata.name for each in listed if each.status.seen != each.spec.value]

            async with operator.start(client, install=True) as manager:
                for number in range(OBJECTS):
                    meta = ObjectMeta(name=f"p{number}", namespace=NAMESPACE)
                    await direct.create(Probe(metadata=meta, spec=ProbeSpec(value=1)))
                await until("all is as it should be", unseen, 60.0)
                reads = Reads()
                reading = asyncio.create_task(reads.run(manager))

                changing = asyncio.create_task(change_all(direct, 2))
                await asyncio.sleep(0.1)  # some of them
                await asyncio.to_thread(control_plane.stop_api_server)
                before = reads.count
                await asyncio.sleep(seconds)
                assert reads.count - before > seconds, "the cache answers"
                await asyncio.to_thread(control_plane.start_api_server)

                back = time.monotonic()
                await changing
                await change_all(direct, 3)
                await until("all is as it should be", unseen, MOST_SECONDS)
                took = time.monotonic() - back

                cached = await manager.reader.list(Probe, namespace=NAMESPACE)
                assert {each.spec.value for each in cached} == {3}
                reading.cancel()
                print(
                    f"  away for {seconds:g} s: converged {took:.1f} s after; {reads.count} reads meanwhile, the "
                    f"slowest in {reads.slowest_seconds * 1000:.0f} ms"
                )
                assert took <= MOST_SECONDS
                assert reads.fewest == OBJECTS
                assert manager.ready.is_set()

    asyncio.run(main())
