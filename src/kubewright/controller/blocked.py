"""Tells of a reconcile that blocks the event loop: an `async def` that calls what waits without `await`.

While it does, nothing else happens: no other object is reconciled, no watch is read, no health check answered. It looks
like an API server that is slow. The cure is one word: a `def` reconcile runs in a thread.

A thread beside the loop looks, four times a second while reconciles are at work and not at all otherwise, which code
the loop is in. Only if that is a reconcile it asks the loop for a sign of life, and if none comes in time it has the
name, the object and the line. So a pass costs two additions, an event nothing, and an idle operator never wakes up for
it.

Caveat: code in C that keeps the interpreter to itself hides from any thread; what waits (files, sockets, sleeps, locks,
subprocesses) and what computes in Python does not.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from types import CodeType, FrameType
from typing import NamedTuple

__all__ = ["Blockage", "LoopWatch", "Seen", "seen_in"]

_TOLD_AGAIN_SECONDS = 60.0


class Seen(NamedTuple):
    """A reconcile that the event loop is in: its controller, its function and object, and the line that it is at."""

    controller: str
    function: str
    subject: str
    line: str
    blocked: Callable[[float], object]
    """To be called on the loop, with the seconds."""


class Blockage(NamedTuple):
    """What is told."""

    seen: Seen
    seconds: float
    lasts: bool

    def __str__(self) -> str:
        seen = self.seen
        since = f"has blocked the event loop for {self.seconds:.1f} s and still does"
        was = f"blocked the event loop for {self.seconds:.1f} s"
        return (
            f"{seen.controller}: {seen.function}, of {seen.subject}, {since if self.lasts else was}, at {seen.line}; "
            "nothing else ran meanwhile. Make it `def` instead of `async def`: it runs in a thread then; or await it"
        )


class LoopWatch:
    """Watches one event loop.

    Expected flow: `start` on the loop, `begin` and `end` around each pass, `stop`.

    Args:
        calls: see `seen_in`.
        tell: is given what is to be logged; from the thread.
        after_seconds: from when on a reconcile blocks.
        every_seconds: between two looks.
    """

    def __init__(
        self,
        calls: CodeType,
        tell: Callable[[Blockage], object],
        *,
        after_seconds: float = 0.5,
        every_seconds: float = 0.25,
        still_seconds: float = 10.0,
    ) -> None:
        self._calls = calls
        self._tell = tell
        self._after_seconds = after_seconds
        self._every_seconds = every_seconds
        self._still_seconds = still_seconds
        self._at_work = 0
        self._asleep = False
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._alive = threading.Event()  # set by the loop, or by `stop`, which must not wait for what waits for it
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0
        self._told: dict[tuple[str, str], float] = {}

    def start(self) -> None:
        """Watch the running loop. The thread is made with the first pass."""
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()

    def begin(self) -> None:
        """A pass begins."""
        self._at_work += 1
        if self._asleep:
            self._wake.set()
        elif self._thread is None and self._loop is not None:
            self._thread = threading.Thread(target=self._run, name="kubewright loop watch", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """A pass has ended."""
        self._at_work -= 1

    def stop(self) -> None:
        """Watch no more; returns when the thread has ended."""
        self._stopped.set()
        self._wake.set()
        self._alive.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)

    # -- in the thread ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopped.wait(self._every_seconds):
            if not self._at_work:
                self._wake.clear()
                self._asleep = True
                if not self._at_work:  # nobody began between the two lines above
                    self._wake.wait()
                self._asleep = False
            elif self._look() is not None:
                self._ask()

    def _look(self) -> Seen | None:
        return seen_in(sys._current_frames().get(self._loop_thread), self._calls)

    def _ask(self) -> None:
        """Ask the loop for a sign of life."""
        alive = self._alive = threading.Event()
        loop = self._loop
        assert loop is not None
        asked_at = time.monotonic()
        try:
            loop.call_soon_threadsafe(alive.set)
        except RuntimeError:
            return  # the loop has ended
        if self._stopped.is_set() or alive.wait(self._after_seconds):
            return
        seen = self._look()
        still = not alive.wait(self._still_seconds - self._after_seconds)
        if still and seen is not None:
            self._tell(Blockage(seen, time.monotonic() - asked_at, lasts=True))
        alive.wait()
        seconds = time.monotonic() - asked_at
        if seen is None or self._stopped.is_set():
            return
        self._count(loop, seen, seconds)
        if self._is_news(seen, asked_at):
            self._tell(Blockage(seen, seconds, lasts=False))

    def _is_news(self, seen: Seen, now: float) -> bool:
        place = (seen.function, seen.line)
        told_at = self._told.get(place)
        if told_at is not None and now - told_at < _TOLD_AGAIN_SECONDS:
            return False
        self._told[place] = now
        return True

    @staticmethod
    def _count(loop: asyncio.AbstractEventLoop, seen: Seen, seconds: float) -> None:
        try:
            loop.call_soon_threadsafe(seen.blocked, seconds)
        except RuntimeError:
            logging.getLogger(__name__).debug("the loop has ended")


def seen_in(innermost: FrameType | None, calls: CodeType) -> Seen | None:
    """The reconcile whose frame is on a stack; None if there is none.

    Args:
        calls: the code that calls reconciles, a method with the variables `self`, `function` and `obj`. They do not
            change while the reconcile that it waits for runs.
    """
    frame, line = innermost, ""
    while frame is not None and frame.f_code is not calls:
        name = frame.f_code.co_filename
        if not line and not name.startswith((*_libraries(), "<")):
            line = f"{name}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    if frame is None or frame is innermost:
        return None
    there = frame.f_locals
    seen: Seen = there["self"].seen(there["function"], there["obj"], line)
    return seen


@cache
def _libraries() -> tuple[str, ...]:
    """The folders of code that is not the program's own."""
    import sysconfig  # takes longer to load than all of this room; only where something blocks

    return tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
