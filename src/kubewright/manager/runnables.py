"""What runs in a manager beside its controllers: a cleaner, a server of its own, a poller.

Owns the tasks of one group, and what becomes of the manager when one of them fails. It knows no order: `Manager` says
when a group starts and stops.

    needs_leadership    runs                                            as in controller-runtime
    True (default)      while this process leads, anew in each term     LeaderElectionRunnable, the default there too
    False               from when the caches are synced until the stop  NeedLeaderElection() == false

A runnable that returns has done its work, and is not called again in this term. One that raises stops the manager,
and what it raised comes out of it: half an operator must not look like a whole one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct
from msgspec.structs import force_setattr

from kubewright.cache.reader import Reader
from kubewright.client import Client

__all__ = ["Running", "Runnable", "RunnableGroup"]


class Running(Struct, frozen=True):
    """What a runnable works with.

    Attributes:
        client: of the operator. Of one that needs leadership, it writes only while this process leads.
        cache: reads from the operator's cache.
        log: a logger of the operator.
    """

    client: Client
    cache: Reader
    log: logging.Logger


class Runnable(Struct, frozen=True):
    """An async function that runs beside the controllers, and is cancelled when it is to stop.

    Args:
        run: called with a `Running`.
        name: in the log; the function's unless given.
        needs_leadership: whether it runs only while this process leads.
    """

    run: Callable[[Running], Awaitable[object]]
    name: str = ""
    needs_leadership: bool = True

    def __post_init__(self) -> None:
        if not callable(self.run):
            raise TypeError(f"Runnable({self.run!r}): must be an async function of one argument")
        if not self.name:
            force_setattr(self, "name", getattr(self.run, "__name__", type(self.run).__name__))


class RunnableGroup:
    """Runnables that start and stop together.

    Guarantees: R1 the first failure is kept in `failure` and told by `on_failure`, once; the others go on until `stop`.
    R2 when `stop` has returned nothing of the group runs, unless it did not end within its time: that is said, by name.
    Cancellation: a cancelled `stop` has cancelled all of them; another call waits for them.
    """

    def __init__(self, runnables: Iterable[Runnable], *, on_failure: Callable[[], None]) -> None:
        self._runnables = tuple(runnables)
        self._on_failure = on_failure
        self._running: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()  # cancelled
        self.failure: BaseException | None = None

    def start(self, running: Running) -> None:
        """Start all of them, each in a task of its own."""
        for runnable in self._runnables:
            self._running.add(asyncio.create_task(self._run(runnable, running), name=runnable.name))

    async def stop(self, logger: logging.Logger, grace_seconds: float, *, wait: bool = False) -> None:
        """Cancel all of them, once, and wait until they have ended, or for `grace_seconds`.

        Args:
            wait: for as long as it takes: what the leader does must have ended before another leads.
        """
        tasks, self._running = self._running, set()
        for task in tasks:
            task.cancel()
        self._ending |= tasks
        if self._ending:
            _, pending = await asyncio.wait(self._ending, timeout=grace_seconds)
            for task in pending if grace_seconds or not wait else ():
                logger.warning("%s was cancelled and has not ended in %.1f s", task.get_name(), grace_seconds)
            if pending and wait:
                await asyncio.wait(pending)
        self._ending = {task for task in self._ending if not task.done()}

    async def _run(self, runnable: Runnable, running: Running) -> None:
        try:
            await runnable.run(running)
        except Exception as error:
            running.log.error("%s: %s: %s; stopping", runnable.name, type(error).__name__, error)
            if self.failure is None:
                self.failure = error
                self._on_failure()
