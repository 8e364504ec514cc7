"""Keep a store equal to a collection on the server, and tell handlers what changed.

The shell around `Watcher` (what to ask), `Store` (what is there) and a `ListWatch` (who asks): it performs the
watcher's actions, applies what comes out to the store, and calls the handlers. Everything it decides, those decide.

One task per informer and no task, queue or future per event: a line of a watch goes from the transport's callback
through watcher and store to the last handler in one call. Hence handlers are plain functions that take microseconds (a
controller's puts a key into its queue), and what is true of store and handlers at any await is true of both.

Rejected: a queue per handler as client-go has it. It is there because Go's handlers may block; it costs memory without
a bound, and a late handler's initial state then has to be locked against live events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from random import Random
from types import MappingProxyType

from kubewright.model import Key

from .frame import Removed, Unreadable, Upserted
from .listing import Replaced
from .listwatch import ListPage, ListWatch, ListWatchError, Unavailable, Watch
from .store import Added, Delta, Store
from .watcher import Condition, Digest, Wait, Watcher

__all__ = ["Handler", "Informer", "InformerStopped", "Registration"]

logger = logging.getLogger(__name__)

Handler = Callable[[Delta], None]
"""Told of one change, after the store shows it. Must not block; what it raises is logged and stops nothing."""

_SLICE = 500  # objects decoded between two turns of the event loop: about 6 ms
_SYNCED = -1  # as a version to wait for: whatever version, but a whole state


class InformerStopped(RuntimeError):
    """The informer does not run any more: what was waited for cannot come."""


class Registration:
    """A handler's place in an informer."""

    def __init__(self, informer: Informer, handler: Handler) -> None:
        self._informer = informer
        self.handler = handler
        self.active = True

    def remove(self) -> None:
        """Tell the handler nothing more, from now on. A second call does nothing."""
        self.active = False
        self._informer._forget(self)


class Informer:
    """A store that follows one collection, with handlers.

    Expected flow: make it, add handlers, `run` it in a task, `wait_synced`, read `store`; `stop` it or cancel the task.

    Guarantees:
        I1 The store is changed before any handler is called for the change: who reads it sees at least that.
        I2 Each handler sees, per object, a legal history: Added first, then Updated, Deleted at the end; states in the
           server's order, some perhaps left out, the last one always shown.
        I3 A handler that is added late gets the present state as `Added(initial=True)` before `add_handler` returns,
           and all that comes after it: nothing is missed in between and nothing told twice.
        I4 `has_synced` means that the handlers have been told the initial state.
        I5 A handler that raises stops neither the others nor the informer.
        I6 No failure of the server stops it. `condition`, `problem` and `last_event_at` show what it is up against.
    Cancellation: `run` closes what it has open. A cancelled wait leaves nothing behind.
    Caveats: bound to the event loop that runs it, and not thread-safe. There is no order across objects.
    """

    def __init__(
        self,
        source: ListWatch,
        *,
        name: str = "",
        store: Store | None = None,
        page_size: int = 500,
        stream_initial: bool = False,
        silence_seconds: float = 180.0,
        newest: bool = False,
        random: Random | None = None,
        on_problem: Callable[[ListWatchError], None] | None = None,
    ) -> None:
        """An informer that does not run yet.

        Args:
            source: the collection.
            name: what the log calls it (`pods`).
            store: an empty store, with indexes for example; a new one by default.
            page_size, stream_initial, silence_seconds, newest, random: see `Watcher`.
            on_problem: told of each new `problem`, in place of a warning in the log.
        """
        self.name = name
        self.store = store if store is not None else Store()
        self._source = source
        self._page_size = page_size
        self._stream_initial = stream_initial
        self._silence_seconds = silence_seconds
        self._newest = newest
        self._random = random
        self._on_problem = on_problem or self._warn
        self._watcher: Watcher | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self._synced = False
        self._handlers: tuple[Registration, ...] = ()  # replaced, never changed: a dispatch goes through its own
        self._unreadable: dict[Key, Unreadable] = {}
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._reported: ListWatchError | None = None

    # State

    @property
    def stopped(self) -> bool:
        """Whether it has ended, by `stop` or because the task that ran it has."""
        return self._stopped

    @property
    def has_synced(self) -> bool:
        """Whether the handlers have been told a whole initial state (I4). Never false again."""
        return self._synced

    @property
    def condition(self) -> Condition:
        """How well the collection is seen; `SYNCING` before it runs."""
        return self._watcher.condition if self._watcher else Condition.SYNCING

    @property
    def problem(self) -> ListWatchError | None:
        """What the server last refused, until it answers well again."""
        return self._watcher.problem if self._watcher else None

    @property
    def last_event_at(self) -> float | None:
        """When the server last sent anything, on the event loop's clock; None before that."""
        return self._watcher.last_event_at if self._watcher else None

    @property
    def observed_version(self) -> int:
        """The resource version that the store has reached, moved by events and by bookmarks; 0 before it has synced.

        Versions compare as integers (KEP-5504). It falls only where the server itself went back (a restored backup).
        """
        version = self._watcher.resource_version if self._watcher else ""
        return int(version) if version.isdecimal() else 0

    @property
    def unreadable(self) -> Mapping[Key, Unreadable]:
        """Objects whose last event could not be read. The store still has what it had of them before."""
        return MappingProxyType(self._unreadable)

    # Handlers

    def add_handler(self, handler: Handler) -> Registration:
        """Tell `handler` the present state now, and every change from now on (I3).

        Raises:
            InformerStopped: there will be no change any more.
        """
        if self._stopped:
            raise InformerStopped(f"informer {self.name}: has stopped; add handlers before")
        registration = Registration(self, handler)
        self._handlers = (*self._handlers, registration)
        self._tell((registration,), [Added(entry, initial=True) for entry in self.store])
        return registration

    def _forget(self, registration: Registration) -> None:
        self._handlers = tuple(other for other in self._handlers if other is not registration)

    def _tell(self, registrations: Iterable[Registration], deltas: Iterable[Delta]) -> None:
        for registration in registrations:
            handler = registration.handler
            for delta in deltas:
                if not registration.active:
                    break
                try:
                    handler(delta)
                except Exception:
                    logger.exception("informer %s: handler %r failed on %s", self.name, handler, delta.key)

    # Waiting

    async def wait_synced(self, timeout_seconds: float | None = None) -> None:
        """Return when `has_synced`.

        Raises:
            TimeoutError: not within the time; the message has the condition and the last problem.
            InformerStopped: it stopped before.
        """
        await self._wait(_SYNCED, timeout_seconds, "the initial state")

    async def wait_version(self, version: int | str, timeout_seconds: float | None = None) -> None:
        """Return when the store has reached `version`, the resourceVersion of a write's answer, say.

        From then on the store shows that write or a later state.

        Raises:
            ValueError: `version` is no decimal number.
            TimeoutError, InformerStopped: as in `wait_synced`.
        """
        await self._wait(int(version), timeout_seconds, f"resource version {version}")

    async def _wait(self, version: int, timeout_seconds: float | None, what: str) -> None:
        if self._reached(version):
            return
        if self._stopped:
            raise InformerStopped(f"informer {self.name}: stopped before it had {what}")
        waiter = (version, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        try:
            async with asyncio.timeout(timeout_seconds):
                await waiter[1]
        except TimeoutError:
            problem = f": {self.problem}" if self.problem else ""
            raise TimeoutError(
                f"informer {self.name}: did not reach {what} within {timeout_seconds:g} s; "
                f"it is {self.condition} at resource version {self.observed_version}{problem}"
            ) from None
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def _reached(self, version: int) -> bool:
        return self._synced and self.observed_version >= version

    def _wake(self) -> None:
        for waiter in self._waiters:
            if self._reached(waiter[0]) and not waiter[1].done():
                waiter[1].set_result(None)

    # Running

    async def run(self) -> None:
        """Follow the collection until `stop`, or until cancelled.

        Raises:
            RuntimeError: it runs, or ran, already.
        """
        if self._task is not None:
            raise RuntimeError(f"informer {self.name}: runs once; make a new one")
        if self._stopped:
            return
        self._task = asyncio.create_task(self._drive(), name=f"informer {self.name}")
        try:
            await self._task
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if not self.stopped or (me is not None and me.cancelling()):
                raise
        finally:
            self._end()

    def stop(self) -> None:
        """End `run`; handlers are told nothing more. The store keeps what it has."""
        self._end()
        if self._task is not None:
            self._task.cancel()

    def _end(self) -> None:
        self._stopped = True
        self._handlers = ()
        for _, future in self._waiters:
            if not future.done():
                future.set_exception(InformerStopped(f"informer {self.name}: stopped during the wait"))

    async def _drive(self) -> None:
        loop = asyncio.get_running_loop()
        self._watcher = watcher = Watcher(
            loop.time(),
            page_size=self._page_size,
            stream_initial=self._stream_initial,
            silence_seconds=self._silence_seconds,
            newest=self._newest,
            random=self._random,
        )
        while True:
            action = watcher.action
            if isinstance(action, Watch):
                await self._watch(watcher, action, loop)
            elif isinstance(action, ListPage):
                await self._list(watcher, action, loop)
            elif isinstance(action, Digest):
                replaced = watcher.digest(_SLICE, loop.time())
                if replaced is not None:
                    self._replace(replaced)
                await asyncio.sleep(0)
            else:
                await self._pause(watcher, action, loop)

    async def _pause(self, watcher: Watcher, action: Wait, loop: asyncio.AbstractEventLoop) -> None:
        self._report(watcher.problem)
        await asyncio.sleep(action.until - loop.time())
        watcher.timer(max(loop.time(), action.until))

    async def _list(self, watcher: Watcher, action: ListPage, loop: asyncio.AbstractEventLoop) -> None:
        deadline = watcher.wake_at or loop.time()
        try:
            async with asyncio.timeout_at(deadline) as limit:
                body = await self._source.list_page(action)
        except Exception as error:
            if limit.expired():
                watcher.timer(max(loop.time(), deadline))
            else:
                watcher.page_failed(action, self._failure(error), loop.time())
        else:
            watcher.page_received(action, body, loop.time())

    async def _watch(self, watcher: Watcher, action: Watch, loop: asyncio.AbstractEventLoop) -> None:
        time = loop.time
        over = False
        timer: asyncio.TimerHandle | None = None

        def close_if_over() -> None:
            nonlocal over
            if not over and watcher.action is not action:
                over = True
                scope.reschedule(time())  # ends the await below, wherever the transport is

        def on_line(line: bytes) -> None:
            event = watcher.line_received(line, time()) if not over else None
            if event is not None:
                self._apply(event)
            if self._waiters:
                self._wake()
            if watcher.action is not action:
                close_if_over()

        def arm() -> None:
            nonlocal timer
            wake_at = watcher.wake_at or time()
            timer = loop.call_at(wake_at, on_timer, wake_at)

        def on_timer(wake_at: float) -> None:
            watcher.timer(max(time(), wake_at))  # loops fire a little early
            close_if_over()
            if not over:
                arm()

        arm()
        failure: ListWatchError | None = None
        try:
            async with asyncio.timeout(None) as scope:
                await self._source.watch(action, on_line, lambda: watcher.opened(action, time()))
        except Exception as error:
            failure = None if over else self._failure(error)
        finally:
            over = True
            if timer is not None:
                timer.cancel()
        watcher.watch_ended(action, failure, time())

    def _failure(self, error: Exception) -> ListWatchError:
        if isinstance(error, ListWatchError):
            return error
        if not isinstance(error, OSError):  # TimeoutError is one
            logger.error("informer %s: the list-watch failed unexpectedly", self.name, exc_info=error)
        return Unavailable(f"{type(error).__name__}: {error}")

    def _report(self, problem: ListWatchError | None) -> None:
        """Tell a problem once, not with every attempt.

        Problems are told apart by their class: the texts name the request, which is another one at every attempt.
        """
        before, self._reported = self._reported, problem
        if problem is not None and type(before) is not type(problem):
            self._on_problem(problem)

    def _warn(self, problem: ListWatchError) -> None:
        logger.warning("informer %s: %s: %s; trying again", self.name, self.condition, problem)

    # Applying

    def _apply(self, event: Upserted | Removed | Unreadable | Replaced) -> None:
        if isinstance(event, Upserted):
            deltas = self.store.upsert(event.entry)
        elif isinstance(event, Removed):
            deltas = self.store.remove(event.entry)
        elif isinstance(event, Replaced):
            self._replace(event)
            return
        else:
            self._set_aside(event)
            deltas = self.store.discard(event.key) if event.removed and event.key else ()
        if self._unreadable and not isinstance(event, Unreadable):
            self._unreadable.pop(event.entry.key, None)
        if deltas:
            self._tell(self._handlers, deltas)

    def _replace(self, state: Replaced) -> None:
        self._unreadable.clear()
        for item in state.unreadable:
            self._set_aside(item)
        deltas = self.store.replace(state.entries, keep=self._unreadable)
        if not self._synced:
            deltas = [Added(delta.entry, initial=True) for delta in deltas]
        self._tell(self._handlers, deltas)
        self._synced = True
        self._wake()

    def _set_aside(self, item: Unreadable) -> None:
        logger.warning("informer %s: %s left out: %s", self.name, item.key or "an object without a name", item.problem)
        if item.key is not None and not item.removed:
            self._unreadable[item.key] = item
        elif item.key is not None:
            self._unreadable.pop(item.key, None)
