"""The deadline of a leadership in the kernel: it comes even to a process in which no thread runs.

Owns when one timer of the kernel is set, and what it does. It knows nothing of leases: it follows a `Leadership`.

A check before a write leaves a gap behind it. Whoever is stopped there (SIGSTOP, a frozen cgroup, a suspended machine)
has checked, and sends when it goes on, however late; no check can be nearer to the system call than an instruction
before it, and with uvloop the rest of the loop's turn lies between. So it is not left to instructions: at the deadline
the kernel posts a signal to the thread that sends, whose handler is libc's `_exit`. A thread that has been stopped
takes its signals before it executes anything, so what was checked and not sent is never sent.

    why a timer of the kernel    a thread that looks at the clock wakes up beside the one that sends, and may be second
    why to that thread           a signal to the process is taken by any of its threads; another could go on meanwhile
    why not SIGKILL              process 1 of a container is immune to signals of its own that have no handler
    why no handler in Python     it runs between two byte codes, so not while a C function computes or sends
    why no word in the log       what is in libc and may be called here has no text of ours: the exit code says it

Measured: a process that made 130 writes a second and was stopped at random was in that gap once in 1,500 times, 5 us
a write. Of 40 that were stopped there on purpose, 36 sent the write when they went on, beside a watchdog that ended
them a moment later; with the switch none of 40.

The watchdog has the first word: it says why and ends the process, wherever a thread of this process runs at
`dead_at`. This is for where none does.

The timer itself is in `kerneltimer`.
"""

from __future__ import annotations

import threading
from typing import Protocol

from .leadership import Leadership

__all__ = ["DeadManSwitch", "Timer"]


class Timer(Protocol):
    """Ends the process at a time."""

    def set(self, at: float | None) -> None:
        """At `at` on CLOCK_BOOTTIME; a time that has passed is now. None: not any more."""
        ...

    def close(self) -> None: ...


class DeadManSwitch:
    """Ends the process `margin_seconds` after what a lost leadership guards should have ended.

    Guarantees: D1 while something is guarded, the thread that made the timer executes nothing after `dead_at` and the
    margin, whether it was stopped meanwhile or not. D2 when `follow` has returned after `guards` became false, or
    `close` has, it ends nothing.
    """

    def __init__(self, leadership: Leadership, timer: Timer, *, margin_seconds: float) -> None:
        self._leadership = leadership
        self._timer = timer
        self._margin_seconds = margin_seconds
        # Held for one system call that does not wait. Without it the old deadline could be set over the new one.
        self._lock = threading.Lock()
        self._is_closed = False

    def follow(self) -> None:
        """The leadership has changed. From any thread."""
        with self._lock:
            if not self._is_closed:
                leadership = self._leadership
                self._timer.set(leadership.dead_at + self._margin_seconds if leadership.guards else None)

    def close(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._timer.close()
