"""By key a controller is given a name, of what is there and of what is gone."""

from __future__ import annotations

import asyncio

import virtual
from fakeapi import FakeApi
from kubewright import Context, Key, SyncContext, controller
from kubewright.model import ObjectMeta
from kubewright.models.core.v1 import ConfigMap, Namespace
from running import running, until
from webs import Web, config, web

from .seeing import KEY


def test_by_key_a_function_is_called_for_what_is_gone_too() -> None:
    seen: list[tuple[Key, bool]] = []

    @controller(Web, by="key", owns=[ConfigMap])
    async def reconcile(key: Key, ctx: Context) -> None:
        assert ctx.namespace == key.namespace
        found = await ctx.find(Web, key.name)
        seen.append((key, found is not None))
        await ctx.apply(config(f"{key.name}-tomb"), owned=False)
        ctx.event("Normal", "Seen", "it")

    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        async with running(api, reconcile):
            api.put(web())
            await asyncio.sleep(1)
            api.remove(Web, "a")
            await asyncio.sleep(1)
            assert api.get(ConfigMap, "a-tomb") is not None

    virtual.run(main())
    assert seen == [(KEY, True), (KEY, False)]


def test_by_key_works_in_a_thread_and_for_cluster_scoped_kinds() -> None:
    seen: list[Key] = []

    @controller(Namespace, by="key")
    def reconcile(key: Key, ctx: SyncContext) -> None:
        seen.append(key)

    async def main() -> None:
        api = FakeApi(Namespace)
        api.put(Namespace(metadata=ObjectMeta(name="n")))
        async with running(api, reconcile):
            await until(lambda: seen)

    virtual.run(main())
    assert seen == [Key("", "n")]
