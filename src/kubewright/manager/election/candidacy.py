"""A manager's part in an election: work while elected, with a client that only then writes.

Owns the round of terms, and that a term's connections end with it. It knows neither controllers nor queues: what is
done in a term is a function that it is given.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from kubewright.client import Client

from .elector import Elector, Term
from .fence import Connect, Fence, FencedTransport, fenced, fenced_http1
from .observer import ElectionObserver
from .settings import LeaderElection

__all__ = ["Candidacy"]


class Candidacy:
    """One process's candidacy for one Lease.

    Expected flow: `fenced` gives the client for what is done while leading; `run` leads as often as it is elected.

    Attributes:
        elector: for health checks and for who asks who leads.
    """

    def __init__(self, elector: Elector, connect: Connect, *, server: str) -> None:
        """`connect` makes the connections of the fenced client; `server` is its name in messages."""
        self.elector = elector
        kernel_seconds = elector.settings.grace_seconds / 2  # the last write is of `deadman`'s deadline
        fence = Fence(elector.leadership, server, kernel_seconds=kernel_seconds)
        self._transport = FencedTransport(fence, connect)

    @classmethod
    def of(
        cls,
        settings: LeaderElection,
        client: Client,
        *,
        name: str,
        observer: ElectionObserver | None = None,
        logger: logging.Logger | None = None,
    ) -> Candidacy:
        """A candidacy at the server of `client`; `name` is the Lease's unless the settings have one."""
        config = client.http.config
        elector = Elector(settings.named(name, config.namespace), config, observer=observer, logger=logger)
        return cls(elector, fenced_http1(config), server=urlsplit(config.server).netloc)

    def fenced(self, client: Client) -> Client:
        """The same client, but its writes fail with LeadershipLost when this process does not lead."""
        return fenced(client, self._transport)

    async def run(self, work: Callable[[Term], Awaitable[None]], stopping: asyncio.Event) -> None:
        """Be a candidate until `stopping` is set, then give the lease back.

        `work` is called once elected. It returns when what it started has ended: after `term.lost` was set, within
        `grace_seconds` of it, or by itself, after `stopping`. What it raises ends the candidacy.
        """
        try:
            async with self.elector:
                while (term := await self._elected(stopping)) is not None:
                    dropping = asyncio.create_task(self._drop_when_lost(term), name="leader election: drop connections")
                    try:
                        await work(term)
                    finally:
                        dropping.cancel()
                        await self._transport.drop()
                        self.elector.stepped_down()
        finally:
            await self._transport.close()  # of reads that were made between terms

    async def _elected(self, stopping: asyncio.Event) -> Term | None:
        elected = asyncio.create_task(self.elector.elected())
        stopped = asyncio.create_task(stopping.wait())
        try:
            await asyncio.wait([elected, stopped], return_when=asyncio.FIRST_COMPLETED)
            # Who is told to stop does not begin to work, even where both have come.
            return None if stopping.is_set() else elected.result()
        finally:
            elected.cancel()
            stopped.cancel()
            await asyncio.gather(elected, stopped, return_exceptions=True)

    async def _drop_when_lost(self, term: Term) -> None:
        await term.lost.wait()
        await self._transport.drop()
