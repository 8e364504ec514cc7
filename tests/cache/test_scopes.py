"""Several collections of one kind are one cache (I8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest
from fakeserver import FakeServer
from histories import Seen, in_virtual_time
from watching import error

import virtual
from kubewright.cache import Added, Condition, Denied, Informer, InformerStopped, Unavailable
from kubewright.cache.scope import EVERYTHING, Scope
from kubewright.model import Key
from kubewright.model.fieldselector import FieldSelector


class World:
    """A server each for the namespaces a and b."""

    def __init__(self) -> None:
        self.servers = {name: FakeServer() for name in "ab"}
        self.informer = Informer(name="things", random=Random(1))
        for name, server in self.servers.items():
            server.put("x", namespace=name)
            self.informer.add_source(server, Scope(name))


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    made = World()
    task = asyncio.create_task(made.informer.run())
    try:
        yield made
    finally:
        made.informer.stop()
        await task


@in_virtual_time
async def test_it_has_synced_when_all_of_them_have() -> None:
    async with world() as w:
        w.servers["b"].delay_seconds = 5
        with pytest.raises(TimeoutError):
            await w.informer.wait_synced(1)
        assert not w.informer.has_synced
        assert w.informer.has_synced_in("a")
        assert not w.informer.has_synced_in("b")
        await w.informer.wait_synced(10)
        assert len(w.informer.store) == 2


@in_virtual_time
async def test_each_is_shown_as_initial_when_it_comes() -> None:
    async with world() as w:
        seen = Seen(w.informer)
        w.informer.add_handler(seen)
        w.servers["b"].delay_seconds = 5
        await w.informer.wait_synced(10)
        assert all(isinstance(delta, Added) and delta.initial for delta in seen.deltas)
        assert seen.names() == ["Added x", "Added x"]


@in_virtual_time
async def test_it_is_as_old_and_as_bad_as_the_one_that_is_oldest_and_worst() -> None:
    async with world() as w:
        await w.informer.wait_synced()
        w.servers["a"].version = 200
        w.servers["a"].bookmark()
        await virtual.settle()
        assert (w.informer.observed("a"), w.informer.observed("b")) == (200, 101)
        assert w.informer.observed_version == 101
        assert w.informer.condition is Condition.LIVE
        await asyncio.sleep(100)
        w.servers["a"].bookmark()
        await virtual.settle()
        assert w.informer.last_event_at == pytest.approx(virtual.START_AT, abs=1)
        w.servers["b"].watch_failures = [Denied("no")]
        w.servers["b"].cut()
        await virtual.settle()
        assert w.informer.condition is Condition.FORBIDDEN
        assert str(w.informer.problem) == "no"


@in_virtual_time
async def test_what_expires_in_one_is_listed_in_that_one_and_deletes_nothing_of_the_other() -> None:
    async with world() as w:
        seen = Seen(w.informer)
        w.informer.add_handler(seen)
        await w.informer.wait_synced()
        await virtual.settle()
        w.servers["a"].cut(line=error(410, "Expired"))
        await asyncio.sleep(30)
        assert len(w.servers["a"].lists) == 2
        assert len(w.servers["b"].lists) == 1
        assert seen.names() == ["Added x", "Added x"]


@in_virtual_time
async def test_a_source_can_come_and_go_while_it_runs() -> None:
    async with world() as w:
        seen = Seen(w.informer)
        w.informer.add_handler(seen)
        await w.informer.wait_synced()
        third = FakeServer()
        third.put("y", namespace="c")
        w.informer.add_source(third, Scope("c"))
        assert w.informer.has_synced
        await w.informer.wait_synced(5, namespace="c")
        assert seen.names()[2:] == ["Added y"]
        assert third.lists[0].resource_version == ""  # the newest: it may be read at once
        w.informer.remove_source("c")
        await virtual.settle()
        assert seen.names()[3:] == ["Deleted y"]
        assert w.informer.scope_of("c") is None
        assert third.open_watches == 0
        with pytest.raises(ValueError, match="follows namespace 'a' already"):
            w.informer.add_source(third, Scope("a"))
    with pytest.raises(InformerStopped):
        w.informer.add_source(third, Scope("c"))


@in_virtual_time
async def test_a_wait_for_a_version_waits_for_all_of_them() -> None:
    async with world() as w:
        await w.informer.wait_synced()
        wait = asyncio.create_task(w.informer.wait_version(150, 60))
        for server in w.servers.values():
            await virtual.settle()
            assert not wait.done()
            server.version = 150
            server.bookmark()
        await wait


@in_virtual_time
async def test_a_wait_for_a_version_ends_when_the_one_that_is_behind_goes() -> None:
    async with world() as w:
        await w.informer.wait_synced()
        await virtual.settle()
        w.servers["a"].version = 150
        w.servers["a"].bookmark()
        wait = asyncio.create_task(w.informer.wait_version(150, 60))
        await virtual.settle()
        assert not wait.done()
        w.informer.remove_source("b")
        await wait


@in_virtual_time
async def test_what_cannot_be_read_in_one_is_forgotten_by_its_own_list_only() -> None:
    async with world() as w:
        await w.informer.wait_synced()
        w.servers["a"].put("bad", namespace="a", generation="x")
        await virtual.settle()
        w.servers["b"].cut(line=error(410, "Expired"))
        await asyncio.sleep(30)
        assert list(w.informer.unreadable) == [Key("a", "bad")]
        w.servers["a"].delete("bad", namespace="a")
        w.servers["a"].cut(line=error(410, "Expired"))
        await asyncio.sleep(30)
        assert list(w.informer.unreadable) == []


@in_virtual_time
async def test_a_mistake_in_one_of_them_ends_the_run_with_it() -> None:
    class Broken(FakeServer):
        async def list_page(self, request: object) -> bytes:
            return 5  # type: ignore[return-value]

    informer = Informer(Broken(), name="things")
    other = FakeServer()
    informer.add_source(other, Scope("b"))
    with pytest.raises(TypeError):
        await informer.run()
    assert informer.stopped
    assert other.open_watches == 0


@in_virtual_time
async def test_one_that_fails_does_not_hold_up_the_other() -> None:
    async with world() as w:
        w.servers["a"].list_failures = [Unavailable("503")] * 1000
        seen = Seen(w.informer)
        w.informer.add_handler(seen)
        await asyncio.sleep(100)
        w.servers["b"].put("y", namespace="b")
        await virtual.settle()
        assert seen.names() == ["Added x", "Added y"]
        assert not w.informer.has_synced


def test_a_scope_covers_its_namespace_or_all_but_the_excluded_ones() -> None:
    assert [Scope("a").covers(each) for each in ("a", "b", "")] == [True, False, False]
    others = Scope("", frozenset("a"))
    assert [others.covers(each) for each in ("a", "b", "")] == [False, True, True]
    assert not others.is_whole
    assert EVERYTHING.is_whole
    assert EVERYTHING.covers("a")
    assert others.field_selector == "metadata.namespace!=a"


def test_a_scope_knows_which_names_its_field_selector_shuts_out() -> None:
    scope = Scope(fields=FieldSelector.parse("metadata.name=x,metadata.namespace!=kube-system,spec.nodeName=n"))
    assert scope.shuts_out("a", "x") == ""
    assert scope.shuts_out("a", "y") == "metadata.name=x"
    assert scope.shuts_out("kube-system", "x") == "metadata.namespace!=kube-system"
