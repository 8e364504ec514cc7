"""Calls of webhooks: conversion now, admission by the same way.

`HttpWebhooks` posts a review to where a `clientConfig` leads and gives the answer. A service is looked up by `resolve`,
as nothing here has cluster addresses. For tests, a URL can be answered by a function of the same process
(`handlers`): the review goes to it as JSON and comes back as JSON, so that it sees what a server over HTTPS would see.

Guarantees: W1 a call ends by `timeout_seconds`. W2 what is wrong with a webhook is a `WebhookFailed`, whose text says
it in the words of a Go client. Cancellation: a cancelled call has closed its connection.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from kubewright.client.http1 import Http1Transport
from kubewright.client.transport import ConnectRefused, RequestTimeout, TransportError

from .crds.conversion import WebhookFailed

__all__ = ["Handler", "HttpWebhooks", "Resolve"]

Handler = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Answers a review."""

Resolve = Callable[[str, str, int], str]
"""`(namespace, name, port)` of a service to `https://host:port`. Raises LookupError: there is none."""

_CONVERSION_SECONDS: Final = 30.0
_HEADERS: Final = (("content-type", "application/json"), ("accept", "application/json, */*"))


def _no_services(namespace: str, name: str, port: int) -> str:
    raise LookupError(f'service "{name}" not found')


class HttpWebhooks:
    """Webhooks over HTTPS, or of this process.

    Args:
        handlers: functions by URL.
        resolve: where services are; without it there are none.
    """

    def __init__(self, handlers: Mapping[str, Handler] | None = None, *, resolve: Resolve = _no_services) -> None:
        self.handlers: dict[str, Handler] = dict(handlers or {})
        self._resolve = resolve
        self._transports: dict[tuple[str, bytes], Http1Transport] = {}

    async def review(self, client_config: Mapping[str, Any], review: dict[str, Any], name: str) -> dict[str, Any]:
        """Send a ConversionReview. Raises WebhookFailed."""
        return await self.post(client_config, review, _CONVERSION_SECONDS)

    async def post(
        self, client_config: Mapping[str, Any], review: dict[str, Any], timeout_seconds: float
    ) -> dict[str, Any]:
        """Post a review, give the answer. Raises WebhookFailed."""
        url = self._url(client_config)
        shown = f'Post "{url}?timeout={timeout_seconds:g}s"'
        body = orjson.dumps(review)
        try:
            async with asyncio.timeout(timeout_seconds):
                handler = self.handlers.get(url)
                if handler is not None:
                    answer = orjson.dumps(await handler(orjson.loads(body)))
                else:
                    answer = await self._send(url, _bundle(client_config), body, timeout_seconds)
        except (TimeoutError, RequestTimeout):
            raise WebhookFailed(f"{shown}: context deadline exceeded") from None
        except ConnectRefused as error:
            raise WebhookFailed(f"{shown}: dial tcp {error.server}: connect: connection refused") from None
        except TransportError as error:
            raise WebhookFailed(f"{shown}: {error.cause}") from None
        try:
            read = orjson.loads(answer)
        except orjson.JSONDecodeError:
            raise WebhookFailed("couldn't get version/kind; json parse error: the answer is no JSON") from None
        if not isinstance(read, dict):
            raise WebhookFailed("the answer is no object")
        return read

    async def close(self) -> None:
        """Close all connections."""
        transports, self._transports = list(self._transports.values()), {}
        for each in transports:
            await each.close()

    def _url(self, config: Mapping[str, Any]) -> str:
        if url := config.get("url"):
            return str(url)
        service = config.get("service") or {}
        name, namespace = str(service.get("name", "")), str(service.get("namespace", ""))
        try:
            base = self._resolve(namespace, name, int(service.get("port") or 443))
        except LookupError as error:
            raise WebhookFailed(str(error.args[0] if error.args else error)) from None
        path = str(service.get("path") or "")
        return base.rstrip("/") + (path if path.startswith("/") or not path else f"/{path}")

    async def _send(self, url: str, bundle: bytes, body: bytes, timeout_seconds: float) -> bytes:
        parts = urlsplit(url)
        base = f"{parts.scheme}://{parts.netloc}"
        transport = self._transports.get((base, bundle))
        if transport is None:
            tls = _trust(bundle) if parts.scheme == "https" else None
            transport = self._transports[base, bundle] = Http1Transport(base, tls=tls)
        target = f"{parts.path or '/'}?timeout={timeout_seconds:g}s"
        answer = await transport.request("POST", target, headers=_HEADERS, body=body, timeout_seconds=timeout_seconds)
        if not 200 <= answer.status < 300:
            raise WebhookFailed(_refusal(answer.status, answer.body))
        return answer.body


def _bundle(config: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(config.get("caBundle") or b"").strip()
    except (binascii.Error, ValueError):
        raise WebhookFailed("the caBundle is no base64") from None


def _trust(bundle: bytes) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cadata=bundle.decode() if bundle else None)
    except (ssl.SSLError, ValueError):
        raise WebhookFailed("unable to load root certificates: unable to parse bytes as PEM block") from None


def _refusal(status: int, body: bytes) -> str:
    try:
        message = orjson.loads(body).get("message", "")
    except (orjson.JSONDecodeError, AttributeError):
        message = ""
    if message:
        return str(message)
    if status == 404:
        return "the server could not find the requested resource"
    text = body.decode(errors="replace").strip()
    return f'an error on the server ("{text or "unknown"}") has prevented the request from succeeding'
