"""The options of the cache against a real API server: what is sent to it is what it understands."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kubewright.cache import CacheOptions, KindCache, NamespaceCache, OutsideCache, keep
from kubewright.cache.reader import CacheNotSynced, Reader
from kubewright.client import Client, ClientConfig, MergePatch, install_crds
from kubewright.client.crds import CustomResourceDefinition
from kubewright.manager import Informers
from kubewright.model import Key, Model, ObjectMeta, Resource, info_of, resource, unstructured
from kubewright.models.core.v1 import ConfigMap, Namespace
from kubewright.schema import crd_of
from kubewright.testing import ClusterAccess

pytestmark = pytest.mark.control_plane

GROUP = f"cache-{uuid.uuid4().hex[:8]}.example.com"


class LateSpec(Model):
    size: int = 1


@resource(group=GROUP, version="v1")
class Late(Resource[LateSpec, Model]):
    """Installed while the cache waits for it."""


class Cache:
    def __init__(self, client: Client, options: CacheOptions) -> None:
        self.informers = Informers(client, options=options, sync_seconds=30)
        self.reader = Reader(self.informers.for_reading, self.informers.running, self.informers.live)

    async def names(self, **asked: Any) -> set[str]:
        return {each.metadata.name for each in await self.reader.list(ConfigMap, **asked)}


@asynccontextmanager
async def caching(client: Client, options: CacheOptions) -> AsyncIterator[Cache]:
    made = Cache(client, options)
    try:
        yield made
    finally:
        await made.informers.stop()


def on(access: ClusterAccess, body: Callable[[Client], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with Client.connect(ClientConfig.load(access.kubeconfig_path)) as client:
            await body(client)

    asyncio.run(main())


def config(name: str, namespace: str, **labels: str) -> ConfigMap:
    meta = ObjectMeta(name=name, namespace=namespace, labels=labels)
    return ConfigMap(metadata=meta, data={"key": "value"})


async def eventually(holds: Callable[[], Coroutine[Any, Any, object]], seconds: float = 30.0) -> None:
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110 - a server does not tell
            await asyncio.sleep(0.1)


def test_namespaces_selectors_and_projections_are_the_servers(control_plane: ClusterAccess, namespace: str) -> None:
    async def body(client: Client) -> None:
        for each in (config("yes", namespace, app="web"), config("no", namespace, app="db")):
            await client.create(each)
        said = {namespace: NamespaceCache(labels="app=web"), "": NamespaceCache(labels=f"nobody={namespace}")}
        options = CacheOptions(namespaces=said, transform=keep())
        async with caching(client, options) as cache:
            assert await cache.names() == {"yes"}
            found = await cache.reader.find(ConfigMap, Key(namespace, "yes"))
            assert found is not None
            assert found.data == {}
            # Leaving the selector is leaving the cache.
            await client.patch(
                ConfigMap, MergePatch({"metadata": {"labels": {"app": "db"}}}), "yes", namespace=namespace
            )

            async def is_gone() -> bool:
                return await cache.names() == set()

            await eventually(is_gone)
            # All others: one that is made in another namespace.
            other = config("other", "default", nobody=namespace)
            await client.create(other)
            try:

                async def is_there() -> bool:
                    return await cache.names() == {"other"}

                await eventually(is_there)
            finally:
                await client.delete(other)

    on(control_plane, body)


def test_a_namespace_comes_and_goes_while_it_runs(control_plane: ClusterAccess, namespace: str) -> None:
    async def body(client: Client) -> None:
        second = f"{namespace[:40]}-second"
        await client.create(Namespace(metadata=ObjectMeta(name=second)))
        try:
            for where in (namespace, second):
                await client.create(config(f"in-{where}", where, mine="yes"))
            options = CacheOptions(namespaces=[namespace], labels="mine=yes")
            async with caching(client, options) as cache:
                assert await cache.names() == {f"in-{namespace}"}
                with pytest.raises(OutsideCache):
                    await cache.names(namespace=second)
                await cache.informers.add_namespace(second)
                assert await cache.names() == {f"in-{namespace}", f"in-{second}"}
                await cache.informers.remove_namespace(second)
                assert await cache.names() == {f"in-{namespace}"}
        finally:
            await client.delete(Namespace, second)

    on(control_plane, body)


def test_a_kind_is_watched_when_its_crd_is_installed_and_waited_for_when_it_is_removed(
    control_plane: ClusterAccess, namespace: str
) -> None:
    """By its class, which knows where it will be, and by its name only, which discovery has to find."""
    by_name = unstructured(f"{GROUP}/v1", "Late")

    async def body(client: Client) -> None:
        for kind in (Late, by_name):
            options = CacheOptions(by_kind={kind: KindCache(when_installed=True)})
            async with caching(client, options) as cache:
                informer = await cache.informers.settled(kind)
                with pytest.raises(CacheNotSynced):
                    await cache.reader.list(kind)
                await install_crds(client, [crd_of(Late)])
                await client.create(Late(metadata=ObjectMeta(name="a", namespace=namespace), spec=LateSpec()))
                await informer.wait_synced(40)

                async def has_one(cache: Cache = cache, kind: Any = kind) -> bool:
                    return [each.metadata.name for each in await cache.reader.list(kind)] == ["a"]

                await eventually(has_one)
                await client.delete(CustomResourceDefinition, f"{info_of(Late).plural}.{GROUP}")

                async def is_absent(informer: Any = informer) -> bool:
                    return bool(informer.is_absent)

                await eventually(is_absent, 90)
                assert len(informer.store) == 0

    on(control_plane, body)
