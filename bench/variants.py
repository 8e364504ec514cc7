"""What is done with one operator on one API server, and what is measured meanwhile.

`life` is one operator's day: it starts beside nothing, objects are created, all updated, changed one after the other,
left alone; it is stopped, one object changes, and it starts again beside all of them. `children` is the burst of
creations with a ConfigMap for each. `backlog` is a start beside objects that all need work: here nothing but the
operator (and a stub) is at work, so it shows rates. `cold` is a start beside objects that all agree but one.

When an operator is ready is seen from outside, alike for all: one object waits for work while it starts, and the time
is from the start of the process to the status of that object.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .backends import Backend
from .load import Load
from .peers import KOPF, Peer
from .process import Cpu, Measured

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How much of it. `rates` are writes per second, each kept up for `stream_seconds`."""

    objects: int
    rates: tuple[int, ...]
    stream_seconds: float
    idle_seconds: float
    timeout_seconds: float = 180.0


class Bench:
    """One peer on one back end, with a load. Collects `records`."""

    def __init__(self, peer: Peer, backend: Backend, load: Load, folder: Path, size: Size) -> None:
        self._peer, self._backend, self._load, self._size = peer, backend, load, size
        self._log = folder / f"{backend.name}-{peer.name}.log"
        self._is_kopf = peer.name == KOPF
        self.records: list[Record] = []

    # -- variants ---------------------------------------------------------------------------------------------------

    def life(self) -> None:
        size = self._size
        self._load.run("fill", n=1, behind=True)
        with self._start("start", objects=1) as operator:
            self._burst(operator, "create", "create", n=size.objects)
            self._burst(operator, "update", "update", n=size.objects)
            for rate in size.rates:
                self._burst(operator, f"stream {rate}/s", "stream", rate=rate, seconds=size.stream_seconds)
            self._idle(operator)
        self._load.run("touch")
        with self._start("cold start", objects=size.objects + 1):
            pass

    def children(self) -> None:
        self._load.run("fill", n=1, behind=True)
        with self._start(None, objects=1, children=True) as operator:
            self._burst(operator, "children", "create", n=self._size.objects)

    def backlog(self, objects: int) -> None:
        self._load.run("fill", n=objects, behind=True)
        with self._run() as operator:
            done = self._load.run("wait", timeout=self._size.timeout_seconds)
            operator.check()
            cpu = operator.settled_cpu()
            seconds = done["last_status"] - done["first_status"]
            self._add(
                "backlog",
                objects,
                done,
                rate=done["agreed"] / seconds if done["agreed"] == objects else None,
                to_last_status_seconds=done["last_status"] - operator.started_at,
                cpu_seconds=cpu.total,
                peak_rss_mib=_mib(operator.peak_rss_bytes()),
            )

    def cold(self, objects: int) -> None:
        self._load.run("fill", n=objects, kopf=self._is_kopf, timeout=self._size.timeout_seconds)
        self._load.run("touch")
        with self._start("cold start", objects=objects):
            pass

    # -- parts ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _run(self, children: bool = False) -> Iterator[Measured]:
        environ = self._peer.environ(self._backend.kubeconfig, children)
        operator = Measured(self._peer.command(self._backend.kubeconfig, children), environ, self._log)
        try:
            yield operator
        finally:
            operator.stop()

    @contextmanager
    def _start(self, variant: str | None, *, objects: int, children: bool = False) -> Iterator[Measured]:
        """A running operator that has done the one thing which waited for it."""
        before = self._backend.requests()
        self._load.begin("wait", timeout=self._size.timeout_seconds)
        with self._run(children) as operator:
            done = self._load.end()
            operator.check()
            cpu = operator.settled_cpu()
            if variant is not None:
                self._add(
                    variant,
                    objects,
                    done,
                    ready_seconds=done["last_status"] - operator.started_at if done["agreed"] else None,
                    cpu_seconds=cpu.total,
                    rss_mib=_mib(operator.rss_bytes()),
                    peak_rss_mib=_mib(operator.peak_rss_bytes()),
                    requests=_difference(before, self._backend.requests()),
                )
            yield operator

    def _burst(self, operator: Measured, variant: str, op: str, **options: Any) -> None:
        before, sent = self._asked()
        at = operator.cpu()
        done = self._load.run(op, timeout=self._size.timeout_seconds, **options)
        operator.check()
        cpu = operator.settled_cpu() - at
        requests = _difference(before, self._backend.requests())
        if self._backend.is_own():
            requests = _difference(_difference(sent, self._load.sent), requests)
        changes = done["written"] or 1
        self._add(
            variant,
            changes,
            done,
            **_cpu_per_change(cpu, changes),
            rate=done["agreed"] / done["seconds"] if done["agreed"] else None,
            late_seconds=done["late_seconds"],
            p50_ms=done["p50"] * 1000,
            p99_ms=done["p99"] * 1000,
            p999_ms=done["p999"] * 1000,
            rss_mib=_mib(operator.rss_bytes()),
            peak_rss_mib=_mib(operator.peak_rss_bytes()),
            requests=requests,
            requests_each=sum(requests.values()) / changes,
        )

    def _asked(self) -> tuple[dict[str, int], dict[str, int]]:
        return self._backend.requests(), dict(self._load.sent)

    def _idle(self, operator: Measured) -> None:
        before, at = self._backend.requests(), operator.cpu()
        time.sleep(self._size.idle_seconds)
        cpu = operator.cpu() - at
        requests = _difference(before, self._backend.requests())
        writes = {name: count for name, count in requests.items() if name.split()[0] not in {"get", "list", "watch"}}
        self._add(
            "idle",
            self._size.objects,
            None,
            cpu_seconds_per_hour=cpu.total / self._size.idle_seconds * 3600,
            writes=sum(writes.values()),
            requests=requests,
        )

    def _add(self, variant: str, objects: int, done: dict[str, Any] | None, **metrics: Any) -> None:
        record: Record = {
            "peer": self._peer.name,
            "backend": self._backend.name,
            "variant": variant,
            "objects": objects,
            "metrics": metrics,
        }
        if done is not None:
            record["pending"] = max(0, objects - done["agreed"]) if variant in {"create", "update", "backlog"} else 0
        self.records.append(record)


def clear(backend: Backend, load: Load, children: bool) -> None:
    """Leave nothing of one peer to the next."""
    load.run("clear", children=children)


def _cpu_per_change(cpu: Cpu, changes: int) -> dict[str, float]:
    share = cpu.user / (cpu.user + cpu.system) if cpu.user + cpu.system else 1.0
    each = cpu.total / changes * 1000
    return {"cpu_ms": each, "cpu_user_ms": each * share, "cpu_system_ms": each * (1 - share)}


def _mib(size_bytes: int) -> float:
    return size_bytes / 2**20


def _difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: count - before.get(name, 0) for name, count in after.items() if count != before.get(name, 0)}
