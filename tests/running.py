"""Operators and single passes on a `FakeApi`, in virtual time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from fakeapi import FakeApi
from kubewright import Operator, Result
from kubewright.cache.reader import Reader
from kubewright.controller import bind
from kubewright.controller.reconciler import Pass, Reconciler
from kubewright.manager import Informers, Manager
from kubewright.model import Key, Object

__all__ = ["Passes", "running", "threads_reach", "until"]

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@asynccontextmanager
async def running(api: FakeApi, *controllers: object, **options: Any) -> AsyncIterator[Manager]:
    """An operator named `test` at work."""
    async with Operator("test", controllers=controllers, **options).start(api.client()) as manager:
        yield manager


async def until(holds: Callable[[], object], *, seconds: float = 60.0) -> None:
    """Let time pass until something holds, or fail."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - whatever it is, nobody tells
            await asyncio.sleep(0.005)


async def threads_reach(holds: Callable[[], object], *, seconds: float = 30.0) -> None:
    """Let threads go on, in real time and with the virtual clock standing still, until something holds."""
    gives_up_at = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < gives_up_at
        await asyncio.sleep(0)


class Passes:
    """One controller without its queue: passes are run by the test.

    async with Passes(api, reconcile) as passes:
        await passes.run("a")
    """

    def __init__(self, api: FakeApi, controller: object) -> None:
        bound = bind(controller)
        client = api.client()
        self.now = NOON
        self.api = api
        self.kind: type[Object] = bound.spec.kind
        self.kinds = bound.kinds
        self.informers = Informers(client)
        self.reader = Reader(partial(self.informers.synced, newest=True), self.informers.running)
        logger = logging.getLogger("kubewright.test")
        self.reconciler = Reconciler(bound, client=client, reads=self.reader, logger=logger, clock=lambda: self.now)

    async def __aenter__(self) -> Passes:
        for kind in self.kinds:
            await self.informers.synced(kind)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.informers.stop()

    async def run(self, name: str = "a", *, namespace: str = "default") -> Result:
        """One pass, on a cache that has seen everything unless watches lag."""
        await asyncio.sleep(0.001)
        return await self.begin(name, namespace=namespace)

    def begin(self, name: str = "a", *, namespace: str = "default") -> asyncio.Task[Result]:
        """A pass on the cache as it is."""
        return asyncio.create_task(self.reconciler.run(Key(namespace, name), Pass()))
