"""The small HTTP server, over sockets: framing, limits, deadlines, the end."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvloop

from kubewright.httpd import Address, Answer, BindError, Handler, HttpServer, Limits, Request

ANY = Address("127.0.0.1", 0)


async def echo(request: Request) -> Answer:
    return Answer(200, f"{request.method} {request.path} ?{request.query}".encode())


@asynccontextmanager
async def serving(handler: Handler = echo, **options: Any) -> AsyncIterator[HttpServer]:
    server = HttpServer(handler, ANY, name="--test", **options)
    await server.start()
    try:
        yield server
    finally:
        await server.close()


async def connect(server: HttpServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", server.port)


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return int(status.split()[1]), headers, await reader.readexactly(int(headers["content-length"]))


async def exchange(server: HttpServer, data: bytes) -> bytes:
    """All that comes back until the server closes."""
    reader, writer = await connect(server)
    writer.write(data)
    try:
        return await reader.read()
    finally:
        writer.close()


@pytest.fixture(autouse=True, params=["asyncio", "uvloop"])
def loop_factory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs on both loops."""
    monkeypatch.setattr(run, "loop_factory", None if request.param == "asyncio" else uvloop.new_event_loop, False)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await main()

    with asyncio.Runner(loop_factory=run.loop_factory) as runner:  # type: ignore[attr-defined]
        runner.run(bounded())


def test_a_request_is_answered_and_the_connection_kept() -> None:
    async def main() -> None:
        async with serving() as server:
            reader, writer = await connect(server)
            for _ in range(2):
                writer.write(b"GET /a/b?c=d&e HTTP/1.1\r\nHost: x\r\n\r\n")
                status, headers, body = await read_answer(reader)
                assert (status, body) == (200, b"GET /a/b ?c=d&e")
                assert headers["content-type"] == "text/plain; charset=utf-8"
                assert headers["x-content-type-options"] == "nosniff"
                assert headers["date"].endswith(" GMT")
                assert "connection" not in headers
            writer.close()

    run(main)


def test_a_head_has_the_length_of_the_body_and_no_body() -> None:
    async def main() -> None:
        async with serving() as server:
            answer = await exchange(server, b"HEAD /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert b"Content-Length: 9\r\n" in answer
            assert answer.endswith(b"\r\n\r\n")

    run(main)


def test_requests_that_come_together_are_answered_in_their_order() -> None:
    async def slow_first(request: Request) -> Answer:
        await asyncio.sleep(0.05 if request.path == "/0" else 0)
        return await echo(request)

    async def main() -> None:
        async with serving(slow_first) as server:
            data = b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(50))
            reader, writer = await connect(server)
            writer.write(data)
            for number in range(50):
                assert (await read_answer(reader))[2] == b"GET /%d ?" % number
            writer.close()

    run(main)


def test_a_request_may_come_byte_by_byte() -> None:
    async def main() -> None:
        async with serving() as server:
            reader, writer = await connect(server)
            for byte in b"GET /slow HTTP/1.1\r\nHost: x\r\nA: 1\r\nA: 2\r\n\r\n":
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0)
            assert (await read_answer(reader))[2] == b"GET /slow ?"
            writer.close()

    run(main)


@pytest.mark.parametrize("head", [b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"])
def test_who_does_not_keep_the_connection_has_it_closed_after_the_answer(head: bytes) -> None:
    async def main() -> None:
        async with serving() as server:
            answer = await exchange(server, head)
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert b"Connection: close\r\n" in answer

    run(main)


def test_an_upgrade_is_not_made_and_the_request_is_answered() -> None:
    async def main() -> None:
        async with serving() as server:
            answer = await exchange(
                server, b"GET /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nbinary"
            )
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")

    run(main)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),  # TLS to a port without
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000, 431),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"a" * 100_000, 413),
    ],
)
def test_what_is_no_request_or_too_large_is_refused_and_the_connection_closed(data: bytes, status: int) -> None:
    async def main() -> None:
        async with serving() as server:
            reader, writer = await connect(server)
            try:
                writer.write(data)
                assert (await read_answer(reader))[0] == status
                assert await reader.read() == b""
            except ConnectionResetError:
                pytest.fail("closed without an answer")
            finally:
                writer.close()

    run(main)


def test_a_short_body_is_read_and_dropped() -> None:
    async def main() -> None:
        async with serving() as server:
            reader, writer = await connect(server)
            writer.write(b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
            writer.write(b"GET /g HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (await read_answer(reader))[2] == b"POST /p ?"
            assert (await read_answer(reader))[2] == b"GET /g ?"
            writer.close()

    run(main)


def test_a_handler_that_raises_fails_its_own_request_only(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(request: Request) -> Answer:
        if request.path == "/bad":
            raise LookupError("secret")
        return await echo(request)

    async def main() -> None:
        async with serving(fail) as server:
            reader, writer = await connect(server)
            writer.write(b"GET /bad HTTP/1.1\r\nHost: x\r\n\r\nGET /good HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (await read_answer(reader))[::2] == (500, b"internal server error\n")
            assert (await read_answer(reader))[2] == b"GET /good ?"
            writer.close()

    with caplog.at_level(logging.ERROR):
        run(main)
    assert "GET /bad failed" in caplog.text


def test_a_client_that_goes_away_cancels_its_handler() -> None:
    cancelled = asyncio.Event()

    async def hang(request: Request) -> Answer:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return Answer(200, b"")

    async def main() -> None:
        async with serving(hang) as server:
            _, writer = await connect(server)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await asyncio.sleep(0.05)
            writer.transport.abort()
            await cancelled.wait()

    run(main)


@pytest.mark.parametrize("data", [b"", b"GET / HT"])
def test_a_head_that_does_not_come_closes_the_connection(data: bytes) -> None:
    async def main() -> None:
        async with serving(limits=Limits(head_seconds=0.1)) as server:
            reader, writer = await connect(server)
            writer.write(data)
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(1)
            writer.close()

    run(main)


def test_an_idle_connection_is_closed() -> None:
    async def main() -> None:
        async with serving(limits=Limits(idle_seconds=0.1)) as server:
            reader, writer = await connect(server)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await read_answer(reader)
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(1)
            writer.close()

    run(main)


def test_who_does_not_read_the_answer_is_cut_off() -> None:
    async def large(request: Request) -> Answer:
        return Answer(200, b"x" * 20_000_000)

    async def main() -> None:
        async with serving(large, limits=Limits(idle_seconds=0.2)) as server:
            loop = asyncio.get_running_loop()
            with socket.create_connection(("127.0.0.1", server.port)) as sock:
                sock.setblocking(False)
                await loop.sock_sendall(sock, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                while server._shared.connections:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.02)
                assert not [task for task in asyncio.all_tasks() if task.get_name() == "http connection"]

    run(main)


def test_more_connections_than_the_limit_are_closed_at_once() -> None:
    async def main() -> None:
        async with serving(limits=Limits(max_connections=2)) as server:
            kept = [await connect(server) for _ in range(2)]
            await asyncio.sleep(0.05)
            extra_reader, extra_writer = await connect(server)
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await extra_reader.readexactly(1)
            extra_writer.close()
            for reader, writer in kept:
                writer.write(b"GET /kept HTTP/1.1\r\nHost: x\r\n\r\n")
                assert (await read_answer(reader))[2] == b"GET /kept ?"
                writer.close()

    run(main)


def test_close_lets_an_answer_that_is_being_made_be_sent_and_leaves_nothing() -> None:
    begun = asyncio.Event()

    async def slow(request: Request) -> Answer:
        begun.set()
        await asyncio.sleep(0.1)
        return Answer(200, b"done")

    async def main() -> None:
        async with serving(slow) as server:
            reader, writer = await connect(server)
            idle_reader, idle_writer = await connect(server)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await begun.wait()
            await server.close(5.0)
            _, headers, body = await read_answer(reader)
            assert (headers["connection"], body) == ("close", b"done")
            assert await idle_reader.read() == b""
            with pytest.raises(ConnectionRefusedError):
                await connect(server)
            assert len(asyncio.all_tasks()) == 1
            writer.close()
            idle_writer.close()

    run(main)


def test_close_ends_a_handler_that_does_not_end() -> None:
    async def hang(request: Request) -> Answer:
        await asyncio.Event().wait()
        return Answer(200, b"")

    async def main() -> None:
        async with serving(hang) as server:
            _, writer = await connect(server)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await asyncio.sleep(0.05)
            await server.close(0.05)
            assert len(asyncio.all_tasks()) == 1
            writer.close()

    run(main)


def test_a_port_in_use_is_an_error_that_names_the_option_and_the_cure() -> None:
    async def main() -> None:
        async with serving() as server:
            other = HttpServer(echo, Address("127.0.0.1", server.port), name="--metrics-bind-address")
            with pytest.raises(
                BindError, match=rf"--metrics-bind-address 127.0.0.1:{server.port}: .*in use.*0 for none"
            ):
                await other.start()
            await other.close()

    run(main)


def test_no_host_is_every_address_of_the_machine() -> None:
    async def main() -> None:
        server = HttpServer(echo, Address("", 0), name="--test")
        await server.start()
        try:
            hosts = ["127.0.0.1"]
            if socket.has_dualstack_ipv6():
                hosts.append("::1")
            for host in hosts:
                reader, writer = await asyncio.open_connection(host, server.port)
                writer.write(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
                assert (await read_answer(reader))[2] == b"GET /x ?"
                writer.close()
        finally:
            await server.close()

    run(main)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", None),
        ("0", None),
        (":8080", Address("", 8080)),
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        ("[::1]:8443", Address("::1", 8443)),
        ("localhost:1", Address("localhost", 1)),
    ],
)
def test_addresses_are_written_as_in_kubernetes_flags(text: str, address: Address | None) -> None:
    assert Address.parse(text, name="--x") == address


@pytest.mark.parametrize("text", ["8080", "localhost", ":", ":x", ":70000", "::1:80", "a:b:c", "[::1]", "1.2.3.4:-1"])
def test_what_is_no_address_is_refused_with_the_option_and_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"--x: .* write :8080"):
        Address.parse(text, name="--x")


def test_an_address_is_shown_as_it_is_written() -> None:
    assert [str(Address("", 8080)), str(Address("::1", 1)), str(Address("a", 2))] == [":8080", "[::1]:1", "a:2"]
