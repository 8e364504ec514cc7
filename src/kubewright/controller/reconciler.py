"""One pass over one object: from its cached bytes to an outcome.

    decode -> finalizer step -> the user's function -> status difference -> (removal of the finalizer)

It does not know queues, workers or retries: that is `runner.py`; nor how its writes meet those of others: `writes.py`.

Guarantees: G1 the finalizer is stored before the function runs. G2 the status difference is written once, also when the
function raised, and not at all when nothing changed. G3 the finalizer goes last, after finalize returned. G4 an object
that is gone, or goes during the pass, is not an error. G5 a pass that only its own writes have asked for does nothing.

Cancellation: the function is cancelled where it waits; then nothing more is written. A cancellation that comes from
inside the function (it awaited a task that was cancelled) is a failure like any other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson

from kubewright.client import Client
from kubewright.model import DecodeError, Key, Object, decode, info_of, key_of, unstructured

from .applying import AppliedMemory
from .blocked import Seen
from .blocking import run_in_thread
from .callables import is_async, place_of, what_is_wrong
from .cause import Cause
from .context import Context, Reads
from .describe import BoundController
from .echoes import Echoes
from .finalizing import Step, next_step
from .handlers import are_echoes
from .hotloop import HotLoops, Suspect
from .looking import CHANGES, Looks
from .outcome import Result, Retry, Terminal, done
from .recorder import Recorder
from .status import StatusDraft
from .writes import ObjectWrites

__all__ = ["Aside", "DeadlineExceeded", "Pass", "Reconciler", "Unreadable", "WrongOutcome"]

_LET_GO = "%s %s: is being deleted and has a finalizer that this controller no longer uses; removing it"


class DeadlineExceeded(Exception):
    """A reconcile took longer than its controller's `deadline_seconds`, and was cancelled."""


class Unreadable(Terminal):
    """The object in the cache is not one of the model: nothing that we do makes it readable."""


class WrongOutcome(Terminal):
    """The function returned what says nothing: a mistake in the program, which trying again does not mend."""


class Aside(msgspec.Struct, frozen=True):
    """There was no reconcile: nothing is to be answered for that had not been already, or the object is slowed.

    Attributes: `after_seconds`, when it is to be asked for again, for the same causes; None: not at all.
    """

    after_seconds: float | None = None


_NOTHING_NEW = Aside()


class Pass:
    """What the queue knows of this pass."""

    __slots__ = ("attempt", "causes")

    def __init__(self, attempt: int = 1, causes: Sequence[Cause] = ()) -> None:
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
        events: Recorder | None = None,
    ) -> None:
        self._spec = bound.spec
        self._kind = bound.spec.kind
        self._reconcile = bound.reconcile
        self._finalize = bound.finalize
        self._finalizer = bound.spec.finalizer if bound.finalize is not None else None
        self._former = bound.spec.former_finalizers
        if bound.finalize is None and bound.spec.by == "object":
            self._former += (bound.spec.finalizer,)
        self._client = client
        self._reads = reads
        self._applied: dict[Key, AppliedMemory] = {}
        self._logger = logger
        self._executor = executor
        self._clock = clock
        self._events = events
        self._in_threads = [each for each in (bound.reconcile, bound.finalize) if not is_async(each)]
        info = info_of(self._kind)
        self._bare = (
            unstructured(info.api_version, info.kind, plural=info.plural, namespaced=info.namespaced)
            if bound.spec.by == "key"
            else None
        )
        self.hot_loops = HotLoops()
        self.on_hot_loop: Callable[[], object] = lambda: None
        self.on_blocked: Callable[[float], object] = lambda seconds: None
        self.echoes = Echoes() if bound.spec.by == "object" and not bound.spec.wakes_itself else None
        self._writes = ObjectWrites(self._kind, client, reads, clock, self.echoes)

    @property
    def finalizes(self) -> bool:
        """Whether the deletion of an object concerns it."""
        return self._finalizer is not None or bool(self._former)

    async def run(self, key: Key, this: Pass) -> Result | Aside:
        """One pass over the object named `key`.

        Raises:
            Exception: whatever the function raised, or a write was answered with; see `outcome.py` for what follows.
            Unreadable: the object in the cache is not one of the model.
            WrongOutcome: the function returned neither None nor a Result.
            DeadlineExceeded: the function took too long.
        """
        entry = self._reads.entry(self._kind, key)
        if self._bare is not None:
            return await self._run_key(self._bare, key, None if entry is None else entry.data, this)
        echoes = self.echoes
        if entry is None:
            self._applied.pop(key, None)
            self.hot_loops.forget(key)
            if echoes is not None:
                echoes.forget(key)
            return done
        suspect = None
        if self.hot_loops.suspects:
            now = asyncio.get_running_loop().time()
            suspect = self.hot_loops.suspect(key, entry.generation, now)
            if suspect is not None and now < suspect.slowed_until:
                return Aside(suspect.slowed_until - now)
        if echoes is not None and echoes.early and are_echoes(echoes.early.pop(key, None), key, entry, this.causes):
            return _NOTHING_NEW
        try:
            obj = decode(self._kind, entry.data)
        except DecodeError as error:
            raise Unreadable(str(error)) from None
        if echoes is not None:
            echoes.begin(key)
        try:
            return await self._reconciled(key, obj, this, suspect)
        finally:
            if echoes is not None:
                echoes.end(key)

    async def _reconciled(self, key: Key, obj: Object, this: Pass, suspect: Suspect | None) -> Result:
        step = next_step(obj, self._finalizer, self._former)
        if step is Step.LEAVE:
            return done
        if step is Step.RELEASE:
            self._logger.info(_LET_GO, self._kind.kind, key)
            await self._release(obj)
            return done
        if step is Step.ADD:
            assert self._finalizer is not None
            held = await self._writes.hold(key, obj, self._finalizer)
            if held is None:
                return done
            obj = held
        applied = self._applied.get(key) or AppliedMemory()
        looks = None if suspect is None else Looks(self._client, suspect, this.causes)
        ctx = self._context(obj, applied, this, looks)
        function = self._finalize if step is Step.FINALIZE else self._reconcile
        draft = StatusDraft(obj)
        written: bytes | None = None
        try:
            try:
                result = await self._call(function, obj, ctx)
            finally:
                self._remember(key, applied)
        except Exception as error:
            written = await self._write_status_after(error, key, obj, draft, looks)
            raise
        else:
            written = await self._writes.status(key, obj, draft, looks)
        finally:
            if ctx._wrote or written is not None:
                self._note_write(key, obj, this, looks)
        draft.check_untouched()
        if step is Step.FINALIZE:
            if result != done:
                raise WrongOutcome(
                    f"{place_of(function)}: finalize returned after({result.requeue_after_seconds:g}), and the "
                    "finalizer goes when it returns; return None when all is done, raise Retry(...) to be called again"
                )
            await self._release(obj if written is None else decode(self._kind, written))
            return done
        return result

    async def _run_key(self, bare: type[Object], key: Key, data: bytes | None, this: Pass) -> Result:
        """A pass of a function that takes the key, and is called for what is absent too."""
        if data is None:
            where = {"namespace": key.namespace} if key.namespace else {}
            data = orjson.dumps({"metadata": {"name": key.name, **where}})
        applied = self._applied.get(key) or AppliedMemory()
        try:
            return await self._call(self._reconcile, key, self._context(decode(bare, data), applied, this))
        finally:
            self._remember(key, applied)

    def _note_write(self, key: Key, obj: Object, this: Pass, looks: Looks | None) -> None:
        """Whether this is one write more of a hot loop."""
        for cause in this.causes:
            if cause.event in CHANGES:
                break
        else:
            return
        now = asyncio.get_running_loop().time()
        self.hot_loops.wrote(key, obj.metadata.generation, now)
        loop = None if looks is None else looks.suspect.judge(now)
        if loop is not None:
            self._logger.warning("%s %s: hot loop: %s", self._kind.kind, key, loop)
            if self._events is not None:
                self._events.event(obj, "Warning", "HotLoop", str(loop), action="Reconcile", related=None)
            self.on_hot_loop()

    async def _release(self, obj: Object) -> None:
        ours = self._former if self._finalizer is None else (self._finalizer, *self._former)
        await self._writes.release(obj, *ours)

    def _remember(self, key: Key, applied: AppliedMemory) -> None:
        """Keep what was applied; nothing for the many objects that have no children."""
        if applied:
            self._applied[key] = applied
        else:
            self._applied.pop(key, None)

    def _context(self, obj: Object, applied: AppliedMemory, this: Pass, looks: Looks | None = None) -> Context:
        deadline = self._spec.deadline_seconds
        return Context(
            obj=obj,
            client=self._client,
            reads=self._reads,
            applied=applied,
            log=logging.LoggerAdapter(
                self._logger,
                {"namespace": obj.metadata.namespace, "object": obj.metadata.name, "controller": self._spec.name},
            ),
            attempt=this.attempt,
            causes=this.causes,
            deadline_at=None if deadline is None else asyncio.get_running_loop().time() + deadline,
            clock=self._clock,
            events=self._events,
            looks=looks,
            echoes=self.echoes,
        )

    # -- the user's function ---------------------------------------------------------------------------------------

    async def _call(self, function: Any, obj: Object | Key, ctx: Context) -> Result:
        seconds = self._spec.deadline_seconds
        try:
            if seconds is None:
                return await self._invoke(function, obj, ctx)
            try:
                async with asyncio.timeout(seconds) as limit:
                    return await self._invoke(function, obj, ctx)
            except TimeoutError:
                if not limit.expired():
                    raise
                raise DeadlineExceeded(
                    f"{self._spec.name}: the reconcile did not end within deadline_seconds={seconds:g}"
                ) from None
        except asyncio.CancelledError as error:
            me = asyncio.current_task()
            if me is None or me.cancelling():
                raise
            raise RuntimeError(f"{self._spec.name}: something that the reconcile waited for was cancelled") from error
        except SystemExit as error:
            # A library that gives up must not take all other objects with it, least of all without a word.
            raise RuntimeError(
                f"{self._spec.name}: the reconcile asked the program to end (sys.exit({error.code!r})); "
                "raise Terminal or Retry to end a pass"
            ) from error

    def seen(self, function: object, obj: Object | Key, line: str) -> Seen:
        """What is told when the function blocks the event loop."""
        key = obj if isinstance(obj, Key) else key_of(obj)
        subject = f"{self._kind.kind} {key}"
        return Seen(self._spec.name, place_of(function), subject, line or place_of(function), self.on_blocked)

    async def _invoke(self, function: Any, obj: Object | Key, ctx: Context) -> Result:
        if function in self._in_threads:
            outcome = await run_in_thread(function, obj, ctx, self._executor)
        else:
            outcome = await function(obj, ctx)
        if outcome is None:
            return done
        if isinstance(outcome, Result):
            return outcome
        raise WrongOutcome(f"{place_of(function)}: {what_is_wrong(outcome, function in self._in_threads)}")

    async def _write_status_after(
        self, error: Exception, key: Key, obj: Object, draft: StatusDraft, looks: Looks | None
    ) -> bytes | None:
        """Write the status of a reconcile that failed, without hiding why it did."""
        try:
            return await self._writes.status(key, obj, draft, looks)
        except Exception as unwritten:
            if isinstance(error, Terminal | Retry):
                raise  # theirs may be a long wait, or none: the status has to come sooner
            self._logger.warning("%s %s: the status was not written: %s", self._kind.kind, key, unwritten)
            return None
