"""One client: from its bytes to requests, through the handler, and back, within limits.

Owns the order of things on one connection. It reads ahead while an answer is made, a few requests at most; answers are
made one after another by one task, which is there only while there is something to answer. One timer runs at a time:

| state     | what has to happen in time      | limit          |
|-----------|---------------------------------|----------------|
| new       | the first head                  | `head_seconds` |
| idle      | the first byte of the next head | `idle_seconds` |
| in a head | its end                         | `head_seconds` |
| in a body | its end                         | `body_seconds` |
| answering | the client takes what it gets   | `idle_seconds` |
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import deque
from collections.abc import Coroutine
from typing import Any, Final, NamedTuple, cast

import httptools

from .values import Answer, Dropped, Handler, Limits, Refuse, Request, Streaming
from .writing import CONTINUE, LAST_CHUNK, chunk, head

__all__ = ["Connection", "Shared"]

logger = logging.getLogger(__name__)

LINGER_SECONDS: Final = 2.0


def _start(work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
    """A task, which from Python 3.12 on has already run as far as it goes without waiting."""
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=loop, name="http connection", eager_start=True)
    return loop.create_task(work, name="http connection")


class Shared:
    """What the connections of one server have in common."""

    def __init__(self, handler: Handler, limits: Limits, refuse: Refuse) -> None:
        self.handler, self.limits, self.refuse = handler, limits, refuse
        self.connections: set[Connection] = set()
        self.left = asyncio.Event()

    async def wait_for_none(self) -> None:
        """Until the last connection is gone."""
        while self.connections:
            self.left.clear()
            await self.left.wait()


class _Refused(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class _Asked(NamedTuple):
    request: Request
    keep: bool
    is_chunkable: bool  # HTTP/1.1: the client knows chunks


class Connection(asyncio.Protocol):
    """One client."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._limits = shared, shared.limits
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._certificate: bytes | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._stream: Streaming | None = None
        self._waiting: deque[_Asked] = deque()
        self._writable = asyncio.Event()
        self._writable.set()
        self._is_paused = False
        self._is_last = False  # nothing is read any more; closed when all is answered
        self._owes_continue = False
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._head_bytes = 0
        self._body_bytes = 0
        self._in_head = True

    # -- the transport's side -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        shared = self._shared
        if len(shared.connections) >= self._limits.max_connections:
            self._transport.abort()
            return
        shared.connections.add(self)
        secured = transport.get_extra_info("ssl_object")
        if secured is not None:
            self._certificate = secured.getpeercert(binary_form=True)
        self._arm(self._limits.head_seconds)

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
            if not self._head_bytes and self._task is None:
                self._arm(self._limits.head_seconds)
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
            if self._in_head and self._head_bytes > self._limits.max_head_bytes:
                self._refuse(self._too_large_a_head())
        self._work()

    def eof_received(self) -> None:
        self._is_last = True
        if self._task is None and self._transport is not None:
            self._transport.close()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # -- the parser's side --------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers = {}
        self._body = []
        self._body_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        key = name.decode("latin-1").lower()
        text = value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def on_headers_complete(self) -> None:
        headers, limits = self._headers, self._limits
        if self._head_bytes > limits.max_head_bytes:
            size = len(self._url) + sum(len(name) + len(value) for name, value in headers.items())
            if size > limits.max_head_bytes:
                raise self._too_large_a_head()
        self._in_head = False
        length = headers.get("content-length")
        if length is not None and int(length) > limits.max_body_bytes:
            raise self._too_large_a_body()
        if length not in (None, "0") or "transfer-encoding" in headers:
            if self._task is None:
                self._arm(limits.body_seconds)
            if headers.get("expect", "").lower() == "100-continue":
                self._owes_continue = True
                self._continue()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self._body_bytes > self._limits.max_body_bytes:
            raise self._too_large_a_body()
        self._body.append(body)

    def on_message_complete(self) -> None:
        parser = self._parser
        path, _, query = self._url.decode("latin-1").partition("?")
        method = parser.get_method().decode("latin-1")
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        request = Request(method, path, query, self._headers, body, self._certificate)
        self._waiting.append(_Asked(request, parser.should_keep_alive(), parser.get_http_version() != "1.0"))
        self._body = []
        self._in_head = True
        self._head_bytes = 0
        self._owes_continue = False
        if len(self._waiting) >= self._limits.max_waiting:
            self._pause(True)

    def _too_large_a_head(self) -> _Refused:
        return _Refused(431, f"the head of the request is larger than {self._limits.max_head_bytes} bytes")

    def _too_large_a_body(self) -> _Refused:
        return _Refused(413, f"Request entity too large: limit is {self._limits.max_body_bytes}")

    def _continue(self) -> None:
        """Ask for the body that a client holds back; not before what it asked earlier is answered."""
        if self._owes_continue and self._task is None and not self._waiting and self._transport is not None:
            self._owes_continue = False
            self._transport.write(CONTINUE)

    def _pause(self, paused: bool) -> None:
        if self._transport is None or self._transport.is_closing() or paused is self._is_paused:
            return
        self._is_paused = paused
        if paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    # -- answers ------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Close as soon as what is being answered has been. A stream is ended."""
        self._is_last = True
        if self._stream is not None:
            self._stream.close()
        if self._task is None and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _work(self) -> None:
        if not self._waiting or self._task is not None:
            return
        self._disarm()
        task = _start(self._answer_all(), self._loop)
        if task.done():
            self._idle(task)
            return
        self._task = task
        task.add_done_callback(self._idle)

    async def _answer_all(self) -> None:
        while self._waiting and self._transport is not None:
            asked = self._waiting.popleft()
            if self._is_paused:
                self._pause(False)
            answer = await self._handled(asked.request)
            if answer is None:
                self.abort()
                return
            keep = asked.keep and not (self._is_last and not self._waiting)
            if isinstance(answer, Streaming):
                await self._send_all(asked, answer, keep and asked.is_chunkable)
                keep = keep and asked.is_chunkable
            else:
                self._write(answer, keep, with_body=asked.request.method != "HEAD")
            if not keep:
                self._is_last = True
                self._waiting.clear()
            if not self._writable.is_set():
                await self._taken()

    async def _handled(self, request: Request) -> Answer | Streaming | None:
        try:
            return await self._shared.handler(request)
        except Dropped:
            return None
        except Exception:
            logger.exception("%s %s failed", request.method, request.path)
            return self._shared.refuse(500, "internal server error")

    async def _taken(self) -> None:
        """Until the client has taken most of what was written. Raises TimeoutError: it does not."""
        async with asyncio.timeout(self._limits.idle_seconds):
            await self._writable.wait()

    async def _send_all(self, asked: _Asked, stream: Streaming, keep: bool) -> None:
        """Send an answer that goes on. Whatever happens, the stream is closed."""
        self._stream = stream
        try:
            length = -1 if asked.is_chunkable else None
            made = head(stream.status, stream.content_type, stream.headers, length, keep=keep, at=time.time())
            self._put(made)
            if asked.request.method == "HEAD":
                return
            if self._is_last:
                stream.close()
            async for data in stream.chunks:
                self._put(chunk(data) if asked.is_chunkable else data)
                if not self._writable.is_set():
                    await self._taken()
                else:
                    await asyncio.sleep(0)  # a stream that always has more must not keep the others waiting
            if asked.is_chunkable:
                self._put(LAST_CHUNK)
        finally:
            self._stream = None
            stream.close()

    def _idle(self, task: asyncio.Task[None]) -> None:
        """The task has ended: all is answered, or the client is gone, or does not read."""
        self._task = None
        transport = self._transport
        if transport is None:
            self._forget()
        elif task.cancelled() or task.exception() is not None:
            transport.abort()
        elif self._waiting:
            self._work()
        elif self._is_last:
            transport.close()
        elif not self._in_head:
            self._arm(self._limits.body_seconds)
            self._continue()
        else:
            self._arm(self._limits.head_seconds if self._head_bytes else self._limits.idle_seconds)

    def _refuse(self, refused: _Refused) -> None:
        """After what was asked before. What comes behind cannot be told apart any more."""
        self._is_last = True
        if self._transport is None:
            return
        if self._task is None and not self._waiting:
            self._write(self._shared.refuse(refused.status, refused.why), False, with_body=True)
            if self._transport.can_write_eof():
                # Closed with something unread in it, the kernel would send a reset, and the client never see why.
                self._transport.write_eof()
                self._arm(LINGER_SECONDS)
            else:
                self._transport.close()

    def _write(self, answer: Answer, keep: bool, *, with_body: bool) -> None:
        body = answer.body
        made = head(answer.status, answer.content_type, answer.headers, len(body), keep=keep, at=time.time())
        self._put(made + body if with_body else made)

    def _put(self, data: bytes) -> None:
        """Write, unless the client is gone: then this task is being cancelled."""
        if self._transport is not None:
            self._transport.write(data)

    # -- deadlines ----------------------------------------------------------------------------------------------------

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._timer = self._loop.call_later(seconds, self.abort)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _forget(self) -> None:
        self._shared.connections.discard(self)
        self._shared.left.set()
