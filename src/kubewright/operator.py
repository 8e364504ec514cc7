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
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from ._loop import loop_factory
from .cache import CacheOptions
from .client import ApiError, Client, ClientConfig, Unauthorized
from .client.crds import install_crds
from .controller import BoundController, bind
from .manager import (
    Check,
    LeaderElection,
    Manager,
    Runnable,
    Running,
    Serving,
    Telemetry,
    check_names,
    request_metrics,
)
from .model import Object, Resource
from .model.names import subdomain_problem
from .observe import Registry

if TYPE_CHECKING:
    from .manager import Candidacy

__all__ = ["Operator", "RunAtImport", "only_importing"]

logger = logging.getLogger("kubewright")

_LAST_SECONDS = 5.0
_LONGEST_NAME = 128  # of a field manager; the name of a Lease may be longer
_importing = ContextVar("importing", default=False)


class RunAtImport(RuntimeError):
    """A module runs its operator when it is imported, and was imported to find the operator in it."""


@contextmanager
def only_importing() -> Iterator[None]:
    """Inside, `Operator.run` raises RunAtImport: whoever imports a module wants what is in it, and runs it later."""
    before = _importing.set(True)
    try:
        yield
    finally:
        _importing.reset(before)


class Operator:
    """Controllers that run together.

    Args:
        name: of the operator; its field manager, its Lease, and the root of its loggers (`kubewright.<name>`). A DNS
            name such as `web-operator`, of at most 128 characters.
        controllers: decorated functions, and instances of decorated classes.
        namespace: watch one namespace only; None: those of `cache`, which by default are all.
        cache: what the cache holds of the kinds that are watched, and how.
        grace_seconds: what running reconciles are given to end at shutdown.
        leader_election: several processes may run, one at a time works; None: this is the only one. The Lease has the
            operator's name, unless it says another.
        serving: where health checks and metrics are served; nowhere unless given.
        metrics: where to count, with metrics of one's own on the same page; each run has a new registry unless given.
        health_checks, ready_checks: more checks of `/healthz` and of `/readyz`, by name: a function, async or not, that
            raises when all is not well. One of `/healthz` that fails makes the kubelet end the container.
        runnables: what runs beside the controllers; an async function, which then needs leadership, or a `Runnable`.
        warmup: where there is a leader election, give the controllers their objects before the first election.

    Raises:
        TypeError: something in `controllers` is no controller, or they are no list.
        ValueError: two of them have one name, `name` is no DNS name, or a check's name is taken or cannot be in a path.
    """

    def __init__(
        self,
        name: str,
        *,
        controllers: Sequence[object],
        namespace: str | None = None,
        cache: CacheOptions | None = None,
        grace_seconds: float = 30.0,
        leader_election: LeaderElection | None = None,
        serving: Serving | None = None,
        metrics: Registry | None = None,
        health_checks: Mapping[str, Check] | None = None,
        ready_checks: Mapping[str, Check] | None = None,
        runnables: Sequence[Runnable | Callable[[Running], Awaitable[object]]] = (),
        warmup: bool = False,
    ) -> None:
        if problem := _name_problem(name):
            raise ValueError(f"Operator({name!r}): the name {problem}")
        listed: object = controllers
        if isinstance(listed, str) or not isinstance(listed, Sequence):
            raise TypeError(f"Operator({name!r}): controllers must be a list; write controllers=[...]")
        self.name = name
        self.controllers: tuple[BoundController, ...] = tuple(bind(each) for each in controllers)
        self.namespace = namespace
        self.cache = cache or CacheOptions()
        self.grace_seconds = grace_seconds
        self.leader_election = leader_election
        self.serving = serving or Serving()
        self.metrics = metrics
        self.health_checks, self.ready_checks = dict(health_checks or {}), dict(ready_checks or {})
        check_names(self.health_checks, self.ready_checks)
        self.runnables = tuple(each if isinstance(each, Runnable) else Runnable(each) for each in runnables)
        self.warmup = warmup
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

    def with_leader_election(self, leader_election: LeaderElection | None) -> Operator:
        """The same operator with another leader election, or with none."""
        other = copy.copy(self)
        other.leader_election = leader_election
        return other

    def with_grace(self, seconds: float) -> Operator:
        """The same operator, with another time for running reconciles to end at shutdown."""
        other = copy.copy(self)
        other.grace_seconds = seconds
        return other

    def with_runnable(self, runnable: Runnable) -> Operator:
        """The same operator, with one thing more that runs beside its controllers."""
        other = copy.copy(self)
        other.runnables = (*self.runnables, runnable)
        return other

    def with_serving(self, serving: Serving) -> Operator:
        """The same operator, serving its health checks and metrics elsewhere."""
        other = copy.copy(self)
        other.serving = serving
        return other

    @asynccontextmanager
    async def start(self, client: Client, *, install: bool = False) -> AsyncIterator[Manager]:
        """Run inside `async with`: entered when the controllers work, left when they have stopped.

        Should the operator fail meanwhile, the body is cancelled, and the failure comes out of the `async with`.

        With leader election it is entered when they could work; `manager.elected` says whether they do.

        Args:
            client: stays open; it is the caller's.
            install: apply the CRDs of `kinds` first and wait until they are established.

        Raises:
            CacheNotSynced: a kind cannot be watched. ApiError, TransportError: a CRD cannot be installed.
        """
        manager = self._manager(client, install)
        try:
            async with asyncio.TaskGroup() as group:
                running = group.create_task(manager.run(), name=self.name)
                ready = group.create_task(manager.ready.wait())
                await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
                ready.cancel()
                if running.done():
                    running.result()
                try:
                    yield manager
                finally:
                    # Before the group sees what the body raised: it would cancel where a stop drains.
                    manager.stop()
                    await asyncio.wait([running])
        except BaseExceptionGroup as failures:
            # There are two at most: why the manager failed, and what came of that in the body.
            raise failures.exceptions[-1] from None

    async def serve(self, client: Client, *, stop: asyncio.Event, install: bool = True) -> None:
        """Run until `stop` is set. As `start`, for a program that has nothing else to do."""
        manager = self._manager(client, install)
        stopping = asyncio.create_task(stop.wait())
        task = asyncio.create_task(manager.run(), name=self.name)
        try:
            await asyncio.wait([task, stopping], return_when=asyncio.FIRST_COMPLETED)
            manager.stop()
            await task
        finally:
            stopping.cancel()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _manager(self, client: Client, install: bool) -> Manager:
        telemetry = Telemetry(client, name=self.name, registry=self.metrics)
        client = telemetry.client
        # All candidates install them, not only who leads: who stands by has to list their kinds too.
        prepare = partial(install_crds, client, self.crds()) if install and self.kinds else partial(_reach, client)
        manager = Manager(
            client,
            self.controllers,
            name=self.name,
            namespace=self.namespace,
            cache=self.cache,
            grace_seconds=self.grace_seconds,
            candidacy=self._candidacy(client, telemetry),
            serving=self.serving,
            telemetry=telemetry,
            prepare=prepare,
            runnables=self.runnables,
            warmup=self.warmup,
        )
        for name, check in self.health_checks.items():
            manager.servers.add_check(name, check, ready=False)
        for name, check in self.ready_checks.items():
            manager.servers.add_check(name, check)
        return manager

    def _candidacy(self, client: Client, telemetry: Telemetry) -> Candidacy | None:
        if self.leader_election is None:
            return None
        from .manager import Candidacy

        election = self.leader_election.named(self.name, client.http.config.namespace)
        observer = telemetry.of_election(election.name or self.name, election.namespace or client.namespace)
        return Candidacy.of(election, client, name=self.name, observer=observer)

    def run(self, *, config: ClientConfig | None = None, install: bool = True) -> None:
        """Run until SIGTERM or SIGINT. A second signal ends the process at once, and so does, with exit code 1, a
        reconcile that will not end: 5 seconds after the grace. With leader election a process that has lost its lease
        and cannot stop its reconciles ends at once, with exit code 1; otherwise it stands by.

        Args:
            config: which cluster; found as kubectl finds it unless given.
            install: apply the CRDs first.

        Raises:
            KubeConfigError, TransportError, ApiError, CacheNotSynced, SchemaError, BindError, CertificateError: it
                cannot start; one line each.
            RunAtImport: it is called while `kubewright` imports the module.
        """
        if _importing.get():
            raise RunAtImport("operator.run() at import; put it below `if __name__ == '__main__':`")
        config = config or ClientConfig.load()
        names = [self.namespace] if self.namespace is not None else sorted(self.cache.namespaces or ())
        where = f"namespace{'s' if len(names) > 1 else ''} {', '.join(names)}" if any(names) else "all namespaces"
        logger.info("%s: %s, by %s; %s", self.name, config.server, config.source, where)
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(self._run(config, install))

    async def _run(self, config: ClientConfig, install: bool) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        with _signals(lambda number: loop.call_soon_threadsafe(self._begin_to_stop, number, stop)):
            registry = self.metrics if self.metrics is not None else Registry()
            counts = request_metrics(registry, config, detailed=self.serving.request_metrics)
            operator = copy.copy(self)
            operator.metrics = registry
            async with Client.connect(config, field_manager=self.name, metrics=counts) as client:
                await operator.serve(client, stop=stop, install=install)

    def _begin_to_stop(self, number: int, stop: asyncio.Event) -> None:
        logger.info("%s: stopping; once more to end at once", signal.Signals(number).name)
        stop.set()
        asyncio.get_running_loop().call_later(self.grace_seconds + _LAST_SECONDS, self._give_up)

    def _give_up(self) -> None:
        # A `def` reconcile runs in a thread, which cannot be cancelled, and the interpreter waits for its threads.
        logger.error(
            "a reconcile does not end, %g s after the grace of %g s; ending without it",
            _LAST_SECONDS,
            self.grace_seconds,
        )
        os._exit(1)


@contextmanager
def _signals(first: Callable[[int], object]) -> Iterator[None]:
    """The first SIGTERM or SIGINT calls `first`, the second ends the process.

    The handlers are the interpreter's and not the event loop's: a reconcile that blocks the loop must not make the
    process deaf to the one that is to end it.
    """
    asked = False

    def handle(number: int, _: object) -> None:
        nonlocal asked
        if asked:
            os._exit(128 + number)
        asked = True
        first(number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _name_problem(name: object) -> str | None:
    if not isinstance(name, str):
        return "must be a text such as 'web-operator'"
    if len(name) > _LONGEST_NAME:
        return f"has more than {_LONGEST_NAME} characters; shorten it"
    return subdomain_problem(name)


async def _reach(client: Client) -> None:
    """Ask the server anything. One that is not there is an error at once; a list would be tried again for minutes.

    Raises:
        TransportError: there is no server. Unauthorized: it does not know us.
    """
    try:
        await client.raw("GET", "/version")
    except Unauthorized:
        raise
    except ApiError as error:
        logger.debug("GET /version: %s", error)  # it answers; the lists will show what it allows
