"""The informer and a server that goes wrong: what is shown, what is tried again, what is never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from fakeserver import FakeServer
from histories import Seen, in_virtual_time, running
from watching import error, event, obj

import virtual
from kubewright.cache import (
    Condition,
    Deleted,
    Denied,
    ListPage,
    NotInstalled,
    Throttled,
    Unavailable,
    Watch,
)


@in_virtual_time
async def test_what_was_deleted_during_an_outage_is_shown_deleted_with_its_last_known_state() -> None:
    server = FakeServer()
    server.put("gone")
    server.put("stays")
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        last = informer.store.get(("ns", "gone"))
        seen.deltas.clear()
        server.watch_failures.append(Unavailable("refused"))
        server.cut()
        await virtual.settle()
        server.delete("gone")
        server.expire()
        await asyncio.sleep(60)
        assert seen.deltas == [Deleted(last, state_unknown=True)]
        assert seen.versions() == server.state()


@in_virtual_time
async def test_an_object_made_again_during_an_outage_is_a_deletion_and_an_addition() -> None:
    server = FakeServer()
    server.put("a")
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        server.cut(line=error(410, "Expired"))
        await virtual.settle()
        server.delete("a")
        server.put("a")
        server.expire()
        await asyncio.sleep(60)
        assert seen.names() == ["Added a", "Deleted a", "Added a"]
        assert seen.versions() == server.state()


def test_a_watch_that_the_server_ends_is_resumed_silently(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        server = FakeServer()
        server.put("a")
        async with running(server) as informer:
            seen = Seen(informer)
            informer.add_handler(seen)
            await informer.wait_synced()
            await asyncio.sleep(3600)
            assert len(server.lists) == 1
            # Of bookmarks this server sends only the one at the end of a watch; a real one sends one a minute, so three
            # minutes of silence are taken for a dead connection.
            assert 6 <= len(server.watches) <= 21
            assert seen.names() == ["Added a"]
            server.put("a")
            await virtual.settle()
            assert seen.names() == ["Added a", "Updated a"]

    virtual.run(main())
    assert caplog.text == ""


@in_virtual_time
async def test_bookmarks_save_a_quiet_watch_from_a_list_after_compaction() -> None:
    server = FakeServer()
    async with running(server) as informer:
        await informer.wait_synced()
        server.version += 500  # changes of other collections
        server.bookmark()
        await virtual.settle()
        server.expire()
        server.cut(Unavailable("reset"))
        await asyncio.sleep(60)
        assert len(server.lists) == 1
        assert server.watches[-1].resource_version == "600"


def test_a_denied_list_shows_and_is_tried_again_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        server = FakeServer()
        server.list_failures = [Denied('things is forbidden: add verb "list"') for _ in range(3)]
        async with running(server) as informer:
            with pytest.raises(TimeoutError, match=r"forbidden at resource version 0: things is forbidden: add verb"):
                await informer.wait_synced(1.0)
            assert informer.condition is Condition.FORBIDDEN
            await informer.wait_synced(30.0)
            assert informer.problem is None
            assert informer.condition is Condition.LIVE

    virtual.run(main())
    assert caplog.text.count("things is forbidden") == 1


@in_virtual_time
async def test_a_kind_that_is_not_installed_yet_is_waited_for() -> None:
    server = FakeServer()
    server.list_failures = [NotInstalled("the server does not know things") for _ in range(4)]
    async with running(server) as informer:
        await virtual.settle()
        assert informer.condition is Condition.NOT_INSTALLED
        await informer.wait_synced(120.0)


@in_virtual_time
async def test_retry_after_is_waited_for() -> None:
    server = FakeServer()
    async with running(server) as informer:
        await informer.wait_synced()
        await asyncio.sleep(10)
        server.watch_failures = [Throttled("busy", after_seconds=17.0)]
        server.cut()
        await asyncio.sleep(16.9)
        assert len(server.watches) == 2
        await asyncio.sleep(0.2)
        assert len(server.watches) == 3
        assert len(server.lists) == 1


def test_a_list_watch_with_a_bug_is_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        server = FakeServer()
        server.list_failures = [KeyError("bug")]
        server.watch_failures = [ZeroDivisionError("bug")]
        async with running(server) as informer:
            await informer.wait_synced(10)
            server.put("a")
            await asyncio.sleep(10)
            assert len(informer.store) == 1

    virtual.run(main())
    assert caplog.text.count("failed unexpectedly") == 2


class Silent(FakeServer):
    """Accepts, and then never says anything."""

    async def list_page(self, request: ListPage) -> bytes:
        if len(self.lists) == 0:
            self.lists.append(request)
            await asyncio.sleep(1e6)
        return await super().list_page(request)

    async def watch(self, request: Watch, on_line: Callable[[bytes], None], on_open: Callable[[], None]) -> None:
        if len(self.watches) == 0:
            self.watches.append(request)
            on_open()
            on_line(event("BOOKMARK", {"metadata": {"resourceVersion": str(self.version)}}))
            await asyncio.sleep(1e6)
        await super().watch(request, on_line, on_open)


@in_virtual_time
async def test_connections_that_are_open_and_dead_are_noticed() -> None:
    server = Silent()
    async with running(server) as informer:
        await informer.wait_synced(200)
        await virtual.settle()
        server.put("a")
        await asyncio.sleep(170)
        assert len(informer.store) == 0
        await asyncio.sleep(15)
        assert len(informer.store) == 1
        assert len(server.lists) == 2


class Stubborn(FakeServer):
    """Goes on sending after the watch is over."""

    async def watch(self, request: Watch, on_line: Callable[[bytes], None], on_open: Callable[[], None]) -> None:
        on_open()
        try:
            on_line(error(410, "Expired"))
            on_line(error(500, "InternalError"))
            on_line(event("ADDED", obj("ghost", 1)))
            await asyncio.sleep(1e6)
        finally:
            on_line(event("ADDED", obj("ghost", 2)))


@in_virtual_time
async def test_lines_after_the_end_of_a_watch_are_ignored() -> None:
    server = Stubborn()
    async with running(server) as informer:
        await informer.wait_synced()
        await asyncio.sleep(100)
        assert len(informer.store) == 0
        assert len(server.lists) > 3


@in_virtual_time
async def test_an_object_that_cannot_be_read_is_set_aside_and_the_last_good_state_stays() -> None:
    server = FakeServer()
    good = server.put("a")
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        server.put("a", generation="x")
        server.put("b")
        await virtual.settle()
        assert seen.names() == ["Added a", "Added b"]
        assert informer.unreadable[("ns", "a")].data.count(b'"generation":"x"') == 1
        assert informer.store.get(("ns", "a")).resource_version == str(good)
        server.expire()
        server.cut(line=error(410, "Expired"))
        await asyncio.sleep(30)
        assert len(server.lists) == 2
        assert list(informer.unreadable) == [("ns", "a")]
        assert informer.store.get(("ns", "a")).resource_version == str(good)
        server.put("a")
        await virtual.settle()
        assert seen.names()[2:] == ["Updated a"]
        assert not informer.unreadable
        server.put("a", generation="x")
        server.delete("a")
        await virtual.settle()
        assert seen.names()[3:] == ["Deleted a"]
        assert not informer.unreadable
