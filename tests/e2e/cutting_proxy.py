"""A TCP proxy that cuts connections the way networks and servers do.

It stands between a client and an API server and passes bytes on, TLS and all; it understands none of them. Each
connection can be ended by a FIN, by a RST, or by silence: nothing is passed on any more while both sides think that all
is well, until it is reset (`stall`) or for ever (`mute`). While `refusing`, new ones are reset at once.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Sequence
from typing import Self
from urllib.parse import urlsplit

FIN, RST, STALL = "fin", "rst", "stall"


class Pipe:
    """One connection: client, server, and what is passed on between them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.client = (reader, writer)
        self.server: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.passed_bytes = 0
        self._flows = asyncio.Event()
        self._flows.set()

    async def run(self, host: str, port: int) -> None:
        """Pass on until one side ends."""
        self.server = await asyncio.open_connection(host, port)
        directions = [
            asyncio.ensure_future(self._pass(self.client[0], self.server[1])),
            asyncio.ensure_future(self._pass(self.server[0], self.client[1])),
        ]
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in directions:
                each.cancel()
            await asyncio.gather(*directions, return_exceptions=True)

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            await self._flows.wait()
            target.write(data)
            await target.drain()
            self.passed_bytes += len(data)

    def mute(self) -> None:
        """From now on nothing is passed on, and nobody is told."""
        self._flows.clear()

    def close(self, *, reset: bool) -> None:
        """End both sides, with a FIN or with a RST."""
        self._flows.set()
        for _, writer in filter(None, (self.client, self.server)):
            sock = writer.get_extra_info("socket")
            if reset and sock is not None and sock.fileno() >= 0:
                # A linger time of 0 makes close() send a RST and throw away what was not sent.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            else:
                writer.close()


class CuttingProxy:
    """`async with CuttingProxy(url) as proxy`: the same server, at `proxy.url`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "", parts.port or 0)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._pipes: set[Pipe] = set()
        self.refusing = False
        self.cuts: Counter[str] = Counter()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.refusing = True
        while self._tasks:
            for pipe in self.pipes:
                pipe.close(reset=True)
            await asyncio.wait(self._tasks, timeout=0.1)

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"https://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def pipes(self) -> Sequence[Pipe]:
        """The connections that are open, in no order."""
        return tuple(self._pipes)

    def cut(self, pipe: Pipe, how: str, stall_seconds: float = 0.0) -> None:
        """End a connection: FIN, RST, or STALL and then a RST."""
        self.cuts[how] += 1
        if how == STALL:
            pipe.mute()
            asyncio.get_running_loop().call_later(stall_seconds, lambda: pipe.close(reset=True))
        else:
            pipe.close(reset=how == RST)

    def cut_all(self, how: str = RST) -> None:
        for pipe in self.pipes:
            self.cut(pipe, how)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pipe = Pipe(reader, writer)
        if self.refusing:
            self.cuts["refused"] += 1
            pipe.close(reset=True)
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._pipes.add(pipe)
        try:
            await pipe.run(*self._target)
        except OSError:
            pass  # the server is away: so are we
        finally:
            self._pipes.discard(pipe)
            self._tasks.discard(task)
            pipe.close(reset=False)
