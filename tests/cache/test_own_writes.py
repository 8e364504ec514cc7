"""What we wrote ourselves and no event tells (I7 of the informer), and who wants to hear of it."""

from __future__ import annotations

import asyncio

from fakeserver import FakeServer
from histories import Seen, in_virtual_time, running
from watching import encode, error, event, obj

import virtual
from kubewright.cache import Added, Deleted, Entry
from kubewright.cache.frame import entry_of
from kubewright.model import Key


def answer(server: FakeServer, name: str) -> Entry:
    """What the server answered to our last write of an object."""
    return entry_of(encode(server.objects["ns", name]))


async def in_a_gap(server: FakeServer) -> None:
    """The watch is cut, and will find that its version has expired."""
    server.delay_seconds = 1.0
    server.cut(line=error(410, "Expired"))
    await virtual.settle()


async def after_the_gap(server: FakeServer) -> None:
    server.expire()
    server.delay_seconds = 0.0
    await asyncio.sleep(60)


@in_virtual_time
async def test_what_we_made_and_others_removed_while_the_watch_had_expired_is_shown_added_and_deleted() -> None:
    server = FakeServer()
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        await in_a_gap(server)
        server.put("child")
        made = answer(server, "child")
        informer.wrote(made)
        server.delete("child")
        await after_the_gap(server)
        assert seen.deltas == [Added(made), Deleted(made, state_unknown=True)]
        assert informer.written.newest(made.key) is None
        assert len(informer.written) == 0


@in_virtual_time
async def test_so_is_what_was_there_under_its_name_before() -> None:
    server = FakeServer()
    server.put("child")
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        await in_a_gap(server)
        server.delete("child")
        server.put("child")
        informer.wrote(answer(server, "child"))
        server.delete("child")
        await after_the_gap(server)
        assert seen.names() == ["Added child", "Deleted child", "Added child", "Deleted child"]
        assert seen.illegal == []


@in_virtual_time
async def test_a_last_state_that_only_we_know_is_the_one_that_is_shown_deleted() -> None:
    """A child that we adopted, and that somebody removed: its new owner hears of it, not only the old one."""
    server = FakeServer()
    server.put("child")
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        await in_a_gap(server)
        server.put("child", labels={"ours": "yes"})
        ours = answer(server, "child")
        informer.wrote(ours)
        server.delete("child")
        await after_the_gap(server)
        assert seen.names() == ["Added child", "Updated child", "Deleted child"]
        assert seen.deltas[-1] == Deleted(ours, state_unknown=True)


@in_virtual_time
async def test_what_we_made_and_removed_ourselves_in_a_gap_is_shown_too() -> None:
    """Another controller of the operator may have wanted it."""
    server = FakeServer()
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        await in_a_gap(server)
        server.put("child")
        made = answer(server, "child")
        informer.wrote(made)
        informer.wrote(made, gone=True)
        server.delete("child")
        await after_the_gap(server)
        assert seen.names() == ["Added child", "Deleted child"]


@in_virtual_time
async def test_an_answer_that_comes_after_the_list_that_covers_it_is_shown_then() -> None:
    server = FakeServer()
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        await in_a_gap(server)
        server.put("child")
        made = answer(server, "child")
        server.delete("child")
        await after_the_gap(server)
        assert seen.deltas == []
        informer.wrote(made)
        assert seen.names() == ["Added child", "Deleted child"]


@in_virtual_time
async def test_what_is_in_events_or_in_the_list_is_shown_once() -> None:
    server = FakeServer()
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        server.put("told")
        told = answer(server, "told")
        informer.wrote(told)
        await virtual.settle()
        await in_a_gap(server)
        server.put("listed")
        informer.wrote(answer(server, "listed"))
        await after_the_gap(server)
        server.delete("told")
        await virtual.settle()
        informer.wrote(told)
        assert seen.names() == ["Added told", "Added listed", "Deleted told"]
        assert seen.illegal == []


@in_virtual_time
async def test_a_list_that_is_older_than_the_write_says_nothing_about_it() -> None:
    server = FakeServer()
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        informer.wrote(entry_of(encode(obj("new", 500))))
        await in_a_gap(server)
        await after_the_gap(server)
        assert seen.deltas == []
        found = informer.written.newest(Key("ns", "new"))
        assert found is not None
        assert found.resource_version == "500"


@in_virtual_time
async def test_after_a_restored_backup_nothing_written_since_stands_over_the_cache() -> None:
    server = FakeServer()
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        server.version = 200
        server.bookmark()
        await virtual.settle()
        lost = entry_of(encode(obj("lost", 201)))
        informer.wrote(lost)
        server.version = server.oldest = 150
        server._history.clear()
        server.cut(line=error(410, "Expired"))
        await asyncio.sleep(60)
        assert informer.observed_version == 150
        assert informer.written.newest(lost.key) is None
        assert seen.names() == ["Added lost", "Deleted lost"]


@in_virtual_time
async def test_who_does_not_want_echoes_hears_of_all_but_our_own_writes() -> None:
    server = FakeServer()
    async with running(server) as informer:
        all_of_it = Seen(informer)
        informer.add_handler(all_of_it)
        told: list[str] = []
        informer.add_handler(lambda delta: told.append(f"{type(delta).__name__} {delta.entry.name}"), echoes=False)
        await informer.wait_synced()
        server.put("a")
        informer.wrote(answer(server, "a"))
        server.put("b")
        await virtual.settle()
        assert told == ["Added b"]
        server.put("a")  # by somebody else
        await virtual.settle()
        assert told == ["Added b", "Updated a"]
        server.delete("a")
        await virtual.settle()
        assert told == ["Added b", "Updated a", "Deleted a"]
        assert all_of_it.names() == ["Added a", "Added b", "Updated a", "Deleted a"]


@in_virtual_time
async def test_an_echo_that_comes_by_a_list_is_told_to_everybody() -> None:
    """What else changed in the gap is in no event: who hears nothing of the list might never hear of that."""
    server = FakeServer()
    async with running(server) as informer:
        told: list[str] = []
        informer.add_handler(lambda delta: told.append(type(delta).__name__), echoes=False)
        await informer.wait_synced()
        await in_a_gap(server)
        server.put("a")
        informer.wrote(answer(server, "a"))
        await after_the_gap(server)
        assert told == ["Added"]


@in_virtual_time
async def test_an_answer_with_a_version_that_is_no_number_is_ignored() -> None:
    server = FakeServer()
    async with running(server) as informer:
        await informer.wait_synced()
        informer.wrote(entry_of(event("ADDED", obj("a", "abc"))[len('{"type":"ADDED","object":') : -2]))
        assert len(informer.written) == 0
