"""Bytes of an HTTP/1.1 connection to answers.

Owns the framing of answers: where one ends, whether the connection may be used again, what is too large. It has no
socket, no clock and no task, so each rule is tested by feeding bytes.

`AnswerReader` collects whole answers and is used over and over; httptools parses. `StreamReader` is for one stream: it
cuts the head off by hand (the parser cannot say where a head ends), and hands the lines of a 2xx answer over without
the parser; any other answer it collects.

An answer that is followed by more bytes is an answer, but its connection is spoilt: the bytes might be taken for the
answer to the next request (response smuggling).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping

import httptools

from .http1_lines import BadFraming, ChunkedLines, PlainLines, TooLarge
from .transport import Limits, Response

_BRACE = ord("{")
_INFLATE_STEP_BYTES = 1 << 20


class AnswerHeaders(Mapping[str, str]):
    """The headers of an answer: lower-case names, values of a repeated name joined by ", ".

    Decoded when first looked at, as those of most answers never are; that is a tenth of the cost of reading one.
    """

    __slots__ = ("_decoded", "_raw")

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._raw = raw
        self._decoded: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> dict[str, str]:
        found = self._decoded
        if found is None:
            found = self._decoded = {}
            for raw_name, raw_value in self._raw:
                name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
                found[name] = f"{found[name]}, {value}" if name in found else value
        return found


class AnswerReader:
    """Collects one answer after the other.

    Expected flow: `start` for each request, then `feed` until it returns True, or `feed_eof`; then `response` and
    `is_reusable` hold. After an exception the connection is of no use.
    """

    is_streaming = False

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._parser = httptools.HttpResponseParser(self)
        self.response: Response | None = None
        self.is_reusable = False
        self._head_only = False
        self._in_body = False
        self._is_spoilt = False
        self._headers: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []
        self._head_bytes = 0
        self._body_bytes = 0

    def start(self, *, head_only: bool = False) -> None:
        """Expect the answer to a new request; `head_only` for HEAD, whose answers have no body whatever they say."""
        self.response = None
        self._head_only = head_only
        self._in_body = False
        self._head_bytes = self._body_bytes = 0

    def feed(self, data: bytes) -> bool:
        """Take the next bytes; return whether the answer is complete. Raises BadFraming and TooLarge."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            if self.response is None:
                raise BadFraming(str(error)) from error
            self._is_spoilt = True
        except httptools.HttpParserUpgrade:
            raise BadFraming("the server switches to another protocol") from None
        if self._body_bytes > self._limits.max_body_bytes:
            raise TooLarge("body", "max_body_bytes", self._limits.max_body_bytes)
        if self.response is not None:
            self._finish()
            return True
        if not self._in_body:
            self._head_bytes += len(data)
            if self._head_bytes > self._limits.max_head_bytes:
                raise TooLarge("head", "max_head_bytes", self._limits.max_head_bytes)
        return False

    def feed_eof(self) -> bool:
        """Say that the connection has ended; return whether that completes the answer (one without any length)."""
        head = self.head()
        if head is None or is_chunked(head.headers) or length_of(head.headers) is not None:
            return False
        self._complete(head.status)
        self._finish()
        self.is_reusable = False
        return True

    def head(self) -> Response | None:
        """Return the answer without its body once its head, not that of an interim answer, is in."""
        if self.response is not None:
            return self.response
        if not self._in_body:
            return None
        return Response(self._parser.get_status_code(), AnswerHeaders(self._headers), b"")

    def keeps_alive(self) -> bool:
        """Return whether the head allows for another request on this connection."""
        return self._parser.should_keep_alive()

    # Called by the parser

    def on_message_begin(self) -> None:
        if self.response is not None:
            self._is_spoilt = True

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:
            self._in_body = True
            if self._head_only:
                self.is_reusable = self._parser.should_keep_alive()
                self._complete(status)
                # The parser now waits for a body that does not come. It is in a call, so it is only let go of.
                self._parser = httptools.HttpResponseParser(self)

    def on_body(self, data: bytes) -> None:
        if self.response is not None:
            self._is_spoilt = True
        else:
            self._parts.append(data)
            self._body_bytes += len(data)

    def on_message_complete(self) -> None:
        if self.response is not None:  # a HEAD, or what follows an answer
            return
        status = self._parser.get_status_code()
        if status < 200:  # RFC 9110, 15.2: interim answers may be ignored
            self._headers = []
            return
        self.is_reusable = self._parser.should_keep_alive()
        self._complete(status)

    def _complete(self, status: int) -> None:
        parts = self._parts
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        self.response = Response(status, AnswerHeaders(self._headers), body)
        # New ones at once, so that nothing that follows can reach into the answer.
        self._headers = []
        self._parts = []

    def _finish(self) -> None:
        response = self.response
        if self._is_spoilt:
            self.is_reusable = False
        # Objects and lists start with a brace, so that nothing but them costs a look at the headers.
        if response is not None and response.body and response.body[0] != _BRACE:
            coding = response.headers.get("content-encoding", "identity").lower()
            if coding != "identity":
                body = _decoded(coding, response.body, self._limits.max_body_bytes)
                self.response = response._replace(body=body)


class StreamReader:
    """Reads one streamed answer: its head, then lines to `on_line`; or, unless it is 2xx, the whole of it.

    Same flow as AnswerReader, without `start`. What the call-backs raise comes out of `feed` and `feed_eof`.
    `is_streaming` is true while lines are handed over.
    """

    def __init__(
        self,
        limits: Limits,
        on_line: Callable[[bytes], None],
        on_response: Callable[[Response], None] | None,
    ) -> None:
        self.response: Response | None = None
        self.is_reusable = False
        self.is_streaming = False
        self._max_line_bytes = limits.max_line_bytes
        self._on_line = on_line
        self._on_response = on_response
        self._answer = AnswerReader(limits)
        self._collects = False
        self._tail = b""  # of the head so far: what its end may begin with
        self._lines: ChunkedLines | PlainLines | None = None

    def feed(self, data: bytes) -> bool:
        """Take the next bytes; return whether the answer is complete. Raises BadFraming, TooLarge and as `on_line`."""
        lines = self._lines
        if lines is None:
            return self._collect(data) if self._collects else self._feed_head(data)
        lines.feed(data)
        if lines.done:
            self.is_reusable = self.is_reusable and not lines.leftover
        return lines.done

    def feed_eof(self) -> bool:
        """Say that the connection has ended; return whether that completes the answer (one without any length)."""
        self.is_reusable = False
        if isinstance(self._lines, PlainLines):
            return self._lines.feed_eof()
        done = self._collects and self._answer.feed_eof()
        if done:
            self.response = self._answer.response
        return done

    def _feed_head(self, data: bytes) -> bool:
        answer = self._answer
        head: Response | None = None
        while head is None:
            window = self._tail + data
            end = window.find(b"\r\n\r\n")
            if end < 0:
                self._tail = window[-3:]
                answer.feed(data)
                return False
            cut = end + 4 - len(self._tail)
            self._tail = b""
            answer.feed(data[:cut])
            data = data[cut:]
            head = answer.head()  # None still: that was the end of an interim answer
        if not 200 <= head.status < 300:
            self._collects = True
            return self._collect(data)
        return self._begin(head, data)

    def _begin(self, head: Response, rest: bytes) -> bool:
        answer, headers = self._answer, head.headers
        if "content-encoding" in headers:
            raise BadFraming(f"content-encoding {headers['content-encoding']!r} was not asked for")
        self.is_streaming = True
        self.is_reusable = answer.keeps_alive() if answer.response is None else answer.is_reusable
        self.response = head
        if answer.response is not None:  # 204, or a length of 0
            self._lines = PlainLines(self._on_line, self._max_line_bytes, 0)
        elif is_chunked(headers):
            self._lines = ChunkedLines(self._on_line, self._max_line_bytes)
        else:
            self._lines = PlainLines(self._on_line, self._max_line_bytes, length_of(headers))
        if self._on_response is not None:
            self._on_response(head)
        return self.feed(rest)

    def _collect(self, data: bytes) -> bool:
        answer = self._answer
        done = answer.feed(data) if data else answer.response is not None
        if done:
            self.response = answer.response
            self.is_reusable = answer.is_reusable
        return done


def is_chunked(headers: Mapping[str, str]) -> bool:
    """Return whether the body is in the chunked coding."""
    return headers.get("transfer-encoding", "").lower().endswith("chunked")


def length_of(headers: Mapping[str, str]) -> int | None:
    """Return the length of the body, None if the head does not say; the parser has checked that it is a number."""
    length = headers.get("content-length")
    return None if length is None else int(length)


def _decoded(coding: str, body: bytes, max_bytes: int) -> bytes:
    """Decompress gzip, in steps, so that a small body cannot become one without bounds."""
    if coding not in ("gzip", "x-gzip"):
        raise BadFraming(f"content-encoding {coding!r} was not asked for")
    parts: list[bytes] = []
    size = 0
    try:
        while body:  # gzip members may follow one another (RFC 1952, 2.2)
            member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            while not member.eof:
                part = member.decompress(body, _INFLATE_STEP_BYTES)
                body = member.unconsumed_tail
                if not part and not body and not member.eof:
                    raise BadFraming("the gzip body is cut off")
                parts.append(part)
                size += len(part)
                if size > max_bytes:
                    raise TooLarge("decompressed body", "max_body_bytes", max_bytes)
            body = member.unused_data
    except zlib.error as error:
        raise BadFraming(f"the gzip body is damaged: {error}") from error
    return b"".join(parts)
