"""Leases in memory behind the Transport interface, for electors in threads of their own.

One store, any number of transports (`LeaseApi.transport`), each for the event loop that uses it. A transport can be
`cut`: its requests then end by their deadline, as those into a network that swallows them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import orjson

from kubewright.client import RequestTimeout, Response
from kubewright.client.transport import Headers

_JSON = {"content-type": "application/json"}


def _status(code: int, reason: str) -> Response:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "code": code,
        "message": reason,
    }
    status["details"] = {"name": "lease", "group": "coordination.k8s.io", "kind": "leases"}
    return Response(code, _JSON, orjson.dumps(status))


class LeaseApi:
    """The store. `history` has every record that was written, as (holder, transitions)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._leases: dict[str, dict[str, Any]] = {}
        self._version = 0
        self.history: list[tuple[str, int]] = []
        self.user_agents: set[str] = set()
        self.requests = 0
        self.refuse: Callable[[str], Response | None] = lambda method: None

    def transport(self) -> LeaseTransport:
        return LeaseTransport(self)

    @property
    def holder(self) -> str | None:
        """Who holds the only Lease."""
        with self._lock:
            return next((lease["spec"]["holderIdentity"] for lease in self._leases.values()), None)

    def handle(self, method: str, target: str, headers: Headers, body: bytes | None) -> Response:
        with self._lock:
            self.requests += 1
            self.user_agents |= {value for name, value in headers if name.lower() == "user-agent"}
            if (refused := self.refuse(method)) is not None:
                return refused
            if method == "POST":
                lease = orjson.loads(body or b"")
                path = f"{target}/{lease['metadata']['name']}"
                return _status(409, "AlreadyExists") if path in self._leases else self._store(path, lease)
            found = self._leases.get(target)
            if found is None:
                return _status(404, "NotFound")
            if method == "GET":
                return Response(200, _JSON, orjson.dumps(found))
            lease = orjson.loads(body or b"")
            if lease["metadata"]["resourceVersion"] != found["metadata"]["resourceVersion"]:
                return _status(409, "Conflict")
            return self._store(target, lease)

    def _store(self, path: str, lease: dict[str, Any]) -> Response:
        self._version += 1
        lease["metadata"]["resourceVersion"] = str(self._version)
        self._leases[path] = lease
        self.history.append((lease["spec"]["holderIdentity"], lease["spec"]["leaseTransitions"]))
        return Response(200, _JSON, orjson.dumps(lease))


class LeaseTransport:
    """A Transport to a LeaseApi."""

    def __init__(self, api: LeaseApi) -> None:
        self._api = api
        self.is_cut = False

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        if self.is_cut:
            await asyncio.sleep(timeout_seconds or 30.0)
            raise RequestTimeout("fake.example", "response", f"{method} {target}: no complete answer")
        await asyncio.sleep(0)
        return self._api.handle(method, target, headers, body)

    async def stream(self, method: str, target: str, **_: Any) -> Response:
        raise AssertionError(f"{method} {target}: nobody watches Leases")

    async def close(self) -> None:
        pass
