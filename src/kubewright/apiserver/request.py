"""What goes into the server and what comes out: values, no HTTP library.

`Request` is one request as a front end has read it; `Response` is a whole answer, `Stream` one that goes on. A front
end (HTTP, in process, tests) makes the first and writes the others; it decides nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

import orjson
from msgspec import Struct, field

__all__ = ["ADMIN", "HANG_UP", "JSON", "Request", "Response", "Stream", "User", "json_response"]

JSON: Final = "application/json"


class User(Struct, frozen=True):
    """Who asks. `groups` and `extra` as in `UserInfo` of authentication.k8s.io."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def info(self) -> dict[str, Any]:
        """As `UserInfo` of authentication.k8s.io: what is empty is left out."""
        shown: dict[str, Any] = {
            "username": self.name,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {name: list(values) for name, values in self.extra.items()},
        }
        return {name: each for name, each in shown.items() if each}


ADMIN: Final = User("kubernetes-admin", ("system:masters", "system:authenticated"))


class Request(Struct):
    """One request.

    Attributes: `method` in capitals; `path` decoded, without the query; `query` decoded, in order, repeated names
    repeated; `headers` by lower-case name, repeated ones joined with ", "; `body` whole and decompressed; `user` who
    was authenticated; `impersonated` whom the request acts as, and `constraint` the verb that allowed it (empty:
    `impersonate`), once that has been decided.
    """

    method: str
    path: str
    query: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: User = ADMIN
    impersonated: User | None = None
    constraint: str = ""

    @classmethod
    def of(
        cls,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | Mapping[str, Any] = b"",
        user: User = ADMIN,
    ) -> Request:
        """From a request target (`/api/v1/pods?limit=5`) as it is on the wire. A mapping as body is sent as JSON."""
        path, _, query = target.partition("?")
        read = {name.lower(): value for name, value in (headers or {}).items()}
        if not isinstance(body, bytes):
            body = orjson.dumps(body)
            read.setdefault("content-type", JSON)
        pairs = parse_qsl(query, keep_blank_values=True) if query else ()
        return cls(method, unquote(path) if "%" in path else path, pairs, read, body, user)

    def parameter(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        for key, value in self.query:
            if key == name:
                return value
        return default

    def parameters(self, name: str) -> list[str]:
        """All values of a query parameter."""
        return [value for key, value in self.query if key == name]


class Response(Struct):
    """A whole answer. Header names are in lower case."""

    status: int
    body: bytes = b""
    headers: list[tuple[str, str]] = field(default_factory=list)

    @property
    def json(self) -> Any:
        """The body, decoded. For tests and in-process callers."""
        return orjson.loads(self.body)


class Stream(Struct, eq=False):
    """An answer that goes on: a watch.

    Iterate over `chunks` to get bytes as they come, whole frames only; it ends when the server ends the stream. Call
    `close` when the client is gone: it ends the iteration and lets go of everything, and may be called again.
    """

    status: int
    headers: list[tuple[str, str]]
    chunks: AsyncIterator[bytes]
    close: Callable[[], None]


HANG_UP: Final = Response(0)
"""No answer at all: the client finds its connection closed, as when a server dies."""


def json_response(status: int, body: Any, headers: Iterable[tuple[str, str]] = ()) -> Response:
    """An answer with a JSON body."""
    return Response(status, orjson.dumps(body) + b"\n", [("content-type", JSON), *headers])
