"""One HTTP/1.1 connection: one exchange at a time, over and over.

Owns the meeting of an exchange with the socket: the future of its caller, its deadline, and what the end of the
connection means for it. It knows nothing of framing (the reader's), nor of how a connection is made, chosen or
retried; it tells its owner when it is free (`release`) and when it is gone (`lost`).

All is done inside `data_received`: the bytes of an answer resolve the future and free the connection before any task
runs, and the lines of a stream are handed over without one. Bytes that come while nobody waits for an answer close the
connection.
"""

from __future__ import annotations

import asyncio
import ssl
from math import inf
from typing import NamedTuple, Protocol, cast

from .http1_answer import AnswerReader, HeaderNames, StreamReader
from .http1_lines import BadFraming, TooLarge
from .http1_tls import handshake_failed
from .transport import (
    ConnectionLost,
    Limits,
    Phase,
    ProtocolError,
    RequestTimeout,
    Response,
    ResponseTooLarge,
    StreamIdle,
    TransportError,
)

_OUTCOME = "it may or may not have been carried out: read before writing again"


class Owner(Protocol):
    """Who is told of a connection's fate."""

    def release(self, connection: Connection) -> None:
        """Take the connection back: its exchange is over and it may be used again."""
        ...

    def lost(self, connection: Connection) -> None:
        """Forget the connection: it is closed."""
        ...

    def arm(self, due_at: float) -> None:
        """Take note that `due_at` of a connection may be earlier than before."""
        ...


class Exchange(NamedTuple):
    """What an error has to say of a request, and the bounds of its time."""

    method: str
    target: str
    deadline: float
    timeout_seconds: float
    idle_seconds: float | None = None


class StaleConnection(ConnectionLost):
    """A kept connection was closed by the server before any byte of the answer; the transport may try another."""


class Connection(asyncio.Protocol):
    """The protocol of one connection. `is_open` says that it may be given a request; `due_at` is for Deadlines."""

    def __init__(self, server: str, limits: Limits, owner: Owner, names: HeaderNames) -> None:
        self.is_open = False
        self.due_at = inf
        self._server = server
        self._owner = owner
        self._answers: AnswerReader | None = AnswerReader(names, limits)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Response] | None = None
        self._reader: AnswerReader | StreamReader | None = None
        self._exchange = Exchange("", "", inf, inf)
        self._is_used = False  # it has carried an exchange before the present one
        self._heard = False  # a byte of the present answer has come

    def send(self, data: bytes, exchange: Exchange, stream: StreamReader | None = None) -> asyncio.Future[Response]:
        """Start an exchange. The caller awaits the future, and calls `cancel` with it if it is cancelled meanwhile."""
        answers = self._answers
        assert self._waiter is None
        assert self._transport is not None
        assert answers is not None
        self._exchange = exchange
        if stream is None:
            answers.start(head_only=exchange.method == "HEAD")
            self._reader = answers
        else:
            self._reader = stream
        self._heard = False
        self.due_at = exchange.deadline
        self._owner.arm(exchange.deadline)
        self._waiter = waiter = self._loop.create_future()
        self._transport.write(data)
        return waiter

    def cancel(self, waiter: asyncio.Future[Response]) -> None:
        """Close the connection, unless the exchange of this future is over: then another may be using it."""
        if self._waiter is waiter:
            self._waiter = None
            self.abort()

    def fail(self, error: BaseException) -> None:
        """End the exchange, if there is one, with an error, and close the connection."""
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)
        self.abort()

    def abort(self) -> None:
        """Close the connection at once; `lost` follows. Answers say where they end, so TLS's farewell is not missed."""
        self.is_open = False
        self.due_at = inf
        if self._transport is not None:
            self._transport.abort()

    def on_due(self, now: float) -> None:
        """Act on a deadline that has passed: the request's, the stream's silence, or that of an idle connection."""
        exchange = self._exchange
        what = f"{exchange.method} {exchange.target}"
        if self._waiter is None or self._reader is None:
            self.abort()
        elif self._reader.is_streaming:
            self.fail(
                StreamIdle(
                    self._server,
                    "stream",
                    f"{what}: no byte came for {exchange.idle_seconds or 0:g} s",
                    "open the stream again; if it recurs, something in between drops silent connections",
                )
            )
        else:
            self.fail(
                RequestTimeout(
                    self._server,
                    "response",
                    f"{what}: no complete answer within {exchange.timeout_seconds:g} s",
                    f"{_OUTCOME}; allow more with timeout_seconds if the server is only slow",
                )
            )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop has transports that are no subclass of asyncio.Transport.
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if reader is None or self._waiter is None:
            if self.is_open:
                self.abort()
            return
        self._heard = True
        try:
            if reader.feed(data):
                self._finish(reader)
            elif reader.is_streaming:
                self._expect_more()
        except BaseException as error:
            self._broke(error)

    def eof_received(self) -> None:
        self.is_open = False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self.due_at = inf
        self._transport = None
        reader = self._reader
        try:
            if self._waiter is not None and reader is not None:
                if exc is None and reader.feed_eof():
                    self._finish(reader)
                else:
                    self.fail(self._loss(exc, reader))
        except BaseException as error:  # the stream's call-back, with what follows the last newline
            self._broke(error)
        finally:
            self._reader = self._answers = None  # the parser in it holds bound methods
            self._owner.lost(self)

    def _finish(self, reader: AnswerReader | StreamReader) -> None:
        waiter, self._waiter = self._waiter, None
        self._reader = None
        self._is_used = True
        self.due_at = inf
        if reader.is_reusable and self.is_open:
            self._owner.release(self)
        else:
            self.abort()
        response = reader.response
        if waiter is not None and not waiter.done() and response is not None:
            waiter.set_result(response)

    def _expect_more(self) -> None:
        idle_seconds = self._exchange.idle_seconds
        if not self.is_open:
            return
        if idle_seconds is None:
            self.due_at = inf
        else:
            self.due_at = self._loop.time() + idle_seconds
            self._owner.arm(self.due_at)

    def _broke(self, error: BaseException) -> None:
        what = f"{self._exchange.method} {self._exchange.target}"
        phase: Phase = "stream" if self._reader is not None and self._reader.is_streaming else "response"
        match error:
            case TooLarge():
                text = f"{what}: the {error.part} is larger than {error.max_bytes} bytes"
                self.fail(ResponseTooLarge(self._server, phase, text, f"ask for less, or raise Limits.{error.limit}"))
            case BadFraming():
                text = f"{what}: the answer is not valid HTTP/1.1: {error}"
                self.fail(ProtocolError(self._server, phase, text, "is there an API server at this address?"))
            case StopIteration():  # a future refuses it
                wrapped = RuntimeError("a call-back of the stream raised StopIteration")
                wrapped.__cause__ = error
                self.fail(wrapped)
            case Exception():
                self.fail(error)
            case _:  # KeyboardInterrupt, SystemExit: the loop's to deliver as well
                self.fail(error)
                raise error

    def _loss(self, exc: Exception | None, reader: AnswerReader | StreamReader) -> TransportError:
        phase: Phase = "stream" if reader.is_streaming else "response"
        if isinstance(exc, ssl.SSLError):
            return handshake_failed(self._server, phase, exc)
        what = f"{self._exchange.method} {self._exchange.target}"
        how = "the server closed the connection" if exc is None else f"the connection broke ({_text(exc)})"
        if reader.is_streaming:
            return ConnectionLost(
                self._server, phase, f"{what}: {how} in the middle of the stream", "open the stream again"
            )
        if not self._heard and self._is_used:
            return StaleConnection(self._server, phase, f"{what}: {how} before it answered", _OUTCOME)
        when = "in the middle of the answer" if self._heard else "before it answered"
        return ConnectionLost(self._server, phase, f"{what}: {how} {when}", _OUTCOME)


def _text(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
