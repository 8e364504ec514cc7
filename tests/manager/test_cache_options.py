"""What the cache of an operator holds is what its options say, and no read takes the rest for absent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from caches import cache

import virtual
from kubewright.cache import KindCache, OutsideCache, keep
from kubewright.cache.reader import CacheNotSynced
from kubewright.model import Key
from kubewright.models.core.v1 import ConfigMap, Secret
from webs import config

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


def test_a_watch_that_ends_by_a_mistake_in_the_program_is_told_at_once(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with cache() as c:
            informer = await c.informers.synced(ConfigMap)
            informer.store.upsert = None  # type: ignore[assignment,method-assign]
            c.api.put(config("y", "a"))
            await asyncio.sleep(1)
            c.api.cut("gone")
            await asyncio.sleep(100)

    virtual.run(main())
    assert "watch of configmaps: has ended by a mistake in this program" in caplog.text


def test_the_size_of_pages_is_that_of_the_kind() -> None:
    async def main() -> None:
        async with cache(by_kind={ConfigMap: KindCache(page_size=2)}, page_size=100) as c:
            await c.names()
            await c.names(kind=Secret)
            limits = [asked.query["limit"] for asked in c.api.requests if asked.verb == "list"]
            assert limits == ["2", "2", "100"]

    virtual.run(main())
