"""What the cache of an operator holds is what its options say, and no read takes the rest for absent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.cache import CacheOptions, Deleted, Delta, Informer, KindCache, NamespaceCache, OutsideCache, keep
from kubewright.cache.reader import CacheNotSynced, Reader
from kubewright.manager import Informers
from kubewright.model import Key, Object
from kubewright.models.core.v1 import ConfigMap, Secret
from running import running, until
from webs import Web, config, web


class Cache:
    """The cache of an operator without the operator."""

    def __init__(self, api: FakeApi, options: CacheOptions) -> None:
        self.api = api
        self.client = api.client()
        self.informers = Informers(self.client, options=options, sync_seconds=20)
        self.reader = Reader(self.informers.for_reading, self.informers.running, self.informers.live)

    async def names(self, kind: type[Object] = ConfigMap, **asked: Any) -> list[str]:
        await asyncio.sleep(0.01)
        found = await self.reader.list(kind, **asked)
        return sorted(f"{each.metadata.namespace}/{each.metadata.name}" for each in found)

    def heard(self, informer: Informer) -> list[str]:
        told: list[str] = []

        def handler(delta: Delta) -> None:
            told.append(f"{type(delta).__name__} {delta.key}")

        informer.add_handler(handler)
        return told


@asynccontextmanager
async def cache(*namespaces: str, **options: Any) -> AsyncIterator[Cache]:
    """Over ConfigMaps named `x` in the namespaces a, b and c."""
    api = FakeApi(Web, ConfigMap, Secret)
    for namespace in "abc":
        api.put(config("x", namespace))
    if namespaces:
        options["namespaces"] = namespaces
    made = Cache(api, CacheOptions(**options))
    try:
        yield made
    finally:
        await made.informers.stop()


def paths(api: FakeApi, verb: str = "list") -> list[str]:
    return sorted(asked.path for asked in api.requests if asked.verb == verb)


# Namespaces


def test_several_namespaces_are_one_cache_with_a_watch_each() -> None:
    async def main() -> None:
        async with cache("a", "b") as c:
            assert await c.names() == ["a/x", "b/x"]
            assert await c.names(namespace="b") == ["b/x"]
            assert paths(c.api) == ["/api/v1/namespaces/a/configmaps", "/api/v1/namespaces/b/configmaps"]
            c.api.put(config("y", "b"))
            c.api.put(config("y", "c"))
            assert await c.names() == ["a/x", "b/x", "b/y"]

    virtual.run(main())


def test_a_list_of_one_namespace_says_nothing_about_the_others() -> None:
    async def main() -> None:
        async with cache("a", "b") as c:
            told = c.heard(await c.informers.synced(ConfigMap))
            c.api.expire()
            c.api.cut("gone")
            c.api.remove(ConfigMap, "x", namespace="a")
            await asyncio.sleep(60)
            assert told == ["Added a/x", "Added b/x", "Deleted a/x"]

    virtual.run(main())


def test_a_read_outside_of_the_namespaces_is_an_error_and_not_empty() -> None:
    async def main() -> None:
        async with cache("a", "b") as c:
            with pytest.raises(OutsideCache, match="unable to get: c/x: unknown namespace for the cache, which has a"):
                await c.reader.find(ConfigMap, Key("c", "x"))
            with pytest.raises(OutsideCache, match=r"unable to list: c: unknown namespace for the cache.*CacheOptions"):
                await c.reader.list(ConfigMap, namespace="c")
            assert not c.reader.watches(ConfigMap, Key("c", "x"))
            assert c.reader.watches(ConfigMap, Key("a", "x"))

    virtual.run(main())


def test_an_operator_of_one_namespace_does_not_read_others_as_empty() -> None:
    errors: list[str] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        try:
            await ctx.find(ConfigMap, "x", namespace="elsewhere")
        except OutsideCache as error:
            errors.append(str(error))

    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        api.put(web(namespace="prod"))
        api.put(config("x", "elsewhere"))
        async with running(api, reconcile, namespace="prod"):
            await until(lambda: errors)
        assert errors[0].startswith("configmaps: unable to get: elsewhere/x: unknown namespace for the cache")

    virtual.run(main())


def test_all_namespaces_beside_a_named_one_are_held_with_settings_of_their_own() -> None:
    async def main() -> None:
        said = {"a": NamespaceCache(labels="tier=db"), "": NamespaceCache()}
        async with cache(namespaces=said) as c:
            db = config("db", "a")
            db.metadata.labels = {"tier": "db"}
            c.api.put(db)
            assert await c.names() == ["a/db", "b/x", "c/x"]
            c.api.change(ConfigMap, "db", {"metadata": {"labels": {"tier": "web"}}}, namespace="a")
            assert await c.names() == ["b/x", "c/x"]

    virtual.run(main())


def test_a_namespace_can_be_added_while_it_runs() -> None:
    async def main() -> None:
        async with cache("a") as c:
            told = c.heard(await c.informers.synced(ConfigMap))
            await c.informers.add_namespace("b")
            assert told == ["Added a/x", "Added b/x"]
            assert await c.names() == ["a/x", "b/x"]
            with pytest.raises(ValueError, match="'b': is in the cache already"):
                await c.informers.add_namespace("b")
            await c.informers.synced(Secret)
            assert "/api/v1/namespaces/b/secrets" in paths(c.api)

    virtual.run(main())


def test_a_namespace_that_cannot_be_watched_is_not_added_and_disturbs_no_other() -> None:
    async def main() -> None:
        async with cache("a") as c:
            await c.informers.synced(ConfigMap)
            c.api.fault("list", "/namespaces/b/", status=403, reason="Forbidden", times=100)
            with pytest.raises(CacheNotSynced, match="configmaps"):
                await c.informers.add_namespace("b")
            assert await c.names() == ["a/x"]
            with pytest.raises(OutsideCache):
                await c.reader.find(ConfigMap, Key("b", "x"))
            requests = len(c.api.requests)
            await asyncio.sleep(100)
            assert all("/namespaces/b/" not in asked.path for asked in c.api.requests[requests:])

    virtual.run(main())


def test_a_read_of_a_namespace_that_is_being_added_waits_for_it() -> None:
    async def main() -> None:
        async with cache("a") as c:
            await c.informers.synced(ConfigMap)
            c.api.fault("list", "/namespaces/b/", delay_seconds=5)
            adding = asyncio.create_task(c.informers.add_namespace("b"))
            await asyncio.sleep(1)
            assert await c.reader.find(ConfigMap, Key("a", "x")) is not None
            assert await c.reader.find(ConfigMap, Key("b", "x")) is not None
            await adding

    virtual.run(main())


def test_a_namespace_can_be_removed_while_it_runs_and_its_objects_leave_with_it() -> None:
    async def main() -> None:
        async with cache("a", "b") as c:
            informer = await c.informers.synced(ConfigMap)
            deltas: list[Delta] = []
            informer.add_handler(deltas.append)
            await c.informers.remove_namespace("b")
            assert [(type(each), str(each.key)) for each in deltas[2:]] == [(Deleted, "b/x")]
            c.api.put(config("y", "b"))
            assert await c.names() == ["a/x"]
            assert c.api.open_watches == 1
            with pytest.raises(ValueError, match="the cache has a; remove one of several"):
                await c.informers.remove_namespace("a")

    virtual.run(main())


def test_namespaces_of_a_cache_of_all_can_be_neither_added_nor_removed() -> None:
    async def main() -> None:
        async with cache() as c:
            with pytest.raises(ValueError, match="cannot add it: the cache holds all namespaces"):
                await c.informers.add_namespace("a")
            with pytest.raises(ValueError, match="cannot remove it: the cache holds all namespaces"):
                await c.informers.remove_namespace("a")

    virtual.run(main())


# Selectors


def labelled(name: str, **labels: str) -> ConfigMap:
    made = config(name, "a")
    made.metadata.labels = labels
    return made


def test_the_server_sends_only_what_the_selectors_of_a_kind_match() -> None:
    async def main() -> None:
        said = KindCache(labels="app=web", fields={"metadata.namespace": "a"})
        async with cache(by_kind={ConfigMap: said}) as c:
            c.api.put(labelled("yes", app="web"))
            c.api.put(labelled("no", app="db"))
            assert await c.names() == ["a/yes"]
            listed = next(asked for asked in c.api.requests if asked.verb == "list")
            assert listed.query["labelSelector"] == "app=web"
            assert listed.query["fieldSelector"] == "metadata.namespace=a"

    virtual.run(main())


def test_a_read_that_the_field_selector_cannot_match_is_an_error() -> None:
    async def main() -> None:
        async with cache(by_kind={ConfigMap: KindCache(fields="metadata.name=x")}) as c:
            assert await c.reader.find(ConfigMap, Key("a", "x")) is not None
            with pytest.raises(OutsideCache, match=r"unable to get: a/y: .*metadata\.name=x is false"):
                await c.reader.find(ConfigMap, Key("a", "y"))

    virtual.run(main())


def test_an_object_that_we_wrote_and_the_selector_does_not_match_is_not_read_as_absent() -> None:
    async def main() -> None:
        async with cache(by_kind={ConfigMap: KindCache(labels="app=web")}) as c:
            assert await c.names() == []
            c.reader.wrote(await c.client.create(labelled("hidden", app="db")))
            for _ in range(3):
                with pytest.raises(OutsideCache, match=r"a/hidden: as it was written.*\(app=web\); widen"):
                    await c.reader.find(ConfigMap, Key("a", "hidden"))
                await asyncio.sleep(60)
            assert await c.names() == []
            c.reader.wrote(await c.client.create(labelled("shown", app="web")))
            assert await c.reader.find(ConfigMap, Key("a", "shown")) is not None

    virtual.run(main())


def test_our_write_that_takes_an_object_out_of_the_selector_is_seen_at_once_and_told_once() -> None:
    async def main() -> None:
        async with cache(by_kind={ConfigMap: KindCache(labels="app=web")}) as c:
            made = await c.client.create(labelled("one", app="web"))
            informer = await c.informers.synced(ConfigMap)
            told = c.heard(informer)
            c.api.lag_seconds = 5
            made.metadata.labels = {"app": "db"}
            c.reader.wrote(await c.client.update(made))
            assert await c.names() == []
            assert c.reader.cached(ConfigMap, Key("a", "one")) is None
            await asyncio.sleep(10)
            assert told == ["Added a/one", "Deleted a/one"]

    virtual.run(main())


# Transforms


def test_objects_are_cut_down_before_they_are_stored_and_ours_are_too() -> None:
    async def main() -> None:
        async with cache(by_kind={ConfigMap: KindCache(transform=keep())}) as c:
            c.api.put(config("data", "a", key="value"))
            await c.names()
            stored = c.reader.cached(ConfigMap, Key("a", "data"))
            assert stored is not None
            assert b"value" not in stored
            c.api.lag_seconds = 5
            c.reader.wrote(await c.client.create(config("ours", "a", key="value")))
            ours = c.reader.cached(ConfigMap, Key("a", "ours"))
            assert ours is not None
            assert b"value" not in ours

    virtual.run(main())


def test_a_transform_that_fails_costs_one_object_which_is_readable_as_it_came() -> None:
    def transform(obj: dict[str, Any]) -> dict[str, Any]:
        if obj["metadata"]["namespace"] == "b":
            raise RuntimeError("no")
        return obj

    async def main() -> None:
        async with cache(transform=transform) as c:
            assert await c.names() == ["a/x", "c/x"]
            raw = c.reader.raw(ConfigMap, Key("b", "x"))
            assert raw is not None
            assert b'"namespace":"b"' in raw
            informer = await c.informers.synced(ConfigMap)
            assert informer.unreadable[Key("b", "x")].problem == "RuntimeError: no"

    virtual.run(main())


# Live reads


def test_a_kind_that_is_read_live_is_asked_for_each_time_and_not_watched() -> None:
    async def main() -> None:
        async with cache(by_kind={ConfigMap: KindCache(live=True)}) as c:
            assert await c.names(namespace="a") == ["a/x"]
            assert await c.names(labels={"none": "such"}) == []
            found = await c.reader.find(ConfigMap, Key("a", "x"))
            assert found is not None
            assert await c.reader.find(ConfigMap, Key("a", "y")) is None
            assert [asked.verb for asked in c.api.requests] == ["list", "list", "get", "get"]

    virtual.run(main())


def test_children_of_a_kind_that_is_read_live_are_found_by_their_owner() -> None:
    async def main() -> None:
        async with cache(by_kind={ConfigMap: KindCache(live=True)}) as c:
            child = config("child", "a")
            reference = {"apiVersion": "v1", "kind": "Web", "name": "w", "uid": "u", "controller": True}
            c.api.put(child)
            c.api.change(ConfigMap, "child", {"metadata": {"ownerReferences": [reference]}}, namespace="a")
            assert await c.names(owner="u") == ["a/child"]

    virtual.run(main())


# Reads that start watches


def test_where_reads_start_no_watches_a_read_of_a_kind_that_is_not_watched_is_an_error() -> None:
    async def main() -> None:
        async with cache(reads_start_watches=False) as c:
            with pytest.raises(CacheNotSynced, match="configmaps: is not watched, and reads start no watches"):
                await c.names()
            await c.informers.synced(ConfigMap)
            assert await c.names() == ["a/x", "b/x", "c/x"]

    virtual.run(main())


def test_the_size_of_pages_is_that_of_the_kind() -> None:
    async def main() -> None:
        async with cache(by_kind={ConfigMap: KindCache(page_size=2)}, page_size=100) as c:
            await c.names()
            await c.names(kind=Secret)
            limits = [asked.query["limit"] for asked in c.api.requests if asked.verb == "list"]
            assert limits == ["2", "2", "100"]

    virtual.run(main())
