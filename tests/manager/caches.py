"""The cache of an operator without the operator, over ConfigMaps named `x` in the namespaces a, b and c."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fakeapi import FakeApi
from kubewright.cache import CacheOptions, Delta, Informer
from kubewright.cache.reader import Reader
from kubewright.manager import Informers
from kubewright.model import Object
from kubewright.models.core.v1 import ConfigMap, Secret
from webs import Web, config


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
