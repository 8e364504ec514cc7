"""The real controllers on the embedded API server: kube-controller-manager, kube-scheduler and kwok, as programs.

Owns their start, their end and what they need beside a kubeconfig, and one face for them and for a real control plane.
The command lines are those of a real control plane (`kubewright.testing.components`).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from kubewright.testing import ClusterAccess, certs, components, programs
from kubewright.testing.binaries import find_binaries
from kubewright.testing.embedded_access import embedded_access
from kubewright.testing.errors import RequestFailed
from kubewright.testing.files import write_private
from kubewright.testing.nodes import add_nodes, ready_nodes
from kubewright.testing.ports import reserve_ports
from kubewright.testing.processes import Supervised
from kubewright.testing.rest import Rest

SECONDS = 90.0
_POLL_SECONDS = 0.1
_PROGRAMS = (programs.CONTROLLER_MANAGER, programs.SCHEDULER, programs.KWOK)


@dataclass(frozen=True, slots=True)
class Cluster:
    """An API server with the real controllers at work, and what a test asks of it.

    `problem` says what is wrong with the programs, if anything, and what they said last.
    """

    access: ClusterAccess
    rest: Rest
    problem: Callable[[], str | None] = lambda: None
    words: Callable[[], str] = lambda: ""

    def until(self, what: str, is_so: Callable[[], bool], seconds: float = SECONDS) -> None:
        """Wait for it. Fails as soon as a program ends, or at the deadline, with what the programs said last."""
        deadline = time.monotonic() + seconds
        while not is_so():
            time.sleep(_POLL_SECONDS)
            ended = self.problem()
            if ended or time.monotonic() > deadline:
                pytest.fail(f"not so: {what}; {ended or 'no program has ended'}\n{self.words()}")

    def found(self, path: str) -> dict[str, Any] | None:
        """An object, None if there is none, or if its kind has only just come (429)."""
        try:
            return self.rest.get(path)
        except RequestFailed as error:
            if error.code not in (404, 429):
                raise
            return None

    def items(self, path: str) -> list[dict[str, Any]]:
        """What is in a collection."""
        return list(self.rest.get(path)["items"])


@contextlib.contextmanager
def real_cluster(access: ClusterAccess) -> Iterator[Cluster]:
    """A real control plane with controllers and nodes."""
    with contextlib.closing(access.rest()) as rest:
        yield Cluster(access, rest)


@contextlib.contextmanager
def embedded_cluster(*, nodes: int = 2) -> Iterator[Cluster]:
    """An embedded server of its own, the three programs at work on it, and the nodes Ready."""
    binaries = find_binaries(programs.PROGRAMS)
    with embedded_access() as access, contextlib.closing(access.rest()) as rest:
        layout = components.Layout(access.kubeconfig_path.parent, components.Ports(*reserve_ports(6)))
        _write_keys(layout)
        supervised = Supervised(layout.data_dir, remove=False)

        def problem() -> str | None:
            supervised.watch(0.0)
            return f"ended: {supervised.exited}" if supervised.exited else None

        def words() -> str:
            return "\n\n".join(f"{name}:\n{supervised.last_lines(name, 40)}" for name in _PROGRAMS)

        try:
            for command in (
                components.controller_manager(binaries, layout),
                components.scheduler(binaries, layout),
                components.kwok(binaries, layout, binaries.stages()),
            ):
                supervised.start(command, os.environ)
            made = Cluster(access, rest, problem, words)
            add_nodes(rest, nodes)
            made.until("all nodes are Ready", lambda: ready_nodes(rest, untainted=True) == nodes)
            yield made
        finally:
            supervised.shutdown(5.0)


def _write_keys(layout: components.Layout) -> None:
    kwok = certs.Authority.create("kwok CA").serving("kwok", ("localhost",), (components.ADDRESS,))
    accounts = certs.service_account_keys()
    for name, data in {
        "kwok.crt": kwok.certificate,
        "kwok.key": kwok.key,
        "sa.pub": accounts.certificate,
        "sa.key": accounts.key,
    }.items():
        write_private(layout.pki / name, data)
