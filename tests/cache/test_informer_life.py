"""The informer: how it is waited for, how it ends, and what else runs meanwhile."""

from __future__ import annotations

import asyncio

import pytest
from fakeserver import FakeServer
from histories import in_virtual_time, running

import virtual
from kubewright.cache import (
    Informer,
    InformerStopped,
)


@in_virtual_time
async def test_a_version_is_reached_by_events_and_by_bookmarks() -> None:
    server = FakeServer()
    async with running(server) as informer:
        assert informer.observed_version == 0
        await informer.wait_version(100, 5)
        assert informer.observed_version == 100

        wait = asyncio.create_task(informer.wait_version("102", 60))
        cancelled = asyncio.create_task(informer.wait_version("102", 60))
        server.put("a")
        await virtual.settle()
        assert not wait.done()
        cancelled.cancel()
        server.put("a")
        await wait
        assert informer.store.get(("ns", "a")).resource_version == "102"

        server.version = 150
        wait = asyncio.create_task(informer.wait_version(150, 60))
        await virtual.settle()
        assert not wait.done()
        server.bookmark()
        await wait
        assert cancelled.cancelled()


@in_virtual_time
async def test_a_wait_for_a_version_is_bounded_and_says_where_it_stands() -> None:
    server = FakeServer()
    async with running(server) as informer:
        await informer.wait_synced()
        with pytest.raises(TimeoutError, match=r"did not reach resource version 500 within 2 s; it is live at .* 100"):
            await informer.wait_version(500, 2)
        with pytest.raises(ValueError, match="invalid literal"):
            await informer.wait_version("abc")


@in_virtual_time
async def test_a_stop_ends_the_run_and_all_waits_and_closes_the_watch() -> None:
    server = FakeServer()
    informer = Informer(server, name="things")
    run = asyncio.create_task(informer.run())
    await informer.wait_synced()
    await virtual.settle()
    assert server.open_watches == 1
    wait = asyncio.create_task(informer.wait_version(500))
    await virtual.settle()
    informer.stop()
    await run
    with pytest.raises(InformerStopped, match="during the wait"):
        await wait
    with pytest.raises(InformerStopped):
        await informer.wait_version(500)
    with pytest.raises(InformerStopped, match="has stopped"):
        informer.add_handler(lambda _: None)
    assert server.open_watches == 0
    assert informer.stopped
    assert len(asyncio.all_tasks()) == 1


@in_virtual_time
async def test_a_cancelled_run_is_cancelled_and_leaves_nothing_open() -> None:
    server = FakeServer()
    informer = Informer(server, name="things")
    run = asyncio.create_task(informer.run())
    await informer.wait_synced()
    await virtual.settle()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert server.open_watches == 0
    assert informer.stopped
    with pytest.raises(RuntimeError, match="runs once"):
        await informer.run()


@in_virtual_time
async def test_an_informer_stopped_before_it_runs_does_not_run() -> None:
    server = FakeServer()
    informer = Informer(server)
    informer.stop()
    await informer.run()
    assert server.lists == []
    with pytest.raises(InformerStopped):
        await informer.wait_synced()


@in_virtual_time
async def test_while_a_large_list_is_taken_apart_others_run() -> None:
    server = FakeServer()
    for number in range(3000):
        server.put(f"o{number}")
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    neighbour = asyncio.create_task(other())
    async with running(server, page_size=100000) as informer:
        await informer.wait_synced()
        assert len(server.lists) == 1
        assert turns >= 6
    neighbour.cancel()
