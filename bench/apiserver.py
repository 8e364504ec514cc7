"""The embedded API server beside the real one: start, fork, requests, watches, memory: python -m bench.apiserver

    python -m bench.apiserver [--seconds 2] [--rounds 5] [--json FILE] [--without-real]

Requests go through the toolkit's own client (`HttpClient` on `Http1Transport`, 16 tasks) to `kubewright apiserver`, to
kube-apiserver with etcd (a `ControlPlane`), and to a server in the same process. Beside the rate stands the CPU that
the server's processes took: other work on the machine changes that least. In process it is client and server together.
The command uses uvloop where it is installed. Trust the ratios of one run, not the numbers.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from . import apiserver_rates as rates
from . import machine

GOALS_MS = {"in process, all of it": 50.0, "command to kubeconfig": 300.0, "fork with 1,000 objects": 1.0}
_FORKS = 200
_OBJECTS = 10_000
_VALUE = "x" * 1024
_READY = """
import resource, sys, time
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1e3
{before}
begun, cpu_begun = time.perf_counter(), cpu()
from kubewright.apiserver import new_server
imported, cpu_imported = time.perf_counter(), cpu()
server = new_server()
made, cpu_made = time.perf_counter(), cpu()
new_server()
again = time.perf_counter()
print((imported - begun) * 1e3, (made - imported) * 1e3, (again - made) * 1e3,
      cpu_imported - cpu_begun, cpu_made - cpu_imported, cpu_made)
"""
_BEFORE = {
    "in a new process": "",
    "beside asyncio": "import asyncio, logging",
    "beside an operator": "import asyncio; from kubewright import Client, Model, Operator, Resource, controller",
}
_MEMORY = """
import asyncio, gc, sys
from kubewright.apiserver import Request, new_server
def rss():
    return int([l.split()[1] for l in open('/proc/self/status') if l.startswith('VmRSS')][0]) * 1024
async def main(count, value):
    server = new_server()
    async def fill(low, high):
        for number in range(low, high):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{number}"}, "data": {"k": value}}
            made = await server.handle(Request.of("POST", "/api/v1/namespaces/default/configmaps", body=body))
            assert made.status == 201, made.body
    await fill(0, 100)
    gc.collect()
    before = rss()
    await fill(100, 100 + count)
    gc.collect()
    print((rss() - before) / count)
asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each kind of request on each server")
    parser.add_argument("--rounds", type=int, default=5, help="of starts and forks")
    parser.add_argument("--json", type=Path, help="write what was found to this file too")
    parser.add_argument("--without-real", action="store_true", help="the embedded server alone")
    given = parser.parse_args()
    found: dict[str, Any] = {"python": sys.version.split()[0], "load_average": round(os.getloadavg()[0], 1)}
    found["start_ms"] = starts(given.rounds)
    found["fork_ms"] = asyncio.run(forks(given.rounds))
    found["object_bytes"] = object_bytes()
    show_starts(found)
    found["servers"] = requests(given.seconds, real=not given.without_real)
    show_requests(found["servers"])
    if given.json is not None:
        given.json.write_bytes(orjson.dumps({"machine": machine.facts(), **found}, option=orjson.OPT_INDENT_2) + b"\n")


def starts(rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds until a server answers: in new processes, and as a command. A first run of each warms the caches."""
    found: dict[str, dict[str, float]] = {}
    for name, before in _BEFORE.items():
        runs = [
            list(map(float, _output(sys.executable, "-c", _READY.format(before=before)).split()))
            for _ in range(rounds + 1)
        ][1:]
        columns = ("import", "construct", "construct_again", "import_cpu", "construct_cpu", "process_cpu")
        found[name] = {column: min(run[at] for run in runs) for at, column in enumerate(columns)}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        runs = [command_start(Path(folder) / "kubeconfig") for _ in range(rounds + 1)][1:]
    found["command"] = {"wall": min(run[0] for run in runs), "cpu": min(run[1] for run in runs)}
    bare = [_timed(sys.executable, "-c", "import asyncio, ssl") for _ in range(rounds)]
    found["python with asyncio and ssl"] = {"wall": min(run[0] for run in bare), "cpu": min(run[1] for run in bare)}
    return found


def command_start(kubeconfig: Path) -> tuple[float, float]:
    """Milliseconds from exec until `kubewright apiserver` has written its kubeconfig and serves; its CPU until then."""
    kubeconfig.unlink(missing_ok=True)
    begun = time.perf_counter()
    with rates.command(kubeconfig) as process:
        return (time.perf_counter() - begun) * 1e3, rates.cpu_seconds([process.pid]) * 1e3


async def forks(rounds: int) -> dict[str, float]:
    """Milliseconds of a fork, by the number of objects."""
    from kubewright.apiserver import Request, new_server

    found: dict[str, float] = {}
    for count in (0, 1_000, 10_000):
        server = new_server()
        for number in range(count):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{number}"}, "data": {"k": "v"}}
            await server.handle(Request.of("POST", "/api/v1/namespaces/default/configmaps", body=body))
        runs = []
        for _ in range(rounds * _FORKS):
            begun = time.perf_counter()
            server.fork()
            runs.append((time.perf_counter() - begun) * 1e3)
        found[str(count)] = statistics.median(runs)
    return found


def object_bytes() -> float:
    """Growth of the process for each of 10,000 ConfigMaps of 1 KB."""
    return float(_output(sys.executable, "-c", _MEMORY, str(_OBJECTS), _VALUE))


def requests(seconds: float, *, real: bool) -> dict[str, dict[str, dict[str, float]]]:
    """Rates and CPU by server and kind of request."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        found["in process"] = asyncio.run(rates.in_process(seconds))
        process = stack.enter_context(rates.command(folder / "kubeconfig"))
        found["embedded, HTTPS"] = asyncio.run(rates.over_http(folder / "kubeconfig", [process.pid], seconds))
    if real:
        with rates.control_plane() as (kubeconfig, pids):
            found["kube-apiserver"] = asyncio.run(rates.over_http(kubeconfig, pids, seconds))
    return found


def show_starts(found: Mapping[str, Any]) -> None:
    print(f"Python {found['python']}, load average {found['load_average']}\n")
    print(f"{'ready (ms, best of the rounds)':34}{'import':>9}{'construct':>11}{'another':>9}{'CPU':>9}{'goal':>8}")
    for name in _BEFORE:
        run = found["start_ms"][name]
        cpu = run["import_cpu"] + run["construct_cpu"]
        print(
            f"{name:34}{run['import']:9.1f}{run['construct']:11.1f}{run['construct_again']:9.2f}{cpu:9.1f}"
            f"{GOALS_MS['in process, all of it']:8.0f}"
        )
    for name in ("command", "python with asyncio and ssl"):
        run = found["start_ms"][name]
        goal = f"{GOALS_MS['command to kubeconfig']:8.0f}" if name == "command" else f"{'-':>8}"
        print(f"{name:34}{run['wall']:9.1f}{'':20}{run['cpu']:9.1f}{goal}")
    for count, each in found["fork_ms"].items():
        goal = f"{GOALS_MS['fork with 1,000 objects']:8.0f}" if count == "1000" else f"{'-':>8}"
        print(f"{f'fork() with {int(count):,} objects':34}{each:9.3f}{'':29}{goal}")
    print(f"{'bytes for a ConfigMap of 1 KB':34}{found['object_bytes']:9,.0f}\n")


def show_requests(servers: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    names = list(servers)
    base = "kube-apiserver" if "kube-apiserver" in servers else names[-1]
    print(f"{'per second':16}" + "".join(f"{name:>18}" for name in names) + f"{'embedded / real':>18}")
    for case in servers[base]:
        cells = "".join(f"{servers[name][case]['per_second']:18,.0f}" for name in names)
        print(f"{case:16}{cells}{_ratio(servers, base, case, 'per_second')}")
    print(f"{'CPU us, server':16}" + "".join(f"{name:>18}" for name in names))
    for case in servers[base]:
        cells = "".join(f"{servers[name][case]['cpu_us']:18,.0f}" for name in names)
        print(f"{case:16}{cells}{_ratio(servers, base, case, 'cpu_us')}")


def _ratio(servers: Mapping[str, Mapping[str, Mapping[str, float]]], base: str, case: str, fact: str) -> str:
    real = servers[base][case][fact]
    return f"{servers['embedded, HTTPS'][case][fact] / real:18.2f}" if real else f"{'-':>18}"


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, env=rates.warm()).stdout


def _timed(*command: str) -> Sequence[float]:
    before, begun = os.times(), time.perf_counter()
    _output(*command)
    wall, after = time.perf_counter() - begun, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall * 1e3, cpu * 1e3


if __name__ == "__main__":
    main()
