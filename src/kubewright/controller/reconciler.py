"""One pass over one object: from its cached bytes to an outcome.

    decode -> finalizer step -> the user's function -> status difference -> (removal of the finalizer)

It does not know queues, workers or retries: that is `runner.py`. Every write it makes is guarded, so that a pass over a
stale object fails with a conflict and is repeated, and never undoes what somebody else wrote.

Guarantees: G1 the finalizer is stored before the function runs. G2 the status difference is written once, also when the
function raised, and not at all when nothing changed. G3 the finalizer goes last, after finalize returned. G4 an object
that is gone, or goes during the pass, is not an error.

Cancellation: the function is cancelled where it waits; then nothing more is written.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import Any

from kubewright.client import Client, Conflict, MergePatch, NotFound
from kubewright.model import Key, Object, decode, info_of

from .applying import AppliedMemory
from .context import Context, Reads, SyncContext
from .describe import BoundController
from .finalizing import Step, add_patch, next_step, remove_patch
from .outcome import Result, done
from .status import StatusDraft

__all__ = ["DeadlineExceeded", "Pass", "Reconciler"]

_STATUS_TRIES = 5
_FINALIZER_TRIES = 5


class DeadlineExceeded(Exception):
    """A reconcile took longer than its controller's `deadline_seconds`, and was cancelled."""


class Pass:
    """What the queue knows of this pass."""

    __slots__ = ("attempt", "causes")

    def __init__(self, attempt: int = 1, causes: Sequence[object] = ()) -> None:
        self.attempt = attempt
        self.causes = causes


class Reconciler:
    """Runs passes of one controller. Several may run at once, of different objects."""

    def __init__(
        self,
        bound: BoundController,
        *,
        client: Client,
        reads: Reads,
        logger: logging.Logger,
        executor: Executor | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._spec = bound.spec
        self._kind = bound.spec.kind
        self._reconcile = bound.reconcile
        self._finalize = bound.finalize
        self._finalizer = bound.spec.finalizer if bound.finalize is not None else None
        self._client = client
        self._reads = reads
        self._applied = AppliedMemory()
        self._logger = logger
        self._executor = executor
        self._clock = clock
        self._status_at = "status" if info_of(self._kind).status else None

    async def run(self, key: Key, this: Pass) -> Result:
        """One pass over the object named `key`.

        Raises:
            Exception: whatever the function raised, or a write was answered with; see `outcome.py` for what follows.
            DecodeError: the object in the cache is not one of the model.
            DeadlineExceeded: the function took too long.
        """
        data = self._reads.cached(self._kind, key)
        if data is None:
            return done
        obj = decode(self._kind, data)
        step = next_step(obj, self._finalizer)
        if step is Step.LEAVE:
            return done
        if step is Step.ADD:
            assert self._finalizer is not None
            obj = await self._client.patch(obj, MergePatch(add_patch(obj, self._finalizer)))
            self._reads.wrote(obj)
        ctx = self._context(obj, this)
        function = self._finalize if step is Step.FINALIZE else self._reconcile
        draft = StatusDraft(obj)
        try:
            result = await self._call(function, obj, ctx)
        except Exception:
            await self._write_status(obj, draft)
            raise
        written = await self._write_status(obj, draft)
        draft.check_untouched()
        if step is Step.FINALIZE:
            await self._release(written or obj)
            return done
        return result

    def _context(self, obj: Object, this: Pass) -> Context:
        deadline = self._spec.deadline_seconds
        return Context(
            obj=obj,
            client=self._client,
            reads=self._reads,
            applied=self._applied,
            log=logging.LoggerAdapter(
                self._logger,
                {"namespace": obj.metadata.namespace, "object": obj.metadata.name, "controller": self._spec.name},
            ),
            attempt=this.attempt,
            causes=this.causes,
            deadline_at=None if deadline is None else asyncio.get_running_loop().time() + deadline,
            clock=self._clock,
        )

    # -- the user's function ---------------------------------------------------------------------------------------

    async def _call(self, function: Any, obj: Object, ctx: Context) -> Result:
        if self._spec.deadline_seconds is None:
            return await self._invoke(function, obj, ctx)
        try:
            async with asyncio.timeout(self._spec.deadline_seconds) as limit:
                return await self._invoke(function, obj, ctx)
        except TimeoutError:
            if not limit.expired():
                raise
            raise DeadlineExceeded(
                f"{self._spec.name}: the reconcile did not end within deadline_seconds={self._spec.deadline_seconds:g}"
            ) from None

    async def _invoke(self, function: Any, obj: Object, ctx: Context) -> Result:
        if inspect.iscoroutinefunction(function):
            outcome = await function(obj, ctx)
        else:
            outcome = await self._in_thread(function, obj, ctx)
        if outcome is None:
            return done
        if isinstance(outcome, Result):
            return outcome
        raise TypeError(f"{self._spec.name}: a reconcile returns None or after(seconds), not {outcome!r}")

    async def _in_thread(self, function: Any, obj: Object, ctx: Context) -> Any:
        # A thread cannot be cancelled, and the key must not be handed out again while it still works on it: a
        # cancelled pass tells the thread (its next call of the context raises) and waits for it.
        loop = asyncio.get_running_loop()
        blocking = SyncContext(ctx, loop)
        thread = loop.run_in_executor(self._executor, function, obj, blocking)
        try:
            outcome = await asyncio.shield(thread)
        except asyncio.CancelledError:
            blocking.cancel()
            await asyncio.wait([thread])
            if not thread.cancelled():
                thread.exception()
            raise
        return await outcome if inspect.isawaitable(outcome) else outcome

    # -- the writes around it --------------------------------------------------------------------------------------

    async def _write_status(self, obj: Object, draft: StatusDraft) -> Object | None:
        patch = draft.patch(self._clock())
        for tries_left in reversed(range(_STATUS_TRIES)):
            if patch is None:
                return None
            patch.setdefault("metadata", {})["uid"] = obj.metadata.uid
            try:
                written = await self._client.patch(obj, MergePatch(patch), subresource=self._status_at)
            except NotFound:
                return None
            except Conflict:
                if not tries_left:
                    raise
                live = await self._live(obj)
                if live is None:
                    return None
                patch = draft.rebase(live)
            else:
                self._reads.wrote(written)
                return written
        return None

    async def _release(self, obj: Object) -> None:
        assert self._finalizer is not None
        current: Object | None = obj
        for tries_left in reversed(range(_FINALIZER_TRIES)):
            if current is None or self._finalizer not in current.metadata.finalizers:
                return
            try:
                left = await self._client.patch(current, MergePatch(remove_patch(current, self._finalizer)))
            except NotFound:
                return
            except Conflict:
                if not tries_left:
                    raise
                current = await self._live(current)
            else:
                self._reads.wrote(left)
                return

    async def _live(self, obj: Object) -> Object | None:
        """The object as the server has it, unless another one has taken its name."""
        live = await self._client.find(self._kind, obj.metadata.name, namespace=obj.metadata.namespace or None)
        return live if live is not None and live.metadata.uid == obj.metadata.uid else None
