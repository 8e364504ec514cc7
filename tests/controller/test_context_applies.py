"""What a Context applies: sent when it has to be, and to nobody else's child."""

from __future__ import annotations

from typing import Any

import pytest

from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.client import Invalid
from kubewright.controller.reconciler import Reconciler
from kubewright.model import Key, Model, ObjectMeta
from kubewright.model.meta import OwnerReference
from kubewright.model.owners import AlreadyOwned, OwnerError, controller_of
from kubewright.models.core.v1 import ConfigMap
from running import Passes
from webs import Web, config, web

from .passing import APPLY, Zone, child, data, on_server


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
