"""Bytes of a streamed HTTP/1.1 body to lines, by hand.

Owns three pure decoders: `Lines` cuts bytes at newlines, `ChunkedLines` takes the chunked transfer coding off first
(RFC 9112, section 7.1), `PlainLines` counts a body that is not chunked. They know no socket and no JSON; what they are
fed may be split anywhere.

By hand, because this is the path of every watch event: kube-apiserver writes an event as one chunk that ends in a
newline, so the usual line is one slice of what was read, without a join, a copy or a call-back between. A general
parser costs half as much again. A line that comes in pieces is kept as a list and joined once, so that a line of many
megabytes costs no more per byte than a short one.
"""

from __future__ import annotations

from collections.abc import Callable

_HEX = b"0123456789abcdefABCDEF"
_MAX_SIZE_DIGITS = 15
_MAX_SIZE_LINE_BYTES = 4096
_MAX_TRAILER_BYTES = 64 * 1024

_SIZE, _DATA, _DATA_END, _TRAILER, _DONE = range(5)


class BadFraming(Exception):
    """The bytes break the chunked coding; the text says how."""


class TooLarge(Exception):
    """A part of an answer is larger than the limit of that name."""

    def __init__(self, part: str, limit: str, max_bytes: int) -> None:
        super().__init__(part, limit, max_bytes)
        self.part = part
        self.limit = limit
        self.max_bytes = max_bytes


class Lines:
    """Cuts bytes into lines and calls `on_line` with each, without its newline.

    Guarantees: G1 the lines do not depend on how the bytes were split over calls. G2 each byte is copied at most twice.
    """

    __slots__ = ("_kept_bytes", "_max_line_bytes", "_on_line", "_parts")

    def __init__(self, on_line: Callable[[bytes], None], max_line_bytes: int) -> None:
        self._on_line = on_line
        self._max_line_bytes = max_line_bytes
        self._parts: list[bytes] = []
        self._kept_bytes = 0

    def feed(self, data: bytes, start: int, end: int) -> None:
        """Take data[start:end]. Raises TooLarge, and what `on_line` raises; the object is of no use afterwards."""
        cut = data.find(b"\n", start, end)
        if cut >= 0 and self._parts:
            self._parts.append(data[start:cut])
            line = b"".join(self._parts)
            self._parts.clear()
            self._kept_bytes = 0
            if len(line) > self._max_line_bytes:
                raise TooLarge("line", "max_line_bytes", self._max_line_bytes)
            self._on_line(line)
            start = cut + 1
            cut = data.find(b"\n", start, end)
        while cut >= 0:
            if cut - start > self._max_line_bytes:
                raise TooLarge("line", "max_line_bytes", self._max_line_bytes)
            self._on_line(data[start:cut])
            start = cut + 1
            if start == end:
                return
            cut = data.find(b"\n", start, end)
        if start < end:
            self._parts.append(data[start:end])
            self._kept_bytes += end - start
            if self._kept_bytes > self._max_line_bytes:
                raise TooLarge("line", "max_line_bytes", self._max_line_bytes)

    def finish(self) -> None:
        """Hand over what follows the last newline, if anything does."""
        if self._parts:
            line = b"".join(self._parts)
            self._parts.clear()
            self._kept_bytes = 0
            self._on_line(line)


class ChunkedLines:
    """Decodes a chunked body and cuts what is in it into lines.

    `done` is true once the last chunk and its trailer are in, and the last line, if without newline, was handed over;
    `leftover` then holds what came after the body.
    """

    __slots__ = ("_carry", "_left_bytes", "_lines", "_state", "_trailer_bytes", "done", "leftover")

    def __init__(self, on_line: Callable[[bytes], None], max_line_bytes: int) -> None:
        self._lines = Lines(on_line, max_line_bytes)
        self._state = _SIZE
        self._carry = b""  # a size line, chunk end or trailer that is not complete yet
        self._left_bytes = 0  # of the present chunk
        self._trailer_bytes = 0
        self.done = False
        self.leftover = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the connection. Raises BadFraming, TooLarge, and what `on_line` raises."""
        if self._carry:
            data = self._carry + data
            self._carry = b""
        at, length, state = 0, len(data), self._state
        lines = self._lines
        while at < length or state == _DONE:
            if state == _SIZE:
                eol = data.find(b"\r\n", at, at + _MAX_SIZE_LINE_BYTES)
                if eol < 0:
                    if length - at >= _MAX_SIZE_LINE_BYTES:
                        raise BadFraming(f"no chunk size in {_MAX_SIZE_LINE_BYTES} bytes")
                    self._carry = data[at:]
                    break
                self._left_bytes = _chunk_size(data[at:eol])
                at = eol + 2
                state = _DATA if self._left_bytes else _TRAILER
            elif state == _DATA:
                end = at + self._left_bytes
                if end > length:
                    lines.feed(data, at, length)
                    self._left_bytes -= length - at
                    break
                lines.feed(data, at, end)
                at = end
                state = _DATA_END
            elif state == _DATA_END:
                if length - at < 2:
                    self._carry = data[at:]
                    break
                if data[at : at + 2] != b"\r\n":
                    raise BadFraming("a chunk is longer than its size says")
                at += 2
                state = _SIZE
            elif state == _TRAILER:
                eol = data.find(b"\r\n", at)
                kept = (length if eol < 0 else eol) - at
                if self._trailer_bytes + kept > _MAX_TRAILER_BYTES:
                    raise BadFraming(f"a trailer of more than {_MAX_TRAILER_BYTES} bytes")
                if eol < 0:
                    self._carry = data[at:]
                    break
                self._trailer_bytes += kept
                state = _TRAILER if eol > at else _DONE
                at = eol + 2
            else:
                self.leftover = data[at:]
                if not self.done:
                    self.done = True
                    lines.finish()
                break
        self._state = state


class PlainLines:
    """Cuts a body that is not chunked into lines: one of `length_bytes`, or with None one that ends with the socket.

    `done` and `leftover` are those of ChunkedLines.
    """

    __slots__ = ("_left_bytes", "_lines", "done", "leftover")

    def __init__(self, on_line: Callable[[bytes], None], max_line_bytes: int, length_bytes: int | None) -> None:
        self._lines = Lines(on_line, max_line_bytes)
        self._left_bytes = length_bytes
        self.done = False
        self.leftover = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the connection. Raises TooLarge, and what `on_line` raises."""
        end = len(data)
        if self._left_bytes is not None:
            end = min(end, self._left_bytes)
            self._left_bytes -= end
        self._lines.feed(data, 0, end)
        if self._left_bytes == 0:
            self.leftover = data[end:]
            self.done = True
            self._lines.finish()

    def feed_eof(self) -> bool:
        """Say that the connection has ended; return whether that is the end of the body, as it is without a length."""
        if self._left_bytes is None and not self.done:
            self.done = True
            self._lines.finish()
        return self.done


def _chunk_size(line: bytes) -> int:
    # int() would take "0x1f", "1_0", "+1" and blanks too; two readers who disagree on a size are a smuggled request.
    digits = line.partition(b";")[0].rstrip(b" \t")
    if not digits or len(digits) > _MAX_SIZE_DIGITS or digits.strip(_HEX):
        raise BadFraming(f"chunk size {line[:40]!r} is not a hexadecimal number")
    return int(digits, 16)
