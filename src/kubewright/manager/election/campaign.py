"""`Election` on an event loop: its requests are sent, its times are kept, its changes are told.

Owns the one request that is under way. Decides nothing. It is the same on any loop: of the election's thread, and of a
test in virtual time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from .election import Election
from .steps import Answer, Change, Failed, Phase, Request

__all__ = ["Campaign"]

_LONGEST_SLEEP_SECONDS = 1.0  # the loop's clock may stand still while ours goes on (a machine that sleeps)
_SHORTEST_SLEEP_SECONDS = 0.001  # loops wake up a little early


class Campaign:
    """Runs an election until it has ended.

    Guarantees: at most one request is under way; one that the election does not wait for any more is cancelled.
    Cancellation: of `run` ends the request; the election stays where it is.
    Caveats: all calls on one event loop.
    """

    def __init__(
        self,
        election: Election,
        perform: Callable[[Request], Awaitable[Answer]],
        *,
        clock: Callable[[], float],
        deliver: Callable[[Change], None],
    ) -> None:
        """`deliver` is told of each change, in order, at once."""
        self._election = election
        self._perform = perform
        self._clock = clock
        self._deliver = deliver
        self._wake = asyncio.Event()
        self._current: Request | None = None
        self._call: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Campaign until the election has ended."""
        election = self._election
        try:
            while election.phase is not Phase.ENDED:
                self._wake.clear()
                self._send()
                wake_at = election.wake_at
                sleep = _LONGEST_SLEEP_SECONDS if wake_at is None else wake_at - self._clock()
                try:
                    async with asyncio.timeout(min(max(sleep, _SHORTEST_SLEEP_SECONDS), _LONGEST_SLEEP_SECONDS)):
                        await self._wake.wait()
                except TimeoutError:
                    self._tell(election.timer(self._clock()))
        finally:
            if self._call is not None:
                self._call.cancel()
                await asyncio.wait([self._call])

    def stop(self) -> None:
        """See Election.stop."""
        self._tell(self._election.stop(self._clock()))

    def stepped_down(self) -> None:
        """See Election.stepped_down."""
        now = self._clock()
        self._tell(self._election.timer(now))  # whoever noticed the loss may have been earlier than we
        self._tell(self._election.stepped_down(now))

    def _send(self) -> None:
        request = self._election.request
        if request is self._current:
            return
        if self._call is not None:
            self._call.cancel()
        self._current = request
        self._call = None if request is None else asyncio.create_task(self._ask(request), name="election request")

    async def _ask(self, request: Request) -> None:
        try:
            answer = await self._perform(request)
        except Exception as error:  # a defect; to stop renewing because of it would be another one
            answer = Failed(f"{type(error).__name__}: {error}")
        self._tell(self._election.answered(request, answer, self._clock()))

    def _tell(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self._deliver(change)
        self._wake.set()
