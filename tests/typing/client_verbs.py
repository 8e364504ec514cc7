"""What type checkers see of the client's verbs. Checked, not run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import assert_type

from kubewright.client import Client, JsonPatch, MergePatch, ObjectList, Scale, WatchEvent, retry_on_conflict
from kubewright.model import Key, Model, Resource, Unstructured, resource, unstructured
from kubewright.model.selector import LabelSelector, Selector


class WebSpec(Model):
    image: str


class WebStatus(Model):
    ready: int = 0


@resource(group="example.com", version="v1")
class Web(Resource[WebSpec, WebStatus]):
    pass


Pod = unstructured("v1", "Pod", plural="pods")


async def reads(client: Client) -> None:
    assert_type(await client.get(Web, "a"), Web)
    assert_type(await client.get(Web, Key("a", "b")), Web)
    assert_type(await client.get(Pod, "a"), Unstructured)
    assert_type(await client.find(Web, "a"), Web | None)
    assert_type((await client.get(Web, "a")).spec.image, str)
    assert_type((await client.get(Web, "a")).status.ready, int)
    found = await client.list(Web, namespace="a", labels={"a": "b"}, fields={"metadata.name": "b"})
    assert_type(found, ObjectList[Web])
    assert_type(found[0], Web)
    assert_type(list(found), list[Web])
    await client.list(Web, labels="a=b")
    await client.list(Web, labels=Selector.of("a"), resource_version="1", resource_version_match="Exact")
    await client.list(Web, labels=LabelSelector())
    assert_type(client.iterate(Web), AsyncIterator[Web])
    assert_type(client.watch(Web), AsyncGenerator[WatchEvent[Web], None])
    async for event in client.watch(Web):
        assert_type(event.object, Web)


async def writes(client: Client, web: Web) -> None:
    assert_type(await client.create(web), Web)
    assert_type(await client.update(web), Web)
    assert_type(await client.update_status(web), Web)
    assert_type(await client.patch(web, MergePatch({"spec": {}})), Web)
    assert_type(await client.patch(Web, JsonPatch([]), "a"), Web)
    assert_type(await client.patch(Scale, MergePatch({}), "a", of=Web, subresource="scale"), Scale)
    assert_type(await client.apply(web, force=True), Web)
    assert_type(await client.delete(web, propagation="Foreground"), Web | None)
    assert_type(await client.delete(Web, "a"), Web | None)
    await client.delete_all(Web, namespace="a")
    assert_type(await client.get_scale(Web, "a"), Scale)
    assert_type(await client.update_scale(web, Scale()), Scale)
    assert_type(client.with_options(dry_run=True), Client)

    async def once() -> Web:
        return await client.update(await client.get(Web, "a"))

    assert_type(await retry_on_conflict(once), Web)
