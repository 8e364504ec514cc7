"""Events and the metrics page against a real API server: what it accepts, and whom it lets in."""

from __future__ import annotations

import asyncio
import ssl
import urllib.error
import urllib.request
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest

from kubewright.client import Client, ClientConfig
from kubewright.manager import EventRecorder, Servers, Serving
from kubewright.model import Object, ObjectMeta
from kubewright.models.core.v1 import ConfigMap, Namespace, ServiceAccount
from kubewright.models.events.v1 import Event
from kubewright.models.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from kubewright.observe import Registry
from kubewright.observe.instruments import EventMetrics
from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane


@asynccontextmanager
async def connected(access: ClusterAccess) -> AsyncIterator[Client]:
    async with Client.connect(ClientConfig.load(access.kubeconfig_path)) as client:
        yield client


@asynccontextmanager
async def recording(client: Client, registry: Registry) -> AsyncIterator[EventRecorder]:
    recorder = EventRecorder(client, name="observe-test", metrics=EventMetrics(registry))
    task = asyncio.create_task(recorder.run())
    try:
        yield recorder
    finally:
        await recorder.stop(10.0)
        await task


async def events_about(client: Client, obj: Object, namespace: str) -> list[Event]:
    found = [event async for event in client.iterate(Event, namespace=namespace)]
    return [event for event in found if event.regarding is not None and event.regarding.uid == obj.metadata.uid]


def test_the_api_server_takes_our_events_and_counts_and_kubectl_shows_them(
    control_plane: ClusterAccess, namespace: str
) -> None:
    registry = Registry()

    async def main() -> None:
        async with connected(control_plane) as client:
            made = await client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace=namespace)))
            async with recording(client, registry) as recorder:
                for _ in range(5):
                    recorder.event(made, "Warning", "BackupFailed", "No room.", action="Backup", related=made)
                    await asyncio.sleep(0.05)
                recorder.event(made, "Normal", "R" * 300, "é" * 3000, action="A" * 300)
            events = {event.reason: event for event in await events_about(client, made, namespace)}
            failed = events.pop("BackupFailed")
            assert failed.series is not None
            assert failed.series.count == 5
            assert failed.reporting_controller == "observe-test"
            (cut,) = events.values()
            assert len((cut.note or "").encode()) <= 1024

    asyncio.run(main())
    assert registry.value("kubewright_events_dropped_total", "refused") == 0
    assert "BackupFailed" in control_plane.kubectl("describe", "configmap", "a", "--namespace", namespace)
    assert "No room." in control_plane.kubectl("events", "--for", "configmap/a", "--namespace", namespace)


def test_events_of_cluster_scoped_objects_and_of_odd_names_are_taken(
    control_plane: ClusterAccess, namespace: str
) -> None:
    registry = Registry()

    async def main() -> None:
        async with connected(control_plane) as client:
            node = await client.get(Namespace, namespace)
            role = await client.create(ClusterRole(metadata=ObjectMeta(name=f"Odd:Name.{uuid.uuid4().hex}")))
            try:
                async with recording(client, registry) as recorder:
                    recorder.event(node, "Normal", "Seen", "A namespace.")
                    recorder.event(role, "Normal", "Seen", "A role.")
                for obj in (node, role):
                    assert len(await events_about(client, obj, "default")) == 1
            finally:
                await client.delete(role)

    asyncio.run(main())
    assert registry.value("kubewright_events_sent_total") == 2


def test_events_of_a_namespace_that_ends_are_dropped(control_plane: ClusterAccess) -> None:
    registry = Registry()

    async def main() -> None:
        async with connected(control_plane) as client:
            name = f"ending-{uuid.uuid4().hex[:8]}"
            meta = ObjectMeta(name=name, finalizers=["example.com/wait"])
            await client.create(Namespace(metadata=meta))
            made = await client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace=name)))
            await client.delete(Namespace, name)
            async with recording(client, registry) as recorder:
                recorder.event(made, "Normal", "Seen", "Too late.")

    asyncio.run(main())
    assert registry.value("kubewright_events_dropped_total", "refused") == 1


def test_the_metrics_page_asks_the_api_server_who_may(control_plane: ClusterAccess, namespace: str) -> None:
    async def main() -> None:
        async with connected(control_plane) as client:
            tokens = {name: await token_of(client, name, namespace) for name in ("prometheus", "stranger")}
            role = f"metrics-reader-{uuid.uuid4().hex[:8]}"
            rules = [PolicyRule(non_resource_urls=["/metrics"], verbs=["get"])]
            reader = await client.create(ClusterRole(metadata=ObjectMeta(name=role), rules=rules))
            binding = await client.create(
                ClusterRoleBinding(
                    metadata=ObjectMeta(name=role),
                    role_ref=RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name=role),
                    subjects=[Subject(kind="ServiceAccount", name="prometheus", namespace=namespace)],
                )
            )
            registry = Registry()
            registry.counter("backups_total", "Backups.")
            servers = Servers(Serving(metrics_bind_address="127.0.0.1:0"), registry=registry, client=client)
            await servers.start()
            try:
                url = f"https://127.0.0.1:{servers.metrics_port}/metrics"
                assert (await asyncio.to_thread(get, url, ""))[0] == 401
                assert (await asyncio.to_thread(get, url, "nonsense"))[0] == 401
                status, body = await asyncio.to_thread(get, url, tokens["stranger"])
                assert status == 403
                assert body == f"Authorization denied for user system:serviceaccount:{namespace}:stranger\n"
                # The authorizer of the API server learns of the binding a moment later, and a refusal holds for 30 s.
                for _ in range(100):
                    status, body = await asyncio.to_thread(get, url, tokens["prometheus"])
                    if status == 200:
                        break
                    assert servers._access is not None
                    servers._access._rights._known.clear()
                    await asyncio.sleep(0.1)
                assert "backups_total 0\n" in body
            finally:
                await servers.close()
                await client.delete(binding)
                await client.delete(reader)

    asyncio.run(main())


def test_an_operator_without_the_right_to_ask_says_so(
    control_plane: ClusterAccess, namespace: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        nobody = tmp_path / "kubeconfig"
        nobody.write_text(control_plane.kubeconfig("nobody"))
        async with connected(control_plane) as admin, Client.connect(ClientConfig.load(nobody)) as client:
            token = await token_of(admin, "prometheus", namespace)
            servers = Servers(Serving(metrics_bind_address="127.0.0.1:0"), registry=Registry(), client=client)
            await servers.start()
            try:
                url = f"https://127.0.0.1:{servers.metrics_port}/metrics"
                status, body = await asyncio.to_thread(get, url, token)
                assert (status, body) == (500, "Authentication failed\n")
            finally:
                await servers.close()

    asyncio.run(main())
    assert "tokenreviews" in caplog.text
    assert "authentication.k8s.io" in caplog.text


async def token_of(client: Client, name: str, namespace: str) -> str:
    await client.create(ServiceAccount(metadata=ObjectMeta(name=name, namespace=namespace)))
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return str(orjson.loads((await client.raw("POST", path, body=body)).body)["status"]["token"])


def get(url: str, token: str) -> tuple[int, str]:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    blind.check_hostname = False
    blind.verify_mode = ssl.CERT_NONE
    try:
        with urllib.request.urlopen(request, context=blind) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
