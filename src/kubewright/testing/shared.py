"""One control plane for all processes of a test run, started by the first that asks, ended with the last.

Owns joining and leaving. There is no count to keep right: every member holds the write end of one named pipe, and the
kernel tells the supervisor when the last of them is closed, by whatever death. Refuses to know about pytest.

    <runtime>/shared/<key>/state.json   how to use it, and the supervisor's identity
    <runtime>/shared/<key>/alive        the named pipe
    <runtime>/shared/.<key>.lock        held while joining, so that one member starts and the others wait

Guarantees: G1 at most one control plane per key. G2 it lives as long as any member, and no longer. G3 a member that
joins while the last one leaves gets either the old one, alive, or a new one (the supervisor decides under the lock).
Cancellation: `join` that raises has joined nothing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from kubewright.testing.access import ClusterAccess
from kubewright.testing.controlplane import ControlPlane
from kubewright.testing.identity import Process
from kubewright.testing.locks import FileLock
from kubewright.testing.paths import runtime_dir

_JOIN_TIMEOUT_SECONDS = 3600.0
"""The first member may have to build the programs; its death frees the lock at once."""


class SharedControlPlane:
    """A membership: `access` works until `leave`."""

    def __init__(self, access: ClusterAccess, supervisor: Process, fd: int) -> None:
        self.access = access
        self.supervisor = supervisor
        self._fd = fd

    def leave(self) -> None:
        """End this membership; the last one ends the control plane (without waiting for it)."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def join(key: str, make: Callable[[], ControlPlane], base: Path | None = None) -> SharedControlPlane:
    """Join the control plane called `key`; if there is none, `make` gives one that is not started yet.

    Raises what `ControlPlane.start` raises.
    """
    base = base or runtime_dir() / "shared"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(base, key)
    lock = FileLock(_lock_path(base, key))
    with lock.held(_JOIN_TIMEOUT_SECONDS):
        folder = base / key
        joined = _open(folder)
        return joined if joined is not None else _start(folder, lock.path, make())


def _start(folder: Path, lock: Path, control_plane: ControlPlane) -> SharedControlPlane:
    shutil.rmtree(folder, ignore_errors=True)
    control_plane.start()
    try:
        supervised = control_plane.supervised
        folder.mkdir(mode=0o700)
        os.mkfifo(folder / "alive", 0o600)
        supervised.share(folder / "alive", lock, folder)
        supervisor = supervised.supervisor
        record = {
            "access": control_plane.access.as_record(),
            "supervisor": [supervisor.pid, supervisor.started],
        }
        (folder / "state.json").write_text(json.dumps(record))
        joined = _open(folder)
        if joined is None:
            raise RuntimeError(f"the supervisor does not read {folder / 'alive'}")
    except BaseException:
        control_plane.stop()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    # Only now: as long as our pipe is open the supervisor does not ask who else is there.
    control_plane.let_go()
    return joined


def _open(folder: Path) -> SharedControlPlane | None:
    """Become a member, if there is a living control plane in `folder`."""
    state = _read(folder)
    if state is None or not state[1].is_alive():
        return None
    try:
        # Without a reader (the supervisor) this fails, and does not wait for one.
        fd = os.open(folder / "alive", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    return SharedControlPlane(*state, fd)


def _read(folder: Path) -> tuple[ClusterAccess, Process] | None:
    try:
        record = json.loads((folder / "state.json").read_text())
        return ClusterAccess.from_record(record["access"]), Process(*record["supervisor"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sweep(base: Path, key: str) -> None:
    """Remove the folders of other keys whose supervisor was killed, unless somebody is just starting there."""
    for folder in base.iterdir():
        if folder.name.startswith(".") or folder.name == key:
            continue
        lock = FileLock(_lock_path(base, folder.name))
        if not lock.try_acquire():
            continue
        state = _read(folder)
        dead = state is None or not state[1].is_alive()
        if dead:
            shutil.rmtree(folder, ignore_errors=True)
        lock.release(unlink=dead)


def _lock_path(base: Path, key: str) -> Path:
    return base / f".{key}.lock"
