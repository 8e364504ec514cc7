"""What a person at a shell does in the demo: with kubectl where there is one, and by requests of our own where not.

Both print what they do and what came of it; without kubectl the columns are the server's all the same (a Table).
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import yaml

from kubewright import Client
from kubewright.testing.binaries import find_binaries
from kubewright.testing.errors import BinariesNotFound
from kubewright.testing.programs import KUBECTL

__all__ = ["DemoFailed", "Hands", "hands_for", "say"]

_STARTED = time.monotonic()
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_MERGE = (("content-type", "application/merge-patch+json"),)
_APPLY = (("content-type", "application/apply-patch+yaml"),)
_PATHS = {
    "redisclusters": "apis/cache.example.com/v1alpha1",
    "statefulsets": "apis/apps/v1",
    "deployments": "apis/apps/v1",
}
"""Where a resource is served; all others are of the core."""


class DemoFailed(Exception):
    """A step did not happen."""


def say(text: str) -> None:
    """Print a line with the seconds since the start."""
    print(f"[{time.monotonic() - _STARTED:5.1f}s] {text}", flush=True)


class Hands(Protocol):
    """Someone who does things to the cluster."""

    is_patient: bool
    """Whether what follows from a deletion takes its time."""

    async def apply(self, file: Path) -> None: ...
    async def get(self, *resources: str, labels: str = "") -> None: ...
    async def scale(self, resource: str, name: str, replicas: int) -> None: ...
    async def delete(self, resource: str, name: str) -> None: ...


def hands_for(client: Client, kubeconfig: Path, *, is_patient: bool) -> Hands:
    """Those with kubectl if there is one on this machine."""
    program = _installed_kubectl()
    if program is not None:
        return _WithKubectl(program, kubeconfig, is_patient)
    say("there is no kubectl here: requests do what it would")
    return _WithRequests(client, is_patient)


def _installed_kubectl() -> str | None:
    try:
        return str(find_binaries([KUBECTL], env={**os.environ, "ENVTEST_INSTALLED_ONLY": "true"})[KUBECTL])
    except BinariesNotFound:
        return shutil.which(KUBECTL)


class _WithKubectl:
    def __init__(self, program: str, kubeconfig: Path, is_patient: bool) -> None:
        self._program, self._kubeconfig, self.is_patient = program, kubeconfig, is_patient

    async def apply(self, file: Path) -> None:
        await self._run("apply", "-f", str(file))

    async def get(self, *resources: str, labels: str = "") -> None:
        await self._run("get", ",".join(resources), *(["-l", labels] if labels else []))

    async def scale(self, resource: str, name: str, replicas: int) -> None:
        await self._run("scale", resource, name, f"--replicas={replicas}")

    async def delete(self, resource: str, name: str) -> None:
        await self._run("delete", resource, name)

    async def _run(self, *words: str) -> None:
        say(f"$ kubectl {' '.join(words)}")
        process = await asyncio.create_subprocess_exec(
            self._program,
            *words,
            env={
                **os.environ,
                "KUBECONFIG": str(self._kubeconfig),
                "KUBECACHEDIR": str(self._kubeconfig.parent / "cache"),
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = (await process.communicate())[0].decode()
        _show(output.splitlines())
        if process.returncode:
            raise DemoFailed(f"kubectl {words[0]} failed: {output.strip()}")


class _WithRequests:
    def __init__(self, client: Client, is_patient: bool) -> None:
        self._client, self.is_patient = client, is_patient

    async def apply(self, file: Path) -> None:
        obj = yaml.safe_load(await asyncio.to_thread(file.read_text))
        kind, name = obj["kind"], obj["metadata"]["name"]
        query = "?fieldManager=demo"
        await self._request("PATCH", _path(f"{kind.lower()}s", name) + query, _APPLY, json.dumps(obj).encode())

    async def get(self, *resources: str, labels: str = "") -> None:
        for resource in resources:
            query = f"?labelSelector={labels}" if labels else ""
            _show(_lines(await self._request("GET", _path(resource) + query, (("accept", _TABLE),))))

    async def scale(self, resource: str, name: str, replicas: int) -> None:
        body = json.dumps({"spec": {"replicas": replicas}}).encode()
        await self._request("PATCH", f"{_path(resource, name)}/scale", _MERGE, body)

    async def delete(self, resource: str, name: str) -> None:
        await self._request("DELETE", _path(resource, name))

    async def _request(
        self, method: str, path: str, headers: Sequence[tuple[str, str]] = (), body: bytes = b""
    ) -> dict[str, Any]:
        say(f"> {method} {path}")
        answer = await self._client.http.request(method, path, headers=tuple(headers), body=body)
        found: dict[str, Any] = json.loads(answer.body)
        return found


def _path(resource: str, name: str = "") -> str:
    where = f"/{_PATHS.get(resource, 'api/v1')}/namespaces/default/{resource}"
    return f"{where}/{name}" if name else where


def _lines(table: dict[str, Any]) -> list[str]:
    """A Table as kubectl prints it."""
    shown = [each["name"].upper() for each in table["columnDefinitions"] if each.get("priority", 0) == 0]
    rows = [shown, *([str(cell) for cell in row["cells"][: len(shown)]] for row in table["rows"])]
    widths = [max(len(row[place]) for row in rows) for place in range(len(shown))]
    return ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _show(lines: Sequence[str]) -> None:
    print("".join(f"         {line}\n" for line in lines), end="", flush=True)
