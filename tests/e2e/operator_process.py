"""The `kubewright` command as a process of its own, as it is in production.

Owns starting it, ending it in every way, and what the kernel and its log say of it. Used by the tests of this folder;
nothing here waits without a bound.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
REDIS_OPERATOR = ROOT / "examples" / "rediscluster" / "operator.py"
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Ended:
    """A command that has ended by itself."""

    code: int
    stdout: str
    stderr: str
    seconds: float


def kubewright(*args: str | Path, env: Mapping[str, str] | None = None, timeout_seconds: float = 30.0) -> Ended:
    """Run a command to its end. Raises subprocess.TimeoutExpired."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "kubewright", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        env={**os.environ, **(env or {})},
        cwd=ROOT,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr, time.monotonic() - started)


class OperatorProcess:
    """`kubewright run TARGET ...` in the background. Its output goes to `log`, behind what is there already."""

    def __init__(self, target: Path, kubeconfig: Path, log: Path, *args: str) -> None:
        self.log = log
        self.started_at = time.monotonic()
        self._logged_before = log.stat().st_size if log.exists() else 0
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kubewright", "run", str(target), "--kubeconfig", str(kubeconfig), *args],
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code (negative: a signal); None while it runs."""
        return self._process.poll()

    @property
    def text(self) -> str:
        """What this process has logged so far."""
        with self.log.open("rb") as log:
            log.seek(self._logged_before)
            return log.read().decode(errors="replace")

    @property
    def is_running(self) -> bool:
        """Whether its controllers work: all informers have synced."""
        return "running: " in self.text

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL, and wait for it. Does nothing if it has ended."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def wait(self, seconds: float) -> int:
        """Its exit code. Raises subprocess.TimeoutExpired."""
        return self._process.wait(seconds)

    def cpu_seconds(self) -> float:
        """The CPU time that it has used, user and system (proc(5), stat)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def state(self) -> str:
        """What the kernel says that it does: R, S, T (stopped), ... (proc(5), stat)."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def rss_bytes(self) -> int:
        """The memory that it has resident."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE_BYTES


async def until(what: str, check: Callable[[], Awaitable[object]], seconds: float = 30.0, every: float = 0.05) -> None:
    """Wait until `check` returns nothing that it misses (an empty value); fail with what it missed last."""
    deadline = time.monotonic() + seconds
    while missing := await check():
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}: {missing}")
        await asyncio.sleep(every)


async def until_running(operator: OperatorProcess, seconds: float = 30.0) -> None:
    """Wait until the controllers of an operator work; fail if it ends."""

    async def missing() -> str:
        assert operator.code is None, f"the operator ended with {operator.code}:\n{operator.text}"
        return "" if operator.is_running else operator.text or "no line in the log"

    await until("the operator runs", missing, seconds)
