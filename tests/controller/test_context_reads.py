"""What a Context reads: also what was written before, however late the watch is; and where it looks."""

from __future__ import annotations

import asyncio

import pytest

from fakeapi import FakeApi
from kubewright import Context, MergePatch, NotFound
from kubewright.models.core.v1 import ConfigMap
from running import Passes
from webs import Web, config

from .passing import Zone, data, on_server


@pytest.mark.parametrize("lag_seconds", [0.0, 0.5, 60.0])
def test_reads_see_what_was_written_before_them_however_late_the_watch_is(lag_seconds: float) -> None:
    async def body(web: Web, ctx: Context) -> None:
        async def seen() -> dict[str, dict[str, str]]:
            for found in (await ctx.list(ConfigMap, labels="ours"), await ctx.owned(ConfigMap)):
                names = {each.metadata.name: dict(each.data) for each in found}
            for name in ("child", "other"):
                single = await ctx.find(ConfigMap, name)
                assert names.get(name) == (None if single is None else dict(single.data))
            return names

        labelled = config("child", a="1")
        labelled.metadata.labels["ours"] = "yes"
        assert await seen() == {}
        made = await ctx.apply(labelled)
        assert await seen() == {"child": {"a": "1"}}
        await ctx.patch(made, MergePatch({"data": {"b": "2"}}))
        assert await seen() == {"child": {"a": "1", "b": "2"}}
        other = config("other", c="3")
        other.metadata.labels["ours"] = "yes"
        other = await ctx.create(other)
        assert set(await seen()) == {"child", "other"}
        assert await ctx.delete(other)
        assert set(await seen()) == {"child"}
        assert await ctx.delete(made)
        assert await seen() == {}
        await ctx.apply(labelled)
        assert await seen() == {"child": {"a": "1"}}

    async def test(api: FakeApi, passes: Passes) -> None:
        api.lag_seconds = lag_seconds
        await passes.run()
        await asyncio.sleep(2 * lag_seconds + 1)
        assert data(api) == {"a": "1"}

    on_server(body, test)


def test_a_write_that_takes_an_object_out_of_a_selection_takes_it_out_of_the_list() -> None:
    async def body(web: Web, ctx: Context) -> None:
        labelled = config("child")
        labelled.metadata.labels["tier"] = "a"
        made = await ctx.apply(labelled)
        assert len(await ctx.list(ConfigMap, labels={"tier": "a"})) == 1
        await ctx.patch(made, MergePatch({"metadata": {"labels": {"tier": "b"}, "ownerReferences": None}}))
        assert await ctx.list(ConfigMap, labels={"tier": "a"}) == []
        assert len(await ctx.list(ConfigMap, labels="tier in (b, c)")) == 1
        assert await ctx.owned(ConfigMap) == []

    async def test(api: FakeApi, passes: Passes) -> None:
        api.lag_seconds = 5
        await passes.run()

    on_server(body, test)


def test_a_kind_that_is_first_read_after_it_was_written_shows_what_was_written() -> None:
    async def body(web: Web, ctx: Context) -> None:
        made = await ctx.apply(config("child", a="1"))
        gone = await ctx.create(config("gone"))
        await ctx.delete(gone)
        assert (await ctx.get(ConfigMap, "child")).metadata.resource_version == made.metadata.resource_version
        assert await ctx.find(ConfigMap, "gone") is None

    async def test(api: FakeApi, passes: Passes) -> None:
        await asyncio.sleep(60)
        api.lag_seconds = 30
        await passes.run()

    on_server(body, test, owns=False)


def test_get_of_an_absent_object_is_not_found_and_find_is_none() -> None:
    async def body(web: Web, ctx: Context) -> None:
        assert await ctx.find(ConfigMap, "absent") is None
        with pytest.raises(NotFound, match='configmaps "absent" not found') as caught:
            await ctx.get(ConfigMap, "absent")
        assert caught.value.details.name == "absent"

    async def test(api: FakeApi, passes: Passes) -> None:
        await passes.run()

    on_server(body, test)


def test_reads_are_of_the_namespace_of_the_object_unless_said_otherwise() -> None:
    async def body(web: Web, ctx: Context) -> None:
        assert [each.metadata.namespace for each in await ctx.list(ConfigMap)] == ["prod"]
        assert [each.metadata.namespace for each in await ctx.list(ConfigMap, namespace="dev")] == ["dev"]
        assert len(await ctx.list(ConfigMap, all_namespaces=True)) == 2
        assert (await ctx.get(ConfigMap, "x")).metadata.namespace == "prod"
        assert (await ctx.get(ConfigMap, "x", namespace="dev")).metadata.namespace == "dev"
        with pytest.raises(ValueError, match="Zone is cluster-scoped; leave it out"):
            await ctx.get(Zone, "z", namespace="dev")

    async def test(api: FakeApi, passes: Passes) -> None:
        for namespace in ("prod", "dev"):
            api.put(config("x", namespace=namespace))
        await passes.run(namespace="prod")

    on_server(body, test, namespace="prod")


def test_an_object_that_waits_for_finalizers_is_read_as_one_that_is_going() -> None:
    async def body(web: Web, ctx: Context) -> None:
        found = await ctx.get(ConfigMap, "x")
        assert await ctx.delete(found)
        going = await ctx.get(ConfigMap, "x")
        assert going.metadata.deletion_timestamp is not None
        await ctx.patch(going, MergePatch({"metadata": {"finalizers": None}}))
        assert await ctx.find(ConfigMap, "x") is None

    async def test(api: FakeApi, passes: Passes) -> None:
        held = config("x")
        held.metadata.finalizers.append("a.io/b")
        api.put(held)
        await asyncio.sleep(1)
        api.lag_seconds = 5
        await passes.run()

    on_server(body, test)


def test_what_is_read_can_be_changed_without_changing_what_others_read() -> None:
    async def body(web: Web, ctx: Context) -> None:
        found = await ctx.get(ConfigMap, "x")
        found.data["a"] = "mine"
        assert (await ctx.get(ConfigMap, "x")).data == {}
        assert (await ctx.list(ConfigMap))[0].data == {}

    async def test(api: FakeApi, passes: Passes) -> None:
        api.put(config("x"))
        await passes.run()

    on_server(body, test)
