"""The server behind HTTP: who asks, compression, watches, refusals, many clients."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import orjson
import pytest

from kubewright.apiserver import ADMIN, ApiServer, new_server
from kubewright.apiserver.access.authentication import ANONYMOUS, Authentication
from kubewright.apiserver.errors import StatusError
from kubewright.apiserver.front import HttpFront
from kubewright.apiserver.request import User
from kubewright.client.http1 import Http1Transport
from kubewright.httpd import Address

MAPS = "/api/v1/namespaces/default/configmaps"
JSON = (("content-type", "application/json"),)
TOKEN = (("authorization", "Bearer secret"),)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await main()

    asyncio.run(bounded())


@asynccontextmanager
async def serving(server: ApiServer | None = None) -> AsyncIterator[HttpFront]:
    server = server or new_server(seed=1)
    front = HttpFront(server, Authentication({"secret": ADMIN}), Address("127.0.0.1", 0))
    await front.start()
    try:
        yield front
    finally:
        server.close()
        await front.close()


def transport(front: HttpFront) -> Http1Transport:
    return Http1Transport(f"http://127.0.0.1:{front.port}")


def config_map(name: str, **data: str) -> bytes:
    return orjson.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})


def test_a_token_says_who_asks() -> None:
    async def main() -> None:
        async with serving() as front:
            client = transport(front)
            made = await client.request("POST", MAPS, headers=JSON + TOKEN, body=config_map("a"))
            assert made.status == 201
            assert made.headers["cache-control"] == "no-cache, private"
            unknown = await client.request("GET", MAPS, headers=(("authorization", "Bearer other"),))
            assert (unknown.status, orjson.loads(unknown.body)["reason"]) == (401, "Unauthorized")
            nobody = await client.request("GET", MAPS)
            assert nobody.status == 403
            assert orjson.loads(nobody.body)["message"] == (
                'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" '
                'in the namespace "default"'
            )
            nobody = await client.request("GET", "/apis")
            assert orjson.loads(nobody.body)["message"] == 'forbidden: User "system:anonymous" cannot get path "/apis"'
            assert (await client.request("GET", "/healthz")).body == b"ok"
            await client.close()

    run(main)


def test_a_certificate_says_who_asks_whatever_a_token_says() -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    from kubewright.testing.certs import Authority

    pair = Authority.create("clients").client("alice", ("system:masters", "team"))
    data = x509.load_pem_x509_certificate(pair.certificate).public_bytes(Encoding.DER)
    known = Authentication({"secret": ADMIN})
    extra = {"authentication.kubernetes.io/credential-id": (f"X509SHA256={hashlib.sha256(data).hexdigest()}",)}
    alice = User("alice", ("system:masters", "team", "system:authenticated"), extra=extra)
    assert known.user({}, data) == alice
    assert known.user({"authorization": "Bearer secret"}, data) == alice
    assert known.user({"authorization": "Bearer secret"}) == ADMIN
    assert known.user({}) == ANONYMOUS
    assert known.user({"authorization": "Basic c2VjcmV0"}) == ANONYMOUS
    with pytest.raises(StatusError):
        known.user({"authorization": "bearer x"})


def test_a_certificate_says_nothing_before_and_after_its_time() -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    from kubewright.testing.certs import Authority

    certificate = x509.load_pem_x509_certificate(Authority.create("clients").client("alice").certificate)
    data, second = certificate.public_bytes(Encoding.DER), timedelta(seconds=1)
    for inside in (certificate.not_valid_before_utc, certificate.not_valid_after_utc):
        assert Authentication(now=lambda at=inside: at).user({}, data).name == "alice"
    for outside in (certificate.not_valid_before_utc - second, certificate.not_valid_after_utc + second):
        with pytest.raises(StatusError):
            Authentication(now=lambda at=outside: at).user({}, data)


def test_who_acts_as_others_may_say_several_groups() -> None:
    async def main() -> None:
        async with serving() as front:
            client = transport(front)
            acting = (("Impersonate-User", "jane"), ("Impersonate-Group", "a"), ("impersonate-group", "b"))
            body = orjson.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
            path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
            answer = await client.request("POST", path, headers=JSON + TOKEN + acting, body=body)
            shown = orjson.loads(answer.body)["status"]["userInfo"]
            assert shown == {"username": "jane", "groups": ["a", "b", "system:authenticated"]}
            await client.close()

    run(main)


def test_a_watch_goes_on_and_ends_with_the_server() -> None:
    async def main() -> None:
        server = new_server(seed=1)
        async with serving(server) as front:
            client = transport(front)
            lines: asyncio.Queue[Any] = asyncio.Queue()

            async def watch() -> None:
                await client.stream(
                    "GET",
                    f"{MAPS}?watch=true",
                    headers=TOKEN,
                    on_line=lambda line: lines.put_nowait(orjson.loads(line)),
                )
                lines.put_nowait(None)

            watching = asyncio.create_task(watch())
            while not server._streams:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            await client.request("POST", MAPS, headers=JSON + TOKEN, body=config_map("a"))
            event = await lines.get()
            assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")
            server.close()
            assert await lines.get() is None
            await watching
            await client.close()

    run(main)


def test_large_answers_are_compressed_for_who_takes_that() -> None:
    async def main() -> None:
        async with serving() as front:
            client = transport(front)
            for number in range(3):
                await client.request("POST", MAPS, headers=JSON + TOKEN, body=config_map(f"a{number}", x="y" * 60_000))
            reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
            for accepted, packed in (("gzip", True), ("gzip;q=0", False), ("identity", False)):
                lines = (f"GET {MAPS} HTTP/1.1", "Authorization: Bearer secret", f"Accept-Encoding: {accepted}", "", "")
                writer.write("\r\n".join(lines).encode())
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.split("content-length: ")[1].split("\r\n")[0])
                body = await reader.readexactly(length)
                assert ("content-encoding: gzip" in head) is packed
                assert len(orjson.loads(gzip.decompress(body) if packed else body)["items"]) == 3
            writer.close()
            await client.close()

    run(main)


def test_what_is_no_request_is_refused_with_a_status() -> None:
    async def main() -> None:
        async with serving() as front:
            for data, code, reason in (
                (b"nonsense\r\n\r\n", 400, "BadRequest"),
                (b"POST / HTTP/1.1\r\nContent-Length: 3145729\r\n\r\n", 413, "RequestEntityTooLarge"),
            ):
                reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
                writer.write(data)
                answer = await reader.read()
                status = orjson.loads(answer.partition(b"\r\n\r\n")[2])
                assert (status["kind"], status["code"], status["reason"]) == ("Status", code, reason)
                writer.close()

    run(main)


def test_a_thousand_watchers_see_every_change_and_leave_nothing_behind() -> None:
    async def main() -> None:
        server = new_server(seed=1)
        async with serving(server) as front:
            client = transport(front)
            request = f"GET {MAPS}?watch=true HTTP/1.1\r\nAuthorization: Bearer secret\r\n\r\n".encode()
            watchers = []
            for _ in range(1000):
                reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
                writer.write(request)
                watchers.append((reader, writer))
            for reader, _ in watchers:
                await reader.readuntil(b"\r\n\r\n")
            for number in range(3):
                await client.request("POST", MAPS, headers=JSON + TOKEN, body=config_map(f"a{number}"))
            for reader, writer in watchers:
                for number in range(3):
                    assert f'"name":"a{number}"'.encode() in await reader.readuntil(b"}}\n")
                writer.close()
            while server._streams:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            await client.close()

    run(main)
