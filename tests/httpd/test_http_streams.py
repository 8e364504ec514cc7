"""Answers that go on: chunks, their end, clients that go or do not read, the end of the server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from kubewright.httpd import Address, Answer, HttpServer, Limits, Request, Streaming


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await main()

    asyncio.run(bounded())


class Source(AsyncIterator[bytes]):
    """Chunks on demand."""

    def __init__(self, endless: bytes = b"") -> None:
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.endless = endless
        self.closed = asyncio.Event()

    async def __anext__(self) -> bytes:
        if self.endless and not self.closed.is_set():
            return self.endless
        data = await self.queue.get()
        if data is None:
            raise StopAsyncIteration
        return data

    def close(self) -> None:
        self.closed.set()
        self.queue.put_nowait(None)

    async def handle(self, request: Request) -> Answer | Streaming:
        if request.path != "/watch":
            return Answer.text(200, "other")
        return Streaming(200, self, self.close, "application/json", (("x", "y"),))


@asynccontextmanager
async def serving(source: Source, limits: Limits = Limits()) -> AsyncIterator[HttpServer]:
    server = HttpServer(source.handle, Address("127.0.0.1", 0), name="--test", limits=limits)
    await server.start()
    try:
        yield server
    finally:
        await server.close()


async def asked(
    server: HttpServer, head: bytes = b"GET /watch HTTP/1.1\r\n\r\n"
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(head)
    return reader, writer


def test_chunks_are_sent_as_they_come_and_the_connection_is_kept_after_the_last() -> None:
    async def main() -> None:
        source = Source()
        async with serving(source) as server:
            reader, writer = await asked(server)
            head = await reader.readuntil(b"\r\n\r\n")
            for line in (b"Transfer-Encoding: chunked\r\n", b"x: y\r\n", b"Content-Type: application/json\r\n"):
                assert line in head
            assert b"Content-Length" not in head
            for data in (b"one\n", b"two\n"):
                source.queue.put_nowait(data)
                assert await reader.readexactly(9) == b"4\r\n" + data + b"\r\n"
            source.queue.put_nowait(None)
            assert await reader.readexactly(5) == b"0\r\n\r\n"
            assert source.closed.is_set()
            writer.write(b"GET /other HTTP/1.1\r\n\r\n")
            assert b"200 OK" in await reader.readuntil(b"other\n")
            writer.close()

    run(main)


def test_a_client_that_knows_no_chunks_gets_the_bytes_and_the_end_of_the_connection() -> None:
    async def main() -> None:
        source = Source()
        async with serving(source) as server:
            reader, writer = await asked(server, b"GET /watch HTTP/1.0\r\n\r\n")
            source.queue.put_nowait(b"one\n")
            source.queue.put_nowait(None)
            answer = await reader.read()
            assert b"chunked" not in answer
            assert answer.endswith(b"\r\n\r\none\n")
            writer.close()

    run(main)


def test_a_client_that_goes_closes_its_stream() -> None:
    async def main() -> None:
        source = Source()
        async with serving(source) as server:
            reader, writer = await asked(server)
            await reader.readuntil(b"\r\n\r\n")
            writer.transport.abort()
            await source.closed.wait()

    run(main)


def test_a_client_that_does_not_read_is_cut_and_its_stream_closed() -> None:
    async def main() -> None:
        source = Source(b"x" * 1_000_000)
        async with serving(source, Limits(idle_seconds=0.2)) as server:
            with socket.create_connection(("127.0.0.1", server.port)) as sock:
                sock.setblocking(False)
                await asyncio.get_running_loop().sock_sendall(sock, b"GET /watch HTTP/1.1\r\n\r\n")
                await source.closed.wait()

    run(main)


def test_a_stream_that_always_has_more_does_not_keep_others_waiting() -> None:
    async def main() -> None:
        source = Source(b"x" * 10)
        async with serving(source) as server:
            reader, writer = await asked(server)

            async def drain() -> None:
                while await reader.read(1 << 16):
                    pass

            draining = asyncio.create_task(drain())
            other, other_writer = await asked(server, b"GET /other HTTP/1.1\r\n\r\n")
            assert b"200 OK" in await other.readuntil(b"other\n")
            other_writer.close()
            writer.close()
            draining.cancel()

    run(main)


@pytest.mark.parametrize("taken", [True, False], ids=["ends-when-closed", "does-not-end"])
def test_the_end_of_the_server_ends_streams_and_leaves_nothing(taken: bool) -> None:
    async def main() -> None:
        source = Source()
        if not taken:
            source.close = lambda: source.closed.set()  # type: ignore[method-assign]
        async with serving(source) as server:
            reader, writer = await asked(server)
            await reader.readuntil(b"\r\n\r\n")
            await server.close(0.1)
            assert source.closed.is_set()
            assert not [task for task in asyncio.all_tasks() if task.get_name() == "http connection"]
            if taken:
                assert await reader.read() == b"0\r\n\r\n"
            writer.close()

    run(main)


def test_the_head_of_a_stream_is_enough_for_who_asks_for_the_head() -> None:
    async def main() -> None:
        source = Source()
        async with serving(source) as server:
            reader, writer = await asked(server, b"HEAD /watch HTTP/1.1\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            await source.closed.wait()
            writer.write(b"GET /other HTTP/1.1\r\n\r\n")
            assert (await reader.read(8)) == b"HTTP/1.1"
            writer.close()

    run(main)
