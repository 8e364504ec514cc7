"""One request on its way: what is sent, until when, and the future of who waits for the answer.

Owns the fate of a call: it is resolved, failed or cancelled once, whoever holds it at that time. It is in one place at
a time, its `holder`: the pool, while it waits for a connection, then a connection. So a call costs one future however
long it queues: the connection that becomes free takes the next exchange and writes it, without waking its task first.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import Protocol

from .http1_answer import StreamReader
from .transport import Response


class Holder(Protocol):
    """Where an exchange is."""

    def let_go(self, exchange: Exchange) -> None:
        """Forget the exchange: its caller has gone."""
        ...

    def overdue(self, exchange: Exchange) -> None:
        """End the exchange with an error: its deadline has passed."""
        ...


class Exchange:
    """A request and its future. While it waits in the pool it is an item of Deadlines; later its connection is."""

    __slots__ = (
        "data",
        "due_at",
        "future",
        "holder",
        "idle_seconds",
        "method",
        "stream",
        "target",
        "timeout_seconds",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        data: bytes,
        method: str,
        target: str,
        deadline: float,
        timeout_seconds: float,
        stream: StreamReader | None = None,
        idle_seconds: float | None = None,
    ) -> None:
        self.future: asyncio.Future[Response] = loop.create_future()
        self.data = data
        self.method = method
        self.target = target
        self.due_at = deadline
        self.timeout_seconds = timeout_seconds
        self.stream = stream
        self.idle_seconds = idle_seconds
        self.holder: Holder | None = None

    def cancel(self) -> None:
        """Give the call up: its task was cancelled."""
        if self.holder is not None:
            self.holder.let_go(self)

    def on_due(self, now: float) -> None:
        """See Deadlines."""
        self.due_at = inf
        if self.holder is not None:
            self.holder.overdue(self)

    def fail(self, error: BaseException) -> bool:
        """End the call with an error; return whether somebody hears it."""
        self.holder = None
        if self.future.done():
            return False
        self.future.set_exception(error)
        return True

    def __str__(self) -> str:
        return f"{self.method} {self.target}"
