"""The bytes of answers: heads, chunks, the date. No sockets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

__all__ = ["CONTINUE", "LAST_CHUNK", "chunk", "head"]

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PHRASES: Final = {each.value: each.phrase for each in HTTPStatus} | {
    413: "Request Entity Too Large",
    414: "Request URI Too Long",
    416: "Requested Range Not Satisfiable",
    422: "Unprocessable Entity",
}
"""As Go's net/http has them; Python has changed its own with 3.13."""
_LINES: Final = {code: f"HTTP/1.1 {code} {phrase}\r\nContent-Type: " for code, phrase in _PHRASES.items()}


def head(
    status: int, content_type: str, headers: Sequence[tuple[str, str]], length: int | None, *, keep: bool, at: float
) -> bytes:
    """The head of an answer.

    Args:
        length: of the body; -1 where it comes in chunks, None where it ends with the connection.
        keep: the connection can be used again.
        at: now, in seconds since 1970.
    """
    lines = [
        _LINES.get(status) or f"HTTP/1.1 {status} \r\nContent-Type: ",
        content_type,
        "\r\nX-Content-Type-Options: nosniff\r\nDate: ",
        _date(int(at)),
    ]
    if length is not None:
        lines.append("\r\nTransfer-Encoding: chunked" if length < 0 else f"\r\nContent-Length: {length}")
    if not keep:
        lines.append("\r\nConnection: close")
    for name, value in headers:
        lines.append(f"\r\n{name}: {value}")
    lines.append("\r\n\r\n")
    return "".join(lines).encode("latin-1", "replace")


def chunk(data: bytes) -> bytes:
    """One chunk of an answer that goes on. The data must not be empty: that would end it."""
    return b"%x\r\n%b\r\n" % (len(data), data)


_dates: dict[int, str] = {}


def _date(second: int) -> str:
    """As RFC 9110 wants it, whatever the locale. The last one is kept: many answers share a second."""
    found = _dates.get(second)
    if found is None:
        when = time.gmtime(second)
        clock = f"{when.tm_hour:02d}:{when.tm_min:02d}:{when.tm_sec:02d}"
        found = f"{_DAYS[when.tm_wday]}, {when.tm_mday:02d} {_MONTHS[when.tm_mon - 1]} {when.tm_year} {clock} GMT"
        _dates.clear()
        _dates[second] = found
    return found
