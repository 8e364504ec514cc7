"""The few HTTPS calls this room makes to the API server it has started.

Owns a blocking JSON request with a client certificate, on `http.client` and `ssl`. It refuses to be a Kubernetes
client: no watches, no models, no retries, no discovery. It is here, and not `kubewright.client`, because the room
that judges the client must be able to set the stage without it.

Caveat: an object serves one thread at a time; connections are kept alive and renewed once when the server has closed
an idle one.
"""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kubewright.testing.errors import RequestFailed

_TIMEOUT_SECONDS = 30.0


class Rest:
    """Requests to the API server at `url`, as the owner of the client certificate."""

    def __init__(self, url: str, ca: Path, certificate: Path, key: Path) -> None:
        context = ssl.create_default_context(cafile=str(ca))
        context.load_cert_chain(str(certificate), str(key))
        parts = urlsplit(url)
        self._connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=_TIMEOUT_SECONDS, context=context
        )

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        self._connection.close()

    def status(self, path: str) -> int:
        """Return the HTTP status of a GET, 0 if the server cannot be reached."""
        try:
            return self._exchange("GET", path, None, "application/json")[0]
        except (OSError, http.client.HTTPException):
            return 0

    def get(self, path: str, *, accept: str = "application/json") -> dict[str, Any]:
        """GET an object. Raises RequestFailed unless the answer is 2xx."""
        return self.request("GET", path, accept=accept)

    def request(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, accept: str = "application/json"
    ) -> dict[str, Any]:
        """Send a request and return the decoded answer. Raises RequestFailed unless it is 2xx."""
        data = None if body is None else json.dumps(body).encode()
        try:
            code, answer = self._exchange(method, path, data, accept)
        except (OSError, http.client.HTTPException) as error:
            raise RequestFailed(method, path, 0, str(error) or type(error).__name__) from error
        try:
            decoded = json.loads(answer) if answer else {}
        except ValueError:
            decoded = {"message": answer.decode(errors="replace").strip()}
        if not isinstance(decoded, dict):
            decoded = {"message": str(decoded)}
        if not 200 <= code < 300:
            raise RequestFailed(method, path, code, str(decoded.get("message", "")))
        return decoded

    def _exchange(self, method: str, path: str, data: bytes | None, accept: str) -> tuple[int, bytes]:
        headers = {"Accept": accept}
        if data is not None:
            headers["Content-Type"] = "application/json"
        reused = self._connection.sock is not None
        try:
            return self._send(method, path, data, headers)
        except (http.client.RemoteDisconnected, ConnectionError, ssl.SSLEOFError):
            self._connection.close()
            if not reused:
                raise
            return self._send(method, path, data, headers)
        except BaseException:
            self._connection.close()
            raise

    def _send(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        self._connection.request(method, path, body=data, headers=headers)
        with self._connection.getresponse() as response:
            return response.status, response.read()


def answers(url: str) -> bool:
    """Whether a GET answers 200. The peer is one of our own programs on the loopback: nothing is verified."""
    parts = urlsplit(url)
    # Not urllib: that would send even this through a proxy that the environment names.
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(parts.netloc, timeout=_TIMEOUT_SECONDS, context=context)
    else:
        connection = http.client.HTTPConnection(parts.netloc, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request("GET", parts.path)
        with connection.getresponse() as response:
            return response.status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
