"""How the contract of a transport is run: what its classes share."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from scripted_server import OK, Peer, Script, ScriptedServer

from kubewright.client.transport import Limits, Transport


async def ok(peer: Peer) -> None:
    """The script of a server that says "ok" to everything."""
    await peer.serve(OK)


def raw(*data: bytes) -> Script:
    """The script of a server that answers with these bytes in turn, on each connection."""

    async def script(peer: Peer) -> None:
        await peer.serve(*data)

    return script


def cases(**named: Any) -> Any:
    """Parameters by name: the name is the test's, as bytes make poor ones."""
    return [pytest.param(*case, id=name.replace("_", " ")) for name, case in named.items()]


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Contract:
    """How the transport under test is made."""

    def make(self, url: str, *, tls: ssl.SSLContext | None = None, limits: Limits | None = None) -> Transport:
        raise NotImplementedError

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        self.run_loop(self._bounded(main))

    def run_loop(self, main: Coroutine[Any, Any, None]) -> None:
        asyncio.run(main)

    async def _bounded(self, main: Coroutine[Any, Any, None]) -> None:
        async with asyncio.timeout(60):
            await main

    @asynccontextmanager
    async def against(self, *scripts: Script, **limits: Any) -> AsyncIterator[tuple[ScriptedServer, Transport]]:
        """A server that follows the scripts, and a transport to it."""
        async with ScriptedServer(*scripts) as server:
            transport = self.make(server.url, limits=Limits(**limits))
            try:
                yield server, transport
            finally:
                await transport.close()
