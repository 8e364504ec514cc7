"""One object on a real API server: created, read, updated, deleted; what is true there, and not what we would like."""

from __future__ import annotations

import asyncio

import pytest
from real_webs import AnyWeb, NewWeb, NewWebSpec, Run, Web, WebSpec, web
from web_model import ConfigMap, config_map

from kubewright.client import AlreadyExists, Client, Conflict, Invalid, MergePatch, NotFound, retry_on_conflict
from kubewright.model import ObjectMeta

pytestmark = pytest.mark.control_plane


def test_create_get_and_find(web_run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        made = await client.create(web())
        assert (made.metadata.name, made.metadata.namespace, made.metadata.generation) == ("a", namespace, 1)
        assert made.metadata.uid
        got = await client.get(Web, "a")
        assert got == made
        assert (await client.find(Web, "a")) == made
        assert await client.find(Web, "b") is None
        with pytest.raises(NotFound) as missing:
            await client.get(Web, "b")
        assert missing.value.details.name == "b"
        with pytest.raises(AlreadyExists):
            await client.create(web())

    web_run(body)


def test_a_generated_name(web_run: Run) -> None:
    async def body(client: Client) -> None:
        made = await client.create(web(name="", generate_name="web-"))
        assert made.metadata.name.startswith("web-")
        assert len(made.metadata.name) == 9

    web_run(body)


def test_a_namespace_that_does_not_exist(web_run: Run) -> None:
    async def body(client: Client) -> None:
        with pytest.raises(NotFound) as missing:
            await client.create(config_map(), namespace="no-such-namespace")
        assert (missing.value.details.kind, missing.value.details.name) == ("namespaces", "no-such-namespace")
        assert await client.find(Web, "a", namespace="no-such-namespace") is None

    web_run(body)


def test_a_kind_by_name_is_the_same_object(web_run: Run) -> None:
    async def body(client: Client) -> None:
        await client.create(web())
        got = await client.get(AnyWeb, "a")
        assert got["spec"] == {"image": "nginx", "replicas": 1}
        got["spec"]["replicas"] = 2
        await client.update(got)
        assert (await client.get(Web, "a")).spec.replicas == 2

    web_run(body)


def test_an_invalid_object_has_a_cause_per_field(web_run: Run) -> None:
    async def body(client: Client) -> None:
        with pytest.raises(Invalid) as invalid:
            await client.create(Web(metadata=ObjectMeta(name="a"), spec=WebSpec(image="", replicas=-1)))
        assert {cause.field.lstrip(".") for cause in invalid.value.causes} == {"spec.image", "spec.replicas"}

    web_run(body)


def test_dry_run_persists_nothing(web_run: Run) -> None:
    async def body(client: Client) -> None:
        dry = client.with_options(dry_run=True)
        assert (await dry.create(web())).metadata.uid
        assert await client.find(Web, "a") is None
        made = await client.create(web())
        made.spec.replicas = 9
        assert (await dry.update(made)).spec.replicas == 9
        assert (await dry.patch(Web, MergePatch({"spec": {"replicas": 8}}), "a")).spec.replicas == 8
        await dry.apply(web(image="httpd"), force=True)
        assert await dry.delete(made) is None
        await dry.delete_all(Web, namespace=client.namespace)
        assert await client.get(Web, "a") == await client.get(Web, "a")
        assert (await client.get(Web, "a")).spec == WebSpec(image="nginx")

    web_run(body)


def test_unknown_fields_are_refused_under_strict_validation_only(web_run: Run) -> None:
    async def body(client: Client) -> None:
        odd = AnyWeb(metadata=ObjectMeta(name="a"), content={"spec": {"image": "x", "imagee": "y"}})
        with pytest.raises(Exception, match=r'unknown field "spec\.imagee"'):
            await client.create(odd, field_validation="Strict")
        assert (await client.create(odd, field_validation="Ignore"))["spec"]["image"] == "x"

    web_run(body)


def test_update_is_locked_by_the_version(web_run: Run) -> None:
    async def body(client: Client) -> None:
        first = await client.create(web())
        second = await client.get(Web, "a")
        first.spec.replicas = 2
        await client.update(first)
        second.spec.replicas = 3
        with pytest.raises(Conflict):
            await client.update(second)
        with pytest.raises(Invalid, match="must be specified for an update"):
            await client.update(web())

    web_run(body)


def test_fields_of_a_newer_program_survive_an_update(web_run: Run) -> None:
    async def body(client: Client) -> None:
        await client.create(NewWeb(metadata=ObjectMeta(name="a"), spec=NewWebSpec(image="nginx", tracing={"rate": 5})))
        for read in (await client.get(Web, "a"), (await client.list(Web, namespace=client.namespace))[0]):
            old = await client.get(Web, "a")
            read.metadata.resource_version = old.metadata.resource_version
            read.spec.replicas += 1
            read.metadata.labels["touched"] = "yes"
            await client.update(read)
            assert (await client.get(NewWeb, "a")).spec.tracing == {"rate": 5}

    web_run(body)


def test_status_and_spec_are_written_apart(web_run: Run) -> None:
    async def body(client: Client) -> None:
        made = await client.create(web())
        made.status.ready, made.spec.replicas = 3, 5
        updated = await client.update_status(made)
        assert (updated.status.ready, updated.spec.replicas) == (3, 1)
        updated.status.ready, updated.spec.replicas = 4, 6
        updated = await client.update(updated)
        assert (updated.status.ready, updated.spec.replicas) == (3, 6)

    web_run(body)


def test_many_writers_that_read_again_all_get_through(web_run: Run) -> None:
    async def body(client: Client) -> None:
        await client.create(web())

        async def more() -> None:
            async def once() -> Web:
                obj = await client.get(Web, "a")
                obj.spec.replicas += 1
                return await client.update(obj)

            await retry_on_conflict(once, attempts=50)

        await asyncio.gather(*(more() for _ in range(5)))
        assert (await client.get(Web, "a")).spec.replicas == 6

    web_run(body)


def test_delete_of_what_has_no_finalizer(web_run: Run) -> None:
    async def body(client: Client) -> None:
        made = await client.create(web())
        assert await client.delete(made) is None
        with pytest.raises(NotFound):
            await client.delete(made)

    web_run(body)


def test_delete_waits_for_finalizers(web_run: Run) -> None:
    async def body(client: Client) -> None:
        made = await client.create(web(finalizers=["example.com/hold"]))
        waiting = await client.delete(made)
        assert waiting is not None
        assert waiting.metadata.deletion_timestamp is not None
        waiting.metadata.finalizers = []
        await client.update(waiting)
        assert await client.find(Web, "a") is None

    web_run(body)


def test_delete_with_preconditions(web_run: Run) -> None:
    async def body(client: Client) -> None:
        old = await client.create(web())
        await client.delete(old)
        new = await client.create(web())
        with pytest.raises(Conflict):
            await client.delete(Web, "a", uid=old.metadata.uid)
        with pytest.raises(Conflict):
            await client.delete(Web, "a", resource_version=old.metadata.resource_version)
        await client.delete(Web, "a", uid=new.metadata.uid, resource_version=new.metadata.resource_version)

    web_run(body)


def test_delete_with_propagation_and_grace(run: Run) -> None:
    async def body(client: Client) -> None:
        await client.create(config_map())
        held = await client.delete(ConfigMap, "a", propagation="Foreground", grace_period_seconds=0)
        assert held is not None
        assert held.metadata.finalizers == ["foregroundDeletion"]
        await client.patch(ConfigMap, MergePatch({"metadata": {"finalizers": None}}), "a")
        assert await client.find(ConfigMap, "a") is None

    run(body)


def test_delete_all_by_labels(web_run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        for number in range(6):
            await client.create(web(f"w{number}", labels={"odd": str(number % 2)}))
        await client.delete_all(Web, namespace=namespace, labels={"odd": "1"}, propagation="Background")
        left = await client.list(Web, namespace=namespace)
        assert [obj.metadata.name for obj in left] == ["w0", "w2", "w4"]
        await client.delete_all(Web, namespace=namespace, fields={"metadata.name": "w2"})
        assert len(await client.list(Web, namespace=namespace)) == 2
        await client.delete_all(Web, namespace=namespace)
        assert len(await client.list(Web, namespace=namespace)) == 0

    web_run(body)
