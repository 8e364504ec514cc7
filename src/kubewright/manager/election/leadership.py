"""Whether this process leads, at this very moment: what the election knows, for everybody else.

Owns the answer and nothing of how it is come by. One thread writes (the election's), any thread reads: the event loop
before each write, the watchdog, health checks. All that is shared are single attributes, each replaced in one step;
there is no lock that a blocked thread could hold.

Time is the system's steady clock that also runs while the machine sleeps (CLOCK_BOOTTIME on Linux, CLOCK_MONOTONIC on
macOS): a laptop that was closed, or a virtual machine that was suspended where the guest is told, comes back as a
leader whose time is up. Setting the clock (NTP, by hand) moves neither. A virtual machine that is frozen without a
trace in any of its clocks cannot know it, and nothing in it can.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

from kubewright.client.transport import Phase, TransportError

__all__ = ["Leadership", "LeadershipLost", "steady"]


def _steady() -> Callable[[], float]:
    name = "CLOCK_MONOTONIC" if sys.platform == "darwin" else "CLOCK_BOOTTIME"
    number = getattr(time, name, None)
    if number is None:
        return time.monotonic
    return lambda: time.clock_gettime(number)


steady: Callable[[], float] = _steady()
"""Seconds on the steady clock, in which `Leadership` is measured. Not that of the event loop."""


class LeadershipLost(TransportError):
    """A write was not sent, or was given up on its way (`was_sent`: it may have been carried out), as this process does
    not lead any more. Whoever leads now does what is to be done.
    """

    def __init__(self, server: str, lease: str, *, was_sent: bool = False) -> None:
        fate = "given up, and perhaps carried out" if was_sent else "not sent"
        phase: Phase = "response" if was_sent else "wait"
        super().__init__(server, phase, f"{fate}: this process no longer holds the Lease {lease}")
        self.args = (server, lease)
        self.lease = lease
        self.was_sent = was_sent


class Leadership:
    """What a process may do, by the lease that it holds.

    Guarantees: L1 `is_valid(now)` is false from `renew_seconds` after the sending of the last renewal that succeeded,
    whether or not any of this process's threads has run since. L2 it is false as soon as the election knows better.

    Attributes:
        lease: "namespace/name".
        identity: ours.
        valid_until: until when we lead; in the past otherwise.
        dead_at: when what a lost leadership guarded must have ended, or the process does.
        transitions: of the Lease while we lead: grows with each change of holder, so of two leaders the later has more.
        guards: whether something runs that needs the leadership.
    """

    __slots__ = ("clock", "dead_at", "guards", "identity", "lease", "transitions", "valid_until")

    def __init__(self, lease: str, identity: str, *, clock: Callable[[], float] = steady) -> None:
        self.lease = lease
        self.identity = identity
        self.clock = clock
        self.valid_until = -math.inf
        self.dead_at = -math.inf
        self.transitions = 0
        self.guards = False

    def is_valid(self, now: float | None = None) -> bool:
        """Whether we lead, at `now` on `clock`."""
        return (self.clock() if now is None else now) < self.valid_until

    def extend(self, valid_until: float, dead_at: float, transitions: int) -> None:
        """The lease was taken or renewed."""
        self.dead_at = dead_at  # first: a reader in between sees the longer deadline with the shorter leadership
        self.transitions = transitions
        self.valid_until = valid_until

    def revoke(self) -> None:
        """We lead no more. What is guarded has until `dead_at` as before."""
        self.valid_until = -math.inf
