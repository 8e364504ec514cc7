"""Several namespaces are one cache, they come and go, and what is in none of them is not read as absent."""

from __future__ import annotations

import asyncio

import pytest
from caches import cache, paths

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.cache import CacheOptions, Deleted, Delta, NamespaceCache, OutsideCache
from kubewright.cache.reader import CacheNotSynced
from kubewright.model import Key, Model, ObjectMeta, Resource, resource
from kubewright.model.owners import AlreadyOwned
from kubewright.models.core.v1 import ConfigMap, Secret
from running import running, until
from webs import Web, config, web


@resource(group="example.com", version="v1", namespaced=False)
class Zone(Resource[Model, Model]):
    """A cluster-scoped kind."""


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


def test_nothing_is_remembered_of_what_we_write_outside() -> None:
    async def main() -> None:
        async with cache("a", "b") as c:
            informer = await c.informers.synced(ConfigMap)
            made = await c.client.create(config("y", "c"))
            c.reader.wrote(made)
            await c.client.delete(made)
            c.reader.deleted(made)
            assert len(informer.written) == 0
            await c.informers.synced(ConfigMap)
            c.api.lag_seconds = 5
            c.reader.wrote(await c.client.create(config("y", "b")))
            assert len(informer.written) == 1
            await c.informers.remove_namespace("b")
            assert len(informer.written) == 0

    virtual.run(main())


def test_a_child_outside_of_the_namespaces_is_not_taken_from_its_owner() -> None:
    """The cache cannot tell whose it is, and the server would not mind."""
    errors: list[AlreadyOwned] = []

    @controller(Zone)
    async def reconcile(zone: Zone, ctx: Context) -> None:
        try:
            await ctx.list(ConfigMap, all_namespaces=True)  # now it is watched, in its namespaces
            await ctx.apply(config("child", "elsewhere", a="1"))
        except AlreadyOwned as error:
            errors.append(error)

    async def main() -> None:
        api = FakeApi(Zone, ConfigMap)
        api.put(Zone(metadata=ObjectMeta(name="z")))
        owner = {"apiVersion": "v1", "kind": "Web", "name": "w", "uid": "u", "controller": True}
        api.put(config("child", "elsewhere"))
        api.change(ConfigMap, "child", {"metadata": {"ownerReferences": [owner]}}, namespace="elsewhere")
        async with running(api, reconcile, cache=CacheOptions(namespaces=["a"])):
            await until(lambda: errors)
        assert api.writes == []

    virtual.run(main())
