"""docs/benchmark.md: written from the record, never by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from . import table

GOALS: tuple[tuple[str, str, str, int | None, str, str, float], ...] = (
    ("CPU per created resource", "real", "create", None, "cpu_ms", "controller-runtime", 0.5),
    ("CPU per updated resource", "real", "update", None, "cpu_ms", "controller-runtime", 0.5),
    ("CPU per resource with a child", "real", "children", None, "cpu_ms", "controller-runtime", 0.5),
    ("memory with 1,000 resources", "real", "cold start", None, "rss_mib", "controller-runtime", 1.0),
    ("memory with 50,000 resources", "stub", "cold start", 50_000, "rss_mib", "controller-runtime", 0.6),
    ("start to ready", "real", "cold start", None, "ready_seconds", "controller-runtime", 1.0),
    ("p99 of the latency at 50 changes/s", "real", "stream 50/s", None, "p99_ms", "controller-runtime", 1.0),
    ("rate on the stub, the larger the better", "stub", "backlog", None, "rate", "kopf", 10.0),
)
"""What we set out to reach: name, back end, variant, objects, metric, over whom, bound of the ratio."""

_OWN_LOAD = 1.5
"""What the benchmark itself may add to the load average of the cores, which are all in use."""

TEXT = """# Benchmark

The same operator on Kubewright, on Go's controller-runtime and on kopf, on one API server, peers taking turns in one
run. This page is written by `make bench` from
[bench/results/latest.json](../bench/results/latest.json); the programs are in [bench/](../bench).

![Results](benchmark.svg)

## What is done

A custom resource of about 3 KB (half of it managedFields). The operator reads it from its cache and, where its status
differs from its spec, patches the status once. *children*: it also applies one ConfigMap for each and owns it. Back
ends: *real*, kube-apiserver and etcd; *stub*, a server over HTTPS that keeps objects in memory and checks nothing, to
see the operator alone. The operator has one core to itself, everything else the other.

- *create*, *update*: all at once. *stream*: so many changes a second. *backlog*: a start beside objects that all need
  work. *cold start*: beside objects that are as they should be, but one. *idle*: nothing happens.
- CPU: user and system time of all threads of the operator's process, until it has come to rest. Latency: from before
  the change is sent until a watch shows the status, seen by a third program. *ready*: from the start of the process
  until it has brought in order the one object that waited.
- Shown: medians over the rounds, with smallest and largest where they differ by more than 5 %. Ratios are taken within
  a round.

## What the numbers cannot tell

- One machine with few cores, loopback: no network latency, and TLS on both sides on the same two cores. With the real
  server the rates of *create* and *update* are the server's, not the operator's: compare CPU, memory and requests.
- One kind, alike objects, a reconcile that computes nothing. What your code costs comes on top, and in Python it costs
  more than in Go.
- controller-runtime may use several cores, Python one. Pinned to one core, as here, Go's garbage collector cannot run
  beside the work.
- How Python was built makes a difference of a third: distributions and the official images build it with profile-guided
  optimization, pyenv by default does not. `BENCH_PYTHON=/usr/bin/python3 make bench` measures with another.
- kopf does more than was asked of it: it keeps what it has handled in an annotation (a second write), and has no cache.
  Its memory is that of its tasks. `--quiet` is its fastest way of running.
- The stub answers in microseconds. Real servers take milliseconds, which changes how much runs at once, hardly the CPU.
"""

HOLDS = """## What holds it back

- CPU goes by wake-ups. At 60 changes a second, all that the real server does here, a change costs two to three times
  what it costs on the stub at 2,000 a second: same calls, same requests, but each event and each answer comes alone,
  and meets caches that others have used meanwhile. Go pays for that too (some 1.5 times); Python touches more memory
  for the same (a megabyte per change, by callgrind). uvloop touches less.
- A child makes five wake-ups of three: one answer and one event more. That is why it is where Go is nearest.
- Each connection costs a TLS handshake, 2 ms of CPU, and HTTP/1.1 needs as many as there are requests at once (16 with
  16 workers); Go's HTTP/2 needs one. All but the first go on with its session, which saves a third to a half of that.
- Shared machines are not the same from one hour to the next, and the slower their memory, the dearer Python beside Go.
  One run has seen our CPU per change rise by a quarter from its first round to its last, while Go's stayed.
- p99 at 50 changes a second is the server's here, which manages about 50: queues of seconds come and go, with every
  peer. On the stub the operators' own p99 is seen.
- Tried and left out: an event loop that gathers for a millisecond after each wake-up (an eighth less CPU in bursts,
  more in a steady stream, a millisecond later everywhere); one that looks for events only every other turn; huge pages;
  another allocator; CPython 3.14 in place of 3.11 (none was faster).
- Start: most of it is the import of Python's own modules and ours; Go's binary has none. With many objects the list
  decides, and there it is ahead.
"""

FLAME = """## Where the time goes

![Flame graph](flame.svg)

`python -m bench.flame`: the operator on the stub at more changes than it can take, seen by py-spy. Grey is asyncio's
event loop and TLS, blue is Kubewright, orange the reconcile itself.
"""


def write(result: Mapping[str, Any], path: Path) -> None:
    """Write the page."""
    parts = [TEXT, _machine(result), _goals(result), HOLDS, "## Results"]
    for (backend, variant, objects), records in table.groups(result).items():
        parts.append(f"### {backend}: {variant}, {objects:,} objects\n\n{table.markdown(records)}")
        pending = [f"{record['peer']}: {record['pending']}" for record in records if record["pending"]]
        if pending:
            parts.append(f"Not done in time (objects): {', '.join(pending)}.")
    if (path.parent / "flame.svg").exists():
        parts.append(FLAME)
    parts += [*_growth(path.parent.parent / "bench/results/growth.json"), *_imports(path.parent.parent)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n\n".join(part.rstrip() for part in parts) + "\n")


def _growth(path: Path) -> list[str]:
    if not path.exists():
        return []
    found = orjson.loads(path.read_bytes())
    head = [
        "| objects | kinds | ready s | CPU s to there | RSS MiB | bytes per object | CPU ms per change |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    rows = [
        f"| {point['objects']:,} | {point['kinds']} | {point['ready_seconds']:.2f} | "
        f"{point['start_cpu_seconds']:.2f} | {point['rss_mib']:.0f} | {point.get('bytes_per_object', '-')} | "
        f"{point['cpu_ms']:.3f} |"
        for point in (*found["objects"], *found["kinds"])
    ]
    text = (
        f"On the stub, `python -m bench.growth` ({found['machine']['date']}, {found['machine']['commit']}): a cold "
        "start, then 1,000 changes. Bytes per object are memory above that of a start with one object."
    )
    return [f"## How cost grows\n\n{text}\n\n" + "\n".join([*head, *rows])]


def _imports(root: Path) -> list[str]:
    path = root / "bench/results/startup.json"
    if not path.exists():
        return []
    found = orjson.loads(path.read_bytes())
    rows = [
        f"| {each['what']} | {each['cpu_seconds']:.3f} | {each['cpu_seconds_min']:.3f} | {each['rss_mib']:.1f} |"
        for each in found["imports"]
    ]
    text = (
        f"`python -m bench.startup` ({found['machine']['date']}): a new process that imports what an operator "
        "needs, and ends."
    )
    head = ["| | CPU s, median | least | RSS MiB |", "|---|---:|---:|---:|"]
    return [f"## Imports\n\n{text}\n\n" + "\n".join([*head, *rows])]


def _machine(result: Mapping[str, Any]) -> str:
    facts = result["machine"]
    flag = ", --enable-optimizations" if facts["python_is_optimized"] else ""
    lines = [
        f"- {facts['date']}, Kubewright {facts['kubewright']} ({facts['commit']})",
        f"- {facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB, Linux {facts['kernel']}",
        f"- CPython {facts['python']}{flag}; {facts['go']}, controller-runtime "
        f"{facts['controller_runtime']}; kopf {facts['kopf']}; {', '.join(result['backends'].values())}",
        f"- rounds: {result['plan']['rounds']}, {facts['seconds']} s",
    ]
    loads = {peer: [r["load_average"] for r in result["records"] if r["peer"] == peer] for peer in _peers(result)}
    shown = ", ".join(f"{peer} {min(found):.1f}-{max(found):.1f}" for peer, found in loads.items())
    lines.append(f"- load average of the machine after each measurement: {shown}")
    if max(max(found) for found in loads.values()) > facts["cores"] + _OWN_LOAD:
        lines.append(
            "\n**The machine was not quiet, and not equally busy for all peers.** Rates, latencies, times to ready and "
            "their ratios are worth little here; CPU is inflated for all (caches shared with other work). What can be "
            "compared is memory, requests, and with some care CPU per resource."
        )
    return "## Measured on\n\n" + "\n".join(lines)


def _peers(result: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(record["peer"] for record in result["records"]))


def _goals(result: Mapping[str, Any]) -> str:
    lines = ["## Goals", "", "| | over | bound | kubewright | with uvloop |", "|---|---|---:|---:|---:|"]
    for name, backend, variant, objects, metric, over, bound in GOALS:
        cells = []
        for peer in ("kubewright", "kubewright-uvloop"):
            found = next(
                (
                    ratio
                    for ratio in result["ratios"]
                    if (ratio["backend"], ratio["variant"], ratio["metric"]) == (backend, variant, metric)
                    and (ratio["peer"], ratio["over"]) == (peer, over)
                    and objects in (None, ratio["objects"])
                ),
                None,
            )
            cells.append(_ratio(found, bound))
        lines.append(f"| {name} | {over} | {'≥' if bound > 1 else '≤'} {bound:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _ratio(found: Mapping[str, float] | None, bound: float) -> str:
    if found is None:
        return "-"
    reached = found["median"] >= bound if bound > 1 else found["median"] <= bound
    shown = f"{found['median']:.2f} ({found['min']:.2f}-{found['max']:.2f})"
    return shown if reached else f"**{shown}, not reached**"
