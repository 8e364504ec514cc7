"""Run the benchmark: python -m bench.run [--quick | --short]

Peers take turns within each round, on one control plane, so that each meets the machine as the others do. The operator
has core 0, everything else the other cores. Writes bench/results/latest.json, the plot and docs/benchmark.md, and
prints the tables.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import yaml

from . import backends, machine, page, peers, plot, programs, summary, table
from .load import Load
from .process import other_cores
from .variants import Bench, Record, Size, clear

RESULTS = programs.BENCH / "results" / "latest.json"
SLOW = {peers.KOPF}  # left out where there are so many objects that it would take minutes


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run. `backlogs` and `colds` are numbers of objects on the stub; the largest not with slow peers."""

    rounds: int
    peers: tuple[str, ...]
    real: Size | None
    stub: Size | None
    backlogs: tuple[int, ...]
    colds: tuple[int, ...]
    too_many: int = 10_001


QUICK = Plan(
    rounds=1,
    peers=(peers.OURS, peers.GO, peers.KOPF),
    real=Size(30, (50,), 0.6, 0.4),
    stub=Size(200, (200,), 0.6, 0.4),
    backlogs=(500,),
    colds=(),
)
SHORT = Plan(
    rounds=1,
    peers=peers.ALL,
    real=Size(400, (50,), 4.0, 2.0),
    stub=Size(1000, (200,), 3.0, 1.0),
    backlogs=(2000,),
    colds=(50_000,),
)
FULL = Plan(
    rounds=3,
    peers=peers.ALL,
    real=Size(1000, (50,), 10.0, 5.0),
    stub=Size(2000, (200, 1000), 5.0, 5.0),
    backlogs=(2000,),
    colds=(1000, 10_000, 50_000),
)


def main() -> None:
    plan, output = _arguments()
    if plan is None:
        _render(orjson.loads(RESULTS.read_bytes()))
        return
    os.sched_setaffinity(0, other_cores())
    started = time.monotonic()
    records: list[Record] = []
    versions: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        chosen = [peers.make(each) for each in plan.peers]
        crd = crd_of_widgets()
        facts = machine.facts()
        result: dict[str, Any] = {}
        try:
            for number in range(plan.rounds):
                _round(plan, number, chosen, crd, folder, records, versions)
                facts["load_average_after"] = round(os.getloadavg()[0], 2)
                facts["seconds"] = round(time.monotonic() - started)
                result = {
                    "machine": facts,
                    "backends": versions,
                    "plan": {"rounds": number + 1},
                    "summary": summary.summarize(records),
                    "ratios": summary.ratios(records),
                    "records": records,
                }
                output.parent.mkdir(parents=True, exist_ok=True)
                output.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
        except BaseException:
            _keep_logs(folder)
            raise
    print(table.text(result))
    print(f"\n{output} ({facts['seconds']} s)")
    if output == RESULTS:
        _render(result)


def _render(result: dict[str, Any]) -> None:
    plot.write(result, programs.ROOT / "docs" / "benchmark.svg")
    page.write(result, programs.ROOT / "docs" / "benchmark.md")


def _round(
    plan: Plan,
    number: int,
    chosen: list[peers.Peer],
    crd: dict[str, Any],
    folder: Path,
    records: list[Record],
    versions: dict[str, str],
) -> None:
    # Each round begins with another peer: who comes first meets a cold server.
    turn = chosen[number % len(chosen) :] + chosen[: number % len(chosen)]
    if plan.real is not None:
        with backends.real(folder, crd) as real:
            versions["real"] = real.version
            for peer in turn:
                _say(number, "real", peer.name)
                _collect(records, number, _real(peer, real, folder, plan.real))
    if plan.stub is not None:
        for peer in turn:
            _say(number, "stub", peer.name)
            _collect(records, number, _stub(peer, crd, folder, plan))


def _real(peer: peers.Peer, backend: backends.Real, folder: Path, size: Size) -> Iterable[Record]:
    with backends.credentials(backend.kubeconfig) as access, Load(access) as load:
        bench = Bench(peer, backend, load, folder, size)
        bench.life()
        clear(backend, load, children=False)
        bench.children()
        clear(backend, load, children=True)
    return bench.records


def _stub(peer: peers.Peer, crd: dict[str, Any], folder: Path, plan: Plan) -> Iterable[Record]:
    records: list[Record] = []
    assert plan.stub is not None
    works = [Bench.life, Bench.children]
    works += [lambda bench, n=count: bench.backlog(n) for count in plan.backlogs]
    works += [
        lambda bench, n=count: bench.cold(n) for count in plan.colds if peer.name not in SLOW or count < plan.too_many
    ]
    for work in works:
        with (
            backends.stub(folder, crd) as stub,
            backends.credentials(stub.kubeconfig) as access,
            Load(access) as load,
        ):
            bench = Bench(peer, stub, load, folder, plan.stub)
            work(bench)
            records += bench.records
    return records


def _collect(records: list[Record], number: int, found: Iterable[Record]) -> None:
    facts = {"round": number, "load_average": round(os.getloadavg()[0], 2)}
    records += [{**facts, **record} for record in found]


def crd_of_widgets() -> dict[str, Any]:
    """The CRD, as Kubewright makes it from the operator's types."""
    command = [str(programs.kubewright(speedups=False) / "kubewright"), "manifests", "crd"]
    text = subprocess.run(
        [*command, str(programs.OPERATORS / "kubewright_operator.py")], capture_output=True, text=True, check=True
    ).stdout
    crd: dict[str, Any] = yaml.safe_load(text)
    return crd


def _keep_logs(folder: Path) -> None:
    for log in sorted(folder.glob("*.log")):
        lines = log.read_text(errors="replace").splitlines()[-10:]
        if lines:
            print(f"--- {log.name}", *lines, sep="\n", file=sys.stderr)


def _say(number: int, backend: str, peer: str) -> None:
    print(f"round {number + 1}, {backend}: {peer} (load average {os.getloadavg()[0]:.1f})", file=sys.stderr, flush=True)


def _arguments() -> tuple[Plan | None, Path]:
    """The plan, None to measure nothing; and where the result goes."""
    parser = argparse.ArgumentParser(prog="python -m bench.run", description="Kubewright beside Go and kopf.")
    parser.add_argument("--quick", action="store_true", help="one round, few objects")
    parser.add_argument("--short", action="store_true", help="one round of some minutes, enough for the page")
    parser.add_argument("--rounds", type=int, help="how often each peer takes its turn")
    parser.add_argument("--peers", help=f"comma-separated, of {', '.join(peers.ALL)}")
    parser.add_argument("--objects", type=int, help="how many, in the variants of one operator's day")
    parser.add_argument("--backends", default="real,stub", help="comma-separated, of real, stub")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the JSON; only the default one updates the docs")
    parser.add_argument("--render", action="store_true", help="only write the docs anew from the last result")
    given = parser.parse_args()
    if given.render:
        return None, RESULTS
    plan = QUICK if given.quick else SHORT if given.short else FULL
    if given.peers and (unknown := set(given.peers.split(",")) - set(peers.ALL)):
        parser.error(f"--peers: {', '.join(unknown)}: there are {', '.join(peers.ALL)}")
    wanted = given.backends.split(",")
    return Plan(
        rounds=given.rounds or plan.rounds,
        peers=tuple(given.peers.split(",")) if given.peers else plan.peers,
        real=_sized(plan.real, given.objects) if "real" in wanted else None,
        stub=_sized(plan.stub, given.objects) if "stub" in wanted else None,
        backlogs=plan.backlogs,
        colds=plan.colds,
    ), given.output.resolve()


def _sized(size: Size | None, objects: int | None) -> Size | None:
    return replace(size, objects=objects) if size is not None and objects else size


if __name__ == "__main__":
    main()
