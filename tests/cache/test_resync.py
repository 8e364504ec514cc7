"""A resync tells handlers the store once more, and asks the server for nothing."""

from __future__ import annotations

import asyncio
import itertools
from random import Random
from typing import Any

from fakeserver import FakeServer
from histories import in_virtual_time

import virtual
from kubewright.cache import Delta, Informer, Updated, is_resync
from kubewright.cache.scope import Scope


class Run:
    """An informer of objects `a` and `b`, told again every 100 s."""

    def __init__(self, seed: int = 0, **scope: Any) -> None:
        self.server = FakeServer()
        self.server.put("a")
        self.server.put("b")
        self.told: list[tuple[float, Delta]] = []
        said = Scope(**{"resync_seconds": 100.0, **scope})
        self.informer = Informer(self.server, name="things", scope=said, random=Random(seed))

    async def __aenter__(self) -> Run:
        self.task = asyncio.create_task(self.informer.run())
        await self.informer.wait_synced()
        loop = asyncio.get_running_loop()
        self.informer.add_handler(lambda delta: self.told.append((loop.time(), delta)))
        self.told.clear()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.informer.stop()
        await self.task


@in_virtual_time
async def test_each_object_is_told_as_updated_with_itself_as_the_old_state() -> None:
    async with Run() as run:
        await asyncio.sleep(150)
        assert [(type(delta), delta.key.name) for _, delta in run.told] == [(Updated, "a"), (Updated, "b")]
        assert all(
            isinstance(delta, Updated) and delta.old is delta.entry and is_resync(delta) for _, delta in run.told
        )


@in_virtual_time
async def test_it_asks_the_server_for_nothing() -> None:
    async with Run() as run:
        await virtual.settle()
        lists, watches = len(run.server.lists), len(run.server.watches)
        await asyncio.sleep(150)
        assert (len(run.server.lists), len(run.server.watches)) == (lists, watches)


@in_virtual_time
async def test_it_comes_again_and_again_at_times_stretched_by_a_tenth_at_most() -> None:
    for seed in range(10):
        async with Run(seed) as run:
            began_at = asyncio.get_running_loop().time()
            await asyncio.sleep(1150)
            times = sorted({at - began_at for at, _ in run.told})
            assert len(times) >= 10
            steps = [later - earlier for earlier, later in itertools.pairwise(times)]
            assert 90 <= min(steps) <= max(steps) < 110.001
            assert max(steps) - min(steps) < 0.001  # the factor is that of the informer, not of each time


@in_virtual_time
async def test_a_change_is_no_resync_and_a_new_state_is_the_one_that_is_told_again() -> None:
    async with Run() as run:
        run.server.put("a")
        await virtual.settle()
        (_, changed) = run.told[0]
        assert isinstance(changed, Updated)
        assert not is_resync(changed)
        run.told.clear()
        await asyncio.sleep(150)
        assert run.told[0][1].entry == changed.entry


@in_virtual_time
async def test_where_none_is_asked_for_there_is_none() -> None:
    async with Run(resync_seconds=None) as run:
        await asyncio.sleep(100_000)
        assert run.told == []


@in_virtual_time
async def test_what_is_deleted_in_the_middle_of_one_is_not_told_after_its_deletion() -> None:
    async with Run() as run:
        for number in range(2000):
            run.server.put(f"o{number}")
        await virtual.settle()
        run.told.clear()

        def delete_all_at_the_first(delta: Delta) -> None:
            if isinstance(delta, Updated) and ("ns", "o0") in run.server.objects:
                for number in range(2000):
                    run.server.delete(f"o{number}")

        run.informer.add_handler(delete_all_at_the_first)
        await asyncio.sleep(120)
        gone: set[str] = set()
        for _, delta in run.told:
            assert delta.entry.name not in gone
            if not isinstance(delta, Updated):
                gone.add(delta.entry.name)
        assert len(gone) == 2000
