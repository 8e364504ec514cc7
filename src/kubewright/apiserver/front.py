"""The server behind HTTP: between the bytes of `kubewright.httpd` and the values of `handle`.

Owns what only HTTP has: who is at the other end, compression, refusals of what is no request, headers that every answer
has. It decides nothing about resources.
"""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote

from kubewright import httpd

from .access.authentication import Authentication
from .errors import StatusError, bad_request, internal, request_too_large
from .request import HANG_UP, JSON, Request, Response, Stream
from .server import ApiServer, error_response

__all__ = ["FRONT_LIMITS", "HttpFront"]

FRONT_LIMITS: Final = httpd.Limits(
    max_head_bytes=1024 * 1024,
    max_body_bytes=3 * 1024 * 1024,
    max_connections=8192,
    idle_seconds=90.0,
)
"""kube-apiserver's: 1 MiB of head (Go), 3 MiB of body, 90 s idle; connections are bounded by open files there."""

_COMPRESSED_FROM_BYTES: Final = 128 * 1024
_GZIP_LEVEL: Final = 1
_NO_CACHE: Final = ("cache-control", "no-cache, private")


class HttpFront:
    """Serves an `ApiServer` over HTTP.

    Expected flow: make it, `start`, `close`. The server itself is not closed: it may have other fronts.

    Args:
        address: where; port 0 for any that is free, `port` has it after `start`.
        authentication: who is who.
        tls: None for plain HTTP, which is for tests on one machine.
    """

    def __init__(
        self,
        server: ApiServer,
        authentication: Authentication,
        address: httpd.Address,
        *,
        name: str = "--port",
        tls: ssl.SSLContext | None = None,
        limits: httpd.Limits = FRONT_LIMITS,
    ) -> None:
        self._server, self._authentication = server, authentication
        self._http = httpd.HttpServer(self._handle, address, name=name, tls=tls, limits=limits, refuse=_refused)

    @property
    def port(self) -> int:
        return self._http.port

    async def start(self) -> None:
        """Listen. Raises httpd.BindError."""
        await self._http.start()

    async def close(self, within_seconds: float = 1.0) -> None:
        """End all streams and connections."""
        await self._http.close(within_seconds)

    async def _handle(self, asked: httpd.Request) -> httpd.Answer | httpd.Streaming:
        try:
            user = self._authentication.user(asked.headers, asked.certificate)
        except StatusError as error:
            return _answer(asked, error_response(error))
        path = asked.path
        request = Request(
            asked.method,
            unquote(path) if "%" in path else path,
            parse_qsl(asked.query, keep_blank_values=True) if asked.query else (),
            asked.headers,
            asked.body,
            user,
        )
        found = await self._server.handle(request)
        if found.status == HANG_UP.status:
            raise httpd.Dropped
        if isinstance(found, Stream):
            content_type, headers = _split(found.headers)
            return httpd.Streaming(found.status, found.chunks, found.close, content_type, headers)
        return _answer(asked, found)


def _answer(asked: httpd.Request, found: Response) -> httpd.Answer:
    body = found.body
    content_type, headers = _split(found.headers)
    if len(body) > _COMPRESSED_FROM_BYTES and _takes_gzip(asked.headers):
        body = gzip.compress(body, _GZIP_LEVEL, mtime=0)
        headers += [("content-encoding", "gzip"), ("vary", "Accept-Encoding")]
    return httpd.Answer(found.status, body, content_type, headers)


def _takes_gzip(headers: Mapping[str, str]) -> bool:
    accepted = headers.get("accept-encoding", "")
    return "gzip" in accepted and "gzip;q=0" not in accepted.replace(" ", "")


def _split(given: list[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    """The content type, and the other headers with those that every answer has."""
    content_type, headers, cached = JSON, [], False
    for pair in given:
        if pair[0] == "content-type":
            content_type = pair[1]
        elif pair[0] != "x-content-type-options":
            headers.append(pair)
            cached = cached or pair[0] == "cache-control"
    if not cached:
        headers.append(_NO_CACHE)
    return content_type, headers


def _refused(status: int, why: str) -> httpd.Answer:
    """What is no request, as a Status."""
    if status == 413:
        error = request_too_large(FRONT_LIMITS.max_body_bytes)
    elif status >= 500:
        error = internal(why)
    else:
        error = bad_request(why)
        error.code = status
    response = error_response(error)
    return httpd.Answer(response.status, response.body, JSON, [_NO_CACHE])
