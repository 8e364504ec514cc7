"""Requests and watches a second on one API server, and the CPU that its processes took for each.

Owns what is asked (`CASES`) and how the servers are started; all get the same requests from the same client.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import orjson

from kubewright.apiserver import new_server
from kubewright.apiserver.inprocess import InProcessTransport
from kubewright.client import ClientConfig, HttpClient
from kubewright.testing import ControlPlane

TASKS = 16
LISTED = 100
WATCHERS = 50
WRITES = 100
_SECONDS = 120.0
_SCHED = 2  # CPUCLOCK_SCHED of the kernel: the clock of a whole process, named by its pid
_NAMESPACE = "bench"
_MAPS = f"/api/v1/namespaces/{_NAMESPACE}/configmaps"
_JSON = (("Content-Type", "application/json"), ("Accept", "application/json"))
_APPLY = (("Content-Type", "application/apply-patch+yaml"), ("Accept", "application/json"))

Found = dict[str, dict[str, float]]
Ask = Callable[[int, int], Awaitable[object]]
"""One request: of which task, how many it did before."""
Cpu = Callable[[], float]


def cpu_seconds(pids: Sequence[int]) -> float:
    """CPU of processes since they began."""
    return sum(time.clock_gettime((~pid << 3) | _SCHED) for pid in pids)


def warm() -> dict[str, str]:
    """The environment, but modules are compiled once, as they are where nothing else is said."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@contextmanager
def command(kubeconfig: Path) -> Iterator[subprocess.Popen[str]]:
    """`kubewright apiserver`, once its kubeconfig is written."""
    arguments = [sys.executable, "-m", "kubewright", "apiserver", "--kubeconfig", str(kubeconfig)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=quiet, text=True, env=warm()) as process:
        assert process.stdout is not None
        try:
            if not process.stdout.readline():
                raise RuntimeError("`kubewright apiserver` ended before it was ready")
            yield process
        finally:
            process.terminate()


@contextmanager
def control_plane() -> Iterator[tuple[Path, list[int]]]:
    """kube-apiserver and etcd: the kubeconfig, and the processes."""
    with ControlPlane(name="bench-apiserver") as plane:
        time.sleep(2.0)  # starting up costs CPU for another second
        yield plane.access.kubeconfig_path, _descendants(_own_pid())


async def in_process(seconds: float) -> Found:
    """A new server in this process."""
    config = ClientConfig(server="http://in-process")
    async with HttpClient(config, InProcessTransport(new_server())) as http:
        return await _measure(http, time.process_time, seconds)


async def over_http(kubeconfig: Path, pids: Sequence[int], seconds: float) -> Found:
    """The server of a kubeconfig, which these processes make up."""
    async with HttpClient(ClientConfig.from_kubeconfig(kubeconfig)) as http:
        return await _measure(http, lambda: cpu_seconds(pids), seconds)


async def _measure(http: HttpClient, cpu: Cpu, seconds: float) -> Found:
    async with asyncio.timeout(_SECONDS + 10 * seconds):
        await http.request("POST", "/api/v1/namespaces", headers=_JSON, body=_body("Namespace", _NAMESPACE))
        for number in range(LISTED):
            await http.request("POST", _MAPS, headers=_JSON, body=_body("ConfigMap", f"m{number}", "0"))

        async def get(task: int, turn: int) -> object:
            return await http.request("GET", f"{_MAPS}/m{task}", headers=_JSON)

        async def put(task: int, turn: int) -> object:
            body = _body("ConfigMap", f"m{task}", f"put {turn}")
            return await http.request("PUT", f"{_MAPS}/m{task}", headers=_JSON, body=body)

        async def create(task: int, turn: int) -> object:
            name = f"c{task}-{turn}"
            return await http.request("POST", "/api/v1/namespaces/default/configmaps", headers=_JSON,
                                      body=_body("ConfigMap", name, "0"))  # fmt: skip

        async def apply(task: int, turn: int) -> object:
            target = f"{_MAPS}/a{task}?fieldManager=bench&force=true"
            return await http.request("PATCH", target, headers=_APPLY, body=_body("ConfigMap", f"a{task}", f"{turn}"))

        async def list_all(task: int, turn: int) -> object:
            return await http.request("GET", _MAPS, headers=_JSON)

        found: Found = {}
        for name, ask in {
            "GET": get,
            f"LIST of {LISTED}": list_all,
            "PUT": put,
            "apply": apply,
            "POST": create,
        }.items():
            found[name] = await _rate(ask, cpu, seconds)
        found[f"events to {WATCHERS}"] = await _fan_out(http, cpu)
        return found


async def _rate(ask: Ask, cpu: Cpu, seconds: float) -> dict[str, float]:
    turns = itertools.count()
    until = 0.0

    async def work(task: int) -> int:
        done = 0
        while time.perf_counter() < until:
            await ask(task, next(turns))
            done += 1
        return done

    until = time.perf_counter() + seconds / 10
    await asyncio.gather(*map(work, range(TASKS)))
    begun, used = time.perf_counter(), cpu()
    until = begun + seconds
    count = sum(await asyncio.gather(*map(work, range(TASKS))))
    return {"per_second": count / (time.perf_counter() - begun), "cpu_us": (cpu() - used) / count * 1e6}


async def _fan_out(http: HttpClient, cpu: Cpu) -> dict[str, float]:
    """Events that reach watchers, a second: every write is one to each of them."""
    listed = await http.request("GET", f"{_MAPS}?limit=1", headers=_JSON)
    version = orjson.loads(listed.body)["metadata"]["resourceVersion"]
    left = WATCHERS * WRITES
    all_there = asyncio.Event()

    def arrived(line: bytes) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            all_there.set()

    started = asyncio.Semaphore(0)
    target = f"{_MAPS}?watch=1&resourceVersion={version}"

    async def watch() -> None:
        await http.stream("GET", target, headers=_JSON, on_line=arrived, on_response=lambda _: started.release())

    watchers = [asyncio.create_task(watch()) for _ in range(WATCHERS)]
    try:
        for _ in watchers:
            await started.acquire()
        begun, used = time.perf_counter(), cpu()
        for number in range(WRITES):
            body = _body("ConfigMap", "m0", f"event {number}")
            await http.request("PUT", f"{_MAPS}/m0", headers=_JSON, body=body)
        await all_there.wait()
        took, burnt = time.perf_counter() - begun, cpu() - used
    finally:
        for each in watchers:
            each.cancel()
        await asyncio.gather(*watchers, return_exceptions=True)
    events = WATCHERS * WRITES
    return {"per_second": events / took, "cpu_us": burnt / events * 1e6}


def _body(kind: str, name: str, value: str = "") -> bytes:
    made: dict[str, object] = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
    if value:
        made["data"] = {"value": value, "padding": "x" * 500}
    return orjson.dumps(made)


def _own_pid() -> int:
    return int(Path("/proc/self").readlink().name)


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        with suppress(FileNotFoundError):
            for children in Path(f"/proc/{each}/task").glob("*/children"):
                found += map(int, children.read_text().split())
    return found[1:]
