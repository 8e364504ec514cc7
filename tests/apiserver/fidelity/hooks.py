"""Webhooks that cases call: what they answer is a step of the case, and what they were asked can be recorded.

Owns the answers, whoever serves them: the recorder over HTTPS, the embedded server by functions of its process. A hook
is a path, `/NAMESPACE/NAME`, so that cases do not see each other's.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from kubewright.client.transport import ConnectRefused, Headers, Response
from kubewright.httpd import Address, Answer, HttpServer, Request
from kubewright.testing.certs import Authority

from .cases import overlaid

EMBEDDED = "https://hooks.example.com"


class Said(NamedTuple):
    """An answer: status, media type, body."""

    status: int
    kind: str
    body: bytes


class Hooks:
    """The webhooks of all cases of a run. `url` and `ca` (base64) are for configurations."""

    def __init__(self, url: str = EMBEDDED, ca: str = "") -> None:
        self.url, self.ca = url, ca
        self._answers: dict[str, Mapping[str, Any]] = {}
        self._asked: dict[str, list[Any]] = {}

    def set(self, path: str, answer: Mapping[str, Any]) -> None:
        """Let the hook at a path answer so from now on."""
        self._answers[path] = answer

    def asked(self, path: str) -> list[Any]:
        """The requests that the hook was asked, in order, but for their uids."""
        return self._asked.get(path, [])

    async def answer(self, path: str, review: Any) -> Said:
        """Answer a review."""
        request = review["request"]
        asked = {name: each for name, each in request.items() if name != "uid"}
        # Who the administrator is, and by which certificate, is no part of what is compared.
        asked["userInfo"] = {"groups": request["userInfo"].get("groups")}
        self._asked.setdefault(path, []).append(asked)
        spec = self._answers.get(path, {})
        if "seconds" in spec:
            await asyncio.sleep(spec["seconds"])
        if "status" in spec or "text" in spec:
            return Said(spec.get("status", 200), spec.get("kind", "text/plain"), str(spec.get("text", "")).encode())
        response: Any = {"uid": request["uid"], "allowed": True}
        if "patch" in spec:
            patch = base64.b64encode(json.dumps(spec["patch"]).encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": patch}
        response = overlaid(response, spec.get("response", {}))
        made = {"kind": "AdmissionReview", "apiVersion": review["apiVersion"], "response": response}
        return Said(200, "application/json", json.dumps(overlaid(made, spec.get("review", {}))).encode())


class Served:
    """Hooks over HTTPS, on a port of 127.0.0.1."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self._server: HttpServer | None = None

    async def start(self) -> Hooks:
        """Listen, and say where."""
        authority = Authority.create("hooks")
        pair = authority.serving("hooks", ["localhost"], ["127.0.0.1"])
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with TemporaryDirectory() as name:
            certificate, key = Path(name) / "crt", Path(name) / "key"
            certificate.write_bytes(pair.certificate)
            key.write_bytes(pair.key)
            tls.load_cert_chain(certificate, key)
        self._server = HttpServer(self._handle, Address("127.0.0.1", 0), name="hooks", tls=tls)
        await self._server.start()
        self.hooks.url = f"https://127.0.0.1:{self._server.port}"
        self.hooks.ca = base64.b64encode(authority.pair.certificate).decode()
        return self.hooks

    async def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            await self._server.close()

    async def _handle(self, request: Request) -> Answer:
        said = await self.hooks.answer(request.path, json.loads(request.body))
        return Answer(said.status, said.body, said.kind)


class Connected:
    """Connections of an embedded server: to the hooks, and to nobody else."""

    def __init__(self, hooks: Hooks, base: str) -> None:
        self._hooks, self._base = hooks, base

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        """See Transport.request."""
        if self._base != self._hooks.url:
            raise ConnectRefused(self._base.removeprefix("https://"), "connect", "connection refused")
        said = await self._hooks.answer(target.partition("?")[0], json.loads(body or b"null"))
        return Response(said.status, {"content-type": said.kind}, said.body)

    async def stream(self, *_: Any, **__: Any) -> Response:
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is open."""
