"""Clients without sockets: a `Transport` whose server is in the same process.

Owns the crossing: targets and headers to a `Request`, answers and streams back, with the transport's own deadlines and
errors. The server sees what it would see behind HTTP; nothing is shared but bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Protocol

from kubewright.client import Client, ClientConfig, HttpClient
from kubewright.client.transport import (
    ConnectionLost,
    Headers,
    Phase,
    RequestTimeout,
    Response,
    StreamIdle,
    TransportClosed,
)

from .request import ADMIN, HANG_UP, Request, Stream, User
from .request import Response as ServerResponse

__all__ = ["InProcessTransport", "in_process_client"]

SERVER: Final = "in-process"
_REQUEST_SECONDS: Final = 30.0


class Handler(Protocol):
    """What answers: an `ApiServer`."""

    async def handle(self, request: Request, /) -> ServerResponse | Stream: ...


def in_process_client(server: Handler, *, user: User = ADMIN, namespace: str = "default") -> Client:
    """The toolkit's client on a server of this process. It is the caller's to close.

    Args:
        server: an `ApiServer`, or anything that answers requests.
        user: who asks.
        namespace: where namespaced calls go that do not say.
    """
    config = ClientConfig(server=f"http://{SERVER}")
    return Client(HttpClient(config, InProcessTransport(server, user=user)), namespace=namespace)


class InProcessTransport:
    """A transport to a server of this process; the guarantees are those of `Transport`.

    Args:
        server: an `ApiServer`, or anything that answers requests.
        user: who asks. Credentials in headers are not looked at.
        request_seconds: the deadline of requests without their own.
    """

    def __init__(self, server: Handler, *, user: User = ADMIN, request_seconds: float = _REQUEST_SECONDS) -> None:
        self._server, self._user, self._seconds = server, user, request_seconds
        self._streams: set[Stream] = set()
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
        seconds = self._seconds if timeout_seconds is None else timeout_seconds
        answer = await self._answer(self._request(method, target, headers, body), seconds)
        if isinstance(answer, Stream):
            chunks: list[bytes] = []
            try:
                async with asyncio.timeout(seconds):
                    async for chunk in answer.chunks:
                        chunks.append(chunk)  # noqa: PERF401 - what is there at the deadline is dropped with it
            except TimeoutError:
                raise _late(seconds) from None
            finally:
                answer.close()
            return Response(answer.status, _joined(answer.headers), b"".join(chunks))
        return Response(answer.status, _joined(answer.headers), answer.body)

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
        answer = await self._answer(self._request(method, target, headers, body), self._seconds)
        head = Response(answer.status, _joined(answer.headers), b"")
        if not isinstance(answer, Stream):
            if 200 <= answer.status < 300:
                if on_response is not None:
                    on_response(head)
                for line in answer.body.splitlines():
                    on_line(line)
                return head
            return head._replace(body=answer.body)
        self._streams.add(answer)
        try:
            return await self._lines(answer, head, on_line, on_response, idle_seconds)
        finally:
            self._streams.discard(answer)
            answer.close()

    async def close(self) -> None:
        self._is_closed = True
        for stream in list(self._streams):
            stream.close()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _request(self, method: str, target: str, headers: Headers, body: bytes | None) -> Request:
        if not target.startswith("/") or not target.isascii() or " " in target:
            raise ValueError(f"target {target!r}: is no path and query as on the wire; percent-encode it")
        return Request.of(method, target, headers=dict(headers), body=body or b"", user=self._user)

    async def _answer(self, request: Request, seconds: float) -> ServerResponse | Stream:
        self._check_open("wait")
        try:
            async with asyncio.timeout(seconds):
                answer = await self._server.handle(request)
        except TimeoutError:
            raise _late(seconds) from None
        if answer.status == HANG_UP.status:
            raise ConnectionLost(SERVER, "response", "the server hung up before the answer")
        try:
            self._check_open("response")
        except TransportClosed:
            if isinstance(answer, Stream):
                answer.close()
            raise
        return answer

    def _check_open(self, phase: Phase) -> None:
        if self._is_closed:
            raise TransportClosed(SERVER, phase, "the transport was closed by this program")

    async def _lines(
        self,
        stream: Stream,
        head: Response,
        on_line: Callable[[bytes], None],
        on_response: Callable[[Response], None] | None,
        idle_seconds: float | None,
    ) -> Response:
        rest = b""
        chunks = aiter(stream.chunks)
        if on_response is not None:
            on_response(head)
        while True:
            try:
                async with asyncio.timeout(idle_seconds):
                    chunk = await anext(chunks)
            except StopAsyncIteration:
                break
            except TimeoutError:
                raise StreamIdle(SERVER, "stream", f"silent for {idle_seconds} s") from None
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                on_line(line)
        self._check_open("stream")
        if rest:
            on_line(rest)
        return head


def _late(seconds: float) -> RequestTimeout:
    return RequestTimeout(SERVER, "response", f"no answer within {seconds} s")


def _joined(headers: list[tuple[str, str]]) -> Mapping[str, str]:
    made: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        made[key] = f"{made[key]}, {value}" if key in made else value
    return MappingProxyType(made)
