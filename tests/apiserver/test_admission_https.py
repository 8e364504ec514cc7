"""Webhooks over HTTPS: real sockets, certificates by name, many calls beside a watch."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asking import CONFIG_PATH, ask, config, events, open_watch
from hooking import configuration, webhook

from kubewright.apiserver import ApiServer, new_server
from kubewright.apiserver.webhooks import HttpWebhooks
from kubewright.httpd import Address, Answer, HttpServer, Request
from kubewright.testing.certs import Authority

ALLOWED = {"allowed": True}


class Served(NamedTuple):
    """A webhook that listens: its port, the authority of its certificate (base64), and what it was asked."""

    port: int
    ca: str
    asked: list[str]


@asynccontextmanager
async def serving(folder: Path, *names: str, seconds: float = 0) -> AsyncIterator[Served]:
    authority = Authority.create("hooks")
    pair = authority.serving("hook", list(names), ["127.0.0.1"])
    (folder / "crt").write_bytes(pair.certificate)
    (folder / "key").write_bytes(pair.key)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "crt", folder / "key")
    asked: list[str] = []

    async def handle(request: Request) -> Answer:
        review = json.loads(request.body)
        asked.append(review["request"]["name"])
        await asyncio.sleep(seconds)
        review["response"] = {"uid": review["request"]["uid"], **ALLOWED}
        return Answer(200, json.dumps(review).encode(), "application/json")

    server = HttpServer(handle, Address("127.0.0.1", 0), name="hook", tls=tls)
    await server.start()
    try:
        yield Served(server.port, base64.b64encode(authority.pair.certificate).decode(), asked)
    finally:
        await server.close()


async def configured(server: ApiServer, client: dict[str, Any], **more: Any) -> None:
    hook = webhook("one", clientConfig=client, **more)
    assert (await ask(server, "POST", *configuration("validating", "c", hook))).status == 201


def test_a_webhook_is_called_at_its_url_and_trusted_by_its_bundle(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(tmp_path) as served:
            server = new_server()
            await configured(server, {"url": f"https://127.0.0.1:{served.port}/v", "caBundle": served.ca})
            assert (await ask(server, "POST", CONFIG_PATH, config("a"))).status == 201
            assert served.asked == ["a"]
            server.close()
            await asyncio.sleep(0.05)

    asyncio.run(main())


def test_the_certificate_of_a_service_is_that_of_its_name_in_the_cluster(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(tmp_path, "hook.system.svc") as served:
            webhooks = HttpWebhooks(resolve=lambda namespace, name, port: f"https://127.0.0.1:{served.port}")
            server = new_server(webhooks=webhooks)
            service = {"name": "hook", "namespace": "system", "path": "/v"}
            await configured(server, {"service": service, "caBundle": served.ca})
            assert (await ask(server, "POST", CONFIG_PATH, config("a"))).status == 201
            other = {**service, "name": "other"}
            hook = webhook("two", clientConfig={"service": other, "caBundle": served.ca})
            await ask(server, "POST", *configuration("validating", "d", hook))
            assert (await ask(server, "POST", CONFIG_PATH, config("b"))).status == 500
            await webhooks.close()

    asyncio.run(main())


@pytest.mark.parametrize(("policy", "status"), [("Fail", 500), ("Ignore", 201)])
def test_a_webhook_that_nobody_serves_behaves_by_its_failure_policy(policy: str, status: int) -> None:
    async def main() -> None:
        server = new_server()
        await configured(server, {"url": "https://127.0.0.1:1/v"}, failurePolicy=policy, timeoutSeconds=5)
        answer = await ask(server, "POST", CONFIG_PATH, config())
        assert answer.status == status
        if status == 500:
            assert 'Post "https://127.0.0.1:1/v?timeout=5s": dial tcp 127.0.0.1:1' in answer.body["message"]

    asyncio.run(main())


def test_many_slow_calls_are_bounded_and_keep_nobody_else_waiting(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(tmp_path, seconds=0.05) as served:
            webhooks = HttpWebhooks()
            server = new_server(webhooks=webhooks)
            url = f"https://127.0.0.1:{served.port}/v"
            await configured(server, {"url": url, "caBundle": served.ca}, timeoutSeconds=30)
            stream = await open_watch(server, "/api/v1/namespaces/default/secrets?watch=true")
            calls = [asyncio.create_task(ask(server, "POST", CONFIG_PATH, config(f"a{n}"))) for n in range(200)]
            await asyncio.sleep(0.02)
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
            await ask(server, "POST", "/api/v1/namespaces/default/secrets", secret)
            assert [type_ for type_, _ in await events(stream, 1)] == ["ADDED"]
            assert not all(each.done() for each in calls)
            assert {(await each).status for each in calls} == {201}
            stream.close()
            await webhooks.close()

    asyncio.run(main())
