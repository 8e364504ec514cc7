"""The life of an operator: what starts when, and how it ends.

    start   servers -> what is to be prepared (CRDs) -> informers of all controllers' kinds, at once -> all synced
            -> runnables of all -> [elected] -> handlers -> workers and runnables of who leads
    lost    reconciles and the leader's runnables are cancelled -> again a candidate; all else goes on
    stop    runnables of all -> no more keys -> running reconciles end within the grace, else are cancelled, and the
            leader's runnables -> [lease back] -> informers -> servers -> the last Events

The order is controller-runtime's. Servers come first, so that probes are answered while caches fill: a container that
waits for its lists is alive, and not ready.

Workers start only when every source of every controller is synced: a reconcile never acts on half a picture. Who stands
by for an election has synced before, so that a take-over costs no list. A manager is an object like any other: several
may live in one process, on one event loop, and it installs no signal handlers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from kubewright.cache import CacheOptions, ListWatchError
from kubewright.cache.reader import CacheNotSynced, Reader
from kubewright.client import Client
from kubewright.controller.callables import is_async
from kubewright.controller.describe import BoundController
from kubewright.controller.reconciler import Reconciler
from kubewright.controller.runner import ControllerRunner, loop_watch_of
from kubewright.model import Object

from .informers import Informers
from .refusals import explain
from .runnables import Runnable, RunnableGroup, Running
from .servers import Servers
from .serving import Serving
from .telemetry import Telemetry

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .election.candidacy import Candidacy
    from .election.elector import Term

__all__ = ["Manager"]

_ELECTION_SECONDS = 20.0  # beyond its lease, for a leader to be thought stuck; as Kubernetes' own components
_TOGETHER_SECONDS = 1.0  # after the first refusal, to hear of the others: they were asked for at the same time


class Manager:
    """Runs controllers over one client.

    Expected flow: make it, `run` it in a task, set `stopping` or call `stop`.

    Guarantees: G1 workers start after all sources have synced. G2 when `run` has returned or raised, nothing of the
    manager runs any more, but runnables of which the log says that they do not end. G3 the first controller or source
    that fails for good stops the others and comes out of `run`. G4 with a `candidacy` reconciles run only while it
    leads, and the lease is given back after the last of them; who is told to stop before it is elected starts none. G5
    what is served is served from before the first list until after the last reconcile; it is ready from `ready` on,
    while no kind is stale. G6 runnables run from after the sync to before the last reconcile ends; the first that
    raises stops the manager, and its error comes out of `run`.
    Cancellation: cancelling `run` stops without grace.

    Attributes:
        ready: the informers have synced: what is to be done can be, now or as soon as we are elected.
        elected: the controllers work; without a `candidacy` as soon as `ready`, with one while it leads.
        telemetry: its metrics and events.
        informers: its cache; namespaces can be added to it and removed while it runs.
        servers: its health checks, and where they and the metrics are served.

    Args:
        controllers: with names that differ.
        candidacy: work only when elected; None: at once.
        namespace: watch one namespace only; None: those of `cache`.
        cache: what is held of the kinds that are watched.
        grace_seconds: what running reconciles are given to end after `stop`.
        threads: the bound on `def` reconciles that run at once.
        prepare: awaited once, when the servers answer and before anything is listed; what it raises comes out of `run`.
        runnables: what runs beside the controllers.
        warmup: give the controllers their objects before the first election, not at it. A take-over then costs not even
            that; a queue holds each object once for as long as this process stands by.
        serving: what to serve; nothing by default.
        telemetry: made of `client` and `name` unless given.
    """

    def __init__(
        self,
        client: Client,
        controllers: Sequence[BoundController],
        *,
        name: str = "kubewright",
        namespace: str | None = None,
        cache: CacheOptions | None = None,
        grace_seconds: float = 30.0,
        sync_seconds: float = 120.0,
        threads: int = 32,
        prepare: Callable[[], Awaitable[object]] | None = None,
        runnables: Sequence[Runnable] = (),
        warmup: bool = False,
        candidacy: Candidacy | None = None,
        serving: Serving | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        names = [bound.spec.name for bound in controllers]
        for each in names:
            if names.count(each) > 1:
                raise ValueError(f"{name}: two controllers are named {each!r}; give one of them another name=")
        self._logger = logging.getLogger(f"kubewright.{name}")
        self._grace_seconds = grace_seconds
        self.telemetry = telemetry or Telemetry(client, name=name)
        client = self.telemetry.client
        self._serving = serving or Serving()
        self.servers = Servers(self._serving, registry=self.telemetry.registry, client=client)
        self.servers.add_check("caches", self._check_caches)
        if candidacy is not None:
            self.servers.add_check("leaderElection", self._check_election, ready=False)
        options = cache or CacheOptions()
        self.informers = self._informers = Informers(
            client,
            options=options if namespace is None else options.with_namespaces([namespace]),
            sync_seconds=sync_seconds,
            metrics=self.telemetry.cache,
        )
        self.reader = Reader(self._informers.for_reading, self._informers.running, self._informers.live)
        self._executor = _threads_for(controllers, threads, name)
        self.candidacy = candidacy
        writer = client.with_options(field_manager=client.field_manager or name)
        if candidacy is not None:
            writer = self.telemetry.counting(candidacy.fenced(writer))
        self._loop_watch = loop_watch_of(self._logger)
        self._makers = [self._maker_of(bound, writer) for bound in controllers]
        self._runners = [make() for make in self._makers]
        self._prepare = prepare
        self._warmup = warmup
        self._others = RunnableGroup((each for each in runnables if not each.needs_leadership), on_failure=self.stop)
        self._leading = RunnableGroup((each for each in runnables if each.needs_leadership), on_failure=self.stop)
        self._others_run_with = Running(client, self.reader, self._logger)
        self._leading_run_with = Running(writer, self.reader, self._logger)
        self._stopping = asyncio.Event()
        self.ready = asyncio.Event()
        self.elected = asyncio.Event()
        self._is_attached = False
        self._stop_by: float | None = None

    def _maker_of(self, bound: BoundController, writer: Client) -> Callable[[], ControllerRunner]:
        """Makes the runner of one controller, anew for each term: with the same metrics, and an empty queue."""
        logger = self._logger.getChild(bound.spec.name)
        reconciler = Reconciler(
            bound,
            client=writer,
            reads=self.reader,
            logger=logger,
            executor=self._executor,
            events=self.telemetry.events,
        )
        return partial(
            ControllerRunner,
            bound,
            reconciler,
            logger=logger,
            running=self._informers.running,
            client=writer,
            loop_watch=self._loop_watch,
            metrics=self.telemetry.of_controller(bound.spec),
        )

    def stop(self) -> None:
        """Begin to stop; `run` returns when all has ended."""
        self._stopping.set()

    async def run(self) -> None:
        """Run until `stop`.

        Raises:
            CacheNotSynced: a kind cannot be watched.
            BindError, CertificateError: what is to be served cannot be.
        """
        events: asyncio.Task[None] | None = None
        self._loop_watch.start()
        try:
            await self.servers.start()
            events = asyncio.create_task(self.telemetry.events.run(), name="events")
            if not (await self._prepared() and await self._start()):
                return
            self._others.start(self._others_run_with)
            if self.candidacy is None:
                await self._work(asyncio.Event())
            else:
                if self._warmup:
                    await self._attach()
                self.ready.set()
                await self.candidacy.run(self._lead, self._stopping)
            for group in (self._others, self._leading):
                if group.failure is not None:
                    raise group.failure
        except asyncio.CancelledError:
            self._stop_by = 0.0  # without grace
            raise
        finally:
            await self._others.stop(self._logger, self._left_seconds())
            await self._informers.stop()
            self._loop_watch.stop()
            if self._executor is not None:
                self._executor.shutdown(wait=False, cancel_futures=True)
            await self.servers.close()
            if events is not None:
                await self.telemetry.events.stop()
                await asyncio.gather(events, return_exceptions=True)

    def _left_seconds(self) -> float:
        """What is left of the one grace that all that runs has together, from the first call on."""
        now = asyncio.get_running_loop().time()
        if self._stop_by is None:
            self._stop_by = now + self._grace_seconds
        return max(self._stop_by - now, 0.0)

    def _check_caches(self) -> None:
        """Readiness: raises while the cache has not the whole picture, or an old one."""
        if not self.ready.is_set():
            raise RuntimeError("the first lists have not come yet")
        if self._serving.stale_seconds is not None:
            silent = self._informers.silent(self._serving.stale_seconds)
            if silent:
                kinds = ", ".join(f"{name} for {seconds:.0f} s" for name, seconds in silent.items())
                raise RuntimeError(f"the API server has sent nothing about {kinds}")

    def _check_election(self) -> None:
        """Liveness: raises when the election has come to a standstill, as client-go's HealthzAdaptor."""
        if self.candidacy is not None and not self.candidacy.elector.is_healthy(tolerance_seconds=_ELECTION_SECONDS):
            raise RuntimeError("leader election: the lease was neither renewed nor given up in time")

    async def _lead(self, term: Term) -> None:
        await self._work(term.lost)
        self._detach()
        if term.lost.is_set():
            self._logger.warning("leader election: lost: %s; standing by", term.reason)

    async def _work(self, lost: asyncio.Event) -> None:
        """Run the workers until `stop`, or until `lost`; then nothing is left of them."""
        await self._attach()
        workers = [asyncio.create_task(runner.run(), name=runner.spec.name) for runner in self._runners]
        self._leading.start(self._leading_run_with)
        self.ready.set()
        self.elected.set()
        self._logger.info("running: %s", ", ".join(runner.spec.name for runner in self._runners))
        signals = [asyncio.create_task(event.wait()) for event in (self._stopping, lost)]
        try:
            await asyncio.wait([*signals, *workers], return_when=asyncio.FIRST_COMPLETED)
            if not lost.is_set():
                await self._drain(workers, signals[1])
        finally:
            self.elected.clear()
            for task in (*signals, *workers):
                task.cancel()
            # As long as it takes: they must have ended before the lease goes to another. The watchdog has no patience.
            await self._leading.stop(self._logger, self._left_seconds() if self._stopping.is_set() else 0.0, wait=True)
            await asyncio.gather(*signals, *workers, return_exceptions=True)

    async def _prepared(self) -> bool:
        """Do what is to be done before the first list; False when stopped meanwhile."""
        if self._prepare is None:
            return not self._stopping.is_set()
        stopping = asyncio.create_task(self._stopping.wait())
        preparing = asyncio.ensure_future(self._prepare())
        try:
            await asyncio.wait({stopping, preparing}, return_when=asyncio.FIRST_COMPLETED)
            if preparing.done():
                preparing.result()
            return not self._stopping.is_set()
        finally:
            for task in (stopping, preparing):
                task.cancel()
            await asyncio.gather(stopping, preparing, return_exceptions=True)

    async def _start(self) -> bool:
        """Start and sync all sources; False when stopped meanwhile."""
        kinds: dict[type[Object], None] = {}
        for runner in self._runners:
            kinds.update(dict.fromkeys(runner.kinds))
        return await self._sync(kinds)

    async def _attach(self) -> None:
        """Give the controllers all objects: by their handlers, which then tell of changes.

        Not before an election (unless it is to be warm), and not after the term: a queue that nobody takes from would
        grow for as long as this process stands by, by each name that comes and goes.
        """
        if not self._is_attached:
            self._is_attached = True
            for runner in self._runners:
                await runner.attach(self._informers.settled)

    def _detach(self) -> None:
        for runner in self._runners:
            runner.detach()
        self._runners = [make() for make in self._makers]
        self._is_attached = False

    async def _sync(self, kinds: Iterable[type[Object]]) -> bool:
        stopping = asyncio.create_task(self._stopping.wait())
        syncs = [asyncio.create_task(self._informers.settled(kind)) for kind in kinds]
        try:
            pending = set(syncs)
            while pending:
                ended, _ = await asyncio.wait({stopping, *pending}, return_when=asyncio.FIRST_COMPLETED)
                if stopping in ended:
                    return False
                if any(sync in ended and sync.exception() for sync in syncs):
                    await asyncio.wait(pending, timeout=_TOGETHER_SECONDS)
                    raise _together([error for sync in syncs if sync.done() and (error := sync.exception())])
                pending -= ended
        finally:
            for task in (stopping, *syncs):
                task.cancel()
            await asyncio.gather(stopping, *syncs, return_exceptions=True)
        return True

    async def _drain(self, workers: list[asyncio.Task[None]], lost: asyncio.Task[Literal[True]]) -> None:
        """Let all that runs end, within the grace and while the lease is not lost."""
        others = asyncio.create_task(self._others.stop(self._logger, self._left_seconds()))
        try:
            await asyncio.wait([others, lost], return_when=asyncio.FIRST_COMPLETED)
        finally:
            others.cancel()
        if lost.done():
            return
        for runner in self._runners:
            runner.stop()
        if not workers:
            return
        grace = asyncio.create_task(asyncio.wait(workers, timeout=self._left_seconds()))
        try:
            await asyncio.wait([grace, lost], return_when=asyncio.FIRST_COMPLETED)
        finally:
            grace.cancel()
        running = [worker for worker in workers if not worker.done()]
        if running and not lost.done():
            self._logger.warning(
                "%d controllers still reconcile after a grace of %g s and are cancelled",
                len(running),
                self._grace_seconds,
            )
        for worker in workers:
            if worker.done():
                worker.result()


def _together(errors: Sequence[BaseException]) -> BaseException:
    """One error for all that were refused; another kind of error stands for itself."""
    problems: dict[str, ListWatchError] = {}
    for error in errors:
        if not isinstance(error, CacheNotSynced) or not error.problems:
            return error
        problems.update(error.problems)
    return CacheNotSynced(explain(problems), problems)


def _threads_for(controllers: Iterable[BoundController], most: int, name: str) -> Executor | None:
    """Where `def` reconciles run; None, and nothing loaded for it, where there are none."""
    functions = [each for bound in controllers for each in (bound.reconcile, bound.finalize)]
    if all(each is None or is_async(each) for each in functions):
        return None
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(most, thread_name_prefix=name)
