"""A small HTTP/1.1 server on asyncio, for probes and scrapes.

Owns sockets, framing, deadlines and limits. Refuses to know what is served: a handler makes an `Answer` of a `Request`.
For requests without a body (a short one is read and dropped) and answers that are in memory at once; that is all that
health and metrics endpoints need. A web framework would be the largest dependency of an operator that serves no
webhooks, and most of its start-up time (aiohttp.web takes 150 ms to import); the parser is the client's own, httptools.

| limit                                            | value  | from                                              |
|--------------------------------------------------|--------|---------------------------------------------------|
| from the connection, or the first byte of a head, to its end | 32 s | controller-runtime                      |
| an idle connection, and an answer that is not taken | 90 s | controller-runtime                              |
| a head                                           | 64 KiB | a bearer token takes 2 KiB; Go allows 1 MiB       |
| a body                                           | 64 KiB | nothing here reads one                            |
| connections                                      | 256    | more are closed at once: probes come one at a time|
| requests of one connection that wait             | 8      | then it is not read any more                      |
"""

from __future__ import annotations

import asyncio
import errno
import logging
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import NamedTuple, cast

import httptools

from .address import Address

__all__ = ["Answer", "BindError", "Handler", "HttpServer", "Request"]

logger = logging.getLogger(__name__)

HEAD_SECONDS = 32.0
IDLE_SECONDS = 90.0
TLS_SECONDS = 10.0
LINGER_SECONDS = 2.0
MOST_HEAD_BYTES = 64 * 1024
MOST_BODY_BYTES = 64 * 1024
MOST_CONNECTIONS = 256
MOST_WAITING = 8

TEXT = "text/plain; charset=utf-8"
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Request(NamedTuple):
    """What was asked: `path` and `query` as they were sent, headers with lower-case names."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]


class Answer(NamedTuple):
    """What is answered."""

    status: int
    body: bytes
    content_type: str = TEXT
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def text(cls, status: int, text: str, *headers: tuple[str, str]) -> Answer:
        """A line for people."""
        return cls(status, f"{text}\n".encode(), TEXT, headers)


Handler = Callable[[Request], Awaitable[Answer]]


class BindError(OSError):
    """An address cannot be listened on. The message names the option, the address and the cure."""


class HttpServer:
    """Listens on one address.

    Expected flow: make it, `start`, `close`.

    Guarantees: H1 the answers of a connection come in the order of its requests. H2 nothing that a client sends or
    leaves out keeps a connection for longer than its deadlines. H3 what a handler raises ends its own request only. H4
    after `close` there is no socket and no task left.
    Cancellation: a client that goes away cancels the handler that works for it.

    Args:
        name: of the option that the address comes from, for messages.
        tls: for https; None for http.
    """

    def __init__(self, handler: Handler, address: Address, *, name: str, tls: ssl.SSLContext | None = None) -> None:
        self._handler = handler
        self._address = address
        self._name = name
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()
        self._none_left = asyncio.Event()
        self.port = address.port
        """The port; the one that was found, after `start`, where any would do (0)."""

    async def start(self) -> None:
        """Listen. Raises BindError."""
        try:
            sock = self._address.bind()
        except OSError as error:
            raise self._cannot(error) from error
        self.port = sock.getsockname()[1]
        self._server = await asyncio.get_running_loop().create_server(
            self._connect,
            sock=sock,
            ssl=self._tls,
            ssl_handshake_timeout=TLS_SECONDS if self._tls is not None else None,
        )

    async def close(self, within_seconds: float = 1.0) -> None:
        """Take no more connections; let answers that are being made be sent, for a while; then close all."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._connections):
            connection.finish()
        try:
            async with asyncio.timeout(within_seconds):
                while self._connections:
                    self._none_left.clear()
                    await self._none_left.wait()
        except TimeoutError:
            pass
        finally:
            for connection in list(self._connections):
                connection.abort()
            while self._connections:
                self._none_left.clear()
                await self._none_left.wait()
            self._server = None

    def _connect(self) -> asyncio.Protocol:
        return _Connection(self._handler, self._connections, self._none_left)

    def _cannot(self, error: OSError) -> BindError:
        where = f"{self._name} {self._address}"
        if error.errno == errno.EADDRINUSE:
            return BindError(f"{where}: the port is in use by another process; choose another one, or 0 for none")
        if error.errno == errno.EACCES:
            return BindError(f"{where}: this user may not listen on that port; choose one above 1023, or 0 for none")
        return BindError(f"{where}: cannot be listened on ({error.strerror or error}); choose another, or 0 for none")


class _Connection(asyncio.Protocol):
    """One client."""

    def __init__(self, handler: Handler, connections: set[_Connection], none_left: asyncio.Event) -> None:
        self._handler = handler
        self._connections = connections
        self._none_left = none_left
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._waiting: deque[tuple[Request, bool]] = deque()
        self._writable = asyncio.Event()
        self._writable.set()
        self._paused = False
        self._is_last = False  # nothing is read any more; closed when all is answered
        self._url = b""
        self._headers: dict[str, str] = {}
        self._head_bytes = 0
        self._body_bytes = 0
        self._in_head = True

    # The transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        if len(self._connections) >= MOST_CONNECTIONS:
            self._transport.abort()
            return
        self._connections.add(self)
        self._arm(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._writable.set()
        self._disarm()
        if self._task is not None:
            self._task.cancel()
        else:
            self._forget()

    def data_received(self, data: bytes) -> None:
        if self._is_last:
            return
        if self._in_head:
            if not self._head_bytes:
                self._arm(HEAD_SECONDS)
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._is_last = True  # we speak nothing else; the request itself is answered
        except httptools.HttpParserError as error:
            # What a callback raises comes out as the cause of the parser's own error.
            cause = error.__context__
            self._refuse(cause if isinstance(cause, _Refused) else _Refused(400, "not an HTTP/1.1 request"))
        else:
            if self._in_head and self._head_bytes > MOST_HEAD_BYTES:
                self._refuse(_Refused(431, f"the head of the request is larger than {MOST_HEAD_BYTES} bytes"))
        self._work()

    def eof_received(self) -> None:
        self._is_last = True
        if self._task is None and self._transport is not None:
            self._transport.close()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # The parser's side

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers = {}
        self._body_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        key = name.decode("latin-1").lower()
        text = value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def on_headers_complete(self) -> None:
        if len(self._url) + sum(len(name) + len(value) for name, value in self._headers.items()) > MOST_HEAD_BYTES:
            raise _Refused(431, f"the head of the request is larger than {MOST_HEAD_BYTES} bytes")
        self._in_head = False

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self._body_bytes > MOST_BODY_BYTES:
            raise _Refused(413, "no request here has a body")

    def on_message_complete(self) -> None:
        path, _, query = self._url.decode("latin-1").partition("?")
        method = self._parser.get_method().decode("latin-1")
        keep = self._parser.should_keep_alive()
        self._waiting.append((Request(method, path, query, self._headers), keep))
        self._in_head = True
        self._head_bytes = 0
        if len(self._waiting) >= MOST_WAITING:
            self._pause(True)

    def _pause(self, paused: bool) -> None:
        if self._transport is None or self._transport.is_closing() or paused is self._paused:
            return
        self._paused = paused
        if paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    # Answers

    def finish(self) -> None:
        """Close as soon as what is being answered has been."""
        self._is_last = True
        if self._task is None and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _work(self) -> None:
        if self._waiting and self._task is None:
            self._disarm()
            self._task = self._loop.create_task(self._answer_all(), name="http connection")
            self._task.add_done_callback(self._idle)

    async def _answer_all(self) -> None:
        while self._waiting and self._transport is not None:
            request, keep = self._waiting.popleft()
            self._pause(False)
            answer = await self._handled(request)
            self._write(request, answer, keep and not (self._is_last and not self._waiting))
            if not keep:
                self._is_last = True
                self._waiting.clear()
            async with asyncio.timeout(IDLE_SECONDS):
                await self._writable.wait()

    async def _handled(self, request: Request) -> Answer:
        try:
            return await self._handler(request)
        except Exception:
            logger.exception("%s %s failed", request.method, request.path)
            return Answer.text(500, "internal server error")

    def _idle(self, task: asyncio.Task[None]) -> None:
        """The task has ended: all is answered, or the client is gone, or does not read."""
        self._task = None
        if self._transport is None:
            self._forget()
        elif task.cancelled() or task.exception() is not None:
            self._transport.abort()
        elif self._waiting:
            self._work()
        elif self._is_last:
            self._transport.close()
        else:
            self._arm(HEAD_SECONDS if self._head_bytes else IDLE_SECONDS)

    def _refuse(self, refused: _Refused) -> None:
        """After what was asked before. What comes behind cannot be told apart any more."""
        self._is_last = True
        if self._transport is None:
            return
        if self._task is None and not self._waiting:
            self._write(None, Answer.text(refused.status, refused.why), False)
            if self._transport.can_write_eof():
                # Closed with something unread in it, the kernel would send a reset, and the client never see why.
                self._transport.write_eof()
                self._arm(LINGER_SECONDS)
            else:
                self._transport.close()

    def _write(self, request: Request | None, answer: Answer, keep: bool) -> None:
        if self._transport is None:
            return
        lines = [
            f"HTTP/1.1 {answer.status} {_phrase(answer.status)}",
            f"Content-Type: {answer.content_type}",
            f"Content-Length: {len(answer.body)}",
            "X-Content-Type-Options: nosniff",
            f"Date: {_date()}",
            *(f"{name}: {value}" for name, value in answer.headers),
        ]
        if not keep:
            lines.append("Connection: close")
        head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
        self._transport.write(head if request is not None and request.method == "HEAD" else head + answer.body)

    # Deadlines

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._timer = self._loop.call_later(seconds, self.abort)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _forget(self) -> None:
        self._connections.discard(self)
        self._none_left.set()


class _Refused(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _date() -> str:
    """Now, as RFC 9110 wants it, whatever the locale."""
    now = time.gmtime()
    clock = f"{now.tm_hour:02d}:{now.tm_min:02d}:{now.tm_sec:02d}"
    return f"{_DAYS[now.tm_wday]}, {now.tm_mday:02d} {_MONTHS[now.tm_mon - 1]} {now.tm_year} {clock} GMT"
