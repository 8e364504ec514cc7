"""A kind that is installed later, or goes: it is waited for, and nothing else waits with it."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.cache import CacheOptions, KindCache, ListPage, NotInstalled, Unavailable
from kubewright.cache.collection import Collection
from kubewright.cache.reader import CacheNotSynced
from kubewright.client import ConnectionLost, KindNotServed
from kubewright.manager import Serving
from kubewright.manager.late import LateCollection
from kubewright.model import Key, info_of
from kubewright.models.core.v1 import ConfigMap
from running import running, until
from webs import Web, config, web

LATE = CacheOptions(by_kind={ConfigMap: KindCache(when_installed=True)})


@controller(Web, owns=[ConfigMap])
class Counting:
    """Notes each pass."""

    def __init__(self) -> None:
        self.passes: list[tuple[str, ...]] = []
        self.errors: list[Exception] = []

    async def reconcile(self, web: Web, ctx: Context) -> None:
        self.passes.append(tuple(map(str, ctx.causes)))
        try:
            web.status.ready = len(await ctx.owned(ConfigMap))
        except CacheNotSynced as error:
            self.errors.append(error)


def without_config_maps(**options: Any) -> FakeApi:
    api = FakeApi(Web, **options)
    api.put(web())
    return api


def owned_by(api: FakeApi, name: str) -> dict[str, Any]:
    owner = api.get(Web, name)
    assert owner is not None
    reference = {"apiVersion": "example.com/v1", "kind": "Web", "name": name, "uid": owner.metadata.uid}
    return {"metadata": {"ownerReferences": [{**reference, "controller": True}]}}


def test_an_operator_works_while_a_kind_is_not_installed_and_watches_it_as_soon_as_it_is() -> None:
    async def main() -> None:
        api = without_config_maps()
        counting = Counting()
        async with running(api, counting, cache=LATE):
            await until(lambda: counting.passes)
            assert len(counting.passes) == 1
            await asyncio.sleep(600)
            api.install(ConfigMap)
            api.put(config("child", "default"))
            api.change(ConfigMap, "child", owned_by(api, "a"))
            await asyncio.sleep(11)
            assert counting.passes[1] == ("present at start ConfigMap child",)
            found = api.get(Web, "a")
            assert found is not None
            assert found.status.ready == 1

    virtual.run(main())


def test_it_is_looked_for_every_ten_seconds_at_least_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kubewright.manager.informers")

    async def main() -> None:
        api = without_config_maps()
        async with running(api, Counting(), cache=LATE):
            await asyncio.sleep(600)
            looks = [asked for asked in api.requests if asked.path == "/api/v1/configmaps"]
            assert 60 <= len(looks) <= 70

    virtual.run(main())
    assert caplog.text.count("configmaps: is not installed yet; it is watched as soon as it is") == 1
    assert "WARNING" not in caplog.text


def test_a_kind_that_is_not_installed_is_not_read_as_empty() -> None:
    async def main() -> None:
        counting = Counting()
        async with running(without_config_maps(), counting, cache=LATE):
            await until(lambda: counting.errors)
        assert str(counting.errors[0]).startswith("configmaps: cannot be watched: ")

    virtual.run(main())


def test_without_that_word_a_kind_that_is_not_installed_is_an_error_at_the_start() -> None:
    async def main() -> None:
        with pytest.raises(CacheNotSynced, match="configmaps"):
            async with running(without_config_maps(), Counting()):
                raise AssertionError("begun")

    virtual.run(main())


@pytest.mark.parametrize("options", [LATE, CacheOptions()])
def test_a_kind_that_is_removed_is_reported_and_its_objects_go_and_it_comes_back(
    options: CacheOptions, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        api = without_config_maps()
        api.install(ConfigMap)
        api.put(config("child", "default"))
        counting = Counting()
        async with running(api, counting, cache=options) as manager:
            await asyncio.sleep(1)
            api.uninstall(ConfigMap)
            await asyncio.sleep(30)
            assert manager.reader.cached(ConfigMap, Key("default", "child")) is None
            assert not counting.errors
            api.change(Web, "a", {"spec": {"replicas": 2}})
            await until(lambda: counting.errors)
            assert "configmaps: cannot be watched" in str(counting.errors[0])
            await asyncio.sleep(300)
            api.install(ConfigMap)
            api.put(config("child", "default"))
            await asyncio.sleep(20)
            assert manager.reader.cached(ConfigMap, Key("default", "child")) is not None

    virtual.run(main())
    assert "watch of configmaps: not_installed" in caplog.text


def test_objects_of_a_kind_that_went_unseen_are_told_gone() -> None:
    """The watch was away while the CRD was deleted: its 404 is all that is left of it."""

    async def main() -> None:
        api = without_config_maps()
        api.install(ConfigMap)
        api.put(config("child", "default"))
        api.change(ConfigMap, "child", owned_by(api, "a"))
        counting = Counting()
        async with running(api, counting, cache=LATE) as manager:
            await asyncio.sleep(1)
            counting.passes.clear()
            api.fault("watch", "/configmaps", status=503, reason="ServiceUnavailable", times=3)
            api.cut()
            await asyncio.sleep(0.1)
            api.uninstall(ConfigMap)
            await asyncio.sleep(120)
            assert manager.reader.cached(ConfigMap, Key("default", "child")) is None
            assert counting.passes == [("deleted ConfigMap child",)]

    virtual.run(main())


def test_a_kind_that_is_known_by_name_only_is_found_when_the_server_tells_where_it_is() -> None:
    """And looked for anew after it has gone: it may come back in another place."""

    async def main() -> None:
        api = without_config_maps()
        api.install(ConfigMap)
        client = api.client()
        asked: list[int] = []

        async def look_for() -> Collection:
            asked.append(len(asked))
            if len(asked) == 1:
                raise KindNotServed(info_of(ConfigMap).gvk)
            if len(asked) == 2:
                raise ConnectionLost("fake.example", "response", "reset")
            return Collection(client.http, "/api/v1/configmaps")

        late = LateCollection(look_for)
        page = ListPage("0", 500)
        with pytest.raises(NotInstalled, match="the server does not serve ConfigMap in v1"):
            await late.list_page(page)
        with pytest.raises(Unavailable, match="discovery failed"):
            await late.list_page(page)
        assert b"ConfigMapList" in await late.list_page(page)
        assert b"ConfigMapList" in await late.list_page(page)
        assert len(asked) == 3
        api.uninstall(ConfigMap)
        with pytest.raises(NotInstalled):
            await late.list_page(page)
        api.install(ConfigMap)
        assert b"ConfigMapList" in await late.list_page(page)
        assert len(asked) == 4

    virtual.run(main())


def test_a_kind_that_is_waited_for_makes_nobody_unready() -> None:
    async def main() -> None:
        async with running(
            without_config_maps(), Counting(), cache=LATE, serving=Serving(stale_seconds=900.0)
        ) as manager:
            await asyncio.sleep(3600)
            assert manager.ready.is_set()
            assert manager.informers.silent(900.0) == {}

    virtual.run(main())
