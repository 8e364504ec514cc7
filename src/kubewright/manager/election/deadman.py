"""The deadline of a leadership in the kernel: it comes even to a process in which no thread runs.

Owns one timer of the kernel and what it does. It knows nothing of leases: it follows a `Leadership`.

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

Linux only (timer_create(2), SIGEV_THREAD_ID). Elsewhere, or where a sandbox forbids it, there is no switch.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Protocol

from .leadership import Leadership

__all__ = ["DeadManSwitch", "Timer", "kernel_timer"]

_SIGEV_THREAD_ID = 4
_TIMER_ABSTIME = 1
_SIG_DFL, _SIG_ERR = 0, ctypes.c_void_p(-1).value
_TRIES = 8  # signals from the last one down, until one is nobody's


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


class _Sigevent(ctypes.Structure):
    _fields_ = [
        ("value", ctypes.c_void_p),
        ("signo", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread_id", ctypes.c_int),
        ("_padding", ctypes.c_byte * 64),  # the kernel's is of 64 bytes in all
    ]


class _Itimerspec(ctypes.Structure):
    _fields_ = [
        ("interval_seconds", ctypes.c_long),
        ("interval_nanoseconds", ctypes.c_long),
        ("seconds", ctypes.c_long),
        ("nanoseconds", ctypes.c_long),
    ]


class _KernelTimer:
    def __init__(self, libc: ctypes.CDLL, signo: int) -> None:
        self._libc = libc
        self._id = ctypes.c_void_p()
        event = _Sigevent(None, signo, _SIGEV_THREAD_ID, threading.get_native_id())
        self._call("timer_create", time.CLOCK_BOOTTIME, ctypes.byref(event), ctypes.byref(self._id))

    def set(self, at: float | None) -> None:
        # All zero disarms it.
        seconds, part = divmod(max(at, 1.0), 1) if at is not None else (0, 0)
        when = _Itimerspec(0, 0, int(seconds), int(part * 1e9))
        self._call("timer_settime", self._id, _TIMER_ABSTIME, ctypes.byref(when), None)

    def close(self) -> None:
        self._call("timer_delete", self._id)

    def _call(self, name: str, *args: object) -> None:
        if getattr(self._libc, name)(*args) != 0:
            raise OSError(ctypes.get_errno(), f"{name} failed")


def kernel_timer() -> Timer:
    """A timer that ends the process with the number of its signal as exit code (64: SIGRTMAX, unless that is taken),
    before the calling thread executes anything more.

    Raises OSError: there are none here.
    """
    if sys.platform != "linux":
        raise OSError(f"no timers of the kernel for threads on {sys.platform}")
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return _KernelTimer(libc, _ending_signal(libc))
    except AttributeError as error:  # a libc without one of the functions
        raise OSError(str(error)) from None


def _ending_signal(libc: ctypes.CDLL) -> int:
    """A signal that ends the process: handlers are the process's, so it is the same for all its elections."""
    install: Callable[..., int | None] = libc.signal
    libc.signal.argtypes, libc.signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    ends = ctypes.cast(libc._exit, ctypes.c_void_p).value
    for signo in range(signal.SIGRTMAX, signal.SIGRTMAX - _TRIES, -1):
        before = install(signo, ends)
        if before in (None, _SIG_DFL, ends):  # None is what ctypes makes of a null pointer
            return signo
        if before != _SIG_ERR:
            install(signo, before)
    raise OSError(f"the signals from {signal.SIGRTMAX - _TRIES + 1} to {signal.SIGRTMAX} are all taken")
