"""The double and a real API server are asked the same questions and give the same answers."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright.client import (
    AlreadyExists,
    ApiError,
    Client,
    ClientConfig,
    Conflict,
    Gone,
    Invalid,
    MergePatch,
    NotFound,
    install_crds,
)
from kubewright.model import ObjectMeta, Resource, resource
from kubewright.model.meta import OwnerReference
from kubewright.models.core.v1 import ConfigMap
from kubewright.schema import crd_of
from webs import Web, WebSpec, WebStatus, config

# Test processes share the server.
GROUP = f"double-{uuid.uuid4().hex[:8]}.example.com"


@resource(group=GROUP, version="v1", kind="Web")
class RealWeb(Resource[WebSpec, WebStatus]):
    """Web, in a group of this process."""


Question = Callable[[Client, Any], Awaitable[None]]
QUESTIONS: dict[str, Question] = {}


def question(ask: Question) -> Question:
    QUESTIONS[getattr(ask, "__name__", "")] = ask
    return ask


async def refused(call: Awaitable[object], error: type[ApiError]) -> None:
    with pytest.raises(error):
        await call


async def made(client: Client, kind: Any, *finalizers: str, **spec: Any) -> Any:
    meta = ObjectMeta(name=f"w-{uuid.uuid4().hex[:8]}", finalizers=list(finalizers))
    return await client.create(kind(metadata=meta, spec=WebSpec(**spec)))


@question
async def an_object_starts_at_generation_1_with_a_uid_and_without_a_status(client: Client, kind: Any) -> None:
    meta = ObjectMeta(name=f"w-{uuid.uuid4().hex[:8]}", uid="mine")
    web = await client.create(kind(metadata=meta, spec=WebSpec(), status=WebStatus(ready=3)))
    assert web.metadata.generation == 1
    assert web.metadata.uid not in ("", "mine")
    assert web.status.ready == 0
    await refused(client.create(kind(metadata=ObjectMeta(name=meta.name), spec=WebSpec())), AlreadyExists)


@question
async def the_generation_counts_changes_of_the_spec_and_the_deletion(client: Client, kind: Any) -> None:
    web = await made(client, kind, "example.com/x")
    web = await client.patch(web, MergePatch({"metadata": {"labels": {"a": "b"}}}))
    web = await client.patch(web, MergePatch({"status": {"ready": 1}}), subresource="status")
    assert (web.metadata.generation, web.status.ready, web.metadata.labels) == (1, 1, {"a": "b"})
    web = await client.patch(web, MergePatch({"spec": {"replicas": 5}, "status": {"ready": 7}}))
    assert (web.metadata.generation, web.status.ready) == (2, 1)
    web = await client.delete(web)
    assert web.metadata.generation == 3
    await client.patch(web, MergePatch({"metadata": {"finalizers": None}}))


@question
async def a_patch_that_changes_nothing_leaves_the_version(client: Client, kind: Any) -> None:
    web = await made(client, kind, replicas=2)
    same = await client.patch(web, MergePatch({"spec": {"replicas": 2}}))
    assert same.metadata.resource_version == web.metadata.resource_version
    web = await client.patch(web, MergePatch({"status": {"ready": 2}}), subresource="status")
    same = await client.patch(web, MergePatch({"status": {"ready": 2}}), subresource="status")
    assert same.metadata.resource_version == web.metadata.resource_version


@question
async def a_patch_of_an_old_version_is_a_conflict(client: Client, kind: Any) -> None:
    old = await made(client, kind)
    await client.patch(old, MergePatch({"spec": {"replicas": 2}}))
    version = old.metadata.resource_version
    await refused(client.patch(old, MergePatch({"spec": {"replicas": 3}}, resource_version=version)), Conflict)
    patch = MergePatch({"status": {"ready": 3}}, resource_version=version)
    await refused(client.patch(old, patch, subresource="status"), Conflict)
    await refused(client.update(old), Conflict)


@question
async def a_patch_with_another_uid_is_invalid_but_not_of_the_status(client: Client, kind: Any) -> None:
    web = await made(client, kind)
    await refused(client.patch(web, MergePatch({"metadata": {"uid": "x"}, "spec": {"replicas": 2}})), Invalid)
    patch = MergePatch({"metadata": {"uid": "x"}, "status": {"ready": 4}})
    assert (await client.patch(web, patch, subresource="status")).status.ready == 4


@question
async def a_deletion_waits_for_finalizers_and_is_an_event_of_its_own(client: Client, kind: Any) -> None:
    web = await made(client, kind, "example.com/x", "example.com/y")
    going = await client.delete(web)
    assert going is not None
    assert going.metadata.deletion_timestamp is not None
    assert (await client.delete(web)).metadata.resource_version == going.metadata.resource_version
    more = MergePatch({"metadata": {"finalizers": ["example.com/x", "example.com/z"]}})
    await refused(client.patch(web, more), Invalid)
    one = await client.patch(web, MergePatch({"metadata": {"finalizers": ["example.com/y"]}}))
    last = await client.patch(web, MergePatch({"metadata": {"finalizers": None}}))
    assert last.metadata.finalizers == []
    assert last.metadata.resource_version == one.metadata.resource_version
    await refused(client.get(kind, web.metadata.name), NotFound)
    version = going.metadata.resource_version
    seen = [event async for event in client.watch(kind, resource_version=version, timeout_seconds=1)]
    mine = [event for event in seen if event.object.metadata.uid == web.metadata.uid]
    assert [event.type for event in mine] == ["MODIFIED", "DELETED"]
    assert int(mine[1].object.metadata.resource_version) > int(last.metadata.resource_version)
    assert mine[1].object.metadata.finalizers == ["example.com/y"]


@question
async def a_deletion_of_another_uid_is_a_conflict(client: Client, kind: Any) -> None:
    web = await made(client, kind)
    await refused(client.delete(web, uid="x"), Conflict)
    assert await client.delete(web, uid=web.metadata.uid) is None
    await refused(client.delete(web), NotFound)
    await refused(client.patch(web, MergePatch({"metadata": {"uid": "x"}})), NotFound)


@question
async def an_apply_owns_what_it_states(client: Client, kind: Any) -> None:
    name = f"c-{uuid.uuid4().hex[:8]}"
    first = await client.apply(config(name, a="1", b="2"))
    assert (await client.apply(config(name, a="1", b="2"))).metadata.resource_version == first.metadata.resource_version
    await client.patch(ConfigMap, MergePatch({"data": {"c": "3"}}), name, field_manager="hand")
    assert (await client.apply(config(name, a="1"))).data == {"a": "1", "c": "3"}
    await refused(client.apply(config(name, a="5"), field_manager="other"), Conflict)
    taken = await client.apply(config(name, a="5"), field_manager="other", force=True)
    assert taken.data == {"a": "5", "c": "3"}
    assert (await client.apply(config(name), force=True)).data == {"a": "5", "c": "3"}


@question
async def two_owners_are_not_both_the_controller(client: Client, kind: Any) -> None:
    name = f"c-{uuid.uuid4().hex[:8]}"

    def owned(uid: str, controller: bool | None) -> ConfigMap:
        child = config(name)
        owner = OwnerReference(api_version="v1", kind="Secret", name="s", uid=uid, controller=controller)
        child.metadata.owner_references.append(owner)
        return child

    await client.apply(owned("u1", True))
    await refused(client.apply(owned("u2", True), field_manager="other", force=True), Invalid)
    both = await client.apply(owned("u2", None), field_manager="other", force=True)
    assert {owner.uid for owner in both.metadata.owner_references} == {"u1", "u2"}


@question
async def pages_are_of_one_moment(client: Client, kind: Any) -> None:
    mark = f"m-{uuid.uuid4().hex[:8]}"
    for number in range(5):
        child = config(f"{mark}-{number}")
        child.metadata.namespace = "default"
        await client.create(child)
    page = await client.list(ConfigMap, namespace="default", limit=2)
    assert len(page) == 2
    await client.delete(ConfigMap, f"{mark}-4")
    names = [each.metadata.name for each in page]
    while page.continue_:
        page = await client.list(ConfigMap, namespace="default", limit=2, continue_=page.continue_)
        names += [each.metadata.name for each in page]
    assert [name for name in names if name.startswith(mark)] == [f"{mark}-{number}" for number in range(5)]


@question
async def a_watch_shows_what_came_after_its_version_in_order(client: Client, kind: Any) -> None:
    web = await made(client, kind)
    for replicas in (2, 3, 4):
        await client.patch(web, MergePatch({"spec": {"replicas": replicas}}))
    version = web.metadata.resource_version
    seen = [event async for event in client.watch(kind, resource_version=version, timeout_seconds=1)]
    mine = [event for event in seen if event.object.metadata.uid == web.metadata.uid]
    assert [event.object.spec.replicas for event in mine] == [2, 3, 4]


@question
async def a_watch_from_a_forgotten_version_is_refused(client: Client, kind: Any) -> None:
    async with contextlib.aclosing(client.watch(kind, resource_version="1", timeout_seconds=1)) as events:
        await refused(anext(events), Gone)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_double_answers_as_a_server(name: str) -> None:
    async def main() -> None:
        await QUESTIONS[name](FakeApi(Web, ConfigMap).client(), Web)

    virtual.run(main())


@pytest.mark.control_plane
def test_a_real_server_answers_as_the_double(control_plane: Any) -> None:
    async def main() -> None:
        config = ClientConfig.from_kubeconfig(control_plane.kubeconfig_path)
        async with Client.connect(config, field_manager="test") as client:
            await install_crds(client, [crd_of(RealWeb)])
            await asyncio.gather(*(ask(client, RealWeb) for ask in QUESTIONS.values()))

    asyncio.run(main())
