"""A reconcile is a function, and `FakeContext` is all that it takes to test it as one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from kubewright import (
    Context,
    JsonPatch,
    MergePatch,
    NotFound,
    ObjectMeta,
    Result,
    SyncContext,
    after,
    controller,
)
from kubewright.client import AlreadyExists, Conflict, Invalid, StrategicPatch
from kubewright.controller import Cause
from kubewright.model import LabelSelector
from kubewright.model.owners import AlreadyOwned, controller_of, set_controller
from kubewright.models.apps.v1 import Deployment, DeploymentSpec, DeploymentStatus
from kubewright.models.core.v1 import ConfigMap, Pod, PodTemplateSpec, Secret
from kubewright.testing import FakeContext, NoServer
from kubewright.testing.fake import Patched, Recorded
from webs import Web, config, web

V = TypeVar("V")


def run(call: Awaitable[V]) -> V:
    async def main() -> V:
        return await call

    return asyncio.run(main())


def deployment(web: Web) -> Deployment:
    spec = DeploymentSpec(replicas=web.spec.replicas, selector=LabelSelector(), template=PodTemplateSpec())
    return Deployment(metadata=ObjectMeta(name=web.metadata.name), spec=spec)


@controller(Web, owns=[Deployment])
async def reconcile(web: Web, ctx: Context) -> Result | None:
    child = await ctx.apply(deployment(web))
    web.status.ready = child.status.ready_replicas or 0
    if web.status.ready < web.spec.replicas:
        ctx.event("Normal", "Waiting", "replicas come up")
        return after(10)
    return None


def test_a_function_is_called_and_what_it_asked_for_is_compared() -> None:
    obj = web(replicas=3)
    ctx = FakeContext(obj)
    assert asyncio.run(reconcile(obj, ctx)) == after(10)
    assert ctx.applied == [deployment(obj)]
    assert ctx.events == [Recorded("Normal", "Waiting", "replicas come up")]
    assert (ctx.created, ctx.patched, ctx.deleted) == ([], [], [])


def test_the_reconciled_object_need_not_be_said() -> None:
    obj = web(replicas=3)
    ctx = FakeContext()
    asyncio.run(reconcile(obj, ctx))
    assert ctx.applied == [deployment(obj)]
    assert [each.metadata.name for each in run(ctx.owned(Deployment))] == ["a"]


def test_what_is_in_the_cluster_is_given() -> None:
    obj = web(replicas=3)
    running = deployment(obj)
    running.status = DeploymentStatus(ready_replicas=3)
    ctx = FakeContext(obj, objects=[running])
    assert asyncio.run(reconcile(obj, ctx)) is None
    assert obj.status.ready == 3


def test_a_def_function_gets_the_same_as_a_blocking_context() -> None:
    @controller(Web)
    def blocking(web: Web, ctx: SyncContext) -> None:
        ctx.event("Warning", "Odd", "hm")
        web.status.ready = ctx.apply(deployment(web)).spec.replicas or 0
        assert ctx.find(ConfigMap, "absent") is None
        ctx.delete(ctx.create(config("x")))

    obj = web(replicas=3)
    ctx = FakeContext(obj)
    blocking(obj, ctx.sync())
    assert obj.status.ready == 3
    assert ctx.applied == [deployment(obj)]
    assert [each.metadata.name for each in ctx.deleted] == ["x"]
    assert [event.reason for event in ctx.events] == ["Odd"]


def test_the_tests_own_objects_stay_as_they_are() -> None:
    obj, other = web(), config("x")
    ctx = FakeContext(obj, objects=[other])
    run(ctx.apply(config("y")))
    run(ctx.patch(other, MergePatch({"data": {"a": "1"}})))
    assert (obj, other) == (web(), config("x"))


def test_what_was_passed_is_remembered_as_it_was_at_that_time() -> None:
    ctx = FakeContext()
    child = config("x", a="1")
    run(ctx.apply(child))
    child.data["a"] = "2"
    assert ctx.applied == [config("x", a="1")]


def test_reads_see_what_was_written() -> None:
    obj = web(namespace="prod")
    ctx = FakeContext(obj, objects=[config("other", namespace="dev")])

    async def main() -> None:
        with pytest.raises(NotFound, match='configmaps "x" not found'):
            await ctx.get(ConfigMap, "x")
        labelled = config("x", a="1")
        labelled.metadata.labels["tier"] = "a"
        made = await ctx.apply(labelled)
        assert (made.metadata.namespace, made.metadata.uid != "") == ("prod", True)
        assert (await ctx.get(ConfigMap, "x")).data == {"a": "1"}
        assert [each.metadata.name for each in await ctx.list(ConfigMap, labels="tier")] == ["x"]
        assert await ctx.list(ConfigMap, labels={"tier": "b"}) == []
        assert len(await ctx.list(ConfigMap, all_namespaces=True)) == 2
        assert [each.metadata.name for each in await ctx.owned(ConfigMap)] == ["x"]
        assert (await ctx.get(Web, "a")).spec == obj.spec
        assert await ctx.delete(made)
        assert not await ctx.delete(made)
        assert await ctx.find(ConfigMap, "x") is None

    asyncio.run(main())


def test_children_that_are_there_already_are_those_with_the_uid_of_the_owner() -> None:
    obj = web()
    obj.metadata.uid = "1"
    child, stranger = config("x", namespace="default"), config("y")
    set_controller(obj, child)
    ctx = FakeContext(obj, objects=[child, stranger])
    assert [each.metadata.name for each in run(ctx.owned(ConfigMap))] == ["x"]


def test_the_child_of_another_is_refused() -> None:
    other = web("b")
    other.metadata.uid = "2"
    child = config("x", namespace="default")
    set_controller(other, child)
    ctx = FakeContext(web(), objects=[child])
    with pytest.raises(AlreadyOwned):
        run(ctx.apply(config("x")))
    run(ctx.apply(config("x"), owned=False))


def test_an_applied_child_gets_its_owner_and_loses_what_is_no_longer_said() -> None:
    obj = web()
    obj.metadata.uid = "1"
    ctx = FakeContext(obj, objects=[config("x", theirs="yes")])

    async def main() -> None:
        made = await ctx.apply(config("x", a="1", b="2"))
        owner = controller_of(made)
        assert owner is not None
        assert owner.uid == "1"
        assert (await ctx.apply(config("x", a="1"))).data == {"a": "1", "theirs": "yes"}
        again = await ctx.apply(config("x", a="1"))
        assert again.metadata.resource_version == (await ctx.get(ConfigMap, "x")).metadata.resource_version

    asyncio.run(main())


def test_an_object_is_created_once_and_named_where_it_asks_for_a_name() -> None:
    ctx = FakeContext(web())

    async def main() -> None:
        await ctx.create(config("x"))
        with pytest.raises(AlreadyExists):
            await ctx.create(config("x"))
        made = await ctx.create(ConfigMap(metadata=ObjectMeta(generate_name="run-")))
        assert made.metadata.name.startswith("run-")
        assert await ctx.find(ConfigMap, made.metadata.name) is not None

    asyncio.run(main())
    assert len(ctx.created) == 3


def test_patches_are_remembered_and_carried_out() -> None:
    obj = web(replicas=1)
    ctx = FakeContext(obj)

    async def main() -> None:
        scaled = await ctx.patch(obj, MergePatch({"spec": {"replicas": 5}, "status": {"ready": 5}}))
        assert (scaled.spec.replicas, scaled.status.ready, scaled.metadata.generation) == (5, 0, 2)
        ready = await ctx.patch(scaled, MergePatch({"status": {"ready": 4}}), subresource="status")
        assert (ready.status.ready, ready.metadata.generation) == (4, 2)
        labelled = await ctx.patch(obj, JsonPatch([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]))
        assert labelled.metadata.labels == {"a": "b"}
        with pytest.raises(Invalid):
            await ctx.patch(obj, JsonPatch([{"op": "remove", "path": "/spec/absent"}]))
        with pytest.raises(Conflict):
            await ctx.patch(obj, MergePatch({"spec": {}}, resource_version=ready.metadata.resource_version))
        with pytest.raises(NotFound):
            await ctx.patch(config("absent"), MergePatch({}))

    asyncio.run(main())
    assert ctx.patched[0] == Patched(web(replicas=1), MergePatch({"spec": {"replicas": 5}, "status": {"ready": 5}}))
    assert ctx.patched[1].subresource == "status"


def test_an_object_with_finalizers_waits_for_them() -> None:
    held = config("x")
    held.metadata.finalizers.append("a.io/b")
    ctx = FakeContext(objects=[held])

    async def main() -> None:
        assert await ctx.delete(held)
        going = await ctx.get(ConfigMap, "x")
        assert going.metadata.deletion_timestamp == ctx.now()
        await ctx.patch(going, MergePatch({"metadata": {"finalizers": None}}))
        assert await ctx.find(ConfigMap, "x") is None

    asyncio.run(main())


def test_the_time_is_the_tests() -> None:
    noon = datetime(2026, 6, 1, 12, tzinfo=UTC)
    ctx = FakeContext(time=noon)
    assert ctx.now() == ctx.sync().now() == noon
    ctx.time += timedelta(hours=1)
    assert ctx.now() == ctx.sync().now() == noon + timedelta(hours=1)


def test_attempt_and_causes_are_the_tests() -> None:
    ctx = FakeContext(attempt=3, causes=["updated", Cause("deleted", "ConfigMap", "default", "c")])
    assert (ctx.attempt, ctx.sync().attempt) == (3, 3)
    assert [str(cause) for cause in ctx.causes] == ["updated", "deleted ConfigMap c"]


def test_what_was_applied_of_a_kind_is_told_with_its_type() -> None:
    ctx = FakeContext()
    asyncio.run(ctx.apply(ConfigMap(metadata=ObjectMeta(name="c"))))
    asyncio.run(ctx.apply(Secret(metadata=ObjectMeta(name="s"))))
    [secret] = ctx.applied_of(Secret)
    assert secret.metadata.name == "s"
    assert ctx.applied_of(Pod) == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda ctx: ctx.client.get(Web, "a"),
        lambda ctx: ctx.client.raw("GET", "/version"),
        lambda ctx: anext(ctx.client.watch(Web, resource_version="1")),
        lambda ctx: ctx.patch(web(), StrategicPatch({})),
        lambda ctx: ctx.patch(web(), MergePatch({}), subresource="scale"),
    ],
)
def test_what_only_a_server_can_tell_is_refused_with_the_cure(ask: Any) -> None:
    with pytest.raises(NoServer, match=r"has no API server for .*; test this with a fixture"):
        run(ask(FakeContext(web())))


def test_a_class_controller_is_called_like_any_object() -> None:
    @controller(Web)
    class Webs:
        async def reconcile(self, web: Web, ctx: Context) -> None:
            await ctx.apply(config(web.metadata.name))

        async def finalize(self, web: Web, ctx: Context) -> None:
            await ctx.delete(config(web.metadata.name))

    ctx = FakeContext(web())
    run(Webs().reconcile(web(), ctx))
    run(Webs().finalize(web(), ctx))
    assert ctx.applied == ctx.deleted == [config("a")]
