"""What mappers and sources read is what a reconcile reads, without the waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import orjson
import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Key, controller
from kubewright.cache import CacheOptions, Informer, KindCache, OutsideCache, Store, field_index
from kubewright.cache.frame import entry_of
from kubewright.cache.reader import CacheNotSynced
from kubewright.cache.scope import EVERYTHING, Scope
from kubewright.controller import Lookup
from kubewright.controller.lookup import NotWatched
from kubewright.model import DecodeError, Object
from kubewright.model.fieldselector import FieldSelector
from kubewright.models.core.v1 import ConfigMap, Secret
from running import running
from webs import Web, config, web

BY_IMAGE = field_index(ConfigMap, "data.image")


def bytes_of(name: str, version: int, *, namespace: str = "ns", **fields: object) -> bytes:
    meta = {"name": name, "namespace": namespace, "resourceVersion": str(version), "uid": f"uid-{namespace}-{name}"}
    labels = {"labels": fields.pop("labels")} if "labels" in fields else {}
    return orjson.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**meta, **labels}, **fields})


def informer_of(*objects: bytes, scope: Scope = EVERYTHING, told: bool = True) -> Informer:
    store = Store()
    for each in objects:
        store.upsert(entry_of(each))
    informer = Informer(store=store, name="configmaps")
    informer.add_source(None, scope)  # type: ignore[arg-type]  # never asked
    for _, reflector in informer._parts:
        reflector.has_told = told
    return informer


def lookup_of(informer: Informer) -> Lookup:
    return Lookup(lambda kind: informer if kind is ConfigMap else None)


def names(found: Iterable[Object]) -> list[str]:
    return sorted(each.metadata.name for each in found)


def test_what_the_operator_has_written_is_found_before_the_watch_shows_it() -> None:
    informer = informer_of(bytes_of("old", 1, data={"image": "a"}))
    lookup = lookup_of(informer)
    informer.wrote(entry_of(bytes_of("old", 7, data={"image": "b"})))
    informer.wrote(entry_of(bytes_of("new", 8, data={"image": "b"}, labels={"app": "x"})))
    found = lookup.find(ConfigMap, "old", namespace="ns")
    assert found is not None
    assert found.data == {"image": "b"}
    assert names(lookup.list(ConfigMap)) == ["new", "old"]
    assert names(lookup.list(ConfigMap, labels="app=x")) == ["new"]
    assert sorted(lookup.keys(ConfigMap, BY_IMAGE, "b")) == [Key("ns", "new"), Key("ns", "old")]
    assert lookup.keys(ConfigMap, BY_IMAGE, "a") == []


def test_what_the_operator_has_deleted_is_not_found_any_more() -> None:
    informer = informer_of(bytes_of("a", 1))
    lookup = lookup_of(informer)
    informer.wrote(entry_of(bytes_of("a", 1)), gone=True)
    assert lookup.find(ConfigMap, "a", namespace="ns") is None
    assert lookup.list(ConfigMap) == []
    assert lookup.keys(ConfigMap, namespace="ns") == []


def test_a_namespace_that_the_cache_does_not_hold_is_an_error_and_not_empty() -> None:
    lookup = lookup_of(informer_of(bytes_of("a", 1), scope=Scope("ns")))
    with pytest.raises(OutsideCache, match="unable to get: other/a: unknown namespace for the cache, which has ns"):
        lookup.find(ConfigMap, "a", namespace="other")
    with pytest.raises(OutsideCache, match="unable to list: other"):
        lookup.list(ConfigMap, namespace="other")
    with pytest.raises(OutsideCache, match="unable to list: other"):
        lookup.keys(ConfigMap, namespace="other")
    with pytest.raises(OutsideCache, match="unable to list: other"):
        lookup.list(ConfigMap, fields="metadata.namespace=other")


def test_a_name_that_the_cache_does_not_select_is_an_error_and_not_absent() -> None:
    lookup = lookup_of(informer_of(scope=Scope(fields=FieldSelector.of("metadata.name=a"))))
    assert lookup.find(ConfigMap, "a", namespace="ns") is None
    with pytest.raises(OutsideCache, match=r"holds what metadata\.name=a selects"):
        lookup.find(ConfigMap, "b", namespace="ns")


def test_a_list_that_has_not_come_is_an_error_and_not_empty() -> None:
    lookup = lookup_of(informer_of(told=False))
    for read in (lookup.list, lookup.keys):
        with pytest.raises(CacheNotSynced, match="configmaps: the first list has not come yet"):
            read(ConfigMap)
    with pytest.raises(CacheNotSynced, match="configmaps: the first list of ns has not come yet"):
        lookup.find(ConfigMap, "a", namespace="ns")


def test_names_are_found_by_index_labels_and_fields_together() -> None:
    one = bytes_of("one", 1, data={"image": "a"}, labels={"app": "x"}, type="t")
    two = bytes_of("two", 2, data={"image": "a"}, labels={"app": "y"}, type="t")
    lookup = lookup_of(informer_of(one, two, bytes_of("three", 3, data={"image": "a"}, labels={"app": "x"})))
    assert lookup.keys(ConfigMap, BY_IMAGE, "a", labels="app=x", fields="type=t") == [Key("ns", "one")]


def test_an_index_of_another_kind_is_refused() -> None:
    lookup = lookup_of(informer_of())
    with pytest.raises(ValueError, match="is one of Secret, not of ConfigMap"):
        lookup.keys(ConfigMap, field_index(Secret, "type"), "a")


def test_an_object_that_is_none_of_its_class_is_told_once_and_left_out_of_lists(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lookup = lookup_of(informer_of(bytes_of("good", 1), bytes_of("bad", 2, data="no map")))
    for _ in range(2):
        assert names(lookup.list(ConfigMap)) == ["good"]
    assert caplog.text.count("ConfigMap ns/bad left out of lists") == 1
    with pytest.raises(DecodeError):
        lookup.find(ConfigMap, "bad", namespace="ns")


def test_a_kind_that_is_not_watched_is_an_error() -> None:
    with pytest.raises(NotWatched, match="Secret is not watched by this controller"):
        lookup_of(informer_of()).list(Secret)


def test_a_mapper_sees_what_the_reconcile_has_written_though_the_watch_is_behind() -> None:
    found: list[list[str]] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        await ctx.create(config("made", namespace="default"))

    @reconcile.watches(Secret, reads=[ConfigMap])
    def users(secret: Secret, cache: Lookup) -> Iterable[Key]:
        found.append(names(cache.list(ConfigMap)))
        return []

    async def main() -> None:
        api = FakeApi(Web, Secret, ConfigMap)
        async with running(api, reconcile):
            api.lag_seconds = 5  # the web is seen after 5 s, the secret after 7 s, and the child after 10 s
            api.put(web())
            await asyncio.sleep(2)
            api.put(Secret(metadata=config("s", namespace="default").metadata))
            await asyncio.sleep(6)

    virtual.run(main())
    assert found == [["made"]]


def test_a_mapper_that_looks_in_a_namespace_outside_the_cache_fails_and_is_told_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        pass

    @reconcile.watches(Secret, reads=[ConfigMap])
    def users(secret: Secret, cache: Lookup) -> Iterable[Key]:
        return [Key("default", each.metadata.name) for each in cache.list(ConfigMap, namespace="elsewhere")]

    async def main() -> None:
        api = FakeApi(Web, Secret, ConfigMap)
        options = CacheOptions(by_kind={ConfigMap: KindCache(namespaces=["default"])})
        async with running(api, reconcile, cache=options):
            api.put(Secret(metadata=config("s", namespace="default").metadata))
            await asyncio.sleep(1)

    virtual.run(main())
    assert "configmaps: unable to list: elsewhere: unknown namespace for the cache, which has default" in caplog.text
