"""Calls of webhooks: of conversion and of admission.

`HttpWebhooks` posts a review to where a `clientConfig` leads and gives the answer. A service is looked up by `resolve`,
as nothing here has cluster addresses; its certificate is that of its name in the cluster. For tests, a URL can be
answered by a function of the same process (`handlers`): the review goes to it as JSON and comes back as JSON, so that
it sees what a server over HTTPS would see. The URL of a service is `https://NAME.NAMESPACE.svc/PATH`.

Guarantees: W1 a call ends by `timeout_seconds`. W2 what is wrong with a webhook is a `WebhookFailed`, whose text says
it in the words of a Go client. Cancellation: a cancelled call has closed its connection.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from kubewright.client.http1 import Http1Transport
from kubewright.client.transport import ConnectRefused, RequestTimeout, Response, Transport, TransportError
from kubewright.client.trust import load_authorities, new_client_context
from kubewright.schema.structural.gotext import quoted

from .crds.conversion import WebhookFailed
from .registry.decoding import GO_HEAD, called_in_go

__all__ = ["Handler", "HttpWebhooks", "Resolve"]

_log = logging.getLogger("kubewright.apiserver")

Handler = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Answers a review."""

Resolve = Callable[[str, str, int], str]
"""`(namespace, name, port)` of a service to `https://host:port`. Raises LookupError: there is none."""

_CONVERSION_SECONDS: Final = 30.0
_HEADERS: Final = (("content-type", "application/json"), ("accept", "application/json, */*"))


Connect = Callable[[str, bytes, str | None], Transport]
"""`(URL, authorities as PEM, name that the certificate must hold)` to connections. Raises WebhookFailed."""


def _connect(base: str, bundle: bytes, name: str | None) -> Transport:
    if not base.startswith("https:"):
        return Http1Transport(base)
    return Http1Transport(base, tls=_trust(bundle), tls_name=name)


def _no_services(namespace: str, name: str, port: int) -> str:
    raise LookupError(f'service "{name}" not found')


class HttpWebhooks:
    """Webhooks over HTTPS, or of this process.

    Args:
        handlers: functions by URL.
        resolve: where services are; without it there are none.
        transport: makes the connections to a server.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler] | None = None,
        *,
        resolve: Resolve = _no_services,
        transport: Connect = _connect,
    ) -> None:
        self.handlers: dict[str, Handler] = dict(handlers or {})
        self._resolve, self._connect = resolve, transport
        self._transports: dict[tuple[str, str | None, bytes], Transport] = {}

    async def review(self, client_config: Mapping[str, Any], review: dict[str, Any], name: str) -> dict[str, Any]:
        """Send a ConversionReview. Raises WebhookFailed."""
        return await self.post(client_config, review, _CONVERSION_SECONDS)

    async def post(
        self, client_config: Mapping[str, Any], review: dict[str, Any], timeout_seconds: float
    ) -> dict[str, Any]:
        """Post a review, give the answer. Raises WebhookFailed."""
        named = _named(client_config)
        shown = f'Post "{named}?timeout={timeout_seconds:g}s"'
        body = orjson.dumps(review)
        try:
            async with asyncio.timeout(timeout_seconds):
                handler = self._handler(named)
                if handler is not None:
                    answer = await _answered(handler, named, body)
                else:
                    url, name = self._resolved(client_config, named)
                    answer = await self._send(url, name, _bundle(client_config), body, timeout_seconds)
        except LookupError as error:
            raise WebhookFailed(f"{shown}: {error.args[0] if error.args else error}") from None
        except (TimeoutError, RequestTimeout):
            raise WebhookFailed(f"{shown}: context deadline exceeded") from None
        except ConnectRefused as error:
            raise WebhookFailed(f"{shown}: dial tcp {error.server}: connect: connection refused") from None
        except TransportError as error:
            raise WebhookFailed(f"{shown}: {error.cause}") from None
        try:
            read = orjson.loads(answer)
        except orjson.JSONDecodeError:
            read = ""  # a Go client takes what is no JSON for YAML, which mostly is a text
        if not isinstance(read, dict):
            said = f"json: cannot unmarshal {called_in_go(read)} into {GO_HEAD}"
            raise WebhookFailed(f"couldn't get version/kind; json parse error: {said}")
        return read

    async def close(self) -> None:
        """Close all connections."""
        transports, self._transports = list(self._transports.values()), {}
        for each in transports:
            await each.close()

    def _handler(self, named: str) -> Handler | None:
        """The function that answers a URL, with and without what goes without saying."""
        found = self.handlers
        if not found:
            return None
        for name in (named, named.replace(".svc:443/", ".svc/")):
            for each in (name, name.removesuffix("/")):
                if each in found:
                    return found[each]
        return None

    def _resolved(self, config: Mapping[str, Any], named: str) -> tuple[str, str | None]:
        """Where to send to, and the name that the certificate must hold, if it is not the host. Raises LookupError."""
        service = config.get("service")
        if not service:
            return named, None
        name, namespace = str(service.get("name", "")), str(service.get("namespace", ""))
        base = self._resolve(namespace, name, int(service.get("port") or 443))
        return base.rstrip("/") + urlsplit(named).path, f"{name}.{namespace}.svc"

    async def _send(self, url: str, name: str | None, bundle: bytes, body: bytes, timeout_seconds: float) -> bytes:
        parts = urlsplit(url)
        base = f"{parts.scheme}://{parts.netloc}"
        transport = self._transports.get((base, name, bundle))
        if transport is None:
            transport = self._transports[base, name, bundle] = self._connect(base, bundle, name)
        target = f"{parts.path or '/'}?timeout={timeout_seconds:g}s"
        answer = await transport.request("POST", target, headers=_HEADERS, body=body, timeout_seconds=timeout_seconds)
        if not 200 <= answer.status < 300:
            raise WebhookFailed(_refusal(answer))
        if not answer.body:
            kind = answer.headers.get("content-type", "")
            raise WebhookFailed(f"0-length response with status code: {answer.status} and content type: {kind}")
        return answer.body


def _named(config: Mapping[str, Any]) -> str:
    """The URL of a webhook; that of a service has the name that it has in a cluster."""
    if url := config.get("url"):
        return str(url) if urlsplit(str(url)).path else f"{url}/"
    service = config.get("service") or {}
    path = str(service.get("path") or "")
    host = f"{service.get('name', '')}.{service.get('namespace', '')}.svc:{service.get('port') or 443}"
    return f"https://{host}{path if path.startswith('/') else f'/{path}'}"


async def _answered(handler: Handler, named: str, body: bytes) -> bytes:
    """What a function of this process answers. What it raises is a server that failed."""
    try:
        return orjson.dumps(await handler(orjson.loads(body)))
    except Exception:
        _log.exception("the webhook %s failed", named)
        raise WebhookFailed(
            f"an error on the server ({quoted('unknown')}) has prevented the request from succeeding"
        ) from None


def _bundle(config: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(config.get("caBundle") or b"").strip()
    except (binascii.Error, ValueError):
        raise WebhookFailed("the caBundle is no base64") from None


def _trust(bundle: bytes) -> ssl.SSLContext:
    context = new_client_context()
    try:
        load_authorities(context, bundle or None)
    except (ssl.SSLError, ValueError):
        raise WebhookFailed("unable to load root certificates: unable to parse bytes as PEM block") from None
    return context


_SAID: Final = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}
"""What a Go client makes of a status without a Status."""


def _refusal(answer: Response) -> str:
    """What a Go client says of an answer that is no success."""
    text = "unknown"
    if answer.headers.get("content-type", "").startswith("text/"):
        text = answer.body.decode(errors="replace").strip()
    try:
        read = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        read = None
    if isinstance(read, dict) and read.get("kind") == "Status" and read.get("message"):
        return str(read["message"])
    if answer.status == 403:
        return text
    if answer.status in _SAID:
        return _SAID[answer.status]
    if answer.status >= 500:
        return f"an error on the server ({quoted(text)}) has prevented the request from succeeding"
    return f"the server responded with the status code {answer.status} but did not return more information"
