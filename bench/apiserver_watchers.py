"""Does anybody starve on the embedded API server: python -m bench.apiserver_watchers [--watchers 1000] [--seconds 10]

A thousand watchers of one collection, somebody who writes to it ten times a second, somebody who asks for an object all
the time, and the real kube-controller-manager, which makes ReplicaSets and Pods of a hundred Deployments meanwhile. It
says how long after its write an event came, over all watchers, how long a GET took, and when the Pods were there; first
without the watchers, then with them.
"""

from __future__ import annotations

import argparse
import asyncio
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import orjson

from kubewright.client import ApiError, ClientConfig
from kubewright.client.http import HttpClient
from kubewright.testing import certs, components, programs
from kubewright.testing.binaries import find_binaries
from kubewright.testing.files import write_private
from kubewright.testing.ports import reserve_ports

_MAPS = "/api/v1/namespaces/default/configmaps"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
_PODS = "/api/v1/namespaces/default/pods"
_JSON = (("content-type", "application/json"),)
_COUNT, _REPLICAS = 100, 5
_WRITES_PER_SECOND = 10


class Times:
    """Seconds that something took."""

    def __init__(self, watchers: int = 0) -> None:
        self.values: list[float] = []
        self.all_started = asyncio.Event()
        self._missing = watchers
        self._look()

    def start(self) -> None:
        """One more of those who measure is there."""
        self._missing -= 1
        self._look()

    def _look(self) -> None:
        if self._missing <= 0:
            self.all_started.set()

    def __str__(self) -> str:
        found = sorted(self.values) or [0.0]
        at = {name: found[min(int(len(found) * part), len(found) - 1)] for name, part in _PARTS.items()}
        return f"{len(self.values):>7} times, " + ", ".join(f"{name} {at[name] * 1e3:7.1f} ms" for name in _PARTS)


_PARTS = {"median": 0.5, "p99": 0.99, "most": 1.0}


async def _watch(config: ClientConfig, context: ssl.SSLContext, some: asyncio.Semaphore, times: Times) -> None:
    host, _, port = config.server.removeprefix("https://").partition(":")
    async with some:
        reader, writer = await asyncio.open_connection(host, int(port), ssl=context, limit=2**20)
        path = f"{_MAPS}?watch=true&resourceVersion=0&labelSelector=load"
        asked = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {config.token}\r\n\r\n"
        writer.write(asked.encode())
        await reader.readuntil(b"\r\n\r\n")
    times.start()
    try:
        while line := await reader.readline():
            if line.startswith(b'{"type"'):
                written = orjson.loads(line)["object"]["data"]["at"]
                times.values.append(time.time() - float(written))
    finally:
        writer.close()


async def _ask(client: HttpClient, times: Times) -> None:
    while True:
        begun = time.perf_counter()
        await client.request("GET", "/api/v1/namespaces/default")
        times.values.append(time.perf_counter() - begun)
        await asyncio.sleep(0.005)


async def _write(client: HttpClient) -> None:
    number = 0
    while True:
        meta = {"name": f"m{number}", "labels": {"load": "yes"}}
        body = orjson.dumps({"metadata": meta, "data": {"at": str(time.time()), "x": "x" * 1000}})
        await client.request("POST", _MAPS, headers=_JSON, body=body)
        number += 1
        await asyncio.sleep(1 / _WRITES_PER_SECOND)


async def _deploy(client: HttpClient) -> float:
    """Make the Deployments, and wait until all their Pods are there; how long that took."""
    begun = time.perf_counter()
    for number in range(_COUNT):
        labels = {"app": f"d{number}"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"replicas": _REPLICAS, "selector": {"matchLabels": labels}, "template": template}
        body = orjson.dumps({"metadata": {"name": f"d{number}"}, "spec": spec})
        await client.request("POST", _DEPLOYMENTS, headers=_JSON, body=body)
    while True:
        answer = await client.request("GET", f"{_PODS}?limit=1")
        listed = orjson.loads(answer.body)
        count = len(listed["items"]) + listed["metadata"].get("remainingItemCount", 0)
        if count >= _COUNT * _REPLICAS:
            return time.perf_counter() - begun
        await asyncio.sleep(0.1)


@contextmanager
def _server(folder: Path) -> Iterator[ClientConfig]:
    """`kubewright apiserver`, and the controller manager on it."""
    layout = components.Layout(folder, components.Ports(*reserve_ports(6)))
    layout.pki.mkdir()
    command = [sys.executable, "-m", "kubewright", "apiserver", "--kubeconfig", str(layout.kubeconfig)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        server.stdout.readline()
        config = ClientConfig.from_kubeconfig(layout.kubeconfig)
        write_private(layout.pki / "serving-ca.crt", config.ca_data or b"")
        write_private(layout.pki / "sa.key", certs.service_account_keys().key)
        manager = components.controller_manager(find_binaries(programs.PROGRAMS), layout)
        with (
            (folder / "manager.log").open("wb") as log,
            subprocess.Popen(manager.argv, stdout=log, stderr=log) as other,
        ):
            try:
                yield config
            finally:
                other.kill()
                server.kill()


async def _round(config: ClientConfig, watchers: int, seconds: float) -> None:
    async with HttpClient(config) as client:
        await _until_ready(client)
        context, some = ssl.create_default_context(cadata=(config.ca_data or b"").decode()), asyncio.Semaphore(20)
        seen, asked = Times(watchers), Times()
        begun = time.perf_counter()
        tasks = [asyncio.create_task(_watch(config, context, some, seen)) for _ in range(watchers)]
        await seen.all_started.wait()
        connected = time.perf_counter() - begun
        tasks += [asyncio.create_task(_write(client)), asyncio.create_task(_ask(client, asked))]
        took = await _deploy(client)
        await asyncio.sleep(max(seconds - took, 0.0))
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    print(f"{watchers} watchers (connected in {connected:.1f} s)")
    print(f"  events after their write  {seen}")
    print(f"  GET of an object          {asked}")
    print(f"  {_COUNT} Deployments had their {_COUNT * _REPLICAS} Pods after {took:.1f} s")


async def _until_ready(client: HttpClient) -> None:
    """Until the controller manager is at work: no Pod is made without its account."""
    for _ in range(300):
        with suppress(ApiError):
            await client.request("GET", "/api/v1/namespaces/default/serviceaccounts/default")
            return
        await asyncio.sleep(0.2)
    raise TimeoutError("the controller manager has made no service account within a minute")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.apiserver_watchers", description=__doc__)
    parser.add_argument("--watchers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args(arguments)
    for watchers in (0, given.watchers):
        with tempfile.TemporaryDirectory() as name, _server(Path(name)) as config:
            asyncio.run(_round(config, watchers, given.seconds))


if __name__ == "__main__":
    main()
