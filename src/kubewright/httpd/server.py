"""Listens on one address, and knows its connections.

Owns sockets, TLS and the end of it all. A connection's own life is `connection.py`, the bytes of an answer
`writing.py`; what is served is the handler's. A web framework would be the largest dependency of an operator that
serves three pages, most of its start-up time (aiohttp.web takes 150 ms to import), and three to six times the cost of a
request; the parser is the client's own, httptools.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import Callable

from .address import Address
from .connection import Connection, Shared
from .values import Handler, Limits, Refuse, refuse_as_text

__all__ = ["BindError", "HttpServer"]

TLS_SECONDS = 10.0
_DEFAULT_LIMITS = Limits()


class BindError(OSError):
    """An address cannot be listened on. The message names the option, the address and the cure."""


class HttpServer:
    """Listens on one address.

    Expected flow: make it, `start`, `close`.

    Guarantees: H1 the answers of a connection come in the order of its requests. H2 nothing that a client sends or
    leaves out keeps a connection for longer than its limits, but for a stream that it takes. H3 what a handler raises
    ends its own request only. H4 after `close` there is no socket and no task left, and every stream was closed.
    Cancellation: a client that goes away cancels the handler that works for it.

    Args:
        name: of the option that the address comes from, for messages.
        tls: for https; None for http.
        refuse: how a request is refused that is not HTTP, or too large.
    """

    def __init__(
        self,
        handler: Handler,
        address: Address,
        *,
        name: str,
        tls: ssl.SSLContext | None = None,
        limits: Limits = _DEFAULT_LIMITS,
        refuse: Refuse = refuse_as_text,
    ) -> None:
        self._shared = Shared(handler, limits, refuse)
        self._address = address
        self._name = name
        self._tls = tls
        self._server: asyncio.Server | None = None
        self.port = address.port
        """The port; the one that was found, after `start`, where any would do (0)."""

    async def start(self) -> None:
        """Listen. Raises BindError."""
        try:
            sock = self._address.bind()
        except OSError as error:
            raise self._cannot(error) from error
        self.port = sock.getsockname()[1]
        make: Callable[[], asyncio.Protocol] = lambda: Connection(self._shared)  # noqa: E731 - typed for create_server
        self._server = await asyncio.get_running_loop().create_server(
            make, sock=sock, ssl=self._tls, ssl_handshake_timeout=TLS_SECONDS if self._tls is not None else None
        )

    async def close(self, within_seconds: float = 1.0) -> None:
        """Take no more connections and end all streams; let answers that are being made be sent, for a while; then
        close all."""
        if self._server is None:
            return
        self._server.close()
        shared = self._shared
        for connection in list(shared.connections):
            connection.finish()
        try:
            async with asyncio.timeout(within_seconds):
                await shared.wait_for_none()
        except TimeoutError:
            pass
        finally:
            for connection in list(shared.connections):
                connection.abort()
            await shared.wait_for_none()
            self._server = None

    def _cannot(self, error: OSError) -> BindError:
        where = f"{self._name} {self._address}"
        if error.errno == errno.EADDRINUSE:
            return BindError(f"{where}: the port is in use by another process; choose another one, or 0 for none")
        if error.errno == errno.EACCES:
            return BindError(f"{where}: this user may not listen on that port; choose one above 1023, or 0 for none")
        return BindError(f"{where}: cannot be listened on ({error.strerror or error}); choose another, or 0 for none")
