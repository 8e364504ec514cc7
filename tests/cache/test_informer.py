"""The informer: what the store and the handlers see of a server, in virtual time."""

from __future__ import annotations

import asyncio

import pytest
from fakeserver import FakeServer
from histories import Seen, in_virtual_time, running
from watching import error

import virtual
from kubewright.cache import (
    Added,
    Condition,
    Delta,
)


@in_virtual_time
async def test_handlers_are_told_the_initial_state_before_it_has_synced() -> None:
    server = FakeServer()
    server.put("a")
    server.put("b")
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        synced_when_told: list[bool] = []
        informer.add_handler(lambda _: synced_when_told.append(informer.has_synced))
        assert informer.condition is Condition.SYNCING
        await informer.wait_synced(5)
        assert informer.has_synced
        assert seen.deltas == [
            Added(informer.store.get(("ns", "a")), initial=True),
            Added(informer.store.get(("ns", "b")), initial=True),
        ]
        assert synced_when_told == [False, False]
        assert informer.condition is Condition.LIVE


@in_virtual_time
async def test_changes_arrive_in_order_and_the_store_has_them_first() -> None:
    server = FakeServer()
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        server.put("a")
        server.put("a")
        server.delete("a")
        server.put("b")
        await virtual.settle()
        assert seen.names() == ["Added a", "Updated a", "Deleted a", "Added b"]
        assert [delta for delta in seen.deltas if isinstance(delta, Added) and delta.initial] == []
        assert seen.versions() == server.state()


@in_virtual_time
async def test_a_late_handler_gets_the_present_state_and_then_all_that_follows() -> None:
    server = FakeServer()
    server.put("a")
    async with running(server) as informer:
        await informer.wait_synced()
        server.put("b")
        await virtual.settle()
        seen = Seen(informer)
        informer.add_handler(seen)
        assert seen.names() == ["Added a", "Added b"]
        assert all(isinstance(delta, Added) and delta.initial for delta in seen.deltas)
        server.put("b")
        await virtual.settle()
        assert seen.names()[2:] == ["Updated b"]


@in_virtual_time
async def test_a_handler_added_by_a_handler_misses_nothing_and_hears_nothing_twice() -> None:
    server = FakeServer()
    for name in "abc":
        server.put(name)
    async with running(server) as informer:
        late = Seen(informer)

        def first(_: Delta) -> None:
            if not late.deltas:
                informer.add_handler(late)

        informer.add_handler(first)
        await informer.wait_synced()
        assert late.names() == ["Added a", "Added b", "Added c"]
        server.put("a")
        await virtual.settle()
        assert late.versions() == server.state()


@in_virtual_time
async def test_a_removed_handler_hears_nothing_more_even_of_the_same_batch() -> None:
    server = FakeServer()
    for name in "abc":
        server.put(name)
    async with running(server) as informer:
        heard: list[Delta] = []

        def once(delta: Delta) -> None:
            heard.append(delta)
            registration.remove()
            registration.remove()

        registration = informer.add_handler(once)
        await informer.wait_synced()
        server.put("a")
        await virtual.settle()
        assert len(heard) == 1


def test_a_handler_that_raises_is_logged_and_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        server = FakeServer()
        server.put("a")
        async with running(server) as informer:

            def broken(delta: Delta) -> None:
                raise RuntimeError("no")

            seen = Seen(informer)
            informer.add_handler(broken)
            informer.add_handler(seen)
            await informer.wait_synced()
            server.put("b")
            await virtual.settle()
            assert seen.names() == ["Added a", "Added b"]

    virtual.run(main())
    assert caplog.text.count("informer things: handler") == 2
    assert "ns/a" in caplog.text


@in_virtual_time
async def test_a_streamed_initial_state_is_told_like_a_listed_one() -> None:
    server = FakeServer()
    server.put("a")
    server.put("b")
    async with running(server, stream_initial=True) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        assert server.lists == []
        assert [(delta.entry.name, isinstance(delta, Added) and delta.initial) for delta in seen.deltas] == [
            ("a", True),
            ("b", True),
        ]
        server.put("c")
        await virtual.settle()
        assert len(informer.store) == 3
        server.delete("c")
        server.expire()
        server.cut(line=error(410, "Expired"))
        await asyncio.sleep(30)
        assert seen.versions() == server.state()
        assert server.lists == []
