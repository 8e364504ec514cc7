"""Requests with credentials, retries and typed errors.

Owns what every request to an API server has in common whatever it asks for: who asks, what is tried again, and how an
answer becomes an error. It does not know kinds, paths or bodies (the verbs do), nor sockets (the transport does).

What is tried again is client-go's rest.Request:

| what happened                                   | methods | wait                                            |
|-------------------------------------------------|---------|-------------------------------------------------|
| 429 or 5xx with Retry-After                     | all     | as the server asks, up to `max_wait_seconds`    |
| connection lost before the answer was complete  | GET     | `lost_seconds`                                  |
| 401, and the token file holds another token now | all     | none, once                                      |

Each is safe: an answer with Retry-After says that the request was not carried out, a GET changes nothing, and who is
not known has done nothing. Everything else is for the caller, who knows what the request means.
"""

from __future__ import annotations

import asyncio
import copy
import random
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from msgspec import Struct

from kubewright.observe.instruments import RequestMetrics

from .auth import Auth
from .config import ClientConfig
from .http1 import Http1Transport
from .statuses import error_from, retry_after_seconds
from .transport import ConnectionLost, Headers, Response, TLSError, Transport, TransportError

__all__ = ["HttpClient", "RetryPolicy"]


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """How often and how long to try again.

    `max_tries` is client-go's number of retries. A wait is at least as long as the server asks and up to `jitter` times
    longer, so that those who were turned away together do not come back together; a server that asks for more than
    `max_wait_seconds` is not waited for. `budget_seconds` bounds the waits of one call together. `max_tries=0` switches
    it off.
    """

    max_tries: int = 10
    max_wait_seconds: float = 30.0
    budget_seconds: float = 60.0
    lost_seconds: float = 1.0
    jitter: float = 0.1


class HttpClient:
    """Requests to the server of a configuration.

    Expected flow: `async with HttpClient(config) as http:`, or `close` at the end. Any number of calls at a time.

    Guarantees: G1 a call returns a 2xx answer or raises. G2 a request that may have been carried out is not sent again,
    GETs excepted. G3 the waits of a call are bounded, by `retry`, and by `timeout_seconds` if given.

    Cancellation: as Transport's; a cancelled wait sends nothing more.
    """

    def __init__(
        self,
        config: ClientConfig,
        transport: Transport | None = None,
        *,
        retry: RetryPolicy = RetryPolicy(),
        metrics: RequestMetrics | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        rand: Callable[[], float] = random.random,
    ) -> None:
        """Take a configuration. Without a `transport`, make the default one. `clock` is in seconds and steady.

        `metrics` counts each try, and retries, times and sizes if it is `detailed`; None: nothing is counted.

        Raises ConfigError for certificates that cannot be used.
        """
        self.config = config
        self._transport = transport or Http1Transport(
            config.server,
            tls=config.ssl_context(),
            tls_name=config.tls_server_name,
            gzip=config.gzip,
            on_lookup=metrics.looked_up if metrics is not None and metrics.detailed else None,
        )
        self.metrics = metrics
        self._auth = Auth(config)
        self._prefix = urlsplit(config.server).path.rstrip("/")
        self._retry = retry
        self._clock = clock
        self._sleep = sleep
        self._rand = rand
        self._who: tuple[tuple[str, str], ...] | None = None
        self._common: tuple[tuple[str, str], ...] = ()

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        """Send a request and return the 2xx answer.

        `timeout_seconds` bounds the whole call, retries and their waits included; with None each try has the
        transport's own deadline. Raises ApiError, TransportError, ConfigError (the token file cannot be read), and
        ValueError as Transport.request.
        """
        if self.metrics is None or not self.metrics.detailed:
            return await self._request(method, target, headers, body, timeout_seconds)
        started_at = self._clock()
        size_bytes = None
        try:
            response = await self._request(method, target, headers, body, timeout_seconds)
            size_bytes = len(response.body)
            return response
        finally:
            self.metrics.ended(method, self._clock() - started_at, len(body or b""), size_bytes)

    async def _request(
        self, method: str, target: str, headers: Headers, body: bytes | None, timeout_seconds: float | None
    ) -> Response:
        metrics = self.metrics
        until = None if timeout_seconds is None else self._clock() + timeout_seconds
        tries: _Tries | None = None
        while True:
            try:
                response = await self._transport.request(
                    method,
                    self._prefix + target,
                    headers=self._headers(headers),
                    body=body,
                    timeout_seconds=timeout_seconds,
                )
                if metrics is not None:
                    metrics.answered(method, response.status)
                if 200 <= response.status < 300:
                    return response
                outcome: Response | TransportError = response
            except TransportError as error:
                if metrics is not None:
                    metrics.answered(method, 0)
                outcome = error
            tries = tries or _Tries(self, method, target, until)
            await tries.again_after(outcome)
            if until is not None:
                timeout_seconds = max(until - self._clock(), 0.001)

    async def stream(
        self,
        method: str,
        target: str,
        *,
        on_line: Callable[[bytes], None],
        on_response: Callable[[Response], None] | None = None,
        headers: Headers = (),
        body: bytes | None = None,
        idle_seconds: float | None = None,
    ) -> Response:
        """Send a request and hand over the lines of its 2xx answer, as Transport.stream does.

        Tried again is only what ends before the head of a 2xx answer; after that it raises, as who reads the lines
        knows where to go on. Raises as `request`, and StreamIdle.
        """
        started = False

        def begin(response: Response) -> None:
            nonlocal started
            started = True
            if self.metrics is not None:
                self.metrics.answered(method, response.status)
            if on_response is not None:
                on_response(response)

        tries = _Tries(self, method, target, None)
        while True:
            try:
                response = await self._transport.stream(
                    method,
                    self._prefix + target,
                    on_line=on_line,
                    on_response=begin,
                    headers=self._headers(headers),
                    body=body,
                    idle_seconds=idle_seconds,
                )
                if 200 <= response.status < 300:
                    return response
                if self.metrics is not None:
                    self.metrics.answered(method, response.status)
                outcome: Response | TransportError = response
            except TransportError as error:
                if started:
                    self._explain(error)
                    raise
                if self.metrics is not None:
                    self.metrics.answered(method, 0)
                outcome = error
            await tries.again_after(outcome)

    def observed(self, metrics: RequestMetrics) -> HttpClient:
        """The same, on the same connections, with its requests counted by `metrics`."""
        derived = copy.copy(self)
        derived.metrics = metrics
        return derived

    async def close(self) -> None:
        """End all calls and close all connections. May be called again."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def refresh(self) -> bool:
        """Read the token file again, as the server refused the token; return whether there is another one."""
        return self._auth.refresh(self._clock())

    def _headers(self, headers: Headers) -> tuple[tuple[str, str], ...]:
        who = self._auth.headers(self._clock())
        if who is not self._who:
            self._who = who
            self._common = (("User-Agent", self.config.user_agent), *who)
        return self._common + (headers if type(headers) is tuple else tuple(headers))

    def _explain(self, error: TransportError) -> None:
        error.origin = self.config.source
        if isinstance(error, TLSError) and error.fault == "client":
            error.cause += f" ({self.config.credentials()})"


class _Tries:
    """The account of one call that has not gone well: how often, and how long it may still be tried."""

    __slots__ = ("_client", "_left_seconds", "_method", "_refreshed", "_retries", "_target", "_until")

    def __init__(self, client: HttpClient, method: str, target: str, until: float | None) -> None:
        self._client = client
        self._method = method
        self._target = target
        self._until = until
        self._retries = 0
        self._left_seconds = client._retry.budget_seconds
        self._refreshed = False

    async def again_after(self, outcome: Response | TransportError) -> None:
        """Wait until the next try, or raise the error of this one, if it is the last."""
        client = self._client
        if isinstance(outcome, TransportError):
            is_lost_get = self._method == "GET" and isinstance(outcome, ConnectionLost)
            wait = self._wait(client._retry.lost_seconds) if is_lost_get else None
            if wait is None:
                client._explain(outcome)
                raise outcome
        else:
            wait = self._after_answer(outcome)
            if wait is None:
                raise error_from(
                    outcome, method=self._method, target=self._target, credentials=client.config.credentials()
                )
        if client.metrics is not None:
            client.metrics.retried(self._method, 0 if isinstance(outcome, TransportError) else outcome.status)
        if wait > 0:
            await client._sleep(wait)

    def _after_answer(self, response: Response) -> float | None:
        if response.status == 401 and not self._refreshed:
            self._refreshed = True
            return 0.0 if self._client.refresh() else None
        if response.status == 429 or response.status >= 500:
            asked = retry_after_seconds(response)
            if asked is not None:
                return self._wait(asked)
        return None

    def _wait(self, seconds: float) -> float | None:
        retry = self._client._retry
        if self._retries >= retry.max_tries or seconds > retry.max_wait_seconds:
            return None
        wait = seconds * (1 + retry.jitter * self._client._rand())
        if wait > self._left_seconds or (self._until is not None and self._client._clock() + wait >= self._until):
            return None
        self._retries += 1
        self._left_seconds -= wait
        return wait
