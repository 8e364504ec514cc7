"""The owner's end of a supervisor: start programs, hear of their deaths, hand over or end the lifetime.

Owns the pipe whose closing ends everything, and the record in the data folder by which a later start can tidy up
after a supervisor that was killed itself. Refuses to know what the programs are (`components`) and how the supervisor
does its work (`supervisor`).

    data folder   <runtime>/cp-XXXX, with `record.json`: the supervisor and its children, each a pid and a start time

Guarantees: G1 once `Supervised` is made, its children end when this process ends, however it ends, until `share` or
`detach` was called. G2 `sweep` touches a folder only if its owner, by pid *and* start time, is gone, and kills a
recorded child only under the same test.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubewright.testing.errors import ControlPlaneError, StartFailed
from kubewright.testing.identity import Process

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_ANSWER_SECONDS = 10.0
_NEW_PREFIX, _PREFIX = ".new-", "cp-"
_ABANDONED_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run: `name` for messages and logs, and its argument list."""

    name: str
    argv: Sequence[str]


def new_data_dir(base: Path) -> Path:
    """Make an empty data folder below `base`, recorded as belonging to this process."""
    new = Path(tempfile.mkdtemp(prefix=_NEW_PREFIX, dir=base))
    owner = Process.of(os.getpid())
    assert owner is not None
    _write_record(new, owner, {})
    # By rename: a folder called cp-... always has a record, so `sweep` can never mistake a new one for a dead one.
    data_dir = base / (_PREFIX + new.name.removeprefix(_NEW_PREFIX))
    os.rename(new, data_dir)
    return data_dir


def sweep(base: Path) -> None:
    """Remove data folders below `base` whose owner is gone, and end what it left running."""
    for folder in base.glob(f"{_PREFIX}*"):
        owner, children = read_record(folder)
        if owner is not None and owner.is_alive():
            continue
        for child in children.values():
            child.kill_group()
        shutil.rmtree(folder, ignore_errors=True)
    for folder in base.glob(f"{_NEW_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def read_record(data_dir: Path) -> tuple[Process | None, dict[str, Process]]:
    """Return the owner and the children recorded in a data folder; (None, {}) if there is no readable record."""
    try:
        record = json.loads((data_dir / "record.json").read_text())
        return Process(**record["owner"]), {name: Process(**child) for name, child in record["children"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None, {}


def _write_record(data_dir: Path, owner: Process, children: Mapping[str, Process]) -> None:
    def plain(process: Process) -> dict[str, Any]:
        return {"pid": process.pid, "started": process.started}

    text = json.dumps({"owner": plain(owner), "children": {name: plain(child) for name, child in children.items()}})
    unfinished = data_dir / ".record.json"
    unfinished.write_text(text)
    os.replace(unfinished, data_dir / "record.json")


class Supervised:
    """Programs under a supervisor of their own. Not for use from two threads at a time.

    `remove` says whether the data folder goes when the supervisor ends; logs lie in `data_dir/logs/<name>.log`.
    """

    def __init__(self, data_dir: Path, *, remove: bool) -> None:
        self.data_dir = data_dir
        self.logs = data_dir / "logs"
        self.logs.mkdir(exist_ok=True)
        self.exited: dict[str, int] = {}
        """Exit code (negative: signal) of each program that has ended and was not started again."""
        self.stopped: set[str] = set()
        """Those of them that `stop` has ended."""
        self._children: dict[str, Process] = {}
        self._failed: dict[str, str] = {}
        self._remove = remove
        self._lifetime = ""
        self._buffer = b""
        with (self.logs / "supervisor.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SUPERVISOR), str(data_dir), str(os.getpid()), str(int(remove))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # Not the owner's terminal: Ctrl-C is the owner's to act upon, and a closed terminal hangs up on it.
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        owner = Process.of(self._process.pid)
        if owner is not None:
            self._owner = owner
            _write_record(data_dir, owner, {})
        try:
            self._await("ready", "did not start")
        except BaseException:
            self.shutdown(0.0)
            raise

    @property
    def supervisor(self) -> Process:
        """The supervisor's own process."""
        return self._owner

    @property
    def children(self) -> dict[str, Process]:
        """The programs that were started, by name."""
        return dict(self._children)

    def start(self, command: Command, env: Mapping[str, str]) -> None:
        """Start a program. Raises StartFailed if it cannot be executed."""
        self.exited.pop(command.name, None)
        self.stopped.discard(command.name)
        self._failed.pop(command.name, None)
        self._children.pop(command.name, None)
        log = self.logs / f"{command.name}.log"
        self._send(op="start", name=command.name, argv=list(command.argv), env=dict(env), log=str(log))
        deadline = time.monotonic() + _ANSWER_SECONDS
        while command.name not in self._children:
            if command.name in self._failed:
                raise StartFailed(command.name, self._failed[command.name])
            self._listen(deadline, command.name)

    def stop(self, name: str, grace_seconds: float) -> None:
        """End one program: SIGTERM, after the grace SIGKILL. Returns when it has ended."""
        if name in self.exited or name not in self._children:
            return
        self.stopped.add(name)
        self._send(op="stop", name=name, grace_seconds=grace_seconds)
        deadline = time.monotonic() + grace_seconds + _ANSWER_SECONDS
        while name not in self.exited:
            self._listen(deadline, name)

    def watch(self, seconds: float) -> None:
        """Wait up to `seconds` for a program to end, noting it in `exited`; returns at once when one does.

        Raises ControlPlaneError if the supervisor itself is gone.
        """
        before = len(self.exited)
        deadline = time.monotonic() + seconds
        while len(self.exited) == before:
            if not self._pump(max(0.0, deadline - time.monotonic())) and time.monotonic() >= deadline:
                return

    def last_lines(self, name: str, count: int = 20) -> str:
        """Return the end of a program's log."""
        try:
            with (self.logs / f"{name}.log").open("rb") as log:
                log.seek(0, os.SEEK_END)
                log.seek(max(0, log.tell() - 16384))
                lines = log.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(lines[-count:])

    def share(self, fifo: Path, lock: Path, directory: Path) -> None:
        """Bind the lifetime to the writers of a named pipe instead of this process (see `supervisor`)."""
        self._send(op="share", fifo=str(fifo), lock=str(lock), directory=str(directory))
        self._await("shared", "did not take over the lifetime")

    def detach(self) -> None:
        """Let everything live on without this process, until the supervisor gets SIGTERM."""
        self._send(op="detach")
        self._await("detached", "did not detach")

    def let_go(self) -> None:
        """Close this end. Owned programs end by that; shared and detached ones do not, nor are they waited for."""
        self._close_pipes()
        # It is not ours to wait for any more; without this, Popen warns that it was left running.
        self._process.returncode = 0

    def shutdown(self, grace_seconds: float) -> None:
        """End all programs and the supervisor, and wait for it. May be called more than once."""
        if self._process.returncode is not None:
            self._close_pipes()
            return
        with contextlib.suppress(OSError, ValueError):
            self._send(op="shutdown", grace_seconds=grace_seconds)
        self._close_pipes()
        try:
            self._process.wait(grace_seconds + _ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            # Its children die with it on Linux; elsewhere they are in the record.
            for child in self._children.values():
                child.kill_group()
            self._process.kill()
            self._process.wait()
        if self._remove:
            # The supervisor has done so, unless it was killed.
            shutil.rmtree(self.data_dir, ignore_errors=True)

    # -- the conversation

    def _send(self, **command: Any) -> None:
        self._stdin.write(json.dumps(command).encode() + b"\n")
        self._stdin.flush()

    def _await(self, lifetime: str, otherwise: str) -> None:
        deadline = time.monotonic() + _ANSWER_SECONDS
        while self._lifetime != lifetime:
            self._listen(deadline, "supervisor", otherwise)

    def _listen(self, deadline: float, name: str, otherwise: str = "gave no answer") -> None:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise StartFailed(name, f"{otherwise} within {_ANSWER_SECONDS:g} s", self.last_lines("supervisor"))
        self._pump(remaining)

    def _pump(self, seconds: float) -> bool:
        """Take in events for up to `seconds`; return whether there were any."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                return False
        chunk = os.read(self._stdout.fileno(), 65536)
        if not chunk:
            raise ControlPlaneError(
                "the supervisor of the control plane is gone (killed?), and with it the control plane\n"
                + self.last_lines("supervisor")
            )
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        for line in lines:
            self._on_event(json.loads(line))
        return True

    def _on_event(self, event: dict[str, Any]) -> None:
        match event:
            case {"event": "started", "name": name, "pid": pid}:
                # A program that ended at once has no start time any more; its end is the next event.
                self._children[name] = Process.of(pid) or Process(pid, "")
                _write_record(self.data_dir, self._owner, self._children)
            case {"event": "failed", "name": name, "reason": reason}:
                self._failed[name] = reason
            case {"event": "exited", "name": name, "code": code}:
                self.exited[name] = code
            case {"event": lifetime}:
                self._lifetime = lifetime

    def _close_pipes(self) -> None:
        for pipe in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                pipe.close()
