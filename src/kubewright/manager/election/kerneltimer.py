"""A timer of the kernel that ends the process: what the dead man's switch holds.

Linux only (timer_create(2), SIGEV_THREAD_ID). Elsewhere, or where a sandbox forbids it, there is none. A module of its
own, since ctypes takes longer to load than all of the election; only who stands for one needs it.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable

from .deadman import Timer

__all__ = ["kernel_timer"]

_SIGEV_THREAD_ID = 4
_TIMER_ABSTIME = 1
_SIG_DFL, _SIG_ERR = 0, ctypes.c_void_p(-1).value
_TRIES = 8  # signals from the last one down, until one is nobody's


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
