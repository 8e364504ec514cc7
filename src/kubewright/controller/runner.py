"""The loop of one controller: events make keys, workers take keys, outcomes go back to the queue.

    informers --handlers--> WorkQueue --N workers--> Reconciler --Outcome--> WorkQueue
    mappers, sources -------^

The workers are kept tasks: a task per event would cost more than the queue, and would not bound what runs at once.

Guarantees: G1 an object is never reconciled by two workers at a time. G2 a change during a reconcile causes one more.
G3 an exception of one reconcile stops nothing else. G4 `stop` lets running reconciles end within their grace and then
cancels them; no key is handed out after it was called. G5 a change by anybody else is never lost, whatever of our own
writes is left out. G6 a reconcile that is asked for again keeps its priority, unless it says another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from kubewright.cache import Handler, Informer, Registration
from kubewright.cache.reader import OWNER_INDEX, controller_uids
from kubewright.client import Client
from kubewright.model import Key, Object, info_of
from kubewright.observe import Registry
from kubewright.observe.instruments import ReconcileMetrics
from kubewright.queue import Item, WorkQueue

from .blocked import LoopWatch
from .cause import REQUEUE, RETRY, Cause, merged
from .describe import BoundController
from .failures import Failures, is_mistake
from .handlers import owner_handler, self_handler, without_echoes
from .lookup import Lookup
from .mapping import Mapping
from .outcome import Result, Retry, Terminal
from .predicates import filtered
from .reconciler import Aside, DeadlineExceeded, Pass, Reconciler, WrongOutcome
from .sources import SourceContext, run_source
from .watching import Owned

__all__ = ["ControllerRunner", "loop_watch_of"]

_STATES_KEPT = 1024  # reconciles that wait, up to which causes keep what objects were before and after


def loop_watch_of(logger: logging.Logger) -> LoopWatch:
    """What tells `logger` of reconciles that block the event loop, once it is started. One for all controllers."""
    return LoopWatch(Reconciler._invoke.__code__, lambda blockage: logger.warning("%s", blockage))


class ControllerRunner:
    """Runs one controller until it is stopped.

    Expected flow: make it, `attach` it to synced informers of its `kinds`, `run` in a task, `stop`; `detach`, where the
    informers go on without it.

    Args:
        running: the informer of a kind, if there is one; for what mappers and sources look up.
        client: for sources.
        metrics: where to count; nowhere by default.
        loop_watch: is told of passes; one that was not started by default.
    """

    def __init__(
        self,
        bound: BoundController,
        reconciler: Reconciler,
        *,
        logger: logging.Logger,
        running: Callable[[type[Object]], Informer | None],
        client: Client,
        metrics: ReconcileMetrics | None = None,
        loop_watch: LoopWatch | None = None,
    ) -> None:
        self._loop_watch = loop_watch or loop_watch_of(logger)
        self.spec = spec = bound.spec
        self.kinds = bound.kinds
        self._metrics = metrics or ReconcileMetrics(Registry(), spec.name, workers=spec.workers)
        limiter = None if spec.rate_limiter is None else spec.rate_limiter()
        self.queue: WorkQueue[Key, Cause] = WorkQueue(metrics=self._metrics.queue, limiter=limiter, merge=merged)
        ready = self.queue.ready
        self._keeps_states = lambda: len(ready) < _STATES_KEPT
        self._metrics.queue.read(self.queue.unfinished_work_seconds, self.queue.longest_running_seconds)
        self._reconciler = reconciler
        reconciler.on_hot_loop = self._metrics.hot_loops.inc
        reconciler.on_blocked = self._metrics.blocked_seconds.inc
        self._metrics.slowed(lambda: len(reconciler.hot_loops))
        self._logger = logger
        self._failures = Failures(spec.kind.kind, logger)
        lookup = Lookup(running)
        self._mappings = [(watch, Mapping(watch, spec.kind, self.queue.add, lookup, logger)) for watch in bound.watches]
        self._registrations: list[Registration] = []
        self._sources = bound.sources
        self._source_context = SourceContext(client, lookup, logger, spec.kind)

    # -- what wakes it ---------------------------------------------------------------------------------------------

    async def attach(self, informer_of: Callable[[type[Object]], Awaitable[Informer]]) -> None:
        """Have all present objects reconciled, and from now on what the changes of all `kinds` concern."""
        for kind in self.kinds:
            await informer_of(kind)  # before any mapper runs, which may look in all of them
        self.watch_primary(await informer_of(self.spec.kind))
        for child in self.spec.owns:
            self.watch_owned(child, await informer_of(child.kind))
        for watch, mapping in self._mappings:
            informer = await informer_of(watch.kind)
            self._hear(informer, filtered(mapping.handle, watch.kind, watch.predicate, self._logger))

    def watch_primary(self, informer: Informer) -> None:
        """Reconcile each object of the controller's kind when it appears or changes."""
        spec, reconciler = self.spec, self._reconciler
        handler = self_handler(self.queue.add, keeps_states=self._keeps_states)
        handler = filtered(handler, spec.kind, spec.predicate, self._logger, finalizes=reconciler.finalizes)
        if reconciler.echoes is not None:
            handler = without_echoes(handler, reconciler.echoes)
        self._hear(informer, handler)

    def watch_owned(self, child: Owned, informer: Informer) -> None:
        """Reconcile the owner of each child that appears, changes or goes."""
        informer.store.add_index(OWNER_INDEX, controller_uids)
        owner = info_of(self.spec.kind)
        handler = owner_handler(
            info_of(child.kind).kind,
            owner.gvk.group_kind,
            owner.namespaced,
            self.queue.add,
            any_owner=child.any_owner,
            keeps_states=self._keeps_states,
        )
        handler = filtered(handler, child.kind, child.predicate, self._logger)
        echoes = self._reconciler.echoes
        if echoes is not None and not child.any_owner:  # other owners than the one that wrote have to hear of it
            handler = without_echoes(handler, echoes, info_of(child.kind).kind)
        self._hear(informer, handler)

    def detach(self) -> None:
        """Hear of nothing any more, and drop what waits: for good, as its queues are shut down."""
        for registration in self._registrations:
            registration.remove()
        self._registrations.clear()
        self.queue.shut_down(drain=False)
        for _, mapping in self._mappings:
            mapping.stop()

    def _hear(self, informer: Informer, handler: Handler) -> None:
        self._registrations.append(informer.add_handler(handler))

    # -- life ------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Reconcile until `stop`, or until cancelled."""
        name = self.spec.name
        workers = [
            asyncio.create_task(self._work(), name=f"{name} worker {number}") for number in range(self.spec.workers)
        ]
        others = [asyncio.create_task(mapping.run(), name=f"{name} mapper") for _, mapping in self._mappings]
        others += [
            asyncio.create_task(run_source(source, self._source_context, self.queue.add), name=f"{name} {source.name}")
            for source in self._sources
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in (*workers, *others):
                task.cancel()
            await asyncio.gather(*workers, *others, return_exceptions=True)

    def stop(self) -> None:
        """Hand out no more keys; `run` returns when the reconciles that run have ended."""
        self.queue.shut_down(drain=False)

    async def _work(self) -> None:
        queue, metrics, watch = self.queue, self._metrics, self._loop_watch
        time = asyncio.get_running_loop().time
        run, observe, inc, dec = self._reconciler.run, metrics.seconds.observe, metrics.active.inc, metrics.active.dec
        echoes = self._reconciler.echoes
        early = {} if echoes is None else echoes.early
        while True:
            item = await queue.get()
            if item is None:
                return
            key = item.key
            inc()
            watch.begin()
            started_at = time()
            try:
                try:
                    result = await run(key, Pass(item.attempt + 1, item.causes))
                except Exception as error:
                    self._failed(item, error)
                else:
                    if isinstance(result, Aside):
                        self._put_aside(item, result)
                        continue
                    self._succeeded(item, result)
                observe(time() - started_at)
            finally:
                if early and not queue.is_waiting(key):
                    early.pop(key, None)
                watch.end()
                dec()
                queue.done(key)

    def _put_aside(self, item: Item[Key, Cause], aside: Aside) -> None:
        if aside.after_seconds is not None:
            for cause in item.causes:
                self.queue.add_after(item.key, aside.after_seconds, cause, item.priority)

    def _succeeded(self, item: Item[Key, Cause], result: Result) -> None:
        key = item.key
        self.queue.forget(key)
        if self._failures.told:
            self._failures.forget(key)
        if result.requeue_after_seconds is None:
            self._metrics.success.inc()
        else:
            self._metrics.requeue_after.inc()
            priority = item.priority if result.priority is None else result.priority
            self.queue.add_after(key, result.requeue_after_seconds, REQUEUE, priority)

    def _failed(self, item: Item[Key, Cause], error: Exception) -> None:
        key, metrics = item.key, self._metrics
        self._failures.tell(key, error, item.attempt + 1)
        if isinstance(error, Retry):
            priority = item.priority if error.priority is None else error.priority
            if error.after_seconds is not None:
                metrics.requeue_after.inc()
                self.queue.forget(key)
                self.queue.add_after(key, error.after_seconds, RETRY, priority)
            else:
                metrics.requeue.inc()
                self.queue.add_rate_limited(key, RETRY, priority)
            return
        metrics.error.inc()
        metrics.errors.inc()
        if is_mistake(error) or isinstance(error, WrongOutcome):
            metrics.panics.inc()
        if isinstance(error, Terminal):
            metrics.terminal_errors.inc()
            return
        if isinstance(error, DeadlineExceeded):
            metrics.timeouts.inc()
        self.queue.add_rate_limited(key, RETRY, item.priority)
