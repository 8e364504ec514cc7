"""What a request and a watch event cost the client: CPU of this process, against a bare loop and aiohttp.

    python bench/transport.py [--requests N] [--events N] [--rounds N] [--uvloop] [--plain]

A stub of kube-apiserver runs in a second process and answers PATCHes of 0.3 KB with 2.9 KB, over TLS unless `--plain`.
`raw` is the floor: asyncio.Protocol and httptools, one connection for each worker, no deadlines, no pool, no errors.
`transport` is Http1Transport with its defaults, `client` the HttpClient on top of it. Rounds are
interleaved and the best one is shown, as neighbours can only add; read the ratios. Below 10 % they mean nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import ipaddress
import multiprocessing
import ssl
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import cast

import aiohttp
import httptools

from kubewright.client.config import ClientConfig
from kubewright.client.http import HttpClient
from kubewright.client.http1 import Http1Transport
from kubewright.client.transport import Headers, Limits

TARGET = "/apis/example.com/v1/namespaces/default/widgets/widget-00042/status?fieldManager=bench"
PATCH = b'{"status":{"ready":3,"note":"' + b"x" * 270 + b'"}}'
OBJECT = b'{"apiVersion":"example.com/v1","kind":"Widget","pad":"' + b"y" * 2840 + b'"}'
EVENT = b'{"type":"MODIFIED","object":' + OBJECT + b"}\n"
HEADERS = (
    ("User-Agent", "bench/1"),
    ("Authorization", "Bearer " + "t" * 900),
    ("Accept", "application/json"),
    ("Content-Type", "application/merge-patch+json"),
)
ANSWER = (
    b"HTTP/1.1 200 OK\r\nAudit-Id: 0f3bb8a4-3d55-4d17-9d0f-0d6f3f0a0d0e\r\nCache-Control: no-cache, private\r\n"
    b"Content-Type: application/json\r\nX-Kubernetes-Pf-Flowschema-Uid: 6a6b1a83-5b7c-4d28-8a3f-58d8b7a8a001\r\n"
    b"X-Kubernetes-Pf-Prioritylevel-Uid: 6a6b1a83-5b7c-4d28-8a3f-58d8b7a8a002\r\n"
    b"Date: Tue, 01 Dec 2026 10:00:00 GMT\r\nContent-Length: " + str(len(OBJECT)).encode() + b"\r\n\r\n" + OBJECT
)
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%b\r\n" % (len(EVENT), EVENT)


class Stub(asyncio.Protocol):
    """Answers each request with OBJECT, and GET /watch?N with N events."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.parser = httptools.HttpRequestParser(self)
        self.can_write = asyncio.Event()
        self.can_write.set()
        self.url = b""

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self.url = url

    def on_message_complete(self) -> None:
        if self.url.startswith(b"/watch?"):
            self.task = asyncio.ensure_future(self.events(int(self.url.partition(b"?")[2])))
        else:
            self.transport.write(ANSWER)

    def pause_writing(self) -> None:
        self.can_write.clear()

    def resume_writing(self) -> None:
        self.can_write.set()

    async def events(self, count: int) -> None:
        self.transport.write(STREAM)
        for _ in range(count):
            self.transport.write(CHUNK)
            await self.can_write.wait()
        self.transport.write(b"0\r\n\r\n")


def serve(pipe: Pipe, certificate: str | None) -> None:
    """Run the stub until the process is ended."""

    async def forever() -> None:
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
        server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0, ssl=context)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    run(forever(), fast=True)


def run(main: Coroutine[object, object, None], *, fast: bool) -> None:
    if fast:
        import uvloop

        uvloop.run(main)
    else:
        asyncio.run(main)


def make_certificate(folder: Path) -> Path:
    """Write a self-signed certificate and its key into one PEM file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "bench")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now, now + datetime.timedelta(days=1)
        )
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "stub.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path


class Raw(asyncio.Protocol):
    """The floor: one connection, one request at a time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.parser = httptools.HttpResponseParser(self)
        self.loop = asyncio.get_running_loop()
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""

    def request(self, data: bytes) -> asyncio.Future[bytes]:
        self.headers = []
        self.waiter: asyncio.Future[bytes] = self.loop.create_future()
        self.transport.write(data)
        return self.waiter

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        self.body = body

    def on_message_complete(self) -> None:
        self.waiter.set_result(self.body)


Work = Callable[[int], Awaitable[None]]
"""Do that many requests, in one task."""


async def cpu_us(work: Work, requests: int, tasks: int) -> float:
    """CPU of this process for one request, with so many tasks at work."""
    await asyncio.gather(*(work(20) for _ in range(tasks)))
    start = time.process_time()
    await asyncio.gather(*(work(requests // tasks) for _ in range(tasks)))
    return (time.process_time() - start) / (requests // tasks * tasks) * 1e6


def raw_work(connections: list[Raw]) -> Work:
    head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS)
    data = f"PATCH {TARGET} HTTP/1.1\r\nHost: x\r\n{head}Content-Length: {len(PATCH)}\r\n\r\n".encode()

    async def work(count: int) -> None:
        connection = connections.pop()
        for _ in range(count):
            await connection.request(data + PATCH)
        connections.append(connection)

    return work


def our_work(ours: Http1Transport | HttpClient, headers: Headers) -> Work:
    async def work(count: int) -> None:
        for _ in range(count):
            await ours.request("PATCH", TARGET, headers=headers, body=PATCH)

    return work


def aiohttp_work(session: aiohttp.ClientSession, url: str, tls: ssl.SSLContext | None) -> Work:
    headers = dict(HEADERS)

    async def work(count: int) -> None:
        for _ in range(count):
            async with session.patch(url + TARGET, headers=headers, data=PATCH, ssl=tls or True) as answer:
                await answer.read()

    return work


async def measure(args: argparse.Namespace, url: str, tls: ssl.SSLContext | None, ca: bytes | None) -> None:
    config = ClientConfig(server=url, ca_data=ca, token="t" * 900, user_agent="bench/1")
    host, port = url.rpartition("/")[2].split(":")
    loop = asyncio.get_running_loop()
    results: dict[tuple[str, str], list[float]] = {}
    for _ in range(args.rounds):
        for tasks in (1, 10, 50):
            raws = [(await loop.create_connection(Raw, host, int(port), ssl=tls))[1] for _ in range(tasks)]
            ours, wide = Http1Transport(url, tls=tls), Http1Transport(url, tls=tls, limits=Limits(max_connections=50))
            async with aiohttp.ClientSession() as session, HttpClient(config) as http:
                cases = {
                    "raw": raw_work(raws),
                    "transport": our_work(ours, HEADERS),
                    "transport, 50 connections": our_work(wide, HEADERS),
                    "client": our_work(http, HEADERS[2:]),
                    "aiohttp": aiohttp_work(session, url, tls),
                }
                for name, work in cases.items():
                    results.setdefault((name, f"@{tasks}"), []).append(await cpu_us(work, args.requests, tasks))
            for connection in raws:
                connection.transport.abort()
            await ours.close()
            await wide.close()
        await measure_stream(args, url, tls, results)
    show(results)


async def measure_stream(
    args: argparse.Namespace, url: str, tls: ssl.SSLContext | None, results: dict[tuple[str, str], list[float]]
) -> None:
    ours = Http1Transport(url, tls=tls)
    lines = 0

    def count(line: bytes) -> None:
        nonlocal lines
        lines += 1

    start = time.process_time()
    await ours.stream("GET", f"/watch?{args.events}", on_line=count)
    results.setdefault(("transport", "event"), []).append((time.process_time() - start) / args.events * 1e6)
    await ours.close()
    assert lines == args.events

    async with aiohttp.ClientSession() as session:
        start = time.process_time()
        rest = b""
        async with session.get(f"{url}/watch?{args.events}", ssl=tls or True) as answer:
            async for data in answer.content.iter_any():
                *whole, rest = (rest + data).split(b"\n")
                lines += len(whole)
        results.setdefault(("aiohttp", "event"), []).append((time.process_time() - start) / args.events * 1e6)
    assert lines == 2 * args.events


def show(results: dict[tuple[str, str], list[float]]) -> None:
    columns = ["@1", "@10", "@50", "event"]
    best = {key: min(values) for key, values in results.items()}
    heads = "".join(f"{column:>9}" for column in columns)
    print(f"{'us of CPU per':28}{heads}{'x raw @50':>12}{'x aiohttp':>11}")
    for name in dict.fromkeys(name for name, _ in results):
        cells = [f"{best[name, column]:9.1f}" if (name, column) in best else f"{'-':>9}" for column in columns]
        mine = best[name, "@50"]
        print(f"{name:28}{''.join(cells)}{mine / best['raw', '@50']:12.2f}{mine / best['aiohttp', '@50']:11.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--events", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--plain", action="store_true", help="HTTP without TLS")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        certificate = None if args.plain else make_certificate(Path(folder))
        near, far = multiprocessing.Pipe()
        stub = multiprocessing.get_context("spawn").Process(
            target=serve, args=(far, str(certificate) if certificate else None), daemon=True
        )
        stub.start()
        try:
            scheme = "http" if certificate is None else "https"
            url = f"{scheme}://127.0.0.1:{near.recv()}"
            tls = ssl.create_default_context(cafile=str(certificate)) if certificate else None
            ca = certificate.read_bytes() if certificate else None
            print(f"Python {sys.version.split()[0]}, {scheme}, {'uvloop' if args.uvloop else 'asyncio'}")
            run(measure(args, url, tls, ca), fast=args.uvloop)
        finally:
            stub.terminate()
            stub.join()


if __name__ == "__main__":
    main()
