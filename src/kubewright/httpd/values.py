"""What a handler gets and gives: a request with its body, a whole answer or one that goes on, and the limits.

Values only. A handler decides everything about an answer but its framing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

__all__ = ["Answer", "Dropped", "Handler", "Limits", "Refuse", "Request", "Streaming", "refuse_as_text"]

TEXT: Final = "text/plain; charset=utf-8"


class Request(NamedTuple):
    """What was asked: `path` and `query` as they were sent, headers with lower-case names (repeated ones joined by
    ", "), the whole body; `certificate` is the client's, in DER, where the connection has one."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes = b""
    certificate: bytes | None = None


class Answer(NamedTuple):
    """What is answered, whole. `headers` are beside Content-Type, Content-Length and Date, which are made."""

    status: int
    body: bytes = b""
    content_type: str = TEXT
    headers: Sequence[tuple[str, str]] = ()

    @classmethod
    def text(cls, status: int, text: str, *headers: tuple[str, str]) -> Answer:
        """A line for people."""
        return cls(status, f"{text}\n".encode(), TEXT, headers)


class Streaming(NamedTuple):
    """An answer that goes on. Chunks are sent as they come, each whole; `close` is called when the client is gone or
    the server stops, ends the iteration, and may be called more than once."""

    status: int
    chunks: AsyncIterator[bytes]
    close: Callable[[], None]
    content_type: str = TEXT
    headers: Sequence[tuple[str, str]] = ()


class Dropped(Exception):
    """Raised by a handler: hang up without an answer, as a server that died would."""


Handler: TypeAlias = Callable[[Request], Awaitable[Answer | Streaming]]

Refuse: TypeAlias = Callable[[int, str], Answer]
"""Says in the server's own form why a request is not taken: status and a line."""


def refuse_as_text(status: int, why: str) -> Answer:
    """The reason as a line of text."""
    return Answer.text(status, why)


class Limits(Struct, frozen=True, kw_only=True):
    """The bounds of one server. Seconds, bytes, counts.

    | limit             | of what                                                       | the default is               |
    |-------------------|---------------------------------------------------------------|------------------------------|
    | `head_seconds`    | from the connection, or the first byte of a head, to its end  | controller-runtime's         |
    | `body_seconds`    | from the end of a head to the end of its body                 | kube-apiserver's, for all    |
    | `idle_seconds`    | an idle connection, and an answer that is not taken           | controller-runtime's         |
    | `max_head_bytes`  | a request's head                                              | a token is 2 KiB; Go: 1 MiB  |
    | `max_body_bytes`  | a request's body                                              | probes have none             |
    | `max_connections` | more are closed at once                                       | probes come one at a time    |
    | `max_waiting`     | requests of one connection that wait; then it is not read     |                              |
    """

    head_seconds: float = 32.0
    body_seconds: float = 60.0
    idle_seconds: float = 90.0
    max_head_bytes: int = 64 * 1024
    max_body_bytes: int = 64 * 1024
    max_connections: int = 256
    max_waiting: int = 8
