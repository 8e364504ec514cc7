"""Who waits for an informer: for its first state, for a version.

Owns that every wait ends: by what it waits for, by its time, by a problem that it does not want to wait out, or because
the informer stops. Nothing is polled, and nothing is looked at while nobody waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from .actions import Condition
from .listwatch import ListWatchError

__all__ = ["InformerStopped", "Waits"]


class InformerStopped(RuntimeError):
    """The informer does not run any more: what was waited for cannot come."""


class Awaited(Protocol):
    """What is waited for."""

    name: str

    @property
    def stopped(self) -> bool: ...

    @property
    def condition(self) -> Condition: ...

    @property
    def problem(self) -> ListWatchError | None: ...

    @property
    def observed_version(self) -> int: ...

    def listen(self, moved: Callable[[], None] | None) -> None: ...


class _Waiter(Struct, eq=False):
    reached: Callable[[], bool]
    unless: tuple[type[ListWatchError], ...]
    problem: Callable[[], ListWatchError | None]
    future: asyncio.Future[None]


class Waits:
    """The waits for one informer.

    Cancellation: a cancelled wait leaves nothing behind.
    """

    def __init__(self, informer: Awaited) -> None:
        self._informer = informer
        self._waiters: list[_Waiter] = []

    async def wait(
        self,
        reached: Callable[[], bool],
        timeout_seconds: float | None,
        what: str,
        unless: tuple[type[ListWatchError], ...] = (),
        problem: Callable[[], ListWatchError | None] | None = None,
    ) -> None:
        """Return when `reached` holds. `problem`: what stands in its way; that of the informer by default.

        Raises:
            TimeoutError: not within the time. InformerStopped. ListWatchError: the problem is one of `unless`.
        """
        informer = self._informer
        if reached():
            return
        if informer.stopped:
            raise InformerStopped(f"informer {informer.name}: stopped before it had {what}")
        problem = problem or (lambda: informer.problem)
        waiter = _Waiter(reached, unless, problem, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        self.listen()
        self._look_at(waiter)
        try:
            async with asyncio.timeout(timeout_seconds):
                await waiter.future
        except TimeoutError:
            said = f": {problem()}" if problem() else ""
            raise TimeoutError(
                f"informer {informer.name}: did not reach {what} within {timeout_seconds:g} s; "
                f"it is {informer.condition} at resource version {informer.observed_version}{said}"
            ) from None
        finally:
            self._waiters.remove(waiter)
            self.listen()

    def listen(self) -> None:
        """Hear of versions that are reached, if anybody waits."""
        self._informer.listen(self.wake if self._waiters else None)

    def wake(self) -> None:
        """Something has changed: end the waits that it ends."""
        for waiter in self._waiters:
            self._look_at(waiter)

    def _look_at(self, waiter: _Waiter) -> None:
        if waiter.future.done():
            return
        if waiter.reached():
            waiter.future.set_result(None)
        elif waiter.unless and isinstance(problem := waiter.problem(), waiter.unless):
            waiter.future.set_exception(problem)

    def stop(self) -> None:
        """End all waits: the informer has stopped."""
        for waiter in self._waiters:
            if not waiter.future.done():
                waiter.future.set_exception(InformerStopped(f"informer {self._informer.name}: stopped during the wait"))
