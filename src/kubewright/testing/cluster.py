"""Detached clusters for people: a real Kubernetes on a laptop, without containers, that outlives the command.

Owns `up`, `status` and `down`, the folder of each cluster and its state file. They are plain functions that return
data: printing is the CLI's. Refuses to know how a control plane is started (`controlplane`) and kept (`supervisor`).

    <cache>/clusters/<name>/
        state.json    pids with start times, how to use it, which kubeconfig file was written
        data/         the control plane's folder; `kubeconfig` in it is the administrator's
    <cache>/clusters/.<name>.lock    held during up and down

Guarantees: G1 `up` on a running cluster changes nothing but adds missing nodes and the kubeconfig asked for. G2 `up`
that fails or is interrupted leaves nothing: the cluster is handed over (detached) as the last step. G3 `down` ends
the processes that `up` started, told by pid *and* start time, and no other. G4 a kubeconfig file that holds anything
but this cluster is never overwritten or removed; ~/.kube/config is written only if named.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubewright.testing import programs
from kubewright.testing.access import ClusterAccess
from kubewright.testing.binaries import find_binaries
from kubewright.testing.build import say_to_stderr
from kubewright.testing.controlplane import ControlPlane
from kubewright.testing.errors import ClusterError, RequestFailed
from kubewright.testing.files import write_private
from kubewright.testing.identity import Process
from kubewright.testing.kubeconfig import context_names, refuse_foreign
from kubewright.testing.locks import FileLock
from kubewright.testing.nodes import add_nodes, ready_nodes
from kubewright.testing.paths import cache_dir

DEFAULT_NAME = "default"
_NAMES = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
_LOCK_TIMEOUT_SECONDS = 120.0
_START_TIMEOUT_SECONDS = 60.0
_NODES_TIMEOUT_SECONDS = 20.0
_END_TIMEOUT_SECONDS = 15.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Component:
    """A program of a cluster: its name, pid and whether it runs."""

    name: str
    pid: int
    running: bool


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """What is known of a detached cluster.

    `state` is "running" (the API server is ready and all programs run), "degraded" (something is not) or "dead" (its
    processes are gone, after a reboot say; `up` starts it anew, `down` forgets it). `kubeconfig` is the file to use,
    `logs` the folder of the programs' logs, `kubectl` one of the server's version, `version` the server's ("v1.37.2",
    empty unless it answers), `ready_nodes` how many nodes are Ready, `started_at` when it came up, `created` whether
    the call that returned this started it.
    """

    name: str
    state: str
    url: str
    kubeconfig: Path
    context: str
    logs: Path
    kubectl: Path
    version: str
    ready_nodes: int
    components: tuple[Component, ...]
    started_at: datetime.datetime
    created: bool = False


@dataclass(frozen=True, slots=True)
class _State:
    folder: Path
    access: ClusterAccess
    supervisor: Process
    components: dict[str, Process]
    kubeconfig: Path
    started_at: datetime.datetime

    @property
    def logs(self) -> Path:
        return self.folder / "data" / "logs"

    def write(self) -> None:
        record = {
            "access": self.access.as_record(),
            "supervisor": [self.supervisor.pid, self.supervisor.started],
            "components": {name: [process.pid, process.started] for name, process in self.components.items()},
            "kubeconfig": str(self.kubeconfig),
            "started_at": self.started_at.isoformat(),
        }
        write_private(self.folder / "state.json", json.dumps(record, indent=1).encode())

    @classmethod
    def read(cls, folder: Path) -> _State | None:
        try:
            record: dict[str, Any] = json.loads((folder / "state.json").read_text())
            return cls(
                folder=folder,
                access=ClusterAccess.from_record(record["access"]),
                supervisor=Process(*record["supervisor"]),
                components={name: Process(*value) for name, value in record["components"].items()},
                kubeconfig=Path(record["kubeconfig"]),
                started_at=datetime.datetime.fromisoformat(record["started_at"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None


def up(
    name: str = DEFAULT_NAME,
    *,
    nodes: int = 1,
    kubeconfig: Path | None = None,
    env: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = say_to_stderr,
) -> ClusterStatus:
    """Bring up the cluster `name` with controllers, scheduler and at least `nodes` nodes; return its status.

    A running cluster is left as it is, and gets the nodes that it lacks. `kubeconfig` is a file to write the
    administrator's kubeconfig to (default: only the one in the cluster's own folder); it may exist if it is a
    kubeconfig of this cluster. Raises ClusterError, BinariesNotFound, StartFailed, ValueError for a bad name.
    """
    _check_name(name)
    if nodes < 0:
        raise ValueError(f"nodes={nodes}: use 0 or more")
    env = os.environ if env is None else env
    if kubeconfig is not None:
        kubeconfig = kubeconfig.expanduser().absolute()
        refuse_foreign(kubeconfig, _context(name))
    with _lock(name, env):
        folder = _folder(name, env)
        state = _State.read(folder)
        created = state is None or not state.supervisor.is_alive()
        if state is None or created:
            _remove(folder, state)
            state = _start(folder, name, nodes, env, progress)
        else:
            _ensure_nodes(state, nodes)
        if kubeconfig is not None:
            write_private(kubeconfig, state.access.kubeconfig_path.read_bytes())
            state = _replace_kubeconfig(state, kubeconfig)
        return _status_of(state, created=created)


def status(name: str | None = None, *, env: Mapping[str, str] | None = None) -> list[ClusterStatus]:
    """Return the status of the cluster `name` (an empty list if there is none), or of all, by name."""
    env = os.environ if env is None else env
    if name is not None:
        _check_name(name)
        folders = [_folder(name, env)]
    else:
        folders = sorted(path for path in (cache_dir(env) / "clusters").glob("[!.]*") if path.is_dir())
    states = [state for folder in folders if (state := _State.read(folder)) is not None]
    return [_status_of(state) for state in states]


def down(name: str = DEFAULT_NAME, *, env: Mapping[str, str] | None = None) -> bool:
    """End the cluster `name` and remove its data and kubeconfig; return whether there was one.

    Raises ClusterError if a process does not end.
    """
    _check_name(name)
    env = os.environ if env is None else env
    with _lock(name, env):
        folder = _folder(name, env)
        existed = folder.exists()
        _remove(folder, _State.read(folder))
        return existed


def _start(folder: Path, name: str, nodes: int, env: Mapping[str, str], progress: Callable[[str], None]) -> _State:
    binaries = find_binaries(programs.PROGRAMS, env=env, progress=progress)
    control_plane = ControlPlane(
        controllers=True,
        scheduler=True,
        nodes=nodes,
        # So that nodes can be added later, when nobody is left who could start kwok.
        kwok=True,
        data_dir=folder / "data",
        keep_data=False,
        start_timeout_seconds=_START_TIMEOUT_SECONDS,
        binaries=binaries,
        name=_context(name),
        env=env,
        progress=progress,
    )
    try:
        control_plane.start()
        supervised = control_plane.supervised
        state = _State(
            folder=folder,
            access=control_plane.access,
            supervisor=supervised.supervisor,
            components=supervised.children,
            kubeconfig=control_plane.access.kubeconfig_path,
            started_at=datetime.datetime.now(datetime.UTC),
        )
        state.write()
        supervised.detach()
        control_plane.let_go()
    except BaseException:
        control_plane.stop()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return state


def _ensure_nodes(state: _State, nodes: int) -> None:
    with contextlib.closing(state.access.rest()) as rest:
        try:
            add_nodes(rest, nodes)
            deadline = time.monotonic() + _NODES_TIMEOUT_SECONDS
            while ready_nodes(rest, untainted=True) < nodes:
                if time.monotonic() >= deadline:
                    raise ClusterError(
                        f"cluster {state.folder.name}: {nodes} nodes were not Ready within "
                        f"{_NODES_TIMEOUT_SECONDS:g} s; see {state.logs}"
                    )
                time.sleep(_POLL_SECONDS)
        except RequestFailed as error:
            raise ClusterError(
                f"cluster {state.folder.name} runs but does not answer ({error}); "
                f"see {state.logs}, or take it down and up again"
            ) from error


def _remove(folder: Path, state: _State | None) -> None:
    """End what is recorded and still alive, then remove the folder."""
    if state is not None:
        # Clean end: the supervisor ends its children. They are ended one by one only if it was killed before.
        state.supervisor.terminate()
        processes = [state.supervisor, *state.components.values()]
        if not state.supervisor.is_alive():
            for process in processes:
                process.kill_group()
        deadline = time.monotonic() + _END_TIMEOUT_SECONDS
        while alive := [process.pid for process in processes if process.is_alive()]:
            if time.monotonic() >= deadline:
                raise ClusterError(
                    f"cluster {folder.name}: processes {', '.join(map(str, alive))} did not end within "
                    f"{_END_TIMEOUT_SECONDS:g} s; end them by hand (kill -9) and try again"
                )
            time.sleep(_POLL_SECONDS)
        if _is_ours(state.kubeconfig, state):
            state.kubeconfig.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _status_of(state: _State, *, created: bool = False) -> ClusterStatus:
    components = tuple(Component(name, process.pid, process.is_alive()) for name, process in state.components.items())
    version, ready = "", 0
    answering = False
    if state.supervisor.is_alive():
        with contextlib.closing(state.access.rest()) as rest, contextlib.suppress(RequestFailed):
            version = str(rest.get("/version").get("gitVersion", ""))
            ready = ready_nodes(rest, untainted=False)
            answering = rest.status("/readyz") == 200
        healthy = answering and all(component.running for component in components)
        shown = "running" if healthy else "degraded"
    else:
        shown = "dead"
    return ClusterStatus(
        name=state.folder.name,
        state=shown,
        url=state.access.url,
        kubeconfig=state.kubeconfig,
        context=state.access.name,
        logs=state.logs,
        kubectl=state.access.kubectl_path,
        version=version,
        ready_nodes=ready,
        components=components,
        started_at=state.started_at,
        created=created,
    )


def _replace_kubeconfig(state: _State, kubeconfig: Path) -> _State:
    """Note the file as the one to show and, in the end, to remove; one that was written before goes now."""
    before = state.kubeconfig
    if before not in (kubeconfig, state.access.kubeconfig_path) and _is_ours(before, state):
        before.unlink(missing_ok=True)
    changed = dataclasses.replace(state, kubeconfig=kubeconfig)
    changed.write()
    return changed


def _is_ours(kubeconfig: Path, state: _State) -> bool:
    return context_names(_read(kubeconfig)) == [state.access.name]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _context(name: str) -> str:
    return f"kubewright-{name}"


def _folder(name: str, env: Mapping[str, str]) -> Path:
    return cache_dir(env) / "clusters" / name


@contextlib.contextmanager
def _lock(name: str, env: Mapping[str, str]) -> Iterator[None]:
    lock = FileLock(cache_dir(env) / "clusters" / f".{name}.lock")
    try:
        lock.acquire(_LOCK_TIMEOUT_SECONDS)
    except TimeoutError as error:
        raise ClusterError(
            f"another command has been bringing cluster {name} up or down for {_LOCK_TIMEOUT_SECONDS:g} s; "
            "wait for it to end, or end it"
        ) from error
    try:
        yield
    finally:
        # The file need not outlive the cluster; whoever waits for it looks whether it is still the one at the path.
        lock.release(unlink=not _folder(name, env).exists())


def _check_name(name: str) -> None:
    if not _NAMES.fullmatch(name):
        raise ValueError(
            f"cluster name {name!r}: use 1 to 40 lower-case letters, digits and dashes, "
            "beginning and ending with a letter or digit"
        )
