"""Who sees to it that a lost leadership has an end, whatever the rest of the process does.

Owns two deadlines and the means to keep them. A thread of its own that does no I/O, takes no lock of others and does
not log, so that nothing can hold it but what holds the whole process:

    what it sees                                          what it does
    valid_until has passed, and something is guarded      tells the event loop to stop it
    dead_at has passed, and something still is guarded    ends the process
    the event loop does not answer for stall_seconds      ends the process
      of the watchdog's own time

A process that was stopped (SIGSTOP, a frozen cgroup, a suspended machine) wakes up with its deadlines passed: the
watchdog runs within one switch of threads, and until it does the fence keeps the writes back. A reconcile that holds
the interpreter's lock (a C extension) is the same to it as a stopped process.

Why the process and not the work: a thread that does not come back, or an event loop that is blocked, cannot be ended
by anybody else inside, and what it may do beyond the API server (a bucket, a database) goes past the fence.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from enum import StrEnum

from .leadership import Leadership

__all__ = ["Verdict", "Watchdog", "end_process", "judge"]

_STDERR = 2
_MAX_TICK_SECONDS = 1.0
_MIN_TICK_SECONDS = 0.005
_EXIT_CODE = 1


class Verdict(StrEnum):
    """What is to be done."""

    FINE = "fine"
    STEP_DOWN = "step down"
    END = "end the process"


def judge(leadership: Leadership, now: float) -> Verdict:
    """What the deadlines of a leadership say."""
    if not leadership.guards or leadership.is_valid(now):
        return Verdict.FINE
    return Verdict.END if now >= leadership.dead_at else Verdict.STEP_DOWN


def end_process(line: str) -> None:
    """Say one line on standard error, if that takes it at once, and end the process without any clean-up."""
    try:
        if select.select([], [_STDERR], [], 0)[1]:
            os.write(_STDERR, f"error: {line}\n".encode())
    finally:
        os._exit(_EXIT_CODE)


class Watchdog:
    """Watches one leadership and one event loop.

    Guarantees: W1 while the process runs at all, `step_down` is called within a tick of `valid_until`. W2 what is still
    guarded at `dead_at` ends with the process then, or as soon as the process runs again: also where another thread
    wakes up before the watchdog and stops the work, as it was not stopped in time (`enforce`).
    """

    def __init__(
        self,
        leadership: Leadership,
        *,
        ping: Callable[[Callable[[], None]], None],
        step_down: Callable[[], None],
        stall_seconds: float,
        tick_seconds: float,
        end: Callable[[str], None] = end_process,
    ) -> None:
        """A watchdog that does not run yet.

        Args:
            ping: has the event loop call what it is given, without waiting for it.
            step_down: tells the event loop that the leadership is over; may be called more than once.
            tick_seconds: between two looks; deadlines are kept more exactly.
        """
        self._leadership = leadership
        self._ping = ping
        self._step_down = step_down
        self._stall_seconds = stall_seconds
        self._tick_seconds = min(max(tick_seconds, _MIN_TICK_SECONDS), _MAX_TICK_SECONDS)
        self._end = end
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="leader election watchdog", daemon=True)
        self._pinged = False  # the loop owes an answer
        self._blocked_seconds = 0.0
        self._looked_at = leadership.clock()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the watch. Nothing may be guarded any more."""
        self._stop.set()

    def enforce(self) -> None:
        """End the process if it is too late for anything else. From any thread that acts on a loss, before it does."""
        now = self._leadership.clock()
        if judge(self._leadership, now) is Verdict.END:
            self._end(self._why_dead(now, now - self._looked_at))

    def look(self, now: float, elapsed_seconds: float) -> bool:
        """One look, `elapsed_seconds` after the last; whether the watch is over."""
        verdict = judge(self._leadership, now)
        if verdict is Verdict.END:
            self._end(self._why_dead(now, elapsed_seconds))
            return True
        if verdict is Verdict.STEP_DOWN:
            self._step_down()
        if not self._leadership.guards or not self._pinged:
            self._blocked_seconds = 0.0
            self._pinged = True
            self._ping(self._pong)
            return False
        # A pause of the whole process is not the event loop's fault: of a longer time only a tick or two count.
        self._blocked_seconds += min(elapsed_seconds, 2 * self._tick_seconds)
        if self._blocked_seconds < self._stall_seconds:
            return False
        self._end(
            f"leader election: the event loop was blocked for {self._blocked_seconds:.0f} s while leading; ending, "
            f"so that another process can take Lease {self._leadership.lease}; find what blocks it, or allow more "
            "with stall_seconds"
        )
        return True

    def _pong(self) -> None:
        self._pinged = False

    def _run(self) -> None:
        clock = self._leadership.clock
        self._looked_at = clock()
        while not self._stop.wait(self._next_look_seconds(self._looked_at)):
            now = clock()
            if self.look(now, now - self._looked_at):
                return
            self._looked_at = now

    def _next_look_seconds(self, now: float) -> float:
        leadership = self._leadership
        seconds = self._tick_seconds
        if leadership.guards:
            for deadline in (leadership.valid_until, leadership.dead_at):
                if deadline > now:
                    seconds = min(seconds, deadline - now)
        return max(seconds, _MIN_TICK_SECONDS)

    def _why_dead(self, now: float, elapsed_seconds: float) -> str:
        if elapsed_seconds > 4 * self._tick_seconds:
            why = f"the process did not run for {elapsed_seconds:.1f} s"
        elif self._blocked_seconds > 0:
            why = f"the event loop is blocked, for {self._blocked_seconds:.1f} s by now"
        else:
            why = "reconciles did not end when they were cancelled"
        late_seconds = now - self._leadership.dead_at
        when = "before another process leads"
        if late_seconds > self._tick_seconds:
            when = f"{late_seconds:.1f} s late, as another process may lead"
        return f"leader election: Lease {self._leadership.lease} was lost and {why}; ending {when}"
