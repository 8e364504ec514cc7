"""Who is compared, and how each is started: as its users start it, logging to a file.

| peer | started with |
|---|---|
| kubewright | `kubewright run`, all defaults, installed without extras: asyncio's own event loop |
| kubewright-uvloop | the same, installed with the `speedups` extra |
| controller-runtime | a static binary; 16 workers, no client-side rate limit, metrics server off, else defaults |
| kopf | `kopf run --quiet --standalone --all-namespaces`: quiet is its fastest way |
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import programs

OURS = "kubewright"
GO = "controller-runtime"
KOPF = "kopf"
SPEEDUPS = "kubewright-uvloop"


@dataclass(frozen=True, slots=True)
class Peer:
    """One of those compared. `command(kubeconfig, children)` starts it."""

    name: str
    command: Callable[[Path, bool], list[str]]
    env: Mapping[str, str] = field(default_factory=dict)

    def environ(self, kubeconfig: Path, children: bool) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
        return {**kept, **self.env, "KUBECONFIG": str(kubeconfig), "BENCH_CHILDREN": "1" if children else "0"}


def _kubewright(name: str, folder: Path) -> Peer:
    def command(kubeconfig: Path, children: bool) -> list[str]:
        file = "kubewright_children.py" if children else "kubewright_operator.py"
        return [str(folder / "kubewright"), "run", str(programs.OPERATORS / file)]

    return Peer(name, command)


def kinds(count: int) -> Peer:
    """Kubewright with controllers of so many kinds."""
    folder, file = programs.kubewright(speedups=False), str(programs.OPERATORS / "kubewright_kinds.py")
    command = [str(folder / "kubewright"), "run", file]
    return Peer(OURS, lambda kubeconfig, children: command, {"BENCH_KINDS": str(count)})


def _go(program: Path) -> Peer:
    return Peer(GO, lambda kubeconfig, children: [str(program), f"-children={str(children).lower()}"])


def _kopf(folder: Path) -> Peer:
    file = str(programs.OPERATORS / "kopf_operator.py")
    return Peer(
        KOPF,
        lambda kubeconfig, children: [
            str(folder / "kopf"), "run", "--quiet", "--standalone", "--all-namespaces", file,
        ],
    )  # fmt: skip


def make(name: str) -> Peer:
    """A peer, with what it needs built. Raises KeyError for an unknown name."""
    return {
        OURS: lambda: _kubewright(OURS, programs.kubewright(speedups=False)),
        SPEEDUPS: lambda: _kubewright(SPEEDUPS, programs.kubewright(speedups=True)),
        GO: lambda: _go(programs.go_program(programs.OPERATORS / "go")),
        KOPF: lambda: _kopf(programs.kopf()),
    }[name]()


ALL = (OURS, SPEEDUPS, GO, KOPF)
