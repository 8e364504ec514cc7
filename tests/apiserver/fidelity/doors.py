"""The two servers behind one door: the real one over HTTPS, the embedded one in process.

Owns how a request is put and its answer taken; knows no case. An answer is bytes; a stream gives lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kubewright.client.http1 import Http1Transport
from kubewright.client.transport import Limits, Response, TransportError
from kubewright.testing.access import ClusterAccess

from .hooks import Hooks, Served

_SECONDS = 20.0
_AGAIN_SECONDS = 0.1
_LINE_SECONDS = 8.0
_POLICY_SECONDS = 3.0
"""Policies are read again every second."""
_INFORMER_SECONDS = 0.75
_READ_BY_ADMISSION = (
    *("limitranges", "resourcequotas", "priorityclasses", "runtimeclasses", "storageclasses", "ingressclasses"),
    "serviceaccounts",
)


Headers = Mapping[str, str | list[str]]
"""By name; a list for one that is repeated. `Authorization` says who asks: the administrator without it."""

NOBODY = "nobody"
"""As `Authorization`: without any credentials."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers with lower-case names (repeated ones joined by ", "), body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Lines(Protocol):
    """An open stream."""

    async def line(self) -> bytes | None:
        """Wait for the next line; None at the end. Raises TimeoutError after some seconds."""
        ...

    async def close(self) -> None: ...


class Door(Protocol):
    """A server; `patience_seconds` is how long what it does on its own may take it."""

    patience_seconds: float
    hooks: Hooks

    async def ask(self, method: str, target: str, headers: Headers, body: bytes | None) -> Answer: ...

    async def open(self, method: str, target: str, headers: Headers) -> tuple[Answer, Lines | None]:
        """Ask for a stream. It is None, and the answer has a body, if the server refused."""
        ...

    async def close(self) -> None: ...


class RealDoor:
    """A kube-apiserver, as its administrator."""

    patience_seconds = 10.0

    def __init__(self, access: ClusterAccess) -> None:
        tls = ssl.create_default_context(cadata=access.ca)
        tls.load_cert_chain(access.pki / "admin.crt", access.pki / "admin.key")
        self._transport = Http1Transport(access.url, tls=tls, limits=Limits(max_connections=24))
        plain = ssl.create_default_context(cadata=access.ca)
        self._without_certificate = Http1Transport(access.url, tls=plain, limits=Limits(max_connections=8))
        self._served = Served()
        self.hooks = self._served.hooks

    async def start(self) -> None:
        """Serve the webhooks of cases."""
        await self._served.start()

    def _by(self, headers: Headers) -> tuple[Http1Transport, tuple[tuple[str, str], ...]]:
        """How to ask: a certificate would win over a token."""
        found = self._without_certificate if "Authorization" in headers else self._transport
        pairs = [
            (name, each) for name, value in headers.items() for each in ([value] if isinstance(value, str) else value)
        ]
        return found, tuple(pair for pair in pairs if pair != ("Authorization", NOBODY))

    async def ask(self, method: str, target: str, headers: Headers, body: bytes | None) -> Answer:
        transport, pairs = self._by(headers)
        while True:
            answer = await transport.request(method, target, headers=pairs, body=body, timeout_seconds=_SECONDS)
            if answer.status != 429 or b"storage is (re)initializing" not in answer.body:
                if method not in ("GET", "DELETE") and answer.status < 300 and "dryRun" not in target:
                    await _until_known(target)
                return Answer(answer.status, answer.headers, answer.body)
            # The collection of a definition that was just changed; when that is, is chance.
            await asyncio.sleep(_AGAIN_SECONDS)

    async def open(self, method: str, target: str, headers: Headers) -> tuple[Answer, Lines | None]:
        lines = _RealLines(*self._by(headers), method, target)
        return await lines.opened()

    async def close(self) -> None:
        await self._transport.close()
        await self._without_certificate.close()
        await self._served.close()


async def _until_known(target: str) -> None:
    """Wait until admission knows of what was written; nothing tells when."""
    steps = target.partition("?")[0].split("/")
    if "admissionregistration.k8s.io" in steps:
        await asyncio.sleep(_POLICY_SECONDS)
    elif "namespaces" in steps[-2:] or any(each in steps for each in _READ_BY_ADMISSION):
        await asyncio.sleep(_INFORMER_SECONDS)


@dataclass
class _RealLines:
    transport: Http1Transport
    headers: tuple[tuple[str, str], ...]
    method: str
    target: str
    _queue: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    _task: asyncio.Task[None] | None = None

    async def opened(self) -> tuple[Answer, Lines | None]:
        head: asyncio.Future[tuple[Response, bool]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(head))
        answer, is_open = await asyncio.wait_for(head, _SECONDS)
        return Answer(answer.status, answer.headers, answer.body), self if is_open else None

    async def line(self) -> bytes | None:
        return await asyncio.wait_for(self._queue.get(), _LINE_SECONDS)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, head: asyncio.Future[tuple[Response, bool]]) -> None:
        def opened(response: Response) -> None:
            head.set_result((response, True))

        try:
            answer = await self.transport.stream(
                self.method,
                self.target,
                headers=self.headers,
                on_line=self._queue.put_nowait,
                on_response=opened,
            )
            if not head.done():
                head.set_result((answer, False))
        except TransportError as error:
            if not head.done():
                head.set_exception(error)
        self._queue.put_nowait(None)
