"""The informer: what the store and the handlers see of a server, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest
from fakeserver import FakeServer, random_cut
from hypothesis import given, settings
from hypothesis import strategies as st
from watching import error, event, obj

import virtual
from kubewright.cache import (
    Added,
    Condition,
    Deleted,
    Delta,
    Denied,
    Entry,
    Informer,
    InformerStopped,
    ListPage,
    NotInstalled,
    Throttled,
    Unavailable,
    Updated,
    Watch,
)


class Seen:
    """A handler that keeps what it is told, and checks that it is a legal history of each object."""

    def __init__(self, informer: Informer | None = None) -> None:
        self.deltas: list[Delta] = []
        self.state: dict[tuple[str, str], Entry] = {}
        self.informer = informer
        self.illegal: list[Delta] = []

    def __call__(self, delta: Delta) -> None:
        self.deltas.append(delta)
        try:
            self._check(delta)
        except Exception:
            self.illegal.append(delta)  # what a handler raises goes to the log
            raise

    def _check(self, delta: Delta) -> None:
        key = delta.key
        if isinstance(delta, Added):
            assert key not in self.state
            self.state[key] = delta.entry
        elif isinstance(delta, Updated):
            known = self.state[key]
            assert delta.old == known
            assert known.uid == delta.entry.uid
            assert int(known.resource_version) < int(delta.entry.resource_version)
            self.state[key] = delta.entry
        else:
            known = self.state.pop(key)
            assert known.uid == delta.entry.uid
        if self.informer is not None:
            shown = self.informer.store.get(key)
            expected = self.state.get(key)
            # In the middle of a replacement the store may be ahead, never behind.
            assert (
                shown == expected or shown is None or int(shown.resource_version) >= int(delta.entry.resource_version)
            )

    def versions(self) -> dict[tuple[str, str], str]:
        return {key: entry.resource_version for key, entry in self.state.items()}

    def names(self) -> list[str]:
        return [f"{type(delta).__name__} {delta.entry.name}" for delta in self.deltas]


@asynccontextmanager
async def running(server: Any, **options: Any) -> Any:
    informer = Informer(server, name="things", random=Random(1), **options)
    task = asyncio.create_task(informer.run())
    try:
        yield informer
    finally:
        informer.stop()
        await task


def in_virtual_time(main: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    def test() -> None:
        virtual.run(main())  # type: ignore[arg-type]

    test.__name__ = main.__name__
    return test


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


async def chaos(chance: Random, changes: int, cut_chance: float, **options: Any) -> int:
    """Random changes on a server that is cut at random; whenever it rests, everybody must agree with it.

    How many changes the first handler was told.
    """
    server = FakeServer()
    server.page_size = chance.choice([None, 3])
    for number in range(chance.randrange(40)):
        server.put(f"o{number}")
    async with running(server, page_size=chance.choice([2, 500]), **options) as informer:
        handlers = [Seen(informer)]
        informer.add_handler(handlers[0])
        for change in range(changes + 1):
            if chance.random() < 0.03 or change == changes:
                server.list_failures.clear()
                server.watch_failures.clear()
                server.garble = False
                await informer.wait_version(server.version, 700)
                assert {entry.key: entry.resource_version for entry in informer.store} == server.state()
                for handler in handlers:
                    assert handler.versions() == server.state()
                    assert handler.illegal == []
            if chance.random() < 0.02:
                handlers.append(Seen(informer))
                informer.add_handler(handlers[-1])
            name = f"o{chance.randrange(40)}"
            if ("ns", name) in server.objects and chance.random() < 0.35:
                server.delete(name)
            elif change < changes:
                server.put(name)
            if chance.random() < 0.05:
                server.bookmark()
            if chance.random() < cut_chance:
                random_cut(server, chance)
            if chance.random() < 0.6:
                await asyncio.sleep(chance.choice([0, 0, 0, 0.01, 1.0, 30.0]))
        await asyncio.sleep(700)
        assert informer.condition is Condition.LIVE
        return len(handlers[0].deltas)


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 60), st.sampled_from([0.0, 0.1, 0.4]), st.booleans())
def test_after_any_history_with_any_cuts_store_and_handlers_agree_with_the_server(
    chance: Random, changes: int, cut_chance: float, stream: bool
) -> None:
    virtual.run(chaos(chance, changes, cut_chance, stream_initial=stream))


@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_changes_with_cuts_at_random_lose_nothing(seed: int) -> None:
    assert virtual.run(chaos(Random(seed), 3000, 0.03, stream_initial=seed % 2 == 1)) > 1000
