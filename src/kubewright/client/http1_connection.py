"""One HTTP/1.1 connection: one exchange at a time, over and over.

Owns the meeting of an exchange with the socket: its deadline, and what the end of the connection means for it. It
knows nothing of framing (the reader's), nor of how a connection is made, chosen or retried; it tells its owner when
it is free (`release`) and when it is gone (`lost`).

All is done inside `data_received`: the bytes of an answer resolve the future and free the connection, which may send
the next request at once, before any task runs; the lines of a stream are handed over without one. Bytes that come
while nobody waits for an answer close the connection.
"""

from __future__ import annotations

import asyncio
import ssl
from math import inf
from typing import Protocol, cast

from .http1_answer import AnswerReader, StreamReader
from .http1_deadlines import Deadlines
from .http1_exchange import Exchange
from .http1_lines import BadFraming, TooLarge
from .http1_tls import handshake_failed
from .transport import (
    ConnectionLost,
    Limits,
    Phase,
    ProtocolError,
    RequestTimeout,
    ResponseTooLarge,
    StreamIdle,
    TransportError,
)

_OUTCOME = "it may or may not have been carried out: read before writing again"


class Owner(Protocol):
    """Who is told of a connection's fate, and watches its deadline."""

    deadlines: Deadlines

    def release(self, connection: Connection) -> None:
        """Take the connection back: its exchange is over and it may be used again."""
        ...

    def lost(self, connection: Connection) -> None:
        """Forget the connection: it is closed."""
        ...


class StaleConnection(ConnectionLost):
    """A kept connection was closed by the server before any byte of the answer; the transport may try another."""


class Connection(asyncio.Protocol):
    """The protocol of one connection. `is_open` says that it may be given a request; `due_at` is for Deadlines."""

    def __init__(self, server: str, limits: Limits, owner: Owner) -> None:
        self.is_open = False
        self.due_at = inf
        self._server = server
        self._owner = owner
        self._deadlines = owner.deadlines
        self._answers: AnswerReader | None = AnswerReader(limits)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None
        self._reader: AnswerReader | StreamReader | None = None  # of the exchange, so set while that is
        self._is_used = False  # it has carried an exchange before the present one
        self._heard = False  # a byte of the present answer has come
        self._lost_by: Exception | None = None

    def send(self, exchange: Exchange) -> None:
        """Start an exchange on a connection that is open and free."""
        assert self._exchange is None
        assert self._transport is not None
        assert self._answers is not None
        self._exchange = exchange
        exchange.holder = self
        if exchange.stream is None:
            self._answers.start(head_only=exchange.method == "HEAD")
            self._reader = self._answers
        else:
            self._reader = exchange.stream
        self._heard = False
        self.due_at = exchange.due_at
        self._deadlines.arm(exchange.due_at)
        self._transport.write(exchange.data)

    def let_go(self, exchange: Exchange) -> None:
        """Close the connection, unless the exchange is over: then another may be using it."""
        if self._exchange is exchange:
            self._exchange = None
            self.abort()

    def fail(self, error: BaseException) -> None:
        """End the exchange, if there is one, with an error, and close the connection."""
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.fail(error)
        self.abort()

    def abort(self) -> None:
        """Close the connection at once; `lost` follows. Answers say where they end, so TLS's farewell is not missed."""
        self.is_open = False
        self.due_at = inf
        if self._transport is not None:
            self._transport.abort()

    def on_due(self, now: float) -> None:
        """Act on a deadline that has passed: the request's, the stream's silence, or that of an idle connection."""
        if self._exchange is None:
            self.abort()
        else:
            self.overdue(self._exchange)

    def overdue(self, exchange: Exchange) -> None:
        """End the exchange: it takes too long, or its stream is silent for too long."""
        if self._reader is not None and self._reader.is_streaming:
            self.fail(
                StreamIdle(
                    self._server,
                    "stream",
                    f"{exchange}: no byte came for {exchange.idle_seconds or 0:g} s",
                    "open the stream again; if it recurs, something in between drops silent connections",
                )
            )
        else:
            self.fail(
                RequestTimeout(
                    self._server,
                    "response",
                    f"{exchange}: no complete answer within {exchange.timeout_seconds:g} s",
                    f"{_OUTCOME}; allow more with timeout_seconds if the server is only slow",
                )
            )

    def loss_of(self, exchange: Exchange) -> TransportError:
        """The error of an exchange for which this connection is lost."""
        is_streaming = self._reader is not None and self._reader.is_streaming
        phase: Phase = "stream" if is_streaming else "response"
        cause = self._lost_by
        if isinstance(cause, ssl.SSLError):
            return handshake_failed(self._server, phase, cause)
        how = "the server closed the connection" if cause is None else f"the connection broke ({_text(cause)})"
        if is_streaming:
            return ConnectionLost(
                self._server, phase, f"{exchange}: {how} in the middle of the stream", "open the stream again"
            )
        if not self._heard and self._is_used:
            return StaleConnection(self._server, phase, f"{exchange}: {how} before it answered", _OUTCOME)
        when = "in the middle of the answer" if self._heard else "before it answered"
        return ConnectionLost(self._server, phase, f"{exchange}: {how} {when}", _OUTCOME)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's TLS transport has the methods but not the class.
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        exchange, reader = self._exchange, self._reader
        if exchange is None or reader is None:
            if self.is_open:
                self.abort()
            return
        self._heard = True
        try:
            if reader.feed(data):
                self._finish(exchange, reader)
            elif reader.is_streaming:
                self._expect_more(exchange)
        except BaseException as error:
            self._broke(error, exchange, reader)

    def eof_received(self) -> None:
        self.is_open = False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self.due_at = inf
        self._transport = None
        self._lost_by = exc
        exchange, reader = self._exchange, self._reader
        try:
            if exchange is not None and reader is not None:
                if exc is None and reader.feed_eof():
                    self._finish(exchange, reader)
                else:
                    self.fail(self.loss_of(exchange))
        except BaseException as error:  # the stream's call-back, with what follows the last newline
            self._broke(error, exchange, reader)
        finally:
            self._reader = self._answers = None  # the parser in it holds bound methods
            self._owner.lost(self)

    def _finish(self, exchange: Exchange, reader: AnswerReader | StreamReader) -> None:
        response = reader.response
        assert response is not None
        self._exchange = self._reader = None
        exchange.holder = None
        self._is_used = True
        if reader.is_reusable and self.is_open:
            self._owner.release(self)  # which may send the next request: nothing below may touch our state
        else:
            self.abort()
        if not exchange.future.done():
            exchange.future.set_result(response)

    def _expect_more(self, exchange: Exchange) -> None:
        if not self.is_open:
            return
        if exchange.idle_seconds is None:
            self.due_at = inf
        else:
            self.due_at = self._loop.time() + exchange.idle_seconds
            self._deadlines.arm(self.due_at)

    def _broke(
        self, error: BaseException, exchange: Exchange | None, reader: AnswerReader | StreamReader | None
    ) -> None:
        phase: Phase = "stream" if reader is not None and reader.is_streaming else "response"
        match error:
            case TooLarge():
                text = f"{exchange}: the {error.part} is larger than {error.max_bytes} bytes"
                cure = f"ask for less, or raise Limits.{error.limit}"
                self.fail(ResponseTooLarge(self._server, phase, text, cure))
            case BadFraming():
                text = f"{exchange}: the answer is not valid HTTP/1.1: {error}"
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


def _text(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
