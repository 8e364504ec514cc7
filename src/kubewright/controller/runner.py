"""The loop of one controller: events make keys, workers take keys, outcomes go back to the queue.

    informers --handlers--> WorkQueue --N workers--> Reconciler --Outcome--> WorkQueue

The workers are kept tasks: a task per event would cost more than the queue, and would not bound what runs at once.

Guarantees: G1 an object is never reconciled by two workers at a time. G2 a change during a reconcile causes one more.
G3 an exception of one reconcile stops nothing else. G4 `stop` lets running reconciles end within their grace and then
cancels them; no key is handed out after it was called.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from kubewright.cache import Added, Deleted, Delta, Informer, Updated
from kubewright.cache.entry import Entry, owners_of
from kubewright.cache.reader import OWNER_INDEX, CacheNotSynced, controller_uids
from kubewright.client import ApiError, Conflict, TransportError
from kubewright.model import DecodeError, GroupKind, Key, info_of
from kubewright.model.owners import AlreadyOwned
from kubewright.observe import Registry
from kubewright.observe.instruments import ReconcileMetrics
from kubewright.queue import WorkQueue

from .describe import ControllerSpec
from .outcome import Result, Retry, Terminal
from .reconciler import DeadlineExceeded, Pass, Reconciler, Unreadable, WrongOutcome

__all__ = ["Cause", "ControllerRunner", "owner_handler", "self_handler"]

# What stands for Go's panic, a mistake in the program. A class of one's own under one of these is raised on purpose.
_MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    RecursionError,
    SyntaxError,
    TypeError,
)


class Cause(str):
    """Why a key was added: `added`, `updated Deployment web`, `requeue`. Short, for logs and for `ctx.causes`."""

    __slots__ = ()


class ControllerRunner:
    """Runs one controller until it is stopped.

    Expected flow: make it, `watch_primary` and `watch_owned` with synced informers, `run` in a task, `stop`.

    Args:
        metrics: where to count; nowhere by default.
    """

    def __init__(
        self,
        spec: ControllerSpec,
        reconciler: Reconciler,
        *,
        logger: logging.Logger,
        metrics: ReconcileMetrics | None = None,
    ) -> None:
        self.spec = spec
        self._metrics = metrics or ReconcileMetrics(Registry(), spec.name, workers=spec.workers)
        self.queue: WorkQueue[Key] = WorkQueue(metrics=self._metrics.queue)
        self._metrics.queue.read(self.queue.unfinished_work_seconds, self.queue.longest_running_seconds)
        self._reconciler = reconciler
        self._logger = logger
        self._workers: list[asyncio.Task[None]] = []

    # -- sources ---------------------------------------------------------------------------------------------------

    def watch_primary(self, informer: Informer) -> None:
        """Reconcile each object of the controller's kind when it appears or changes."""
        informer.add_handler(self_handler(self.queue.add))

    def watch_owned(self, kind_name: str, informer: Informer) -> None:
        """Reconcile the controller owner of each child that appears, changes or goes."""
        informer.store.add_index(OWNER_INDEX, controller_uids)
        owner = info_of(self.spec.kind)
        informer.add_handler(owner_handler(kind_name, owner.gvk.group_kind, owner.namespaced, self.queue.add))

    # -- life ------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Reconcile until `stop`, or until cancelled."""
        self._workers = [
            asyncio.create_task(self._work(), name=f"{self.spec.name} worker {number}")
            for number in range(self.spec.workers)
        ]
        try:
            await asyncio.gather(*self._workers)
        finally:
            for worker in self._workers:
                worker.cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)

    def stop(self) -> None:
        """Hand out no more keys; `run` returns when the reconciles that run have ended."""
        self.queue.shut_down(drain=False)

    async def _work(self) -> None:
        queue, metrics = self.queue, self._metrics
        time = asyncio.get_running_loop().time
        while True:
            item = await queue.get()
            if item is None:
                return
            key = item.key
            metrics.active.inc()
            started_at = time()
            try:
                try:
                    result = await self._reconciler.run(key, Pass(item.attempt + 1, item.causes))
                except Exception as error:
                    self._failed(key, error, item.attempt + 1)
                else:
                    self._succeeded(key, result)
                metrics.seconds.observe(time() - started_at)
            finally:
                metrics.active.dec()
                queue.done(key)

    def _succeeded(self, key: Key, result: Result) -> None:
        self.queue.forget(key)
        if result.requeue_after_seconds is None:
            self._metrics.success.inc()
        else:
            self._metrics.requeue_after.inc()
            self.queue.add_after(key, result.requeue_after_seconds, Cause("requeue"))

    def _failed(self, key: Key, error: Exception, attempt: int) -> None:
        where = f"{self.spec.kind.kind} {key}"
        if isinstance(error, Retry):
            self._logger.info("%s: not yet: %s", where, error)
            if error.after_seconds is not None:
                self._metrics.requeue_after.inc()
                self.queue.forget(key)
                self.queue.add_after(key, error.after_seconds, Cause("retry"))
            else:
                self._metrics.requeue.inc()
                self.queue.add_rate_limited(key, Cause("retry"))
            return
        self._metrics.error.inc()
        self._metrics.errors.inc()
        if isinstance(error, Terminal):
            self._metrics.terminal_errors.inc()
            if isinstance(error, WrongOutcome):
                self._metrics.panics.inc()
            what = "cannot be read and is left alone" if isinstance(error, Unreadable) else "given up"
            self._logger.error("%s: %s until it changes: %s", where, what, error)
            return
        if isinstance(error, Conflict):
            self._logger.info("%s: looked at an old version, trying again: %s", where, error)
        elif isinstance(
            error, AlreadyOwned | ApiError | CacheNotSynced | DeadlineExceeded | DecodeError | TransportError
        ):
            if isinstance(error, DeadlineExceeded):
                self._metrics.timeouts.inc()
            # What they say, they say in one line; where the code was does not matter.
            self._logger.warning("%s: attempt %d failed: %s", where, attempt, error)
        else:
            if isinstance(error, _MISTAKES) and type(error).__module__ == "builtins":
                self._metrics.panics.inc()
            self._logger.error("%s: attempt %d failed", where, attempt, exc_info=error)
        self.queue.add_rate_limited(key, Cause("retry"))


Add = Callable[[Key, Cause], None]


def self_handler(add: Add) -> Callable[[Delta], None]:
    """Adds the key of the object itself."""
    initial, added, updated, deleted = Cause("present at start"), Cause("added"), Cause("updated"), Cause("deleted")

    def handle(delta: Delta) -> None:
        if isinstance(delta, Updated):
            add(delta.key, updated)
        elif isinstance(delta, Added):
            add(delta.key, initial if delta.initial else added)
        else:
            add(delta.key, deleted)

    return handle


def owner_handler(kind_name: str, owner: GroupKind, owner_namespaced: bool, add: Add) -> Callable[[Delta], None]:
    """Adds the key of the controller owner, before and after the change: a child that is orphaned wakes its old owner.

    Owners are matched by group and kind, whatever the version, and looked for in the child's namespace unless they are
    cluster-scoped (controller-runtime's `EnqueueRequestForOwner` with `OnlyControllerOwner`).
    """

    def keys(entry: Entry) -> list[Key]:
        return [
            Key(entry.namespace if owner_namespaced else "", reference.name)
            for reference in owners_of(entry.data)
            if reference.controller
            and reference.kind == owner.kind
            and reference.api_version.rpartition("/")[0] == owner.group
        ]

    def handle(delta: Delta) -> None:
        what = "updated" if isinstance(delta, Updated) else "deleted" if isinstance(delta, Deleted) else "added"
        cause = Cause(f"{what} {kind_name} {delta.entry.name}")
        found = keys(delta.entry)
        if isinstance(delta, Updated):
            found += [key for key in keys(delta.old) if key not in found]
        for key in found:
            add(key, cause)

    return handle
