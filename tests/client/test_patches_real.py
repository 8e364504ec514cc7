"""Patch and apply on a real API server: what each changes, and when it conflicts."""

from __future__ import annotations

import pytest
from real_webs import Run, Web, WebStatus, web
from web_model import ConfigMap, config_map

from kubewright.client import Client, Conflict, Invalid, JsonPatch, MergePatch, StrategicPatch, UnsupportedMediaType

pytestmark = pytest.mark.control_plane


def test_patches_of_all_kinds(web_run: Run) -> None:
    async def body(client: Client) -> None:
        made = await client.create(web(labels={"x": "1", "y": "2"}))
        made = await client.patch(made, MergePatch({"metadata": {"labels": {"x": None}}, "spec": {"replicas": 2}}))
        assert (made.metadata.labels, made.spec.replicas) == ({"y": "2"}, 2)
        made = await client.patch(Web, JsonPatch([{"op": "replace", "path": "/spec/replicas", "value": 3}]), "a")
        assert made.spec.replicas == 3
        with pytest.raises(Invalid):
            await client.patch(Web, JsonPatch([{"op": "test", "path": "/spec/replicas", "value": 0}]), "a")
        with pytest.raises(UnsupportedMediaType):
            await client.patch(Web, StrategicPatch({"spec": {}}), "a")
        await client.create(config_map(finalizers=["example.com/one"]))
        both = await client.patch(ConfigMap, StrategicPatch({"metadata": {"finalizers": ["example.com/two"]}}), "a")
        assert sorted(both.metadata.finalizers) == ["example.com/one", "example.com/two"]
        await client.patch(ConfigMap, MergePatch({"metadata": {"finalizers": None}}), "a")

    web_run(body)


def test_a_patch_conflicts_only_if_it_is_locked(web_run: Run) -> None:
    async def body(client: Client) -> None:
        old = await client.create(web())
        await client.patch(old, MergePatch({"spec": {"replicas": 2}}))
        await client.patch(old, MergePatch({"spec": {"replicas": 3}}))
        locked = MergePatch({"spec": {"replicas": 4}}, resource_version=old.metadata.resource_version)
        with pytest.raises(Conflict):
            await client.patch(old, locked)

    web_run(body)


def test_a_patch_of_the_status(web_run: Run) -> None:
    async def body(client: Client) -> None:
        made = await client.create(web())
        patch = MergePatch({"status": WebStatus(ready=2), "spec": {"replicas": 7}})
        patched = await client.patch(made, patch, subresource="status")
        assert (patched.status.ready, patched.spec.replicas) == (2, 1)

    web_run(body)


def test_apply_creates_then_changes_nothing_then_conflicts_then_takes_over(web_run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        made = await client.apply(web(labels={"x": "y"}), field_manager="one")
        assert (made.metadata.namespace, made.metadata.labels) == (namespace, {"x": "y"})
        again = await client.apply(web(labels={"x": "y"}), field_manager="one")
        assert again.metadata.resource_version == made.metadata.resource_version
        # What was read goes back as it is: nothing of the server's bookkeeping is stated.
        back = await client.apply(again, field_manager="one")
        assert back.metadata.resource_version == made.metadata.resource_version
        with pytest.raises(Conflict) as conflict:
            await client.apply(web(image="httpd"), field_manager="two")
        assert [cause.field for cause in conflict.value.causes] == [".spec.image"]
        assert 'conflict with "one"' in conflict.value.causes[0].message
        taken = await client.apply(web(image="httpd"), field_manager="two", force=True)
        assert (taken.spec.image, taken.metadata.labels) == ("httpd", {"x": "y"})
        dropped = await client.apply(web(image="httpd"), field_manager="one")
        assert dropped.metadata.labels == {}

    web_run(body)


def test_apply_of_the_status_leaves_the_rest(web_run: Run) -> None:
    async def body(client: Client) -> None:
        made = await client.create(web(labels={"x": "y"}))
        made.status.ready = 2
        made.spec.replicas = 9
        applied = await client.apply(made, field_manager="status", subresource="status")
        assert (applied.status.ready, applied.spec.replicas, applied.metadata.labels) == (2, 1, {"x": "y"})
        applied.status.ready = 5
        applied.spec.replicas = 3
        rest = await client.apply(applied, field_manager="spec", force=True)
        assert (rest.status.ready, rest.spec.replicas) == (2, 3)

    web_run(body)


def test_apply_of_a_built_in_kind(run: Run) -> None:
    async def body(client: Client) -> None:
        first = await client.apply(config_map(data={"a": "1", "b": "2"}))
        assert first.data == {"a": "1", "b": "2"}
        assert (await client.apply(config_map(data={"a": "1"}))).data == {"a": "1"}

    run(body)
