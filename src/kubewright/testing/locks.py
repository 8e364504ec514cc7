"""One lock between processes, on a file.

Owns mutual exclusion between processes of one machine and nothing else. It is `flock`, so the kernel lets go when the
holder dies, however it dies: a stale lock cannot exist, and there is no pid file to misread. Not for use between
threads of one process on one `FileLock` object (make one object per holder).

Guarantees: G1 at most one holder per path. G2 the holder's death releases. G3 the file may be unlinked by its holder
(to tidy up): an acquirer that got the lock on a file no longer at the path tries again.
Cancellation: `acquire` takes a deadline and a `cancelled` test; when it raises, nothing is held.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_POLL_SECONDS = 0.05
"""flock has no timed wait; 20 looks per second cost nothing beside what the locks of this room protect."""


class FileLock:
    """An exclusive lock on `path` (made if absent, mode 0600)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def try_acquire(self) -> bool:
        """Take the lock if it is free; return whether it is now held."""
        if self._fd is not None:
            raise RuntimeError(f"the lock on {self.path} is already held by this object")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(fd)
                return False
            except BaseException:
                os.close(fd)
                raise
            if _is_at(fd, self.path):
                self._fd = fd
                return True
            os.close(fd)

    def acquire(
        self,
        timeout_seconds: float,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        on_wait: Callable[[], None] | None = None,
    ) -> None:
        """Wait for the lock. `on_wait` is called once if it is not free at once.

        Raises TimeoutError after `timeout_seconds`, InterruptedError when `cancelled()` turns true.
        """
        deadline = time.monotonic() + timeout_seconds
        told = False
        while not self.try_acquire():
            if cancelled():
                raise InterruptedError(f"cancelled while waiting for the lock {self.path}")
            if time.monotonic() >= deadline:
                raise TimeoutError(f"the lock {self.path} was not free within {timeout_seconds:g} s")
            if on_wait is not None and not told:
                told = True
                on_wait()
            time.sleep(_POLL_SECONDS)

    def release(self, *, unlink: bool = False) -> None:
        """Let go; with `unlink` the file is removed first."""
        if self._fd is None:
            return
        if unlink:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
        os.close(self._fd)
        self._fd = None

    @contextlib.contextmanager
    def held(
        self,
        timeout_seconds: float,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        on_wait: Callable[[], None] | None = None,
    ) -> Iterator[None]:
        """Hold the lock for a `with` block; see `acquire`."""
        self.acquire(timeout_seconds, cancelled=cancelled, on_wait=on_wait)
        try:
            yield
        finally:
            self.release()


def _is_at(fd: int, path: Path) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(fd)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
