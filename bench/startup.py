"""What it costs to import what an operator needs: python -m bench.startup

Seconds and memory of a new process that imports Kubewright, kopf, or a client library, beside one that imports nothing.
Writes bench/results/startup.json; the page of `bench.run` shows it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
from pathlib import Path
from typing import Any

import orjson

from . import machine, programs
from .process import OPERATOR_CORE

RESULTS = programs.BENCH / "results" / "startup.json"
ROUNDS = 9
_REPORT = "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('VmRSS')][0])"


def main() -> None:
    ours = programs.kubewright(speedups=False)
    official = programs.environment("kubernetes", "kubernetes")
    asynchronous = programs.environment("kubernetes-asyncio", "kubernetes_asyncio")
    subjects: list[tuple[str, Path, str]] = [
        ("python", ours, "pass"),
        ("kubewright: a client", ours, "from kubewright.client import Client, ClientConfig"),
        ("kubewright: an operator", ours, "from kubewright import Context, Model, Operator, Resource, controller"),
        ("kopf", programs.kopf(), "import kopf"),
        ("kubernetes (official client)", official, "from kubernetes import client, config, watch"),
        ("kubernetes_asyncio", asynchronous, "from kubernetes_asyncio import client, config, watch"),
    ]
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(ROUNDS):
        for name, folder, statement in subjects:
            found.setdefault(name, []).append(_measure(folder, statement))
    result: dict[str, Any] = {"machine": machine.facts(), "imports": []}
    for name, runs in found.items():
        seconds, mib = ([run[column] for run in runs] for column in (0, 1))
        result["imports"].append({
            "what": name,
            "cpu_seconds": round(statistics.median(seconds), 3),
            "cpu_seconds_min": round(min(seconds), 3),
            "rss_mib": round(statistics.median(mib), 1),
        })  # fmt: skip
        print(result["imports"][-1])
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")


def _measure(folder: Path, statement: str) -> tuple[float, float]:
    before = os.times()
    said = subprocess.run(
        [str(folder / "python"), "-c", f"{statement}\n{_REPORT}"],
        capture_output=True,
        text=True,
        check=True,
        # As a user's shell: one that forbids to write bytecode would have every process compile what is imported.
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        preexec_fn=lambda: os.sched_setaffinity(0, {OPERATOR_CORE}),
    ).stdout
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu, int(said) / 1024


if __name__ == "__main__":
    main()
