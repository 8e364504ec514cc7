"""An HTTP server that does exactly what a test says: each connection is a script over raw bytes.

    async with ScriptedServer(script) as server:      # script: async def (peer: Peer) -> None
        transport = make(server.url)

A script reads requests with `peer.request()` and writes bytes with `peer.send()`; when it returns, the connection is
closed. `server.peers` holds all connections that were ever made, `server.requests` all requests in their order.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole answer with a Content-Length."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


@dataclass
class Request:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Hangup(Exception):
    """The client has closed the connection; ends the script."""


@dataclass(eq=False)
class Peer:
    """One connection, seen from the server."""

    server: ScriptedServer
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def request(self) -> Request:
        """The next request. Raises Hangup if the client closes instead."""
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, target, _ = head[0].split(" ")
            headers = {}
            for line in head[1:-2]:
                name, _, value = line.partition(": ")
                assert name.lower() not in headers, name
                headers[name.lower()] = value
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Hangup from error
        request = Request(method, target, headers, body)
        self.server.requests.append(request)
        self.server.request_seen.set()
        return request

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def send_slowly(self, *pieces: bytes) -> None:
        """Send pieces such that the client reads them one by one."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            # The client shares this loop, and loopback delivers at once: three turns take it through select and TLS.
            for _ in range(3):
                await asyncio.sleep(0)

    async def serve(self, *data: bytes) -> None:
        """Answer each request with the next of these, the last one for ever."""
        left = list(data)
        while True:
            await self.request()
            self.send(left.pop(0) if len(left) > 1 else left[0])

    async def hung_up(self) -> None:
        """Wait until the client closes."""
        with suppress(OSError):
            while await self.reader.read(65536):
                pass

    def reset(self) -> None:
        """Close with a TCP reset, or without a farewell."""
        self.writer.transport.abort()


Script = Callable[[Peer], Awaitable[None]]


class ScriptedServer:
    """See the module. With several scripts, the first connection follows the first one and so on, the last for ever."""

    def __init__(self, *scripts: Script, tls: ssl.SSLContext | None = None) -> None:
        self._scripts = list(scripts)
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()
        self.peers: list[Peer] = []
        self.requests: list[Request] = []
        self.request_seen = asyncio.Event()
        self.connected = asyncio.Event()
        self.errors: list[BaseException] = []

    @property
    def open_peers(self) -> list[Peer]:
        return [peer for peer in self.peers if not peer.closed.is_set()]

    async def until_requests(self, count: int) -> None:
        """Wait until so many requests have come."""
        while len(self.requests) < count:
            self.request_seen.clear()
            await self.request_seen.wait()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._tls, limit=2**26)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for peer in self.peers:
            peer.writer.transport.abort()
        await asyncio.sleep(0)
        if value is None and self.errors:
            raise self.errors[0]

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._run(Peer(self, reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, peer: Peer) -> None:
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        self.peers.append(peer)
        self.connected.set()
        try:
            await script(peer)
            await peer.writer.drain()
        except (Hangup, ConnectionError):
            pass
        except Exception as error:
            self.errors.append(error)
        finally:
            peer.closed.set()
            peer.writer.close()
            with suppress(OSError, ssl.SSLError, asyncio.CancelledError):
                await peer.writer.wait_closed()
