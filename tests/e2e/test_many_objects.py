"""10,000 custom resources on a real API server, and a watch of them that is cut 50 times under 200 changes a second.

An informer and an operator see the collection through a proxy. Every version of every object that was written is known
from the writes' answers; so every single change is accounted for, not only the last state. Times are printed.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from contextlib import AsyncExitStack

import pytest
from cutting_proxy import FIN, RST, STALL, CuttingProxy
from msgspec.structs import replace
from operator_process import until
from probes import GROUP, Histories, Probe, ProbeSpec, chosen

from kubewright import Client, ClientConfig, Context, ObjectMeta, Operator, controller
from kubewright.cache import Deleted, Delta, Informer
from kubewright.cache.collection import Collection
from kubewright.client import MergePatch, install_crds
from kubewright.client.http import HttpClient
from kubewright.testing.access import ClusterAccess

pytestmark = [pytest.mark.control_plane, pytest.mark.slow]

OBJECTS = 10_000
CUTS = 50
PER_SECOND = 200
BETWEEN_CUTS = 60  # changes
HANDS = 32
CHANGED = 500  # of the objects, over and over


class Ledger:
    """What was written, and what an informer told: versions by object."""

    def __init__(self) -> None:
        self.written: set[tuple[str, int]] = set()
        self.told: Counter[tuple[str, int]] = Counter()
        self.gone: set[str] = set()
        self.told_gone: set[str] = set()
        self.histories = Histories()

    def wrote(self, probe: Probe) -> None:
        self.written.add((probe.metadata.uid, int(probe.metadata.resource_version)))

    def __call__(self, delta: Delta) -> None:
        self.histories(delta)
        if isinstance(delta, Deleted):
            self.told_gone.add(delta.entry.uid)
        else:
            self.told[delta.entry.uid, int(delta.entry.resource_version)] += 1

    def lost(self) -> int:
        return len(self.written - self.told.keys()) + len(self.gone - self.told_gone)

    def invented(self) -> list[object]:
        twice = [each for each, times in self.told.items() if times > 1]
        return [*twice, *(self.told.keys() - self.written), *(self.told_gone - self.gone)]


async def create_all(client: Client, namespace: str, ledger: Ledger) -> None:
    numbers = iter(range(OBJECTS))

    async def hand() -> None:
        for number in numbers:
            probe = Probe(metadata=ObjectMeta(name=f"p{number}", namespace=namespace), spec=ProbeSpec(value=0))
            ledger.wrote(await client.create(probe))

    await asyncio.gather(*(hand() for _ in range(HANDS)))


async def change(
    client: Client, namespace: str, ledger: Ledger, choose: random.Random, made: Counter[str], stop: asyncio.Event
) -> None:
    """200 changes a second, of which each tenth deletes an object and makes it anew."""
    names = [f"p{number}" for number in choose.sample(range(OBJECTS), CHANGED)]
    began, count = time.monotonic(), 0

    async def hand(mine: list[str]) -> None:
        nonlocal count
        while not stop.is_set():
            count += 1
            await asyncio.sleep(began + count / PER_SECOND - time.monotonic())
            name = choose.choice(mine)
            if choose.random() < 0.05:
                gone = await client.get(Probe, name, namespace=namespace)
                await client.delete(Probe, name, namespace=namespace)
                ledger.gone.add(gone.metadata.uid)
                ledger.wrote(await client.create(Probe(metadata=ObjectMeta(name=name, namespace=namespace))))
                count += 1
                made.update(deleted=1, created=1)
            else:
                patch = MergePatch({"spec": {"value": choose.randrange(10**9)}})
                ledger.wrote(await client.patch(Probe, patch, name, namespace=namespace))
                made["updated"] += 1

    hands = HANDS // 4
    await asyncio.gather(*(hand(names[number::hands]) for number in range(hands)))


def test_10000_objects_are_synced_and_no_change_is_lost_or_invented_while_their_watch_is_cut_50_times(
    control_plane: ClusterAccess, namespace: str
) -> None:
    choose = chosen()
    config = ClientConfig.load(control_plane.kubeconfig_path)
    reconciled: dict[str, tuple[str, int]] = {}
    ledger = Ledger()

    @controller(Probe, workers=16)
    async def note(probe: Probe, ctx: Context) -> None:
        reconciled[probe.metadata.name] = (probe.metadata.uid, probe.metadata.generation)

    async def main() -> None:
        async with AsyncExitStack() as stack:
            direct = await stack.enter_async_context(Client.connect(config, field_manager="changer"))
            proxy = await stack.enter_async_context(CuttingProxy(control_plane.url))
            client = await stack.enter_async_context(Client(HttpClient(replace(config, server=proxy.url))))
            operator = Operator("probes", controllers=[note], namespace=namespace)
            await install_crds(direct, operator.crds())
            began = time.monotonic()
            await create_all(direct, namespace, ledger)
            created = time.monotonic()

            source = Collection(client.http, f"/apis/{GROUP}/v1/namespaces/{namespace}/probes")
            informer = Informer(source, name="probes")
            informer.add_handler(ledger)
            following = asyncio.create_task(informer.run())
            await informer.wait_synced(60.0)
            synced = time.monotonic()
            assert len(informer.store) == OBJECTS
            manager = await stack.enter_async_context(operator.start(client))

            async def to_reconcile() -> int:
                return OBJECTS - len(reconciled)

            await until("everything was reconciled", to_reconcile, 60.0)
            done = time.monotonic()
            print(
                f"  {OBJECTS} created in {created - began:.1f} s, listed and synced in {synced - created:.2f} s, by an "
                f"operator reconciled {done - synced:.1f} s later"
            )

            made, stop = Counter[str](), asyncio.Event()
            changing = asyncio.create_task(change(direct, namespace, ledger, choose, made, stop))
            began = time.monotonic()
            cut_at = BETWEEN_CUTS
            while proxy.cuts.total() < CUTS:
                await asyncio.sleep(0.02)
                if made.total() >= cut_at and proxy.pipes:
                    cut_at = made.total() + choose.randrange(2 * BETWEEN_CUTS)
                    how = choose.choice((FIN, RST, RST, STALL))
                    proxy.cut(choose.choice(proxy.pipes), how, choose.uniform(0.1, 0.5))
            stop.set()
            await changing
            seconds, changes = time.monotonic() - began, made.total()
            print(f"  {changes} changes, {changes / seconds:.0f}/s: {dict(made)}; cut: {dict(proxy.cuts)}")

            async def behind() -> list[str]:
                state = {
                    each.metadata.name: (each.metadata.uid, each.metadata.generation)
                    for each in await direct.list(Probe, namespace=namespace)
                }
                stored = {entry.key.name: entry.uid for entry in informer.store}
                cached = await manager.reader.list(Probe, namespace=namespace)
                wrong = [name for name in state.keys() | stored.keys() if stored.get(name) != state.get(name, "")[0]]
                wrong += [
                    each.metadata.name
                    for each in cached
                    if state.get(each.metadata.name) != (each.metadata.uid, each.metadata.generation)
                ]
                return wrong + [name for name, each in state.items() if reconciled.get(name) != each]

            stopped = time.monotonic()
            await until("everybody knows the last state", behind, 90.0, every=0.5)
            known = time.monotonic() - stopped
            print(f"  {ledger.lost()} lost, {len(ledger.invented())} invented; all known {known:.1f} s after")
            assert ledger.histories.illegal == []
            assert ledger.invented() == []
            assert ledger.lost() == 0
            assert proxy.cuts.total() == CUTS
            informer.stop()
            await following

    asyncio.run(main())
