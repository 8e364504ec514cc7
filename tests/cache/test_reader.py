"""Reads see what was written before them, whatever the watch does: R1 to R3 of `Reader`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, MergePatch
from kubewright.cache import Informer
from kubewright.cache.collection import Collection
from kubewright.cache.frame import entry_of
from kubewright.cache.reader import Reader
from kubewright.client import AlreadyExists, Client, ConnectionLost, NotFound
from kubewright.controller.applying import AppliedMemory
from kubewright.model import Key, Object, key_of
from kubewright.models.core.v1 import ConfigMap
from webs import Web, config, web

PATH = "/api/v1/configmaps"


class World:
    """A server, the cache of its ConfigMaps, and a context to write with."""

    def __init__(self, api: FakeApi, client: Client, informer: Informer, owner: Web) -> None:
        self.api, self.client, self.informer = api, client, informer

        async def synced(kind: type[Object]) -> Informer:
            return informer

        self.reader = Reader(synced, lambda kind: informer if kind is ConfigMap else None)
        self.ctx = Context(
            obj=owner, client=client, reads=self.reader, applied=AppliedMemory(), log=logging.getLogger("test")
        )

    async def find(self, name: str) -> ConfigMap | None:
        return await self.reader.find(ConfigMap, Key("default", name))

    async def data(self, name: str = "x") -> dict[str, str] | None:
        found = await self.find(name)
        return None if found is None else dict(found.data)


@asynccontextmanager
async def world(**options: Any) -> AsyncIterator[World]:
    api = FakeApi(Web, ConfigMap, **options)
    client = api.client()
    owner = api.put(web())
    informer = Informer(Collection(client.http, PATH), name="configmaps", random=Random(0))
    task = asyncio.create_task(informer.run())
    try:
        await informer.wait_synced(60)
        yield World(api, client, informer, owner)
    finally:
        informer.stop()
        await task


def test_a_read_shows_what_was_written_before_the_watch_does() -> None:
    async def main() -> None:
        async with world(lag_seconds=5) as w:
            assert await w.data() is None
            w.reader.wrote(await w.client.create(config("x", a="1")))
            assert await w.data() == {"a": "1"}
            assert w.informer.store.get(("default", "x")) is None

    virtual.run(main())


def test_what_others_wrote_after_it_is_shown_as_soon_as_the_watch_shows_it() -> None:
    async def main() -> None:
        async with world(lag_seconds=5) as w:
            w.reader.wrote(await w.client.create(config("x", a="1")))
            w.api.change(ConfigMap, "x", {"data": {"a": "2"}})
            await asyncio.sleep(6)
            assert await w.data() == {"a": "2"}

    virtual.run(main())


def test_a_deletion_by_others_is_shown_as_soon_as_the_watch_shows_it() -> None:
    async def main() -> None:
        async with world(lag_seconds=5) as w:
            w.reader.wrote(await w.client.create(config("x", a="1")))
            w.api.remove(ConfigMap, "x")
            assert await w.data() == {"a": "1"}
            await asyncio.sleep(6)
            assert await w.data() is None

    virtual.run(main())


def test_an_object_that_was_made_and_deleted_never_shows_again() -> None:
    async def main() -> None:
        async with world(lag_seconds=5) as w:
            made = await w.client.create(config("x", a="1"))
            w.reader.wrote(made)
            await asyncio.sleep(1)
            await w.client.delete(made)
            w.reader.deleted(made)
            for _ in range(20):
                assert await w.data() is None
                assert await w.reader.list(ConfigMap) == []
                await asyncio.sleep(0.5)

    virtual.run(main())


def test_an_older_object_of_the_name_does_not_show_behind_a_deletion() -> None:
    async def main() -> None:
        async with world() as w:
            first = w.api.put(config("x", a="old"))
            await asyncio.sleep(1)
            w.api.lag_seconds = 5
            await w.client.delete(first)
            w.reader.deleted(first)
            second = await w.client.create(config("x", a="new"))
            w.reader.wrote(second)
            await asyncio.sleep(1)
            await w.client.delete(second)
            w.reader.deleted(second)
            for _ in range(20):
                assert await w.data() is None
                await asyncio.sleep(0.5)

    virtual.run(main())


def test_a_released_object_is_gone_although_the_answer_has_a_version_that_was_seen() -> None:
    async def main() -> None:
        async with world() as w:
            held = config("x")
            held.metadata.finalizers.append("a.io/b")
            w.api.put(held)
            w.api.remove(ConfigMap, "x")
            await asyncio.sleep(1)
            w.api.lag_seconds = 5
            found = await w.find("x")
            assert found is not None
            w.reader.wrote(await w.client.patch(found, MergePatch({"metadata": {"finalizers": None}})))
            assert await w.data() is None

    virtual.run(main())


@pytest.mark.parametrize(
    ("ending", "is_there"),
    [
        ('"deletionTimestamp":"2026-01-01T00:00:00Z"', False),
        ('"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":[],"deletionGracePeriodSeconds":0', False),
        (r'"deletion\u0054imestamp":"2026-01-01T00:00:00Z"', False),
        ('"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a.io/b"]', True),
        ('"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30', True),
        ('"deletionTimestamp":null', True),
        (r'"annotations":{"last":"{\"deletionTimestamp\":\"2026\"}","deletionTimestamp":"2026"}', True),
    ],
)
def test_an_answer_in_bytes_says_whether_it_is_the_last_state(ending: str, is_there: bool) -> None:
    async def main() -> None:
        async with world() as w:
            made = w.api.put(config("x", a="1"))
            await asyncio.sleep(1)
            meta = f'"name":"x","namespace":"default","uid":"{made.metadata.uid}","resourceVersion":"999999"'
            answer = f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{{meta},{ending}}},"data":{{"a":"2"}}}}'
            w.reader.wrote_entry(ConfigMap, entry_of(answer.encode()))
            assert await w.data() == ({"a": "2"} if is_there else None)

    virtual.run(main())


def test_an_answer_that_comes_late_does_not_hide_a_newer_one() -> None:
    async def main() -> None:
        async with world(lag_seconds=5) as w:
            first = await w.client.create(config("x", a="1"))
            second = await w.client.patch(first, MergePatch({"data": {"a": "2"}}))
            w.reader.wrote(second)
            w.reader.wrote(first)
            assert await w.data() == {"a": "2"}

    virtual.run(main())


def test_an_answer_that_comes_late_does_not_bring_back_what_was_deleted() -> None:
    async def main() -> None:
        async with world(lag_seconds=5) as w:
            first = await w.client.create(config("x", a="1"))
            second = await w.client.patch(first, MergePatch({"data": {"a": "2"}}))
            await w.client.delete(second)
            w.reader.deleted(first)
            w.reader.wrote(second)
            for _ in range(20):
                assert await w.data() is None
                await asyncio.sleep(0.5)

    virtual.run(main())


def test_a_deletion_that_is_told_late_does_not_hide_what_was_made_anew() -> None:
    async def main() -> None:
        async with world(lag_seconds=5) as w:
            first = await w.client.create(config("x", a="1"))
            await w.client.delete(first)
            w.reader.wrote(await w.client.create(config("x", a="2")))
            w.reader.deleted(first)
            assert await w.data() == {"a": "2"}

    virtual.run(main())


def test_what_is_read_is_fresh_each_time() -> None:
    async def main() -> None:
        async with world() as w:
            w.reader.wrote(await w.client.create(config("x", a="1")))
            for _ in range(2):
                found = await w.find("x")
                assert found is not None
                found.data["a"] = "mine"
                assert await w.data() == {"a": "1"}
                await asyncio.sleep(1)

    virtual.run(main())


def test_a_kind_that_is_not_watched_is_not_remembered() -> None:
    async def main() -> None:
        async with world(lag_seconds=5) as w:
            w.reader.wrote(await w.client.patch(Web, MergePatch({"spec": {"replicas": 3}}), "a"))
            assert w.reader.cached(Web, Key("default", "a")) is None
            assert not w.reader.watches(Web)
            assert len(w.informer.written) == 0

    virtual.run(main())


def test_what_is_remembered_is_bounded_by_what_the_watch_has_not_shown_yet() -> None:
    async def main() -> None:
        async with world(lag_seconds=0.5) as w:
            most = 0
            for number in range(3000):
                made = await w.client.create(config(f"x{number}"))
                w.reader.wrote(made)
                await w.client.delete(made)
                w.reader.deleted(made)
                await asyncio.sleep(0.01)
                most = max(most, len(w.informer.written))
            assert most <= 512

    virtual.run(main())


# 2,000 interleavings

OPERATIONS = ("create", "apply", "apply", "patch", "patch", "delete", "delete", "hold", "release", "others", "read")


class Round:
    """Some writers on two names. After each write, reads are held against what the server has recorded."""

    def __init__(self, w: World, random: Random, number: int) -> None:
        self.w, self.random = w, random
        self.names = [f"r{number}-{letter}" for letter in "xy"]
        self.floor = dict.fromkeys(self.names, 0)
        self.began = len(w.api.objects.history)
        self.done: list[str] = []

    async def writer(self, who: int) -> None:
        for _ in range(5):
            name = self.random.choice(self.names)
            what = self.random.choice(OPERATIONS)
            try:
                await self.perform(what, name, f"{who}-{len(self.done)}")
            except (AlreadyExists, NotFound) as error:
                self.done.append(f"{who} {what} {name}: {type(error).__name__}")
            except ConnectionLost:
                self.done.append(f"{who} {what} {name}: no answer")
            else:
                self.done.append(f"{who} {what} {name}: {self.floor[name]}")
            await self.check()
            await asyncio.sleep(self.random.choice((0.0, 0.001, 0.3)))
            await self.check()

    async def perform(self, what: str, name: str, value: str) -> None:
        ctx = self.w.ctx
        if what == "create":
            self.wrote(name, await ctx.create(config(name, v=value)))
        elif what == "apply":
            self.wrote(name, await ctx.apply(config(name, v=value)))
        elif what in ("patch", "hold", "release"):
            finalizers = {"patch": {}, "hold": {"finalizers": ["a.io/b"]}, "release": {"finalizers": None}}[what]
            patch = MergePatch({"data": {"p": value}, "metadata": finalizers})
            self.wrote(name, await ctx.patch(config(name), patch))
        elif what == "delete":
            found = await self.w.find(name)
            if found is not None:
                await ctx.delete(found)
                self.deleted(name, found)
        elif what == "others":
            self.others(name, value)

    def others(self, name: str, value: str) -> None:
        api = self.w.api
        if api.get(ConfigMap, name) is None:
            api.put(config(name, others=value))
        elif self.random.random() < 0.5:
            api.change(ConfigMap, name, {"data": {"others": value}})
        else:
            api.remove(ConfigMap, name)

    def wrote(self, name: str, answer: ConfigMap) -> None:
        self.raise_floor(name, int(answer.metadata.resource_version))
        if answer.metadata.deletion_timestamp is not None and not answer.metadata.finalizers:
            self.raise_floor(name, self.versions(name, answer, "DELETED")[0])

    def deleted(self, name: str, obj: ConfigMap) -> None:
        # Where finalizers hold it back, the end of it is somebody else's write.
        self.raise_floor(name, (self.versions(name, obj, "MODIFIED") + self.versions(name, obj, "DELETED"))[0])

    def versions(self, name: str, obj: ConfigMap, event: str) -> list[int]:
        """The versions at which an object that was going to be deleted changed, or that at which it was deleted."""
        return [
            change.version
            for change in self.changes(name)
            if change.type == event
            and change.new["metadata"]["uid"] == obj.metadata.uid
            and (event == "DELETED" or "deletionTimestamp" in change.new["metadata"])
        ]

    def raise_floor(self, name: str, version: int) -> None:
        self.floor[name] = max(self.floor[name], version)

    def changes(self, name: str) -> list[Any]:
        history = self.w.api.objects.history[self.began :]
        return [change for change in history if change.key == Key("default", name)]

    def clean_up(self) -> None:
        for name in self.names:
            if self.w.api.get(ConfigMap, name) is not None:
                self.w.api.remove(ConfigMap, name)
            if self.w.api.get(ConfigMap, name) is not None:
                self.w.api.change(ConfigMap, name, {"metadata": {"finalizers": None}})

    async def check(self) -> None:
        listed = {key_of(each): each for each in await self.w.reader.list(ConfigMap, namespace="default")}
        owned = {key_of(each) for each in await self.w.ctx.owned(ConfigMap)}
        for name in self.names:
            found = await self.w.find(name)
            for shown in (found, listed.get(Key("default", name))):
                self.hold_against(name, shown)
            has_owner = found is not None and bool(found.metadata.owner_references)
            assert (Key("default", name) in owned) == has_owner, self.story(name)

    def hold_against(self, name: str, shown: ConfigMap | None) -> None:
        floor, history = self.floor[name], self.changes(name)
        if shown is None:
            gone = any(change.type == "DELETED" and change.version >= floor for change in history)
            assert gone or not floor, self.story(name)
            return
        version = int(shown.metadata.resource_version)
        states = [change for change in history if change.version == version and change.type != "DELETED"]
        assert version >= floor, self.story(name)
        assert [change.new["data"] for change in states] == [shown.data], self.story(name)

    def story(self, name: str) -> str:
        recorded = [f"{change.version} {change.type} {change.new['metadata']['uid']}" for change in self.changes(name)]
        return "\n".join([f"{name} must be at {self.floor[name]} or later", *self.done, "recorded:", *recorded])


ROUNDS = 100


@pytest.mark.parametrize("seed", range(20))
def test_in_100_random_interleavings_no_read_is_older_than_a_write_before_it(seed: int) -> None:
    async def main() -> None:
        random = Random(seed)
        async with world(seed=seed, latency_seconds=0.01) as w:
            for number in range(ROUNDS):
                w.api.lag_seconds = random.choice((0.0, 0.02, 0.5, 2.0, 60.0))
                w.api.faults.clear()
                if random.random() < 0.1:
                    w.api.fault("*", "/configmaps/r", at=random.randrange(1, 8), lost="answer")
                this = Round(w, random, number)
                writers = [asyncio.create_task(this.writer(who)) for who in range(random.choice((1, 2, 3)))]
                if random.random() < 0.2:
                    await asyncio.sleep(random.random() * 0.5)
                    trouble: list[Callable[[], object]] = [w.api.expire, w.api.cut, lambda: w.api.cut("gone")]
                    random.choice(trouble)()
                await asyncio.gather(*writers)
                if number < ROUNDS - 1:
                    this.clean_up()
            w.api.lag_seconds = 0
            await asyncio.sleep(120)  # the longest backoff of a watch is 60 s
            shown = {key_of(each): each.data for each in await w.reader.list(ConfigMap)}
            assert shown == {key: each.data for key, each in w.api.all(ConfigMap).items()}

    virtual.run(main())
