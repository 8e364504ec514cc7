"""An election in virtual time: without its threads, on the event loop that it is for."""

from __future__ import annotations

import asyncio

from fakeapi import FakeApi
from kubewright.manager.election import Elector

__all__ = ["KeptOpen", "LoopElector"]


class LoopElector(Elector):
    """An elector without threads: the election runs on the event loop, in its time."""

    async def __aenter__(self) -> LoopElector:
        self._loop = asyncio.get_running_loop()
        self._election = asyncio.create_task(self._run_here(), name="leader election")
        await self._started.wait()
        return self

    async def _run_here(self) -> None:
        try:
            await self._run_campaign()
        except asyncio.CancelledError:
            pass
        finally:
            self.leadership.revoke()
            self._on_end(None)


class KeptOpen:
    """A way to the server of which closing ends nobody else's watches; it can be cut."""

    def __init__(self, api: FakeApi) -> None:
        self.request = api.request
        self.stream = api.stream

    async def close(self) -> None:
        pass
