"""The connections to one server: a bounded number of them, and a queue for who finds them busy.

Owns who gets which connection. It knows neither HTTP nor TLS: connections are made by a function that it is given.

Connections are dialled by tasks of the pool, not by the caller who needs one, and whichever is ready first goes to whom
has waited longest: a connection given back, or a new one. So a slow dial delays nobody who could have had another,
and a cancelled caller does not throw a handshake away. The free connection used last is used next, so that those not
needed grow old and are closed.

| number                       | meaning                                                                  |
|------------------------------|--------------------------------------------------------------------------|
| `_open` + `_dials` <= cap     | what exists or is coming                                                 |
| dials started                | one for each waiter that no running dial will serve, as long as cap allows |
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from math import inf

from .http1_connection import Connection
from .http1_deadlines import Deadlines
from .transport import RequestTimeout, TransportClosed, TransportError

Dial = Callable[["Pool"], Awaitable[Connection]]
"""Makes an open connection owned by the pool, or raises TransportError."""


class Pool:
    """A bounded pool.

    Expected flow: `take`, and if that gives none `await acquire`; the connection comes back by itself when its exchange
    is over (`release`) or when it is closed (`lost`).

    Guarantees:
    G1 there are never more than `cap` connections, dials included.
    G2 who calls `acquire` first is served first; `take` gives nothing while somebody waits.
    G3 a connection is given to one caller at a time.

    Cancellation: a cancelled `acquire` has taken nothing; a connection that it was just given goes to the next.
    """

    def __init__(
        self, server: str, noun: str, limit: str, cap: int, idle_seconds: float, deadlines: Deadlines, dial: Dial
    ) -> None:
        self._server = server
        self._noun = noun
        self._limit = limit
        self._cap = cap
        self._idle_seconds = idle_seconds
        self._deadlines = deadlines
        self._dial = dial
        self._loop = asyncio.get_running_loop()
        self._open: set[Connection] = set()
        self._idle: list[Connection] = []
        self._dials: set[asyncio.Task[None]] = set()
        self._waiters: OrderedDict[_Waiter, None] = OrderedDict()
        self._is_closed = False
        self._emptied: asyncio.Future[None] | None = None

    def take(self) -> Connection | None:
        """Return a free connection if there is one and nobody waits."""
        while self._idle and not self._waiters:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
        return None

    async def acquire(self, deadline: float, timeout_seconds: float) -> Connection:
        """Wait for a connection until `deadline` (on the loop's clock).

        Raises what the dial raised, RequestTimeout, or TransportClosed.
        """
        if self._is_closed:
            raise self._closed()
        waiter = _Waiter(self, deadline, timeout_seconds)
        self._waiters[waiter] = None
        self._deadlines.add(waiter)
        self._serve()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            future = waiter.future
            if future.done() and not future.cancelled() and future.exception() is None:
                self.release(future.result())
            raise
        finally:
            self._waiters.pop(waiter, None)
            self._deadlines.discard(waiter)

    def drop_idle(self) -> None:
        """Close the free connections: one of them has turned out to be closed by the server, so others will be."""
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.abort()

    def release(self, connection: Connection) -> None:
        """Take a connection back whose exchange is over (or that was not used)."""
        if self._is_closed or not connection.is_open:
            connection.abort()
            return
        connection.due_at = due_at = self._loop.time() + self._idle_seconds
        self._deadlines.arm(due_at)
        self._idle.append(connection)
        if self._waiters:
            self._serve()

    def lost(self, connection: Connection) -> None:
        """Forget a connection that is closed."""
        self._open.discard(connection)
        self._deadlines.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        self._serve()
        self._check_emptied()

    def arm(self, due_at: float) -> None:
        """Take note of a connection's new deadline."""
        self._deadlines.arm(due_at)

    async def close(self) -> None:
        """End everything: those who wait get TransportClosed, exchanges too; return when all sockets are closed."""
        self._is_closed = True
        for waiter in list(self._waiters):
            waiter.fail(self._closed())
        for task in self._dials:
            task.cancel()
        for connection in list(self._open):
            connection.fail(TransportClosed(self._server, "response", "the transport was closed by this program"))
        while self._open or self._dials:
            if self._emptied is None or self._emptied.done():
                self._emptied = self._loop.create_future()
            # Shielded: two callers may wait, and one of them be cancelled.
            await asyncio.shield(self._emptied)

    def _serve(self) -> None:
        """Give free connections to those who wait, and dial for those who are left."""
        while self._waiters and self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                waiter, _ = self._waiters.popitem(last=False)
                if not waiter.give(connection):
                    self._idle.append(connection)
        while len(self._waiters) > len(self._dials) and len(self._open) + len(self._dials) < self._cap:
            if self._is_closed:
                return
            task = self._loop.create_task(self._run_dial(), name=f"kubewright: dial {self._server}")
            self._dials.add(task)
            task.add_done_callback(self._dial_done)

    async def _run_dial(self) -> None:
        try:
            connection = await self._dial(self)
        except TransportError as error:
            while self._waiters:
                waiter, _ = self._waiters.popitem(last=False)
                if waiter.fail(error):
                    break
            return
        self._open.add(connection)
        self._deadlines.add(connection)
        self.release(connection)

    def _dial_done(self, task: asyncio.Task[None]) -> None:
        self._dials.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # Not a TransportError, so a defect; whoever waits longest has to hear of it.
            while self._waiters and not self._waiters.popitem(last=False)[0].fail(error):
                pass
        self._serve()
        self._check_emptied()

    def _check_emptied(self) -> None:
        if self._emptied is not None and not self._emptied.done() and not self._open and not self._dials:
            self._emptied.set_result(None)

    def _closed(self) -> TransportClosed:
        return TransportClosed(self._server, "wait", "the transport was closed by this program", "use a new client")

    def waited_too_long(self, timeout_seconds: float) -> RequestTimeout:
        """Say that nobody gave a connection back in time."""
        return RequestTimeout(
            self._server,
            "wait",
            f"no connection within {timeout_seconds:g} s: {len(self._open)} of at most {self._cap} {self._noun}"
            f" are in use and {len(self._dials)} being made, while {len(self._waiters)} callers wait",
            f"raise Limits.{self._limit} or allow more with timeout_seconds",
        )


class _Waiter:
    """Somebody who waits for a connection; `due_at` and `on_due` are for Deadlines."""

    __slots__ = ("_pool", "_timeout_seconds", "due_at", "future")

    def __init__(self, pool: Pool, deadline: float, timeout_seconds: float) -> None:
        self._pool = pool
        self._timeout_seconds = timeout_seconds
        self.due_at = deadline
        self.future: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()

    def give(self, connection: Connection) -> bool:
        """Give a connection; return whether it was taken."""
        if self.future.done():
            return False
        connection.due_at = inf
        self.future.set_result(connection)
        return True

    def fail(self, error: BaseException) -> bool:
        """End the wait with an error; return whether somebody heard it."""
        if self.future.done():
            return False
        self.future.set_exception(error)
        return True

    def on_due(self, now: float) -> None:
        """End the wait: the deadline has passed."""
        self.due_at = inf
        self.fail(self._pool.waited_too_long(self._timeout_seconds))
