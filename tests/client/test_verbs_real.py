"""The verbs against a real API server: what is true there, and not what we would like to be."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from web_model import ConfigMap, config_map

from kubewright.client import (
    AlreadyExists,
    Client,
    ClientConfig,
    Conflict,
    CrdConflict,
    Forbidden,
    Gone,
    Invalid,
    JsonPatch,
    KindNotServed,
    MergePatch,
    NotFound,
    Scale,
    StrategicPatch,
    UnsupportedMediaType,
    install_crds,
    retry_on_conflict,
)
from kubewright.client.crds import CustomResourceDefinition
from kubewright.client.scale import ScaleSpec
from kubewright.model import Model, Object, ObjectMeta, Resource, decode, field, resource, unstructured

pytestmark = pytest.mark.control_plane

# Each process has its own kinds: test processes share the server.
GROUP = f"verbs-{uuid.uuid4().hex[:8]}.example.com"
API_VERSION = f"{GROUP}/v1"


class WebSpec(Model):
    image: str
    replicas: int = 1


class WebStatus(Model):
    ready: int = 0


@resource(group=GROUP, version="v1")
class Web(Resource[WebSpec, WebStatus]):
    """A custom resource with status and scale."""


class NewWebSpec(Model):
    image: str
    replicas: int = 1
    tracing: dict[str, int] = field(default_factory=dict)


@resource(group=GROUP, version="v1", kind="Web", plural="webs")
class NewWeb(Resource[NewWebSpec, WebStatus]):
    """The same, as a newer program knows it."""


AnyWeb = unstructured(API_VERSION, "Web")
Deployment = unstructured("apps/v1", "Deployment", plural="deployments")
Pod = unstructured("v1", "Pod", plural="pods")
ServiceAccount = unstructured("v1", "ServiceAccount", plural="serviceaccounts")
TokenRequest = unstructured("authentication.k8s.io/v1", "TokenRequest", plural="tokenrequests")
Eviction = unstructured("policy/v1", "Eviction", plural="evictions")
Binding = unstructured("v1", "Binding", plural="bindings")


def crd(
    plural: str = "webs", kind: str = "Web", versions: tuple[str, ...] = ("v1",), storage: str = "v1"
) -> dict[str, Any]:
    spec = {
        "type": "object",
        "required": ["image"],
        "properties": {
            "image": {"type": "string", "minLength": 1},
            "replicas": {"type": "integer", "minimum": 0},
            "tracing": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    }
    status = {"type": "object", "properties": {"ready": {"type": "integer"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.ready"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == storage,
                    "schema": schema,
                    "subresources": {"status": {}, "scale": scale},
                }
                for version in versions
            ],
        },
    }


def web(name: str = "a", image: str = "nginx", **metadata: Any) -> Web:
    return Web(metadata=ObjectMeta(name=name, **metadata), spec=WebSpec(image=image))


Body = Callable[[Client], Awaitable[None]]
Run = Callable[[Body], None]


@pytest.fixture
def run(control_plane: Any, namespace: str) -> Run:
    """Runs a test's body with a client whose default namespace is the test's own."""

    def run(body: Body) -> None:
        async def main() -> None:
            config = ClientConfig.load(control_plane.kubeconfig_path)
            async with Client.connect(config, namespace=namespace, field_manager="tests") as client:
                await asyncio.wait_for(body(client), 60)

        asyncio.run(main())

    return run


@pytest.fixture
def web_run(run: Run) -> Run:
    """As `run`, with the kind Web served. Installing what is there already costs two requests."""

    def web_run(body: Body) -> None:
        async def main(client: Client) -> None:
            await install_crds(client, [crd()])
            await body(client)

        run(main)

    return web_run


# -- one object -------------------------------------------------------------------------------------------------------


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


# -- update -----------------------------------------------------------------------------------------------------------


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


# -- patch ------------------------------------------------------------------------------------------------------------


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


# -- apply ------------------------------------------------------------------------------------------------------------


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


# -- delete -----------------------------------------------------------------------------------------------------------


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


# -- subresources -----------------------------------------------------------------------------------------------------


def test_scale_of_a_custom_resource_and_of_a_deployment(web_run: Run) -> None:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}

    async def body(client: Client) -> None:
        await client.create(web())
        await client.create(Deployment(metadata=ObjectMeta(name="a"), content={"spec": spec}))
        for kind in (Web, Deployment, AnyWeb):
            scale = await client.get_scale(kind, "a")
            stale = await client.get(Scale, "a", of=kind, subresource="scale")
            scale.spec.replicas += 1
            assert (await client.update_scale(kind, scale)).spec.replicas == scale.spec.replicas
            with pytest.raises(Conflict):
                await client.update_scale(kind, stale)
        assert (await client.get(Web, "a")).spec.replicas == 3
        obj = await client.get(Web, "a")
        await client.update_scale(obj, Scale(metadata=ObjectMeta(name="a"), spec=ScaleSpec(replicas=9)))
        patched = await client.patch(Scale, MergePatch({"spec": {"replicas": 4}}), of=obj, subresource="scale")
        assert patched.spec.replicas == 4
        with pytest.raises(NotFound):
            await client.get_scale(Deployment, "b")

    web_run(body)


def test_token_eviction_and_binding(run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        account = await client.create(ServiceAccount(metadata=ObjectMeta(name="sa")))
        token = await client.create(
            TokenRequest(content={"spec": {"expirationSeconds": 600}}), of=account, subresource="token"
        )
        assert token.get("status", "token").count(".") == 2
        pod = {"serviceAccountName": "sa", "containers": [{"name": "a", "image": "a"}]}
        for name in ("p", "q"):
            await client.create(Pod(metadata=ObjectMeta(name=name), content={"spec": pod}))
        binding = Binding(metadata=ObjectMeta(name="p"), content={"target": {"kind": "Node", "name": "n"}})
        assert await client.create(binding, of=Pod, subresource="binding") is binding
        assert (await client.get(Pod, "p"))["spec"]["nodeName"] == "n"
        eviction = Eviction(metadata=ObjectMeta(name="q", namespace=namespace))
        assert await client.create(eviction, of=Pod, subresource="eviction") is eviction
        assert await client.find(Pod, "q") is None
        await client.delete(Pod, "p", grace_period_seconds=0)

    run(body)


# -- list and watch ---------------------------------------------------------------------------------------------------


def test_pages(web_run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        names = [f"w{number:02}" for number in range(25)]
        await asyncio.gather(*(client.create(web(name)) for name in names))
        page = await client.list(Web, namespace=namespace, limit=10)
        assert (len(page), page.remaining_item_count) == (10, 15)
        await client.create(web("w99"))
        rest = await client.list(Web, namespace=namespace, continue_=page.continue_)
        # The snapshot is that of the first page.
        assert [obj.metadata.name for obj in (*page, *rest)] == names
        seen = [obj.metadata.name async for obj in client.iterate(Web, namespace=namespace, page_size=4)]
        assert seen == [*names, "w99"]
        assert len(await client.list(Web, namespace=namespace)) == 26
        assert {obj.metadata.namespace for obj in await client.list(Web)} >= {namespace}

    web_run(body)


def test_selectors(run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        for name, tier in (("a", "front"), ("b", "back"), ("c", "mid")):
            await client.create(config_map(name, labels={"tier": tier}))

        async def names(**options: Any) -> list[str]:
            return [obj.metadata.name for obj in await client.list(ConfigMap, namespace=namespace, **options)]

        assert await names(labels={"tier": "front"}) == ["a"]
        assert await names(labels="tier in (front,back)") == ["a", "b"]
        assert [n for n in await names(labels="tier!=front") if n in "abc"] == ["b", "c"]
        assert await names(fields={"metadata.name": "b"}) == ["b"]
        assert await names(labels="tier", resource_version="0") == ["a", "b", "c"]

    run(body)


def test_a_watch_sees_what_is_there_and_each_change(web_run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        await client.create(web("old"))
        seen: list[tuple[str, str, bool]] = []

        async def write() -> None:
            made = await client.create(web("new"))
            await client.patch(made, MergePatch({"spec": {"replicas": 2}}))
            await client.delete(made)

        writer: asyncio.Task[None] | None = None
        async with contextlib.aclosing(client.watch(Web, namespace=namespace)) as events:
            async for event in events:
                seen.append((event.type, event.object.metadata.name, event.initial))
                if writer is None:
                    writer = asyncio.ensure_future(write())
                if event.type == "DELETED":
                    break
        assert writer is not None
        await writer
        assert seen == [
            ("ADDED", "old", True),
            ("ADDED", "new", False),
            ("MODIFIED", "new", False),
            ("DELETED", "new", False),
        ]

    web_run(body)


def test_a_watch_goes_on_over_the_ends_of_its_connections(
    web_run: Run, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kubewright.client import watch as watch_module

    monkeypatch.setattr(watch_module, "_SERVER_SECONDS", 1)

    async def body(client: Client) -> None:
        async def write() -> None:
            for number in range(30):
                await client.create(web(f"w{number:02}"))
                await asyncio.sleep(0.1)

        names = []
        async with contextlib.aclosing(client.watch(Web, namespace=namespace, send_initial=False)) as events:
            # The watch has its start only once the first event is asked for.
            first = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0.3)
            writer = asyncio.ensure_future(write())
            names.append((await first).object.metadata.name)
            async for event in events:
                names.append(event.object.metadata.name)
                if len(names) == 30:
                    break
        await writer
        assert names == [f"w{number:02}" for number in range(30)]

    web_run(body)


def test_a_watch_from_a_forgotten_version_is_told(web_run: Run) -> None:
    async def body(client: Client) -> None:
        with pytest.raises(Gone, match="too old resource version"):
            async for _ in client.watch(Web, resource_version="1"):
                pass

    web_run(body)


@pytest.mark.slow
def test_pages_that_expire(private_control_plane: Any) -> None:
    # The compactor drops what is older than the time before last that it ran.
    server = private_control_plane(api_server_args=["--etcd-compaction-interval=1s"])

    async def main() -> None:
        async with Client.connect(ClientConfig.load(server.access.kubeconfig_path)) as client:
            for name in "abcd":
                await client.create(config_map(name, labels={"x": "y"}))
            page = await client.list(ConfigMap, labels={"x": "y"}, limit=1)
            slow = client.iterate(ConfigMap, labels={"x": "y"}, page_size=2)
            names = [(await anext(slow)).metadata.name]

            async def go_on() -> None:
                while True:
                    await client.patch(ConfigMap, MergePatch({"data": {"n": uuid.uuid4().hex}}), "b")
                    await client.list(ConfigMap, labels={"x": "y"}, limit=1, continue_=page.continue_)
                    await asyncio.sleep(0.2)

            with pytest.raises(Gone) as gone:
                await asyncio.wait_for(go_on(), 30)
            assert gone.value.continue_
            await client.delete(ConfigMap, "c")
            names += [obj.metadata.name async for obj in slow]
            assert names == ["a", "b", "d"]

    asyncio.run(main())


def test_a_watch_ends_in_time(run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        seen = [event async for event in client.watch(ConfigMap, namespace=namespace, timeout_seconds=0.5)]
        assert all(event.initial for event in seen)

    run(body)


# -- kinds ------------------------------------------------------------------------------------------------------------


def test_a_kind_that_is_not_served(run: Run) -> None:
    async def body(client: Client) -> None:
        for kind in (unstructured(f"{GROUP}/v7", "Gizmo", plural="gizmos"), unstructured(f"{GROUP}/v7", "Gizmo")):
            with pytest.raises(KindNotServed, match="install its CustomResourceDefinition"):
                await client.find(kind, "a")
            with pytest.raises(KindNotServed):
                await client.list(kind)
            with pytest.raises(KindNotServed):
                async for _ in client.watch(kind, resource_version="5"):
                    pass
        with pytest.raises(KindNotServed) as missing:
            await client.list(unstructured("apps/v1beta1", "Deployment", plural="deployments"))
        assert [near.api_version for near in missing.value.near][:1] == ["apps/v1"]

    run(body)


def test_every_kind_of_the_server_is_resolved_alike_by_both_forms_of_discovery(run: Run) -> None:
    async def body(client: Client) -> None:
        from kubewright.client.discovery import Discovery

        class Older:
            async def request(self, method: str, target: str, **options: Any) -> Any:
                options["headers"] = (("accept", "application/json"),)
                return await client.http.request(method, target, **options)

        older, newer = Discovery(Older()), client.discovery
        for group, version, kind in (("", "v1", "Pod"), ("apps", "v1", "Deployment"), ("", "v1", "Node")):
            gvk = unstructured(f"{group}/{version}" if group else version, kind).__resource__.gvk
            assert await older.resolve(gvk) == await newer.resolve(gvk)

    run(body)


def test_who_may_not_hears_the_rule_to_add(control_plane: Any, namespace: str) -> None:
    async def main() -> None:
        config = ClientConfig.from_kubeconfig(control_plane.kubeconfig("nobody"))
        async with Client.connect(config, namespace=namespace) as client:
            with pytest.raises(Forbidden) as forbidden:
                await client.create(config_map())
            rule = forbidden.value.rule
            assert rule is not None
            assert (rule.verb, rule.resource, rule.namespace) == ("create", "configmaps", namespace)

    asyncio.run(main())


def test_raw(run: Run) -> None:
    async def body(client: Client) -> None:
        assert b"gitVersion" in (await client.raw("GET", "/version")).body
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        answer = await client.raw("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=review)
        assert answer.status == 201

    run(body)


# -- CRDs -------------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def installed(client: Client, *crds: dict[str, Any]) -> AsyncIterator[None]:
    try:
        await install_crds(client, crds)
        yield
    finally:
        for each in crds:
            with contextlib.suppress(NotFound):
                await client.delete(CustomResourceDefinition, each["metadata"]["name"])


def kind_of(crd: dict[str, Any], version: str = "v1") -> type[Object]:
    names = crd["spec"]["names"]
    return unstructured(f"{GROUP}/{version}", names["kind"], plural=names["plural"])


def test_a_crd_serves_when_it_is_installed_and_not_merely_established(run: Run) -> None:
    async def body(client: Client) -> None:
        crds = [crd(f"fresh{number}s", f"Fresh{number}") for number in range(3)]
        async with installed(client, *crds):
            plain = Client(client.http, namespace=client.namespace)
            for each in crds:
                kind = kind_of(each)
                assert len(await plain.list(kind)) == 0
                obj = decode(kind, b'{"metadata":{"name":"a"},"spec":{"image":"x"}}')
                assert (await plain.create(obj)).metadata.uid

    run(body)


def test_installing_again_writes_nothing(run: Run) -> None:
    async def body(client: Client) -> None:
        wanted = crd("agains", "Again")
        async with installed(client, wanted):
            before = await client.get(CustomResourceDefinition, wanted["metadata"]["name"])
            await install_crds(client, [wanted])
            after = await client.get(CustomResourceDefinition, wanted["metadata"]["name"])
            assert after.metadata.resource_version == before.metadata.resource_version

    run(body)


def test_a_new_version_is_added_and_an_old_storage_version_is_not_dropped(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def body(client: Client) -> None:
        async with installed(client, crd("movers", "Mover", ("v1",), "v1")):
            with pytest.raises(CrdConflict, match="objects may be stored in v1"):
                await install_crds(client, [crd("movers", "Mover", ("v2",), "v2")])
            await install_crds(client, [crd("movers", "Mover", ("v1", "v2"), "v2")])
            assert "the storage version changes from v1 to v2" in caplog.text
            assert len(await client.list(unstructured(f"{GROUP}/v2", "Mover", plural="movers"))) == 0

    run(body)


def test_names_that_are_taken_are_told(run: Run) -> None:
    async def body(client: Client) -> None:
        thief = crd("thieves", "Thief")
        thief["spec"]["names"]["singular"] = "owner"
        async with installed(client, crd("owners", "Owner")):
            with pytest.raises(CrdConflict, match=r'its names are not accepted: "owner" is already in use'):
                await install_crds(client, [thief])
            await client.delete(CustomResourceDefinition, thief["metadata"]["name"])

    run(body)


def test_a_crd_that_breaks_the_rules_is_invalid(run: Run) -> None:
    async def body(client: Client) -> None:
        broken = crd("brokens", "Broken")
        broken["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["type"] = "nonsense"
        with pytest.raises(Invalid) as invalid:
            await install_crds(client, [broken])
        assert "openAPIV3Schema.properties[spec].type" in invalid.value.causes[0].field

    run(body)


def test_a_crd_that_is_being_deleted_is_waited_for(run: Run) -> None:
    async def body(client: Client) -> None:
        wanted = crd("phoenixes", "Phoenix")
        async with installed(client, wanted):
            await client.create(decode(kind_of(wanted), b'{"metadata":{"name":"a"},"spec":{"image":"x"}}'))
            await client.delete(CustomResourceDefinition, wanted["metadata"]["name"])
            await install_crds(client, [wanted])
            assert len(await client.list(kind_of(wanted))) == 0

    run(body)
