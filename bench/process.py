"""A process that is measured: pinned to a core, its CPU, its memory.

CPU is user and system time of all threads, and of children while they live, from the kernel's clock of the process
(nanoseconds); `/proc/<pid>/stat`, which counts in hundredths of a second, gives only how it splits.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OPERATOR_CORE = 0
"""The operator has this core to itself."""
_TICK = os.sysconf("SC_CLK_TCK")
_SCHED = 2  # CPUCLOCK_SCHED of the kernel: the clock of a whole process, named by its pid


def other_cores() -> set[int]:
    """Where everything but the operator runs."""
    present = os.sched_getaffinity(0)
    return (present - {OPERATOR_CORE}) or present


@dataclass(frozen=True, slots=True)
class Cpu:
    """Seconds of CPU since the start: the total exactly, user and system to a hundredth."""

    total: float
    user: float
    system: float

    def __sub__(self, other: Cpu) -> Cpu:
        return Cpu(self.total - other.total, self.user - other.user, self.system - other.system)

    def __add__(self, other: Cpu) -> Cpu:
        return Cpu(self.total + other.total, self.user + other.user, self.system + other.system)


class Measured:
    """An operator that runs. `started_at` is the wall clock just before the program was started."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as output:
            self.started_at = time.time()
            self._process = subprocess.Popen(
                command,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                preexec_fn=lambda: os.sched_setaffinity(0, {OPERATOR_CORE}),
            )

    @property
    def pids(self) -> list[int]:
        found = [self._process.pid]
        for pid in found:
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                found += [int(child) for child in children.read_text().split()]
        return found

    def cpu(self) -> Cpu:
        total = Cpu(0.0, 0.0, 0.0)
        for pid in self.pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            clock = time.clock_gettime((~pid << 3) | _SCHED)
            total += Cpu(clock, int(fields[11]) / _TICK, int(fields[12]) / _TICK)
        return total

    def settled_cpu(self, limit_seconds: float = 20.0) -> Cpu:
        """The CPU once it has nothing left to do: less than 1 % of a core over half a second."""
        deadline = time.monotonic() + limit_seconds
        before = self.cpu()
        while True:
            time.sleep(0.5)
            now = self.cpu()
            if (now - before).total < 0.005 or time.monotonic() > deadline:
                return now
            before = now

    def rss_bytes(self) -> int:
        return self._memory("VmRSS:")

    def peak_rss_bytes(self) -> int:
        return self._memory("VmHWM:")

    def _memory(self, name: str) -> int:
        total = 0
        for pid in self.pids:
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith(name):
                    total += int(line.split()[1]) * 1024
        return total

    def check(self) -> None:
        """Raises RuntimeError, with the end of its log, when it has ended by itself."""
        if self._process.poll() is not None:
            last = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
            raise RuntimeError(f"{self._process.args!r} ended with {self._process.returncode}:\n{last}")

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
