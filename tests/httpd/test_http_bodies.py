"""Requests with bodies: whole, in chunks, held back, too large, too slow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from kubewright.httpd import Address, Answer, Dropped, Handler, HttpServer, Limits, Request

LIMITS = Limits(max_body_bytes=1000, body_seconds=0.2)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await main()

    asyncio.run(bounded())


async def echo(request: Request) -> Answer:
    return Answer(200, request.body)


@asynccontextmanager
async def connected(
    handler: Handler = echo,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    server = HttpServer(handler, Address("127.0.0.1", 0), name="--test", limits=LIMITS)
    await server.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield reader, writer
    finally:
        writer.close()
        await server.close()


async def read_answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return head.split(b"\r\n")[0], await reader.readexactly(length)


def test_a_body_comes_whole_to_the_handler_however_it_was_cut() -> None:
    async def main() -> None:
        async with connected() as (reader, writer):
            for part in (b"POST / HTTP/1.1\r\nContent-Len", b"gth: 6\r\n\r\nab", b"cd", b"ef"):
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0.01)
            assert await read_answer(reader) == (b"HTTP/1.1 200 OK", b"abcdef")

    run(main)


def test_a_body_may_come_in_chunks() -> None:
    async def main() -> None:
        async with connected() as (reader, writer):
            writer.write(b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            assert await read_answer(reader) == (b"HTTP/1.1 200 OK", b"abcde")
            writer.write(b"PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\nz")
            assert await read_answer(reader) == (b"HTTP/1.1 200 OK", b"z")

    run(main)


def test_a_client_that_holds_its_body_back_is_asked_for_it() -> None:
    async def main() -> None:
        async with connected() as (reader, writer):
            writer.write(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"ok")
            assert await read_answer(reader) == (b"HTTP/1.1 200 OK", b"ok")

    run(main)


def test_a_body_is_asked_for_after_the_answers_to_what_was_asked_before() -> None:
    async def slowly(request: Request) -> Answer:
        await asyncio.sleep(0.05)
        return Answer(200, request.body or b"first")

    async def main() -> None:
        async with connected(slowly) as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            assert await read_answer(reader) == (b"HTTP/1.1 200 OK", b"first")
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"ok")
            assert await read_answer(reader) == (b"HTTP/1.1 200 OK", b"ok")

    run(main)


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + b"x" * 1001,
    ],
    ids=["told", "held-back", "in-chunks"],
)
def test_a_body_that_is_too_large_is_refused_with_the_limit(data: bytes) -> None:
    async def main() -> None:
        async with connected() as (reader, writer):
            writer.write(data)
            status, body = await read_answer(reader)
            assert status == b"HTTP/1.1 413 Request Entity Too Large"
            assert body == b"Request entity too large: limit is 1000\n"
            assert await reader.read() == b""

    run(main)


def test_half_a_body_keeps_the_connection_no_longer_than_its_limit() -> None:
    async def main() -> None:
        async with connected() as (reader, writer):
            writer.write(b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf")
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(1)

    run(main)


def test_a_handler_may_hang_up() -> None:
    async def hang_up(request: Request) -> Answer:
        raise Dropped

    async def main() -> None:
        async with connected(hang_up) as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(1)

    run(main)
