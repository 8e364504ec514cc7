"""`Operator`: what a program is made of, and the ways to run it.

An Operator is a description: making one has no effect. It is run from the command line (`kubewright run FILE`), from
Python (`operator.run()`), or inside another asyncio program (`async with operator.start(client)`).
"""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from .client import Client, ClientConfig
from .client.crds import install_crds
from .controller import BoundController, bind
from .manager import Manager
from .model import Object, Resource

__all__ = ["Operator"]

logger = logging.getLogger("kubewright")


class Operator:
    """Controllers that run together.

    Args:
        name: of the operator; its field manager, and the root of its loggers (`kubewright.<name>`).
        controllers: decorated functions, and instances of decorated classes.
        namespace: watch one namespace only; None for all.
        grace_seconds: what running reconciles are given to end at shutdown.

    Raises:
        TypeError: something in `controllers` is no controller.
        ValueError: two of them have one name.
    """

    def __init__(
        self,
        name: str,
        *,
        controllers: Sequence[object],
        namespace: str | None = None,
        grace_seconds: float = 30.0,
    ) -> None:
        self.name = name
        self.controllers: tuple[BoundController, ...] = tuple(bind(each) for each in controllers)
        self.namespace = namespace
        self.grace_seconds = grace_seconds
        names = [bound.spec.name for bound in self.controllers]
        for each in names:
            if names.count(each) > 1:
                raise ValueError(f"Operator({name!r}): two controllers are named {each!r}; give one another name=")

    def __repr__(self) -> str:
        return f"Operator({self.name!r}, controllers=[{', '.join(bound.spec.name for bound in self.controllers)}])"

    @property
    def kinds(self) -> tuple[type[Object], ...]:
        """The custom resources that are this operator's own: those that its controllers reconcile."""
        kinds = dict.fromkeys(bound.spec.kind for bound in self.controllers)
        return tuple(kind for kind in kinds if issubclass(kind, Resource))

    def crds(self) -> list[dict[str, Any]]:
        """The CustomResourceDefinitions of `kinds`. Raises SchemaError."""
        from .schema import crd_of

        return [crd_of(kind) for kind in self.kinds]

    def with_namespace(self, namespace: str) -> Operator:
        """The same operator, watching one namespace only."""
        other = copy.copy(self)
        other.namespace = namespace
        return other

    @asynccontextmanager
    async def start(self, client: Client, *, install: bool = False) -> AsyncIterator[Manager]:
        """Run inside `async with`: entered when the controllers work, left when they have stopped.

        Args:
            client: stays open; it is the caller's.
            install: apply the CRDs of `kinds` first and wait until they are established.

        Raises:
            CacheNotSynced: a kind cannot be watched. ApiError, TransportError: a CRD cannot be installed.
        """
        manager = await self._manager(client, install)
        running = asyncio.create_task(manager.run(), name=self.name)
        ready = asyncio.create_task(manager.ready.wait())
        try:
            await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
            yield manager
        finally:
            ready.cancel()
            manager.stop()
            await running

    async def serve(self, client: Client, *, stop: asyncio.Event, install: bool = True) -> None:
        """Run until `stop` is set. As `start`, for a program that has nothing else to do."""
        manager = await self._manager(client, install)
        stopping = asyncio.create_task(stop.wait())
        running = asyncio.create_task(manager.run(), name=self.name)
        try:
            await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
            manager.stop()
            await running
        finally:
            stopping.cancel()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def _manager(self, client: Client, install: bool) -> Manager:
        if install and self.kinds:
            await install_crds(client, self.crds())
        return Manager(
            client,
            self.controllers,
            name=self.name,
            namespace=self.namespace,
            grace_seconds=self.grace_seconds,
        )

    def run(self, *, config: ClientConfig | None = None, install: bool = True) -> None:
        """Run until SIGTERM or SIGINT. A second signal ends the process at once.

        Args:
            config: which cluster; found as kubectl finds it unless given.
            install: apply the CRDs first.

        Raises:
            KubeConfigError, TransportError, ApiError, CacheNotSynced, SchemaError: it cannot start; one line each.
        """
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(self._run(config or ClientConfig.load(), install))

    async def _run(self, config: ClientConfig, install: bool) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, _on_signal, number, stop)
        try:
            async with Client.connect(config, field_manager=self.name) as client:
                await self.serve(client, stop=stop, install=install)
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


def _on_signal(number: int, stop: asyncio.Event) -> None:
    if stop.is_set():
        os._exit(128 + number)
    logger.info("%s: stopping; once more to end at once", signal.Signals(number).name)
    stop.set()


def _loop_factory() -> Any:
    """uvloop's loop where it is installed (the `speedups` extra)."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
