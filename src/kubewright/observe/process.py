"""What Prometheus' standard collectors tell of a process, read when it is scraped.

`process_metrics` has the names of https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics, as far
as the system tells: without /proc (macOS) memory, start time and descriptors are left out. `python_metrics` has those
of prometheus_client: the interpreter, and its garbage collector by generation.

Both are collectors: `registry.register(process_metrics)`. They describe the process, so two registries in one process
show the same numbers.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .metrics import Metric, Point

__all__ = ["process_metrics", "python_metrics"]

_PROC = Path("/proc")


def process_metrics() -> Iterable[Metric]:
    """CPU time, memory, start and descriptors of this process."""
    yield _one("process_cpu_seconds_total", "counter", "CPU time of the process, user and system, in seconds.", _cpu())
    try:
        fields = (_PROC / "self/stat").read_bytes().rpartition(b")")[2].split()
        descriptors = len(os.listdir(_PROC / "self/fd"))
        limit = _descriptor_limit()
    except OSError:
        return
    # The fields of proc(5) count from 1; behind the name's bracket they begin with the third.
    started_ticks, virtual_bytes, resident_pages = (int(fields[at - 3]) for at in (22, 23, 24))
    yield _one("process_virtual_memory_bytes", "gauge", "Virtual memory of the process in bytes.", virtual_bytes)
    yield _one(
        "process_resident_memory_bytes",
        "gauge",
        "Resident memory of the process in bytes.",
        resident_pages * os.sysconf("SC_PAGE_SIZE"),
    )
    yield _one(
        "process_start_time_seconds",
        "gauge",
        "When the process started, in seconds since 1970.",
        _booted_at() + started_ticks / os.sysconf("SC_CLK_TCK"),
    )
    yield _one("process_open_fds", "gauge", "File descriptors that are open.", descriptors)
    if limit is not None:
        yield _one("process_max_fds", "gauge", "File descriptors that may be open.", limit)


def python_metrics() -> Iterable[Metric]:
    """The interpreter and its garbage collector."""
    yield Metric("python_info", "gauge", "The Python that runs this; always 1.", [Point(_version(), 1)])
    generations = gc.get_stats()
    for name, key, what in (
        ("python_gc_objects_collected_total", "collected", "Objects that the garbage collector has freed."),
        (
            "python_gc_objects_uncollectable_total",
            "uncollectable",
            "Objects that the garbage collector could not free.",
        ),
        ("python_gc_collections_total", "collections", "Runs of the garbage collector over a generation."),
    ):
        points = [Point((("generation", str(at)),), each[key]) for at, each in enumerate(generations)]
        yield Metric(name, "counter", what, points)


def _one(name: str, kind: str, what: str, value: float) -> Metric:
    return Metric(name, "counter" if kind == "counter" else "gauge", what, [Point((), value)])


def _cpu() -> float:
    return time.process_time()


def _descriptor_limit() -> float | None:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


@cache
def _booted_at() -> float:
    for line in (_PROC / "stat").read_bytes().splitlines():
        if line.startswith(b"btime "):
            return float(line.split()[1])
    raise OSError("/proc/stat has no btime")


@cache
def _version() -> tuple[tuple[str, str], ...]:
    import platform

    major, minor, patchlevel = sys.version_info[:3]
    return (
        ("implementation", platform.python_implementation()),
        ("major", str(major)),
        ("minor", str(minor)),
        ("patchlevel", str(patchlevel)),
        ("version", platform.python_version()),
    )
