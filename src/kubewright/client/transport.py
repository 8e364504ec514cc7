"""What the client needs from a transport, and the ways in which one fails.

Owns the two-call interface (`Transport`), its values (`Response`, `Headers`, `Limits`) and the tree of
`TransportError`. It knows no socket, no retry, no credential and no Kubernetes: an answer with status 500 is an answer.
One contract test suite (tests/client/transport_contract.py) is run over each implementation.

| error             | what happened                                     | was the request carried out?      |
|-------------------|---------------------------------------------------|-----------------------------------|
| `ConnectFailed`   | no connection (`ConnectRefused`, `ConnectTimeout`) | no                                |
| `TLSError`        | no trust, in one direction or the other           | no                                |
| `RequestTimeout`  | the deadline passed, or no connection became free | unknown (`phase == "wait"`: no)   |
| `ConnectionLost`  | the peer hung up before the answer was complete   | unknown                           |
| `StreamIdle`      | a stream was silent for longer than asked         | a stream changes nothing          |
| `ProtocolError`   | the answer is not HTTP                            | unknown                           |
| `ResponseTooLarge`| an answer or a line is larger than `Limits` allow | yes                               |
| `TransportClosed` | `close()` was called                              | unknown (`phase == "wait"`: no)   |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from msgspec import Struct

__all__ = [
    "ConnectFailed",
    "ConnectRefused",
    "ConnectTimeout",
    "ConnectionLost",
    "Headers",
    "Limits",
    "Phase",
    "ProtocolError",
    "RequestTimeout",
    "Response",
    "ResponseTooLarge",
    "StreamIdle",
    "TLSError",
    "Transport",
    "TransportClosed",
    "TransportError",
]

Headers: TypeAlias = Sequence[tuple[str, str]]
"""Header names and values in the order in which they are sent. A tuple is encoded once and remembered."""

Phase: TypeAlias = Literal["wait", "resolve", "connect", "tls", "response", "stream"]
"""Where a request was when it failed: waiting for a connection, looking the host up, connecting, shaking hands,
waiting for or reading the answer, reading a stream."""


class Response(NamedTuple):
    """An answer: status, headers with lower-case names (repeated ones joined by ", "), the whole body, decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Limits(Struct, frozen=True, kw_only=True):
    """The bounds of one transport.

    `max_connections` bounds the connections for requests; who finds them busy waits in the order of arrival. 16 of
    them carry 3,200 requests/s at 5 ms each, more than one Python process can make use of, while every TLS connection
    costs a millisecond of CPU to open. `max_streams` bounds the streams, each of which has a connection of its own.
    `idle_seconds`, after which an unused connection is closed, stays below the 90 s after which kube-apiserver does so.
    `request_seconds` is the deadline of a request without its own, and of the head of a stream.
    """

    max_connections: int = 16
    max_streams: int = 256
    connect_seconds: float = 10.0
    request_seconds: float = 30.0
    idle_seconds: float = 75.0
    max_head_bytes: int = 256 * 1024
    max_body_bytes: int = 1024 * 1024 * 1024
    max_line_bytes: int = 128 * 1024 * 1024

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value <= 0:
                raise ValueError(f"Limits.{name}: {value!r} must be more than 0")


class Transport(Protocol):
    """Requests to one server.

    Expected flow: any number of `request` and `stream` calls at a time, from the tasks of one event loop; `close` last.

    Guarantees:
    G1 a request is sent once; only where a kept connection turned out to be closed before any byte of the answer, and
       the method is GET, HEAD or OPTIONS, it is sent a second time, on another connection.
    G2 every call ends: by its answer, by its deadline, or by `close`.
    G3 requests that wait for a connection get one in the order of their calls.
    G4 the lines of a stream arrive in order, each once, whole, and none after `stream` has returned or raised.
    G5 after `close` has returned there is no socket and no task of the transport's left.

    Cancellation: a cancelled call has released its place; its connection is closed, as HTTP/1.1 cannot reuse it. The
    server may carry the request out all the same.

    Caveats: a transport belongs to the loop of its first call.
    """

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        """Send a request and return the whole answer, whatever its status.

        `target` is path and query ("/api/v1/pods?limit=500"), ASCII, already percent-encoded. `timeout_seconds` bounds
        the whole call, waiting for a connection included; None takes the transport's default.

        Raises TransportError, and ValueError for a method, target or header that cannot be put on the wire.
        """
        ...

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
        """Send a request and hand over the lines of its answer until it ends; return the answer, without a body.

        For a 2xx answer `on_response` is called with the answer, the body empty, as soon as its head is in, then
        `on_line` with each complete line, without its newline, straight from the reading of the socket: it must be
        quick and must not block. What follows the last newline is handed over at a clean end. What either raises
        closes the stream and comes out of this call. Any other answer is returned with its body and no line is
        handed over.

        `idle_seconds` bounds the silence after the head; None waits without end.

        Raises ConnectionLost if the answer is cut off, StreamIdle, other TransportErrors, and ValueError as `request`.
        """
        ...

    async def close(self) -> None:
        """End all calls with TransportClosed and close all connections. May be called again.

        Cancellation: everything has been ended; only the wait for the sockets is cut short.
        """
        ...


class TransportError(Exception):
    """A request that got no answer. `str()` is one line: where, what happened, and the cure.

    `server` is "host:port", `phase` where the request was, `cause` what happened, `cure` what to do. `origin`, if
    known, says where the address was taken from.
    """

    def __init__(self, server: str, phase: Phase, cause: str, cure: str = "") -> None:
        super().__init__(server, phase, cause, cure)
        self.server = server
        self.phase: Phase = phase
        self.cause = cause
        self.cure = cure
        self.origin = ""

    def __str__(self) -> str:
        text = f"{self.server}: {self.cause}"
        if self.cure:
            text += f"; {self.cure}"
        if self.origin:
            text += f" (address from {self.origin})"
        return text


class ConnectFailed(TransportError):
    """No connection could be made: host name unknown, network unreachable, and the subclasses. Nothing was sent."""


class ConnectRefused(ConnectFailed):
    """Nothing listens at the address. Nothing was sent."""


class ConnectTimeout(ConnectFailed):
    """The connection, handshake included, was not made in `Limits.connect_seconds`. Nothing was sent."""


class TLSError(TransportError):
    """The two sides do not trust or understand one another. Nothing was carried out.

    `fault` says whose part is at fault: the "server" certificate, the "client" certificate (the server refused ours),
    or the "protocol" (one side does not speak TLS, or there is no common version).
    """

    def __init__(
        self,
        server: str,
        phase: Phase,
        cause: str,
        cure: str = "",
        fault: Literal["server", "client", "protocol"] = "protocol",
    ) -> None:
        super().__init__(server, phase, cause, cure)
        self.args = (server, phase, cause, cure, fault)
        self.fault: Literal["server", "client", "protocol"] = fault


class RequestTimeout(TransportError):
    """The deadline of the request passed. With `phase == "wait"` it was never sent."""


class ConnectionLost(TransportError):
    """The peer closed or reset the connection before the answer was complete."""


class StreamIdle(TransportError):
    """No byte came for `idle_seconds`: the connection is half open, or the server has nothing to say."""


class ProtocolError(TransportError):
    """The answer breaks HTTP/1.1, or is in a form that was not asked for."""


class ResponseTooLarge(TransportError):
    """A head, body or line of an answer is larger than `Limits` allow."""


class TransportClosed(TransportError):
    """The transport has been closed by this program."""
