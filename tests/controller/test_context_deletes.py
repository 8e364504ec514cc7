"""What a Context deletes and patches: the object that is meant, and no other of its name."""

from __future__ import annotations

import asyncio

import pytest

from fakeapi import FakeApi
from kubewright import Context, MergePatch
from kubewright.client import Conflict
from kubewright.model import Key
from kubewright.models.core.v1 import ConfigMap
from running import Passes
from webs import Web, config

from .passing import data, on_server


def test_patch_and_delete_of_an_object_without_a_namespace_mean_that_of_the_reconciled_one() -> None:
    async def body(web: Web, ctx: Context) -> None:
        assert (await ctx.patch(config("x"), MergePatch({"data": {"a": "1"}}))).metadata.namespace == "prod"
        assert await ctx.delete(config("x"))
        assert await ctx.find(ConfigMap, "x") is None

    async def test(api: FakeApi, passes: Passes) -> None:
        for namespace in ("prod", "default"):
            api.put(config("x", namespace=namespace))
        await asyncio.sleep(1)
        api.lag_seconds = 5
        await passes.run(namespace="prod")
        assert list(api.all(ConfigMap)) == [Key("default", "x")]

    on_server(body, test, namespace="prod")


def test_delete_says_whether_it_was_there() -> None:
    async def body(web: Web, ctx: Context) -> None:
        found = await ctx.get(ConfigMap, "x")
        assert await ctx.delete(found)
        assert not await ctx.delete(found)

    async def test(api: FakeApi, passes: Passes) -> None:
        api.put(config("x"))
        await passes.run()

    on_server(body, test)


def test_delete_leaves_an_object_alone_that_was_made_anew_under_the_name() -> None:
    async def body(web: Web, ctx: Context) -> None:
        found = await ctx.get(ConfigMap, "x")
        apis[0].remove(ConfigMap, "x")
        apis[0].put(config("x", new="yes"))
        assert not await ctx.delete(found)
        await asyncio.sleep(1)
        assert (await ctx.get(ConfigMap, "x")).data == {"new": "yes"}

    apis: list[FakeApi] = []

    async def test(api: FakeApi, passes: Passes) -> None:
        apis.append(api)
        api.put(config("x"))
        await passes.run()
        assert data(api, "x") == {"new": "yes"}

    on_server(body, test)


def test_a_patch_with_a_version_conflicts_when_somebody_was_faster() -> None:
    async def body(web: Web, ctx: Context) -> None:
        found = await ctx.get(ConfigMap, "x")
        await ctx.patch(found, MergePatch({"data": {"a": "1"}}))
        with pytest.raises(Conflict):
            await ctx.patch(found, MergePatch({"data": {"a": "2"}}, resource_version=found.metadata.resource_version))

    async def test(api: FakeApi, passes: Passes) -> None:
        api.put(config("x"))
        await passes.run()

    on_server(body, test)
