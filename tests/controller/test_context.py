"""What a Context sends, and what it does not send, on a server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, MergePatch, NotFound, controller
from kubewright.client import Conflict, Invalid
from kubewright.controller.reconciler import Reconciler
from kubewright.model import Key, Model, ObjectMeta, Resource, resource
from kubewright.model.meta import OwnerReference
from kubewright.model.owners import AlreadyOwned, OwnerError, controller_of
from kubewright.models.core.v1 import ConfigMap
from running import Passes
from webs import Web, config, web

APPLY = "apply /api/v1/namespaces/default/configmaps/child"
Body = Callable[[Web, Context], Awaitable[object]]


@resource(group="example.com", version="v1", namespaced=False)
class Zone(Resource[Model, Model]):
    """A cluster-scoped kind."""


def on_server(
    body: Body,
    test: Callable[[FakeApi, Passes], Awaitable[object]],
    *,
    owns: bool = True,
    namespace: str = "default",
) -> FakeApi:
    """Run `test`, whose passes call `body`, with one Web `a` on the server."""

    @controller(Web, owns=[ConfigMap] if owns else [])
    async def reconcile(web: Web, ctx: Context) -> None:
        await body(web, ctx)

    async def main() -> FakeApi:
        api = FakeApi(Web, ConfigMap, Zone)
        api.put(web(namespace=namespace))
        async with Passes(api, reconcile) as passes:
            await test(api, passes)
        return api

    return virtual.run(main())


async def child(web: Web, ctx: Context) -> object:
    return await ctx.apply(config("child", a="1"))


def data(api: FakeApi, name: str = "child") -> dict[str, str]:
    found = api.get(ConfigMap, name)
    assert found is not None
    return dict(found.data)


# Apply


def test_a_child_gets_the_namespace_and_the_owner_and_the_callers_object_stays_as_it_is() -> None:
    wanted = config("child", a="1")

    async def body(web: Web, ctx: Context) -> None:
        made = await ctx.apply(wanted)
        owner = controller_of(made)
        assert owner is not None
        assert (owner.uid, owner.block_owner_deletion) == (web.metadata.uid, True)
        assert made.metadata.namespace == "prod"

    async def test(api: FakeApi, passes: Passes) -> None:
        await passes.run(namespace="prod")
        assert api.get(ConfigMap, "child", namespace="prod") is not None

    on_server(body, test, namespace="prod")
    assert wanted == config("child", a="1")


@pytest.mark.parametrize("owns", [True, False])
def test_a_second_pass_sends_nothing_where_the_kind_is_watched(owns: bool) -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        for _ in range(3):
            await passes.run()

    api = on_server(child, test, owns=owns)
    assert api.writes == ([APPLY] if owns else [APPLY] * 3)


def test_a_second_pass_sends_nothing_while_the_watch_is_behind() -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        api.lag_seconds = 60
        await passes.run()
        await passes.run()
        assert api.writes == [APPLY]

    on_server(child, test)


def test_an_object_that_was_read_and_is_applied_unchanged_sends_nothing_the_second_time() -> None:
    async def body(web: Web, ctx: Context) -> None:
        found = await ctx.find(ConfigMap, "child")
        await ctx.apply(found or config("child", a="1"))

    async def test(api: FakeApi, passes: Passes) -> None:
        for _ in range(3):
            await passes.run()
        writes = len(api.writes)
        api.change(ConfigMap, "child", {"metadata": {"annotations": {"by": "another"}}})
        await passes.run()
        await passes.run()
        assert len(api.writes) <= writes + 1

    on_server(body, test)


def test_a_child_that_is_changed_by_hand_is_set_right() -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        await passes.run()
        api.change(ConfigMap, "child", {"data": {"a": "2"}})
        await passes.run()
        assert data(api) == {"a": "1"}
        assert api.writes == [APPLY] * 2
        await passes.run()
        assert len(api.writes) == 2

    on_server(child, test)


def test_a_field_of_a_child_that_is_not_ours_is_left_alone() -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        await passes.run()
        api.change(ConfigMap, "child", {"data": {"b": "theirs"}, "metadata": {"labels": {"c": "d"}}})
        await passes.run()
        assert data(api) == {"a": "1", "b": "theirs"}
        assert api.writes == [APPLY]

    on_server(child, test)


def test_a_child_that_is_deleted_is_made_again() -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        await passes.run()
        api.remove(ConfigMap, "child")
        await passes.run()
        assert data(api) == {"a": "1"}

    on_server(child, test)


def test_a_child_that_is_deleted_and_made_anew_by_somebody_is_set_right() -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        await passes.run()
        api.remove(ConfigMap, "child")
        api.put(config("child", a="1", b="2"))
        await passes.run()
        found = api.get(ConfigMap, "child")
        assert found is not None
        assert controller_of(found) is not None

    on_server(child, test)


def test_a_value_that_the_server_normalises_is_not_sent_again() -> None:
    def normalise(obj: dict[str, Any]) -> None:
        if obj["kind"] == "ConfigMap":
            obj["data"] = {"default": "x", **{name: value.strip() for name, value in obj["data"].items()}}

    async def body(web: Web, ctx: Context) -> None:
        await ctx.apply(config("child", a=" 1 "))

    async def test(api: FakeApi, passes: Passes) -> None:
        api.objects.admit = normalise
        await passes.run()
        await passes.run()
        assert data(api) == {"a": "1", "default": "x"}
        assert api.writes == [APPLY]

    on_server(body, test)


def test_a_field_that_is_no_longer_said_is_removed() -> None:
    said = iter(({"a": "1", "b": "2"}, {"a": "1"}, {"a": "1"}))

    async def body(web: Web, ctx: Context) -> None:
        await ctx.apply(config("child", **next(said)))

    async def test(api: FakeApi, passes: Passes) -> None:
        for _ in range(3):
            await passes.run()
        assert data(api) == {"a": "1"}
        assert api.writes == [APPLY] * 2

    on_server(body, test)


def test_after_a_restart_each_child_is_applied_once_and_nothing_changes() -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        await passes.run()
        version = api.objects.version
        async with Passes(api, _again) as again:
            await again.run()
            await again.run()
        assert api.writes == [APPLY] * 2
        assert api.objects.version == version

    @controller(Web, owns=[ConfigMap])
    async def _again(web: Web, ctx: Context) -> None:
        await child(web, ctx)

    on_server(child, test)


@pytest.mark.parametrize("owns", [True, False])
def test_the_child_of_another_is_refused_before_anything_is_sent(owns: bool) -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        await passes.run()
        api.put(web("b"))
        with pytest.raises(AlreadyOwned, match="already controlled by Web a"):
            await passes.run("b")
        assert api.writes == [APPLY]

    on_server(child, test, owns=owns)


def test_whether_a_child_has_another_owner_is_asked_once_where_its_kind_is_not_watched() -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        for _ in range(3):
            await passes.run()
        assert [asked.verb for asked in api.requests if "configmaps" in asked.path] == [
            "get",
            "apply",
            "apply",
            "apply",
        ]

    on_server(child, test, owns=False)


def test_the_child_of_another_operator_is_refused_by_the_server_at_the_latest() -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        owner = OwnerReference(api_version="v1", kind="Secret", name="s", uid="u", controller=True)
        theirs = ConfigMap(metadata=ObjectMeta(name="child", namespace="default", owner_references=[owner]))
        api.fault("apply", "/configmaps/", then=lambda: api.put(theirs))
        with pytest.raises(Invalid):
            await passes.run()
        assert data(api) == {}

    on_server(child, test)


def test_a_child_in_another_namespace_cannot_be_owned_and_can_be_applied_without() -> None:
    async def owned(web: Web, ctx: Context) -> None:
        await ctx.apply(config("child", namespace="other"))

    async def free(web: Web, ctx: Context) -> None:
        made = await ctx.apply(config("child", namespace="other"), owned=False)
        assert made.metadata.owner_references == []

    async def refused(api: FakeApi, passes: Passes) -> None:
        with pytest.raises(OwnerError, match="share a namespace"):
            await passes.run()
        assert api.writes == []

    async def sent(api: FakeApi, passes: Passes) -> None:
        await passes.run()
        await passes.run()
        assert api.writes == ["apply /api/v1/namespaces/other/configmaps/child"]

    on_server(owned, refused)
    on_server(free, sent)


def test_a_cluster_scoped_child_cannot_be_owned_by_a_namespaced_object_and_can_be_applied_without() -> None:
    async def owned(web: Web, ctx: Context) -> None:
        await ctx.apply(Zone(metadata=ObjectMeta(name="z"), spec=Model()))

    async def free(web: Web, ctx: Context) -> None:
        await ctx.apply(Zone(metadata=ObjectMeta(name="z"), spec=Model()), owned=False)
        assert (await ctx.get(Zone, "z")).metadata.namespace == ""

    async def refused(api: FakeApi, passes: Passes) -> None:
        with pytest.raises(OwnerError, match="cluster-scoped"):
            await passes.run()

    async def sent(api: FakeApi, passes: Passes) -> None:
        await passes.run()

    on_server(owned, refused)
    on_server(free, sent)


def test_what_was_applied_for_an_object_is_forgotten_with_it() -> None:
    async def test(api: FakeApi, passes: Passes) -> None:
        for name in "bcdef":
            api.put(web(name))
            await passes.run(name)
            api.remove(Web, name)
            await passes.run(name)
        await passes.run()
        assert remembered(passes.reconciler) == [Key("default", "a")]

    async def body(web: Web, ctx: Context) -> None:
        await ctx.apply(config(f"child-{web.metadata.name}"))

    on_server(body, test)


def remembered(reconciler: Reconciler) -> list[Key]:
    return list(reconciler._applied)


# Reads after writes


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


# Names and places


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


# Delete


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
