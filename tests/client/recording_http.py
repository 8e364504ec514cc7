"""A server that is a function: in the place of `HttpClient`, with its error mapping and without its sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from kubewright.client.statuses import error_from
from kubewright.client.transport import Headers, Response


@dataclass
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def json(self) -> Any:
        return None if self.body is None else json.loads(self.body)


def answer(body: Any, status: int = 200, **headers: str) -> Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status, {"content-type": "application/json", **headers}, data)


def failure(code: int, reason: str, message: str = "", **more: Any) -> Response:
    """An error as kube-apiserver words it; `more` goes into the Status."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code}
    return answer({**status, "reason": reason, "message": message, **more}, code)


def not_found(plural: str, name: str, group: str = "") -> Response:
    details = {"name": name, "kind": plural, **({"group": group} if group else {})}
    return failure(404, "NotFound", f'{plural} "{name}" not found', details=details)


PAGE_NOT_FOUND = Response(404, {"content-type": "text/plain"}, b"404 page not found\n")


@dataclass
class RecordingHttp:
    """`handle` answers requests; `streams` are played one after the other: a line, a pause in seconds, or an exception.

    A Response as the first of them is a refusal. A function makes a stream of its request.
    A stream that is played to its end has ended well.
    """

    handle: Callable[[Request], Response] = lambda _: answer({"metadata": {"name": "a", "resourceVersion": "2"}})
    streams: list[Any] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    closed: int = 0
    open_streams: int = 0

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        request = Request(method, target, dict(headers), body)
        self.requests.append(request)
        response = self.handle(request)
        if response.status >= 300:
            raise error_from(response, method=method, target=target)
        return response

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
        self.requests.append(Request(method, target, dict(headers), body))
        self.open_streams += 1
        try:
            steps = self.streams.pop(0) if self.streams else [asyncio.Event()]
            if callable(steps):
                steps = steps(self.requests[-1])
            head = Response(200, {}, b"")
            if steps and isinstance(steps[0], Response):
                raise error_from(steps[0], method=method, target=target)
            if steps and isinstance(steps[0], BaseException):
                raise steps[0]
            await asyncio.sleep(0)
            if on_response is not None:
                on_response(head)
            for step in steps:
                if isinstance(step, BaseException):
                    raise step
                if isinstance(step, asyncio.Event):
                    await step.wait()
                elif isinstance(step, float | int):
                    await asyncio.sleep(step)
                else:
                    on_line(step if isinstance(step, bytes) else json.dumps(step).encode())
            return head
        finally:
            self.open_streams -= 1

    async def close(self) -> None:
        self.closed += 1
