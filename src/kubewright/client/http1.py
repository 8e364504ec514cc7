"""The default transport: HTTP/1.1 on asyncio, without a task, a timer or a lock per request.

Owns the order of the steps (encode, get a connection, send, await, retry once) and the lifetime of the parts; each
step has its own module: http1_request (bytes out), http1_answer and http1_lines (bytes in), http1_connection,
http1_pool, http1_dial and http1_tls, http1_deadlines.

Why our own: 31 us of CPU for a PATCH over TLS, where aiohttp takes 160 and httpx 2,600; why HTTP/1.1: HTTP/2 by hand
costs the same per request. Requests and streams have a pool each, so that watches, which hold their connections for
minutes, never take a place from a request.

A request is sent again only in one case (as in client-go): a kept connection was closed before the first byte of the
answer and the method is GET, HEAD or OPTIONS. Everything else is for who knows what the request means.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

from .http1_answer import StreamReader
from .http1_connection import Connection, Owner, StaleConnection
from .http1_deadlines import Deadlines
from .http1_dial import Dialer
from .http1_exchange import Exchange
from .http1_pool import Pool
from .http1_request import RequestEncoder
from .transport import Headers, Limits, Response, TransportClosed
from .trust import load_authorities, new_client_context

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Http1Transport:
    """A Transport to the server at `url` ("https://host:port" or "http://host:port"; a path in it is not used).

    `tls` defaults for https to a context that verifies against the system's authorities. `tls_name` is the name that
    the certificate must hold, if it is not the host. `gzip` asks for compressed answers to GET.
    `connection` makes the protocol object of each connection: for who does more when one is made, or before it sends.
    Raises ValueError for a URL that is none.
    """

    def __init__(
        self,
        url: str,
        *,
        tls: ssl.SSLContext | None = None,
        tls_name: str | None = None,
        limits: Limits | None = None,
        gzip: bool = False,
        on_lookup: Callable[[str, float], None] | None = None,
        connection: Callable[[str, Limits, Owner], Connection] = Connection,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url {url!r} must be http://host[:port] or https://host[:port]")
        if parts.scheme == "http" and (tls is not None or tls_name is not None):
            raise ValueError(f"url {url!r} is http, so tls and tls_name would not be used; use https or leave them out")
        if parts.scheme == "https" and tls is None:
            tls = new_client_context()
            load_authorities(tls, None)
        self._limits = limits or Limits()
        self._dialer = Dialer(
            parts.hostname,
            parts.port or (443 if parts.scheme == "https" else 80),
            tls=tls,
            tls_name=tls_name,
            connect_seconds=self._limits.connect_seconds,
            on_lookup=on_lookup,
        )
        self._encoder = RequestEncoder(parts.netloc.rpartition("@")[2], gzip=gzip)
        self._connection = connection
        self._parts: _Parts | None = None
        self._is_closed = False

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        """See Transport.request."""
        data = self._encoder.encode(method, target, headers, body)
        if timeout_seconds is None:
            timeout_seconds = self._limits.request_seconds
        return await self._run(self._running().requests, data, method, target, timeout_seconds)

    async def stream(
        self,
        method: str,
        target: str,
        *,
        on_line: Callable[[bytes], None],
        on_response: Callable[[Response], None] | None = None,
        headers: Headers = (),
        body: bytes | None = None,
        idle_seconds: float | None = None,
    ) -> Response:
        """See Transport.stream."""
        if method == "HEAD":
            raise ValueError("method 'HEAD' cannot be streamed: its answer has no body; use request")
        data = self._encoder.encode(method, target, headers, body, streaming=True)

        def reader() -> StreamReader:
            return StreamReader(self._limits, on_line, on_response)

        pool = self._running().streams
        return await self._run(pool, data, method, target, self._limits.request_seconds, reader, idle_seconds)

    async def close(self) -> None:
        """See Transport.close."""
        self._is_closed = True
        parts = self._parts
        if parts is None or parts.loop.is_closed():
            return
        pools = (parts.requests, parts.streams)
        for pool in pools:
            pool.close()
        for pool in pools:
            await pool.wait_closed()
        parts.deadlines.stop()

    async def _run(
        self,
        pool: Pool,
        data: bytes,
        method: str,
        target: str,
        timeout_seconds: float,
        reader: Callable[[], StreamReader] | None = None,
        idle_seconds: float | None = None,
    ) -> Response:
        loop = pool.loop
        deadline = loop.time() + timeout_seconds
        is_second = False
        while True:
            stream = None if reader is None else reader()
            exchange = Exchange(loop, data, method, target, deadline, timeout_seconds, stream, idle_seconds)
            pool.submit(exchange)
            try:
                return await exchange.future
            except StaleConnection:
                if is_second or method not in _SAFE:
                    raise
                is_second = True
                pool.drop_idle()
            except asyncio.CancelledError:
                exchange.cancel()
                raise

    def _running(self) -> _Parts:
        parts = self._parts
        loop = asyncio.get_running_loop()
        if parts is None:
            if self._is_closed:
                raise self._closed()
            parts = self._parts = _Parts(self, loop)
        elif parts.loop is not loop:
            raise RuntimeError("a transport belongs to the event loop of its first call; make one for each loop")
        elif self._is_closed:
            raise self._closed()
        return parts

    async def _dial(self, pool: Pool) -> Connection:
        return await self._dialer.dial(lambda: self._connection(self._dialer.server, self._limits, pool))

    def _closed(self) -> TransportClosed:
        server = self._dialer.server
        return TransportClosed(server, "wait", "the transport was closed by this program", "use a new client")


class _Parts:
    """What is bound to an event loop."""

    __slots__ = ("deadlines", "loop", "requests", "streams")

    def __init__(self, transport: Http1Transport, loop: asyncio.AbstractEventLoop) -> None:
        limits, server, dial = transport._limits, transport._dialer.server, transport._dial
        self.loop = loop
        self.deadlines = Deadlines(loop)
        self.requests = Pool(
            server, limits.max_connections, "max_connections", limits.idle_seconds, self.deadlines, dial
        )
        self.streams = Pool(server, limits.max_streams, "max_streams", limits.idle_seconds, self.deadlines, dial)
