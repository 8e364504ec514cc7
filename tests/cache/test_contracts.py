"""Each numbered guarantee of the cache, by its number; all of them together, and a model: `test_informer_model`.

W  the watcher      S  the store      I  the informer      R  the reader
"""

from __future__ import annotations

import asyncio
import re
from random import Random

import pytest
from fakeserver import FakeServer
from histories import Seen, in_virtual_time, running
from machine import answer, asked_watch, new, synced
from watching import bookmark, encode, error, event, obj, page

import virtual
from kubewright.cache import (
    Added,
    Condition,
    Deleted,
    Delta,
    Denied,
    Informer,
    ListPage,
    NotInstalled,
    OutsideCache,
    Rejected,
    Store,
    Throttled,
    Unavailable,
    Updated,
    Watch,
    Watcher,
    reader,
)
from kubewright.cache.actions import Digest, Wait
from kubewright.cache.frame import entry_of
from kubewright.cache.listing import Replaced
from kubewright.cache.reader import Reader
from kubewright.cache.scope import Scope
from kubewright.model import Key, Object
from kubewright.models.core.v1 import ConfigMap


def test_every_numbered_guarantee_has_a_test_of_its_number() -> None:
    said = (Watcher.__doc__, Store.__doc__, Informer.__doc__, reader.__doc__)
    guarantees = [re.split("Caveats|Cancellation", (each or "").partition("Guarantees:")[2])[0] for each in said]
    promised = {number for each in guarantees for number in re.findall(r"(?<!\()\b[WSIR]\d\b(?!\))", each)}
    tested = {found[1].upper() for name in globals() if (found := re.match(r"test_([wsir]\d)_", name))}
    assert promised == tested
    assert len(promised) == 4 + 2 + 8 + 5


# The watcher


def test_w1_every_change_is_shown_by_an_output_or_covered_by_a_later_state() -> None:
    watcher = synced(10)
    assert watcher.line_received(event("ADDED", obj("a", 11)), 1.0) is not None
    watcher.line_received(error(410, "Expired"), 2.0)  # what is lost now ...
    found = answer(watcher, page([obj("b", 12)], 20), 3.0)
    assert isinstance(found, Replaced)  # ... is in here
    assert [entry.name for entry in found.entries] == ["b"]


def test_w2_a_watch_resumes_from_a_version_of_a_list_an_event_or_a_bookmark() -> None:
    watcher = synced(10)
    versions = [asked_watch(watcher).resource_version]
    for line in (event("ADDED", obj("a", 15)), bookmark(20)):
        watcher.line_received(line, 1.0)
        watcher.watch_ended(asked_watch(watcher), None, 5.0)
        versions.append(asked_watch(watcher).resource_version)
    assert versions == ["10", "15", "20"]


@pytest.mark.parametrize("stream", [False, True])
def test_w3_there_is_always_an_action_and_an_end_of_waiting_for_it(stream: bool) -> None:
    chance = Random(5)
    watcher, now = new(stream_initial=stream), 0.0
    failures = [Denied("no"), NotInstalled("404"), Rejected("what"), Throttled("busy", 5.0), Unavailable("503")]
    for _ in range(2000):
        action, wake_at = watcher.action, watcher.wake_at
        if isinstance(action, Digest):
            watcher.digest(2, now)
            continue
        assert wake_at is not None
        assert wake_at <= now + 700
        now += chance.random()
        if isinstance(action, Wait) or chance.random() < 0.3:
            now = max(now, wake_at)
            watcher.timer(now)
        elif isinstance(action, ListPage):
            if chance.random() < 0.5:
                watcher.page_received(action, page([obj("a", 1)], 10), now)
            else:
                watcher.page_failed(action, chance.choice(failures), now)
        else:
            assert isinstance(action, Watch)
            watcher.watch_ended(action, chance.choice([None, *failures]), now)


def test_w4_a_failure_shows_until_the_server_has_answered_well_again() -> None:
    watcher = synced(10)
    watcher.watch_ended(asked_watch(watcher), Denied("no"), 1.0)
    assert (watcher.condition, str(watcher.problem)) == (Condition.FORBIDDEN, "no")
    assert watcher.wake_at is not None
    watcher.timer(watcher.wake_at)
    assert watcher.condition is Condition.FORBIDDEN
    watcher.opened(asked_watch(watcher), 9.0)
    assert (watcher.condition, watcher.problem) == (Condition.LIVE, None)


# The store


def test_s1_after_each_change_entries_indexes_and_sizes_agree() -> None:
    store = Store({"version": lambda entry: [entry.resource_version]})
    for each in (obj("a", 1), obj("b", 2), obj("a", 3), obj("a", 4, uid="another")):
        store.upsert(entry_of(encode(each)))
        assert {key for value in store.index_values("version") for key in store.index_keys("version", value)} == {
            entry.key for entry in store
        }
        assert store.size_bytes == sum(len(entry.data) for entry in store)
    store.replace([entry_of(encode(obj("c", 9)))])
    assert store.index_values("version") == ["9"]
    assert (len(store), store.size_bytes) == (1, len(entry_of(encode(obj("c", 9))).data))


def test_s2_the_differences_lead_from_the_state_before_to_the_state_after() -> None:
    store = Store()
    before, deltas = [entry_of(encode(obj(name, 1))) for name in "ab"], []
    for entry in before:
        store.upsert(entry)
    state = {entry.key: entry for entry in before}
    deltas = store.replace([entry_of(encode(obj("b", 2))), entry_of(encode(obj("c", 3)))])
    for delta in deltas:
        if isinstance(delta, Deleted):
            del state[delta.key]
        else:
            state[delta.key] = delta.entry
    assert state == {entry.key: entry for entry in store}


# The informer


@in_virtual_time
async def test_i1_the_store_is_changed_before_any_handler_is_called() -> None:
    server = FakeServer()
    async with running(server) as informer:
        await informer.wait_synced()
        shown: list[str | None] = []

        def handler(delta: Delta) -> None:
            entry = informer.store.get(delta.key)
            shown.append(None if entry is None else entry.resource_version)

        informer.add_handler(handler)
        informer.add_handler(handler)
        first = server.put("a")
        await virtual.settle()
        server.delete("a")
        await virtual.settle()
        assert shown == [str(first)] * 2 + [None] * 2


@in_virtual_time
async def test_i2_a_handler_is_told_a_legal_history_that_ends_in_the_last_state() -> None:
    server = FakeServer()
    server.put("a")
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        await virtual.settle()
        server.put("a")
        server.cut(line=error(410, "Expired"))
        await virtual.settle()
        server.delete("a")
        server.put("a")
        last = server.put("a")
        server.expire()
        await asyncio.sleep(60)
        assert seen.illegal == []
        assert seen.versions() == {("ns", "a"): str(last)}


@in_virtual_time
async def test_i3_a_late_handler_is_told_the_present_state_and_all_that_follows_and_nothing_twice() -> None:
    server = FakeServer()
    server.put("a")
    async with running(server) as informer:
        await informer.wait_synced()
        seen = Seen(informer)
        informer.add_handler(seen)
        assert [type(delta) for delta in seen.deltas] == [Added]
        server.put("a")
        await virtual.settle()
        assert [type(delta) for delta in seen.deltas] == [Added, Updated]


@in_virtual_time
async def test_i4_it_has_synced_when_the_handlers_have_been_told_and_not_before() -> None:
    server = FakeServer()
    server.put("a")
    async with running(server) as informer:
        synced_when_told: list[bool] = []
        registration = informer.add_handler(lambda _: synced_when_told.append(registration.has_synced))
        await informer.wait_synced()
        assert synced_when_told == [False]
        assert registration.has_synced


@in_virtual_time
async def test_i5_a_handler_that_raises_stops_neither_the_others_nor_the_informer() -> None:
    server = FakeServer()
    async with running(server) as informer:

        def broken(_: Delta) -> None:
            raise RuntimeError("no")

        seen = Seen(informer)
        informer.add_handler(broken)
        informer.add_handler(seen)
        await informer.wait_synced()
        server.put("a")
        server.put("b")
        await virtual.settle()
        assert seen.names() == ["Added a", "Added b"]


@in_virtual_time
async def test_i6_no_failure_of_the_server_stops_it_and_each_shows() -> None:
    for failure in (Denied("no"), NotInstalled("404"), Rejected("what"), Throttled("busy"), Unavailable("503")):
        server = FakeServer()
        server.list_failures = [failure] * 20
        async with running(server) as informer:
            await asyncio.sleep(1)
            assert informer.problem is failure
            assert informer.condition is not Condition.LIVE
            await informer.wait_synced(1500)
            assert informer.condition is Condition.LIVE
            assert informer.last_event_at is not None


@in_virtual_time
async def test_i7_what_we_wrote_and_no_event_has_is_shown() -> None:
    server = FakeServer()
    async with running(server) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        await virtual.settle()
        server.delay_seconds = 1.0
        server.cut(line=error(410, "Expired"))
        await virtual.settle()
        server.put("child")
        informer.wrote(entry_of(encode(server.objects["ns", "child"])))
        server.delete("child")
        server.expire()
        await asyncio.sleep(60)
        assert seen.names() == ["Added child", "Deleted child"]


@in_virtual_time
async def test_i8_a_list_of_one_scope_says_nothing_about_others_and_a_scope_that_goes_takes_its_objects_along() -> None:
    servers = {name: FakeServer() for name in "ab"}
    informer = Informer(name="things", random=Random(1))
    for name, server in servers.items():
        server.put("x", namespace=name)
        informer.add_source(server, Scope(name))
    task = asyncio.create_task(informer.run())
    seen = Seen(informer)
    informer.add_handler(seen)
    await informer.wait_synced()
    await virtual.settle()
    servers["a"].cut(line=error(410, "Expired"))
    await asyncio.sleep(30)
    assert seen.names() == ["Added x", "Added x"]
    informer.remove_source("a")
    assert seen.names()[2:] == ["Deleted x"]
    assert seen.deltas[-1].key == Key("a", "x")
    informer.stop()
    await task


# The reader


async def reading(server: FakeServer, informer: Informer) -> Reader:
    async def get(kind: type[Object]) -> Informer:
        await informer.wait_synced()
        return informer

    return Reader(get, lambda kind: informer)


def config(version: int, **data: str) -> dict[str, object]:
    return {**obj("x", version, namespace="ns"), "kind": "ConfigMap", "data": data}


@in_virtual_time
async def test_r1_a_read_after_a_write_shows_that_or_something_newer() -> None:
    server = FakeServer()
    async with running(server) as informer:
        reads = await reading(server, informer)
        await informer.wait_synced()
        informer.wrote(entry_of(encode(config(150, a="ours"))))
        found = await reads.find(ConfigMap, Key("ns", "x"))
        assert found is not None
        assert found.data == {"a": "ours"}
        assert [each.data for each in await reads.list(ConfigMap)] == [{"a": "ours"}]


@in_virtual_time
async def test_r2_what_is_read_is_fresh_and_changing_it_changes_nothing() -> None:
    server = FakeServer()
    async with running(server) as informer:
        reads = await reading(server, informer)
        await informer.wait_synced()
        informer.wrote(entry_of(encode(config(150, a="1"))))
        for _ in range(2):
            found = await reads.find(ConfigMap, Key("ns", "x"))
            assert found is not None
            assert found.data == {"a": "1"}
            found.data["a"] = "mine"


@in_virtual_time
async def test_r3_a_list_is_of_one_moment() -> None:
    server = FakeServer()
    for number in range(50):
        server.put(f"o{number}")
    async with running(server) as informer:
        reads = await reading(server, informer)
        before = await reads.list(ConfigMap)
        for number in range(50):
            server.delete(f"o{number}")
        assert len(before) == 50
        await virtual.settle()
        assert await reads.list(ConfigMap) == []


@in_virtual_time
async def test_r4_what_is_not_held_is_never_read_as_absent() -> None:
    server = FakeServer()
    informer = Informer(server, name="configmaps", scope=Scope("ns"))
    task = asyncio.create_task(informer.run())
    reads = await reading(server, informer)
    assert await reads.find(ConfigMap, Key("ns", "x")) is None
    with pytest.raises(OutsideCache, match="unable to get: other/x"):
        await reads.find(ConfigMap, Key("other", "x"))
    with pytest.raises(OutsideCache, match="unable to list: other"):
        await reads.list(ConfigMap, namespace="other")
    informer.stop()
    await task


@in_virtual_time
async def test_r5_an_object_that_is_none_of_its_class_stops_no_other() -> None:
    server = FakeServer()
    server.put("good")
    async with running(server) as informer:
        reads = await reading(server, informer)
        await informer.wait_synced()
        informer.store.upsert(entry_of(encode({**obj("bad", 150), "data": "no map"})))
        assert [each.metadata.name for each in await reads.list(ConfigMap)] == ["good"]
        assert reads.raw(ConfigMap, Key("ns", "bad")) is not None
