"""The connections to one server: a bounded number of them, and a queue of exchanges for when all are busy.

Owns which exchange gets which connection. It knows neither HTTP nor TLS: connections are made by a function that it is
given.

Connections are dialled by tasks of the pool, not by the caller who needs one, and whichever is ready first takes the
exchange that has waited longest: a connection given back, or a new one. So a slow dial delays nobody who could have
had another, and a cancelled caller does not throw a handshake away. The free connection used last is used next, so
that those not needed grow old and are closed.

| quantity                      | rule                                                                       |
|-------------------------------|----------------------------------------------------------------------------|
| `_open` + `_dials`            | at most `cap`                                                              |
| `_idle`                       | a part of `_open`; empty while anything waits                              |
| dials                         | one for each waiting exchange, as long as `cap` allows                     |
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Literal

from .http1_connection import Connection
from .http1_deadlines import Deadlines
from .http1_exchange import Exchange
from .transport import RequestTimeout, TransportClosed, TransportError

Dial = Callable[["Pool"], Awaitable[Connection]]
"""Makes an open connection owned by the pool, or raises TransportError."""


class Pool:
    """A bounded pool. Everything is called from the loop's own thread.

    Expected flow: `submit` an exchange and await its future. The connection comes back by itself when its exchange is
    over (`release`), or goes when it is closed (`lost`).

    Guarantees:
    G1 there are never more than `cap` connections, dials included.
    G2 exchanges are sent in the order in which they were submitted.
    G3 a connection carries one exchange at a time.
    G4 every submitted exchange ends: by its answer, its deadline, the error of a dial, or `close`.

    Cancellation: an exchange that is cancelled while it waits has cost nobody anything.
    """

    def __init__(
        self,
        server: str,
        cap: int,
        cap_name: str,
        idle_seconds: float,
        deadlines: Deadlines,
        dial: Dial,
    ) -> None:
        self._server = server
        self._cap = cap
        self._cap_name = cap_name
        self._idle_seconds = idle_seconds
        self.deadlines = deadlines
        self._dial = dial
        self.loop = asyncio.get_running_loop()
        self._open: set[Connection] = set()
        self._idle: list[Connection] = []
        self._dials: set[asyncio.Task[None]] = set()
        self._waiting: OrderedDict[Exchange, None] = OrderedDict()
        self._is_closed = False
        self._emptied: asyncio.Future[None] | None = None

    def submit(self, exchange: Exchange) -> None:
        """Send an exchange on a free connection, or queue it until there is one."""
        idle = self._idle
        while idle:
            connection = idle.pop()
            if connection.is_open:
                connection.send(exchange)
                return
        if self._is_closed:
            exchange.fail(self._closed("wait"))
            return
        exchange.holder = self
        self._waiting[exchange] = None
        self.deadlines.add(exchange)
        self._dial_more()

    def let_go(self, exchange: Exchange) -> None:
        """Forget a waiting exchange."""
        self._waiting.pop(exchange, None)
        self.deadlines.discard(exchange)

    def overdue(self, exchange: Exchange) -> None:
        """End a waiting exchange: no connection came in time."""
        self.let_go(exchange)
        exchange.fail(
            RequestTimeout(
                self._server,
                "wait",
                f"{exchange}: no free connection within {exchange.timeout_seconds:g} s ({len(self._open)} of at most"
                f" {self._cap} in use, {len(self._dials)} being made, {len(self._waiting)} more requests wait)",
                f"raise Limits.{self._cap_name}, or allow more with timeout_seconds",
            )
        )

    def drop_idle(self) -> None:
        """Close the free connections: one of them has turned out to be closed by the server, so others will be."""
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.abort()

    def release(self, connection: Connection) -> None:
        """Use a connection for the next exchange, or keep it."""
        if self._is_closed or not connection.is_open:
            connection.abort()
        elif self._waiting:
            connection.send(self._next())
        else:
            connection.due_at = due_at = self.loop.time() + self._idle_seconds
            self.deadlines.arm(due_at)
            self._idle.append(connection)

    def lost(self, connection: Connection) -> None:
        """Forget a connection that is closed."""
        self._open.discard(connection)
        self.deadlines.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        self._dial_more()
        self._check_emptied()

    def close(self) -> None:
        """End all exchanges with TransportClosed, close all connections, and take nothing more."""
        self._is_closed = True
        while self._waiting:
            self._next().fail(self._closed("wait"))
        for task in self._dials:
            task.cancel()
        for connection in list(self._open):
            connection.fail(self._closed("response"))

    async def wait_closed(self) -> None:
        """Wait until all sockets are closed and all dials over."""
        while self._open or self._dials:
            if self._emptied is None or self._emptied.done():
                self._emptied = self.loop.create_future()
            # Shielded: two callers may wait, and one of them be cancelled.
            await asyncio.shield(self._emptied)

    def _next(self) -> Exchange:
        exchange, _ = self._waiting.popitem(last=False)
        self.deadlines.discard(exchange)
        return exchange

    def _dial_more(self) -> None:
        while len(self._waiting) > len(self._dials) and len(self._open) + len(self._dials) < self._cap:
            task = self.loop.create_task(self._run_dial(), name=f"kubewright: dial {self._server}")
            self._dials.add(task)
            task.add_done_callback(self._dial_done)

    async def _run_dial(self) -> None:
        try:
            connection = await self._dial(self)
        except TransportError as error:
            if self._waiting:
                self._next().fail(error)
            return
        if connection.is_open:
            self._open.add(connection)
            self.deadlines.add(connection)
            self.release(connection)
        elif self._waiting:  # to dial again would be a loop, as long as the server closes what it accepts
            exchange = self._next()
            exchange.fail(connection.loss_of(exchange))

    def _dial_done(self, task: asyncio.Task[None]) -> None:
        self._dials.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and self._waiting:
            self._next().fail(error)  # not a TransportError, so a defect: whoever waits longest has to hear of it
        self._dial_more()
        self._check_emptied()

    def _check_emptied(self) -> None:
        if self._emptied is not None and not self._emptied.done() and not self._open and not self._dials:
            self._emptied.set_result(None)

    def _closed(self, phase: Literal["wait", "response"]) -> TransportClosed:
        return TransportClosed(self._server, phase, "the transport was closed by this program", "use a new client")
