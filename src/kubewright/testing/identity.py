"""Who a process is, beyond its number.

Owns the one fact that makes a pid in a file usable later: the time the process started. Numbers are reused, a pair
of number and start time is not; on Linux the boot is part of it, so that nothing matches after a reboot.
It refuses to kill anything by number alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

_HAS_PROC = Path("/proc/self/stat").exists()
"""Linux; elsewhere `ps` is asked."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this machine: its number and when it started (an opaque text)."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> Process | None:
        """Return the process that has this number now; None if there is none, or only its remains (a zombie)."""
        started = _started(pid)
        return None if started is None else cls(pid, started)

    def is_alive(self) -> bool:
        """Whether this very process, not a later one with its number, is running."""
        return _started(self.pid) == self.started

    def kill_group(self) -> None:
        """SIGKILL its process group, if this very process is still alive and leads it."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getpgid(self.pid) == self.pid:
                    os.killpg(self.pid, signal.SIGKILL)

    def terminate(self) -> None:
        """SIGTERM it, if this very process is still alive."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)


def _started(pid: int) -> str | None:
    if _HAS_PROC:
        try:
            text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        # proc_pid_stat(5): the second field is the name in parentheses and may hold spaces; state is field 3,
        # starttime (clock ticks since boot) field 22.
        fields = text.rpartition(")")[2].split()
        if fields[0] in ("Z", "X"):
            return None
        return f"{_boot()}/{fields[19]}"
    shown = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split(maxsplit=1)
    if len(shown) != 2 or shown[0].startswith("Z"):
        return None
    return shown[1].strip()


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "boot"
