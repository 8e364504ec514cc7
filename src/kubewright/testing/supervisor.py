"""The process that outlives nobody: it runs the programs of one control plane and ends them when its owner is gone.

Owns: the child processes, their logs and the data folder. Refuses to know: what the children are, whether they are
ready, where their ports are. It is run as a file by a bare interpreter (`python -I -S supervisor.py DATA PARENT
REMOVE`) and imports the standard library only, so it starts in some 20 ms and works whatever the package's state.

The model is one question, "who keeps us alive?", with three answers:

    owned     the pipe on stdin is open and the parent is still our parent; the kernel closes the pipe when the
              owner dies, by SIGKILL too. Parentage is looked at as well, once a second, because a fork of the
              owner (multiprocessing) inherits the pipe and would keep it open.
    shared    somebody holds the write end of a named pipe: the kernel counts the owners of a test run for us
    detached  nobody: SIGTERM ends it (`kubewright cluster down`)

Commands come as JSON lines on stdin (start, stop, share, detach, shutdown), events leave as JSON lines on stdout.

Guarantees: G1 when the answer becomes "nobody", all children are killed and the data folder is removed (if REMOVE is
1). G2 on Linux the children also die when the supervisor itself is killed (PR_SET_PDEATHSIG; it has one thread, so
"parent thread died" means "supervisor died"); the folder is then swept by the next start. G3 Ctrl-C in the owner's
terminal reaches neither it nor the children: it leads a session of its own.
Rejected: PDEATHSIG straight from the owner, which fires when the *thread* that started a child ends, exists on Linux
only, and cannot remove a folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

_PARENT_LOOK_SECONDS = 1.0
_REAP_POLL_SECONDS = 0.01
_PR_SET_PDEATHSIG = 1


class Supervisor:
    """See the module: one instance per process, driven by `run`."""

    def __init__(self, data_dir: str, parent: int, remove: bool) -> None:
        self._data_dir = data_dir
        self._parent = parent
        self._remove = remove
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._commands = b""
        self._share: dict[str, str] | None = None
        self._share_fd = -1
        self._detached = False
        self._ending: float | None = None
        """Grace in seconds once it has been decided to end; None before."""
        self._selector = selectors.DefaultSelector()
        self._before_exec = _die_with_parent()

    def run(self) -> None:
        """Serve commands until nobody keeps us alive, then end everything."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_read, False)
        os.set_blocking(wake_write, False)
        os.set_blocking(0, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._on_sigterm)
        for ignored in (signal.SIGINT, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)
        self._selector.register(0, selectors.EVENT_READ, self._read_commands)
        self._selector.register(wake_read, selectors.EVENT_READ, lambda: os.read(wake_read, 4096))
        self._say(event="ready")
        try:
            while self._ending is None:
                for key, _ in self._selector.select(_PARENT_LOOK_SECONDS if self._is_owned() else None):
                    key.data()
                self._reap()
                # Asked anew: a command may just have handed the lifetime over, and the owner may already be gone.
                if self._is_owned() and os.getppid() != self._parent:
                    self._ending = 0.0
        finally:
            self._end(self._ending or 0.0)

    # -- commands

    def _read_commands(self) -> None:
        try:
            data = os.read(0, 65536)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(0)
            if self._share is not None:
                self._selector.register(self._share_fd, selectors.EVENT_READ, self._end_if_unshared)
                self._end_if_unshared()
            elif not self._detached:
                self._ending = 0.0
            return
        *lines, self._commands = (self._commands + data).split(b"\n")
        for line in lines:
            command = json.loads(line)
            getattr(self, "_do_" + command.pop("op"))(**command)

    def _do_start(self, name: str, argv: list[str], env: dict[str, str], log: str) -> None:
        try:
            with open(log, "ab") as output:
                child = subprocess.Popen(
                    argv,
                    env=env,
                    cwd=self._data_dir,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    preexec_fn=self._before_exec,
                )
        except OSError as error:
            self._say(event="failed", name=name, reason=f"cannot be run: {error}")
            return
        self._children[name] = child
        self._say(event="started", name=name, pid=child.pid)

    def _do_stop(self, name: str, grace_seconds: float) -> None:
        child = self._children.get(name)
        if child is not None:
            self._kill({name: child}, grace_seconds)
        self._reap()

    def _do_share(self, fifo: str, lock: str, directory: str) -> None:
        self._share_fd = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._share = {"lock": lock, "directory": directory}
        self._say(event="shared")

    def _do_detach(self) -> None:
        self._detached = True
        self._say(event="detached")

    def _do_shutdown(self, grace_seconds: float) -> None:
        self._ending = grace_seconds

    def _on_sigterm(self, *_: object) -> None:
        self._ending = 0.0

    # -- lifetime

    def _is_owned(self) -> bool:
        return self._share is None and not self._detached

    def _end_if_unshared(self) -> None:
        """End if the named pipe has no writer, and still has none once no newcomer can be opening it.

        Newcomers open it under the lock. The shared folder is removed before the lock is let go, so whoever comes
        next finds nothing and starts anew. The lock's file goes too; acquirers look whether theirs is still at its
        path (`locks`).
        """
        if self._has_writer() or self._share is None:
            return
        lock = os.open(self._share["lock"], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._has_writer():
                return
            shutil.rmtree(self._share["directory"], ignore_errors=True)
            with contextlib.suppress(OSError):
                os.unlink(self._share["lock"])
            self._ending = 0.0
        finally:
            os.close(lock)

    def _has_writer(self) -> bool:
        try:
            return os.read(self._share_fd, 4096) != b""
        except BlockingIOError:
            return True

    def _reap(self) -> None:
        for name, child in list(self._children.items()):
            code = child.poll()
            if code is not None:
                del self._children[name]
                self._say(event="exited", name=name, code=code)

    def _end(self, grace_seconds: float) -> None:
        self._kill(self._children, grace_seconds)
        if self._remove:
            shutil.rmtree(self._data_dir, ignore_errors=True)

    def _kill(self, children: dict[str, subprocess.Popen[bytes]], grace_seconds: float) -> None:
        """End process groups: SIGTERM and a wait if there is grace, then SIGKILL for what is left."""
        if grace_seconds > 0:
            self._signal(children, signal.SIGTERM)
            deadline = time.monotonic() + grace_seconds
            while time.monotonic() < deadline and any(child.poll() is None for child in children.values()):
                time.sleep(_REAP_POLL_SECONDS)
        self._signal(children, signal.SIGKILL)
        for child in children.values():
            child.wait()

    @staticmethod
    def _signal(children: dict[str, subprocess.Popen[bytes]], number: signal.Signals) -> None:
        for child in children.values():
            # Only a child that is not reaped yet: its group id cannot belong to anybody else.
            if child.poll() is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, number)

    @staticmethod
    def _say(**event: Any) -> None:
        # Nobody may be listening any more (shared, detached, or the owner has just died): that is no failure.
        with contextlib.suppress(OSError):
            os.write(1, json.dumps(event).encode() + b"\n")


def _die_with_parent() -> Callable[[], object] | None:
    """Return what a child does before exec so that the kernel kills it when the supervisor dies (Linux)."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


if __name__ == "__main__":
    Supervisor(data_dir=sys.argv[1], parent=int(sys.argv[2]), remove=sys.argv[3] == "1").run()
