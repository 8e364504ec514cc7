"""The embedded server's door: requests as values, no socket.

One server per case: it costs a few milliseconds, and no case can see another's objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import Any

import orjson

from kubewright.apiserver import Request, Stream
from kubewright.apiserver.assembly import NOT_BY_DEFAULT, new_server
from kubewright.apiserver.errors import StatusError
from kubewright.apiserver.server import ApiServer
from kubewright.apiserver.webhooks import HttpWebhooks

from .doors import NOBODY, Answer, Headers, Lines
from .hooks import Connected, Hooks

_LINE_SECONDS = 10.0


class EmbeddedDoor:
    """An `ApiServer` of its own."""

    patience_seconds = 0.2

    def __init__(
        self, server: ApiServer | None = None, *, plugins: Collection[str] = (), controllers: bool = False
    ) -> None:
        self.hooks = Hooks()
        if server is None:
            webhooks = HttpWebhooks(transport=lambda base, ca, name: Connected(self.hooks, base))
            disabled = [each for each in NOT_BY_DEFAULT if each not in plugins]
            server = new_server(webhooks=webhooks, disabled_plugins=disabled, garbage=controllers)
        self.server = server

    async def ask(self, method: str, target: str, headers: Headers, body: bytes | None) -> Answer:
        answer, stream = await self.open(method, target, headers, body)
        if stream is not None:
            await stream.close()
        return answer

    async def open(
        self, method: str, target: str, headers: Headers, body: bytes | None = None
    ) -> tuple[Answer, Lines | None]:
        sent = {name: value if isinstance(value, str) else ", ".join(value) for name, value in headers.items()}
        request = Request.of(method, target, headers=sent, body=body or b"")
        if (said := sent.pop("Authorization", None)) is not None:
            known = {} if said == NOBODY else {"authorization": said}
            try:
                authentication = self.server.backend.authentication
                assert authentication is not None
                request.user = authentication.user(known)
            except StatusError as error:
                return Answer(error.code, {"content-type": "application/json"}, orjson.dumps(error.status)), None
        answer = await self.server.handle(request)
        if isinstance(answer, Stream):
            return Answer(answer.status, _joined(answer.headers), b""), _EmbeddedLines(answer)
        # That the answer to HEAD goes without its body is the front end's to do.
        return Answer(answer.status, _joined(answer.headers), b"" if method == "HEAD" else answer.body), None

    async def close(self) -> None:
        """Nothing is left to close: streams are the case's."""


class _EmbeddedLines:
    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._chunks: AsyncIterator[bytes] = aiter(stream.chunks)
        self._read = b""

    async def line(self) -> bytes | None:
        while b"\n" not in self._read:
            try:
                self._read += await asyncio.wait_for(anext(self._chunks), _LINE_SECONDS)
            except StopAsyncIteration:
                return None
        line, _, self._read = self._read.partition(b"\n")
        return line

    async def close(self) -> None:
        self._stream.close()


def _joined(headers: Any) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined
