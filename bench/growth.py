"""How Kubewright's cost grows, with objects and with kinds: python -m bench.growth [--objects 1000,10000,100000]

On the stub. A cold start beside so many objects that are in order, then 1,000 changes: CPU per change, and memory per
object beside a start with one. Then the same 1,000 objects with an operator of 1, 5 and 20 kinds. Writes
bench/results/growth.json; the page of `bench.run` shows it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from . import backends, machine, peers, programs
from .load import Load
from .process import Measured, other_cores
from .run import crd_of_widgets

RESULTS = programs.BENCH / "results" / "growth.json"
CHANGES = 1000


@dataclass(frozen=True, slots=True)
class Point:
    """What one operator cost."""

    objects: int
    kinds: int
    ready_seconds: float
    start_cpu_seconds: float
    rss_mib: float
    peak_rss_mib: float
    cpu_ms: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description="How cost grows.")
    parser.add_argument("--objects", default="1000,10000,100000")
    parser.add_argument("--kinds", default="1,5,20")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    os.sched_setaffinity(0, other_cores())
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        one = _measure(folder, 1, 1)
        objects = [_measure(folder, int(count), 1) for count in given.objects.split(",")]
        kinds = [_measure(folder, CHANGES, int(count)) for count in given.kinds.split(",")]
    result = {
        "machine": machine.facts(),
        "objects": [
            {
                **_plain(point),
                "bytes_per_object": round((point.rss_mib - one.rss_mib) * 2**20 / (point.objects - 1)),
            }
            for point in objects
        ],
        "kinds": [_plain(point) for point in kinds],
    }
    given.output.parent.mkdir(exist_ok=True)
    given.output.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
    for point in (*result["objects"], *result["kinds"]):
        print(point)


def _plain(point: Point) -> dict[str, Any]:
    return {name: round(getattr(point, name), 3) for name in Point.__slots__}


def _measure(folder: Path, objects: int, kinds: int) -> Point:
    peer = peers.kinds(kinds)
    with (
        backends.stub(folder, crd_of_widgets(), extra_kinds=kinds - 1) as stub,
        backends.credentials(stub.kubeconfig) as access,
        Load(access) as load,
    ):
        load.run("fill", n=objects)
        load.run("touch")
        load.begin("wait", timeout=120)
        command, env = peer.command(stub.kubeconfig, False), peer.environ(stub.kubeconfig, False)
        operator = Measured(command, env, folder / "growth.log")
        try:
            done = load.end()
            operator.check()
            started, rss = operator.settled_cpu(), operator.rss_bytes()
            changed = load.run("update", n=min(objects, CHANGES), timeout=120)
            operator.check()
            cpu = operator.settled_cpu() - started
            return Point(
                objects=objects,
                kinds=kinds,
                ready_seconds=done["last_status"] - operator.started_at,
                start_cpu_seconds=started.total,
                rss_mib=rss / 2**20,
                peak_rss_mib=operator.peak_rss_bytes() / 2**20,
                cpu_ms=cpu.total / changed["written"] * 1000,
            )
        finally:
            operator.stop()


if __name__ == "__main__":
    main()
