"""A transport from which writes leave only while this process leads.

Owns the last moment before a write is sent, and what becomes of it after. It knows nothing of elections: it reads a
`Leadership`.

The check is made twice: when the request is made, for the sake of its caller, and again when its bytes go to the
socket, perhaps much later: it may have waited for a connection, a handshake, or for a process that was stopped.

Between the check and the server a write is out of our hands. So it is bounded from all sides, each time to before
anybody else can lead:

    where it may linger                     what bounds it
    between check and system call           `deadman` (Linux): a process that was stopped there does not come so far
    in the kernel, which sends it again     TCP_USER_TIMEOUT (Linux): unacknowledged for that long, it is dropped
    in the kernel, when the process ends    SO_LINGER 0: what is not sent yet is dropped with the connection
    in our own buffers and the kernel's     `drop()` when the leadership is lost closes all connections
    in the server's queues, admission       `timeout=` of the request, as client-go sends it: the server gives up
    in a proxy that stores and forwards     nothing

The API server has no fencing tokens: it cannot refuse a write because of who leads. A reconcile that cannot bear the
rest uses `resourceVersion` (a write that is based on what was read) and is safe whoever else writes.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from functools import partial
from typing import Protocol, cast

from kubewright.client import Client, ClientConfig, HttpClient
from kubewright.client.http1 import Http1Transport
from kubewright.client.http1_connection import Connection, Owner
from kubewright.client.http1_exchange import Exchange
from kubewright.client.transport import Headers, Limits, Response, Transport, TransportClosed, TransportError

from .leadership import Leadership, LeadershipLost

__all__ = ["Connect", "Fence", "FencedTransport", "fenced", "fenced_http1"]

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_LEAST_TIMEOUT_MS = 100
_DROP_UNSENT = struct.pack("ii", 1, 0)


class Fence:
    """The check of one leadership."""

    __slots__ = ("_leadership", "_server", "kernel_seconds")

    def __init__(self, leadership: Leadership, server: str, *, kernel_seconds: float) -> None:
        """`server` is for messages; `kernel_seconds` bounds what the kernel keeps after a leadership."""
        self._leadership = leadership
        self._server = server
        self.kernel_seconds = kernel_seconds

    def check(self, method: str) -> None:
        """Raises LeadershipLost for a write of who does not lead."""
        if method not in _READS and not self._leadership.is_valid():
            raise LeadershipLost(self._server, self._leadership.lease)

    def explain(self, method: str, closed: TransportClosed) -> TransportError:
        """What it means for a request that the connections of who leads were closed: mostly, that it does no more."""
        if method in _READS or self._leadership.is_valid():
            return closed
        return LeadershipLost(self._server, self._leadership.lease, was_sent=closed.phase != "wait")

    def bound(self, method: str, target: str) -> str:
        """The target of a request that is given up by the server before anybody else can lead."""
        if method in _READS:
            return target
        left_seconds = self._leadership.dead_at - self._leadership.clock()
        separator = "&" if "?" in target else "?"
        return f"{target}{separator}timeout={max(int(left_seconds * 1000), _LEAST_TIMEOUT_MS)}ms"


Connect = Callable[[Fence], Transport]
"""Makes the transport below a fence. One that can asks `Fence.check` again before it sends."""


class FencedTransport:
    """A Transport for who leads; see Transport for its contract.

    Guarantees: F1 the bytes of a write are given to the kernel only while the leadership is valid, else it fails with
    LeadershipLost; F2 after `drop` has returned there is no connection that carried one (F1 and F2 for `fenced_http1`).
    Caveats: a request larger than the socket's buffer is checked at its beginning only; it is cut off by `drop`.
    """

    def __init__(self, fence: Fence, connect: Connect) -> None:
        self._fence = fence
        self._connect = connect
        self._inner: Transport | None = None

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        """See Transport.request. Raises LeadershipLost too."""
        self._fence.check(method)
        target = self._fence.bound(method, target)
        try:
            return await self._transport().request(
                method, target, headers=headers, body=body, timeout_seconds=timeout_seconds
            )
        except TransportClosed as closed:
            raise self._fence.explain(method, closed) from closed

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
        """See Transport.stream. Raises LeadershipLost too."""
        self._fence.check(method)
        return await self._transport().stream(
            method,
            target,
            on_line=on_line,
            on_response=on_response,
            headers=headers,
            body=body,
            idle_seconds=idle_seconds,
        )

    async def drop(self) -> None:
        """End all calls and close all connections; later calls make new ones."""
        inner, self._inner = self._inner, None
        if inner is not None:
            await inner.close()

    async def close(self) -> None:
        """See Transport.close."""
        await self.drop()

    def _transport(self) -> Transport:
        if self._inner is None:
            self._inner = self._connect(self._fence)
        return self._inner


def fenced_http1(config: ClientConfig) -> Connect:
    """Transports to the server of a configuration that check when the bytes are sent."""

    def connect(fence: Fence) -> Transport:
        return Http1Transport(
            config.server,
            tls=config.ssl_context(),
            tls_name=config.tls_server_name,
            gzip=config.gzip,
            connection=partial(_FencedConnection, fence),
        )

    return connect


def fenced(client: Client, transport: FencedTransport) -> Client:
    """A client with the options of `client` on other connections."""
    return client.over(HttpClient(client.http.config, transport))


class _FencedConnection(Connection):
    def __init__(self, fence: Fence, server: str, limits: Limits, owner: Owner) -> None:
        super().__init__(server, limits, owner)
        self._fence = fence

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        sock = cast("_Options | None", transport.get_extra_info("socket"))
        if sock is None:
            return
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DROP_UNSENT)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            milliseconds = max(int(self._fence.kernel_seconds * 1000), 1)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)

    def send(self, exchange: Exchange) -> None:
        try:
            self._fence.check(exchange.method)
        except LeadershipLost as error:
            exchange.fail(error)
            self.abort()
        else:
            super().send(exchange)


class _Options(Protocol):
    """What asyncio and uvloop have in common as a transport's socket."""

    def setsockopt(self, level: int, name: int, value: int | bytes) -> None: ...
