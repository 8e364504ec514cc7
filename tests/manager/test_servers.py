"""What a manager serves: the pages, when they are there, and what they say while it starts, works and stops."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
import uvloop

import virtual
from fakeapi import FakeApi
from kubewright import Context, Operator, controller
from kubewright.client import Client, ClientConfig, HttpClient, Response
from kubewright.httpd import Answer, Request
from kubewright.manager import BindError, CacheNotSynced, CertificateError, Manager, Serving
from kubewright.manager.servers import Servers, metrics_page
from kubewright.models.core.v1 import ConfigMap
from kubewright.observe import OPENMETRICS, TEXT, Metric, Registry
from running import running, until
from webs import Web, web

LOCAL = "127.0.0.1:0"


@controller(Web, owns=[ConfigMap])
async def reconcile(web: Web, ctx: Context) -> None:
    pass


async def get(
    port: int | None, target: str, *, tls: bool = False, headers: Mapping[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """One request, by hand."""
    blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    blind.check_hostname = False
    blind.verify_mode = ssl.CERT_NONE
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=blind if tls else None)
    lines = [
        f"GET {target} HTTP/1.1",
        "Host: x",
        "Connection: close",
        *(f"{k}: {v}" for k, v in (headers or {}).items()),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    status, *found = head.decode().split("\r\n")
    return int(status.split()[1]), {k.lower(): v for k, v in (line.split(": ", 1) for line in found)}, body


async def readiness(manager: Manager, query: str = "verbose") -> Answer:
    return await manager.servers.readyz.answer(Request("GET", "/readyz", query, {}))


# In virtual time, without sockets


def test_it_is_ready_when_the_first_lists_have_come_and_alive_all_the_time() -> None:
    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        api.fault("list", "/configmaps", delay_seconds=10.0)
        operator = Operator("test", controllers=[reconcile])
        manager = operator._manager(api.client(), False)
        task = asyncio.create_task(manager.run())
        await asyncio.sleep(5)
        answer = await readiness(manager, "")
        assert (answer.status, answer.body) == (500, b"[-]caches failed: reason withheld\nhealthz check failed\n")
        healthz = await manager.servers.healthz.answer(Request("GET", "/healthz", "", {}))
        assert (healthz.status, healthz.body) == (200, b"ok")
        await asyncio.sleep(6)
        assert (await readiness(manager, "")).body == b"ok"
        manager.stop()
        await task

    virtual.run(main())


def test_it_is_unready_while_a_kind_is_stale_and_ready_again_after() -> None:
    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        async with running(api, reconcile, serving=Serving(stale_seconds=120.0)) as manager:
            await asyncio.sleep(1000)
            assert (await readiness(manager)).status == 200, "bookmarks show that the server is there"
            for verb in ("list", "watch"):
                api.fault(verb, "/webs", times=10**6, status=500)
            api.put(web())
            await asyncio.sleep(0.1)
            api.cut()
            await asyncio.sleep(100)
            assert (await readiness(manager)).status == 200
            await asyncio.sleep(30)
            assert (await readiness(manager)).status == 500
            assert (await manager.servers.healthz.answer(Request("GET", "/healthz", "", {}))).status == 200
            silence = manager.telemetry.registry.value("kubewright_cache_last_event_age_seconds", "webs.example.com")
            assert silence is not None
            assert silence > 120
            api.faults.clear()
            await asyncio.sleep(60)
            assert (await readiness(manager)).status == 200

    virtual.run(main())


@pytest.mark.parametrize("stale_seconds", [None, 900.0])
def test_a_server_that_sends_no_bookmarks_is_heard_of_by_its_watches(stale_seconds: float | None) -> None:
    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        api.bookmark_seconds = float("inf")
        async with running(api, reconcile, serving=Serving(stale_seconds=stale_seconds)) as manager:
            for _ in range(60):
                await asyncio.sleep(60)
                assert (await readiness(manager)).status == 200

    virtual.run(main())


def test_checks_of_ones_own_are_asked() -> None:
    async def database() -> None:
        raise ConnectionError("away")

    async def main() -> None:
        async with running(FakeApi(Web, ConfigMap), reconcile) as manager:
            manager.servers.add_check("database", database)
            assert (await readiness(manager)).body.splitlines()[:2] == [
                b"[+]caches ok",
                b"[-]database failed: reason withheld",
            ]
            manager.servers.add_check("worker", lambda: None, ready=False)
            answer = await manager.servers.healthz.answer(Request("GET", "/healthz", "verbose", {}))
            assert answer.body == b"[+]ping ok\n[+]worker ok\nhealthz check passed\n"

    virtual.run(main())


def test_too_short_a_time_to_be_stale_is_refused() -> None:
    with pytest.raises(ValueError, match="stale_seconds: 10 is less than 60"):
        Serving(stale_seconds=10)


def page(registry: Registry, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return asyncio.run(_answered(registry, named))


async def _answered(registry: Registry, headers: Mapping[str, str]) -> Answer:
    return await metrics_page(registry)(Request("GET", "/metrics", "", headers))


def large() -> Registry:
    registry = Registry()
    family = registry.counter("backups_total", "Backups.", ["tier"])
    for number in range(200):
        family.labels(f"tier-{number}")
    return registry


def test_the_page_has_the_format_that_is_asked_for() -> None:
    registry = large()
    assert page(registry) == Answer(200, TEXT.render(registry.collect()), TEXT.content_type)
    asked = page(registry, accept="application/openmetrics-text; version=1.0.0")
    assert asked == Answer(200, OPENMETRICS.render(registry.collect()), OPENMETRICS.content_type)


@pytest.mark.parametrize("accepted", ["gzip", "deflate, gzip;q=0.5", "GZIP"])
def test_a_large_page_is_compressed_where_that_is_accepted(accepted: str) -> None:
    answer = page(large(), accept_encoding=accepted)
    assert dict(answer.headers) == {"Content-Encoding": "gzip"}
    assert gzip.decompress(answer.body) == page(large()).body
    assert len(answer.body) < len(page(large()).body) / 5


@pytest.mark.parametrize("accepted", ["", "deflate", "gzip;q=0", "identity"])
def test_a_page_is_sent_as_it_is_where_compression_is_not_accepted(accepted: str) -> None:
    assert page(large(), accept_encoding=accepted).headers == ()


# Over sockets


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_pages_are_served_from_before_the_first_list_until_after_the_last_reconcile(loop_factory: Any) -> None:
    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        api.put(web())
        api.fault("list", "/configmaps", delay_seconds=0.2)
        ended: list[int] = []
        begun = asyncio.Event()

        @controller(Web, owns=[ConfigMap])
        async def slow(web: Web, ctx: Context) -> None:
            begun.set()
            await asyncio.sleep(0.2)
            ended.append((await get(servers.health_port, "/readyz"))[0])

        serving = Serving(health_probe_bind_address=LOCAL, metrics_bind_address=LOCAL, metrics_secure=False)
        operator = Operator("test", controllers=[slow], serving=serving)
        manager = operator._manager(api.client(), False)
        servers = manager.servers
        task = asyncio.create_task(manager.run())
        while servers.metrics_port is None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        assert (await get(servers.health_port, "/healthz"))[::2] == (200, b"ok")
        assert (await get(servers.health_port, "/readyz"))[0] == 500
        assert (await get(servers.health_port, "/readyz/ping"))[0] == 404
        assert (await get(servers.health_port, "/healthz/ping"))[::2] == (200, b"ok")
        assert (await get(servers.health_port, "/metrics"))[0] == 404
        await begun.wait()
        assert (await get(servers.health_port, "/readyz"))[::2] == (200, b"ok")
        status, headers, body = await get(servers.metrics_port, "/metrics")
        assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
        assert b'controller_runtime_active_workers{controller="web"} 1\n' in body
        assert b"process_resident_memory_bytes" in body
        assert (await get(servers.metrics_port, "/healthz"))[0] == 404
        manager.stop()
        await task
        assert ended == [200], "answered while it stops"
        for port in (servers.health_port, servers.metrics_port):
            with pytest.raises(ConnectionRefusedError):
                await get(port, "/healthz")
        assert len(asyncio.all_tasks()) == 1

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(main())


class Reviews:
    """An API server that knows one token."""

    async def request(self, method: str, target: str, *, body: bytes | None = None, **_: Any) -> Response:
        review = orjson.loads(body or b"{}")
        if "tokenreviews" in target:
            status: dict[str, Any] = {"authenticated": review["spec"]["token"] == "good", "user": {"username": "prom"}}
        else:
            status = {"allowed": review["spec"]["nonResourceAttributes"] == {"path": "/metrics", "verb": "get"}}
        return Response(201, {}, orjson.dumps({"status": status}))

    async def close(self) -> None:
        pass


def test_metrics_are_served_with_tls_to_who_may() -> None:
    async def main() -> None:
        client = Client(HttpClient(ClientConfig(server="http://h:1"), Reviews()))  # type: ignore[arg-type]

        async def profile(request: Request) -> Answer:
            return Answer(200, b"profile")

        registry = large()
        servers = Servers(
            Serving(metrics_bind_address=LOCAL), registry=registry, client=client, pages={"/debug/profile": profile}
        )
        await servers.start()
        try:
            port = servers.metrics_port
            assert (await get(port, "/metrics", tls=True))[0] == 401
            assert (await get(port, "/metrics", tls=True, headers={"Authorization": "Bearer bad"}))[0] == 401
            status, _, body = await get(port, "/metrics", tls=True, headers={"Authorization": "Bearer good"})
            assert (status, body) == (200, TEXT.render(registry.collect()))
            status, _, body = await get(port, "/debug/profile", tls=True, headers={"Authorization": "Bearer good"})
            assert (status, body) == (403, b"Authorization denied for user prom\n")
        finally:
            await servers.close()

    asyncio.run(main())


def test_a_collector_that_fails_is_a_500_and_not_half_a_page() -> None:
    def fail() -> list[Metric]:
        raise LookupError("no")

    async def main() -> None:
        registry = large()
        registry.register(fail)
        client = FakeApi().client()
        serving = Serving(metrics_bind_address=LOCAL, metrics_secure=False)
        servers = Servers(serving, registry=registry, client=client)
        await servers.start()
        try:
            assert (await get(servers.metrics_port, "/metrics"))[0] == 500
        finally:
            await servers.close()

    asyncio.run(main())


def test_only_reading_is_allowed() -> None:
    async def main() -> None:
        serving = Serving(metrics_bind_address=LOCAL, metrics_secure=False, health_probe_bind_address=LOCAL)
        servers = Servers(serving, registry=Registry(), client=FakeApi().client())
        for handler, path in ((servers._page, "/metrics"), (servers._health, "/healthz")):
            answer = await handler(Request("POST", path, "", {}))
            assert (answer.status, dict(answer.headers)["Allow"]) == (405, "GET, HEAD")

    asyncio.run(main())


def test_an_address_that_is_taken_ends_the_start_with_the_option_and_leaves_nothing() -> None:
    async def main() -> None:
        registry, client = Registry(), FakeApi().client()
        first = Servers(Serving(health_probe_bind_address=LOCAL), registry=registry, client=client)
        await first.start()
        taken = f"127.0.0.1:{first.health_port}"
        manager = Manager(
            client,
            [],
            serving=Serving(health_probe_bind_address=LOCAL, metrics_bind_address=taken, metrics_secure=False),
        )
        with pytest.raises(BindError, match=f"--metrics-bind-address {taken}: the port is in use"):
            await manager.run()
        with pytest.raises(ConnectionRefusedError):
            await get(manager.servers.health_port, "/healthz")
        await first.close()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_a_certificate_that_is_not_there_ends_the_start(tmp_path: Path) -> None:
    async def main() -> None:
        serving = Serving(metrics_bind_address=LOCAL, metrics_cert_path=tmp_path)
        manager = Manager(FakeApi().client(), [], serving=serving)
        with pytest.raises(CertificateError, match=f"{tmp_path}/tls.crt does not exist"):
            await manager.run()

    asyncio.run(main())


def test_a_start_that_fails_stops_the_servers() -> None:
    async def main() -> None:
        api = FakeApi(Web)  # there are no ConfigMaps
        serving = Serving(health_probe_bind_address=LOCAL)
        manager = Operator("test", controllers=[reconcile], serving=serving)._manager(api.client(), False)
        with pytest.raises(CacheNotSynced):
            await manager.run()
        with pytest.raises(ConnectionRefusedError):
            await get(manager.servers.health_port, "/healthz")

    asyncio.run(main())


def test_without_addresses_nothing_listens() -> None:
    async def main() -> None:
        async with running(FakeApi(Web, ConfigMap), reconcile) as manager:
            await until(manager.elected.is_set)
            assert (manager.servers.health_port, manager.servers.metrics_port) == (None, None)

    virtual.run(main())


def test_servers_and_metrics_cost_an_operator_no_heavy_import() -> None:
    code = (
        "import sys, kubewright.operator\n"
        "heavy = {'aiohttp', 'http.server', 'prometheus_client', 'cryptography', 'yaml', 'email'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_debug_pages_are_behind_the_access_control_of_the_metrics() -> None:
    async def main() -> None:
        serving = Serving(metrics_bind_address=LOCAL, profiling=True)
        servers = Servers(serving, registry=Registry(), client=FakeApi(Web).client())
        await servers.start()
        try:
            for page in ("profile?seconds=1", "tasks", "threads", "memory"):
                status, _, body = await get(servers.metrics_port, f"/debug/{page}", tls=True)
                assert (status, body) == (401, b"Unauthorized\n")
        finally:
            await servers.close()

    asyncio.run(main())
