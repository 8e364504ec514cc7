"""Keep a store equal to the objects of a kind on the server, and tell handlers what changed.

Owns the order of things: a change is in the store before any handler hears of it, and is told to all of them before the
next one is looked at. Where changes come from (`Reflector`, one for each `Scope` of the kind) and what they change
(`Store`), others know.

Handlers are plain functions that take microseconds (a controller's puts a key into its queue) and are called where the
event arrives, so what is true of store and handlers at any await is true of both.

Rejected: a queue per handler as client-go has it, because Go's handlers may block. Its memory has no bound, and a late
handler's initial state has to be locked against live events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from types import MappingProxyType

from kubewright.model import Key

from .actions import Condition
from .aside import Aside
from .entry import Entry
from .frame import Removed, Unreadable, Upserted
from .handlers import Handler, Handlers, Registration
from .intake import Intake
from .listing import Replaced
from .listwatch import ListWatch, ListWatchError
from .parts import Parts
from .reflector import Reflector
from .resync import resync
from .scope import EVERYTHING, Scope
from .store import Added, Deleted, Delta, Store
from .waits import InformerStopped, Waits
from .written import OwnWrites, Written

__all__ = ["Informer"]

logger = logging.getLogger(__name__)


class Informer:
    """A store that follows one kind, with handlers.

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
        I7 What we wrote ourselves (`wrote`) and what is in no event, because the watch had expired meanwhile, is shown
           nevertheless: Added, and Deleted if the list that ends the gap does not have it.
        I8 A scope's list says nothing about the objects of other scopes. Of a scope that is taken away every object is
           shown as Deleted.
    Cancellation: `run` closes what it has open. A cancelled wait leaves nothing behind.
    Caveats: bound to the event loop that runs it, and not thread-safe. There is no order across objects. An own write
    in a gap whose answer comes after the list that ends it is shown once more as Added and Deleted if the object was in
    that list and is deleted since, and not at all if another one has its name by now.
    """

    def __init__(
        self,
        source: ListWatch | None = None,
        *,
        name: str = "",
        store: Store | None = None,
        scope: Scope = EVERYTHING,
        intake: Intake | None = None,
        page_size: int = 500,
        stream_initial: bool = False,
        silence_seconds: float = 180.0,
        newest: bool = False,
        random: Random | None = None,
        on_problem: Callable[[ListWatchError], None] | None = None,
    ) -> None:
        """An informer that does not run yet.

        Args:
            source: the collection of `scope`, where that is the only one; `intake` is its. More with `add_source`.
            name: what the log calls it (`pods`).
            store: an empty store, with indexes for example; a new one by default.
            page_size, stream_initial, silence_seconds, newest, random: see `Watcher`.
            on_problem: told of each new `problem`, in place of a warning in the log.
        """
        self.name = name
        self.store = store if store is not None else Store()
        self._page_size = page_size
        self._stream_initial = stream_initial
        self._silence_seconds = silence_seconds
        self._newest = newest
        self._random = random or Random()  # noqa: S311 - jitter
        self._on_problem = on_problem or self._warn
        self._parts = Parts()
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}
        self._over: asyncio.Future[None] | None = None
        self._stopped = False
        self._synced = False
        self._handlers = Handlers(name)
        self._waits = Waits(self)
        self._aside = Aside(name)
        self.written = OwnWrites(self.store.get, self.observed)
        """What our own writes were answered with, until the watch has caught up."""
        if source is not None:
            self.add_source(source, scope, intake=intake)

    def add_source(self, source: ListWatch, scope: Scope = EVERYTHING, *, intake: Intake | None = None) -> None:
        """Follow one more collection of the kind, at once if it runs.

        Raises:
            ValueError: there is one for that namespace. InformerStopped.
        """
        if scope.namespace in self._parts:
            raise ValueError(f"informer {self.name}: follows namespace {scope.namespace!r} already")
        if self._stopped:
            raise InformerStopped(f"informer {self.name}: has stopped; make a new one")
        reflector = Reflector(
            source,
            name=self.name,
            told=self._apply,
            replaced=self._replace,
            refused=self._refused,
            page_size=self._page_size,
            stream_initial=self._stream_initial,
            silence_seconds=self._silence_seconds,
            newest=self._newest or self._over is not None,
            random=self._random,
            intake=intake,
        )
        self._parts.add(scope, reflector)
        if self._over is not None:
            self._begin(scope, reflector)

    def remove_source(self, namespace: str) -> None:
        """Follow a collection no longer: handlers are told that its objects are gone, of which nobody knows (I8)."""
        scope, reflector = self._parts.remove(namespace)
        for task in self._tasks.pop(namespace, ()):
            task.cancel()
        if not self._stopped:
            self._aside.forget(scope.covers)
            self.written.forget(scope.covers)
            self._handlers.tell(self.store.replace((), within=scope.covers))
        reflector.moved = None
        self._waits.wake()

    def scope_of(self, namespace: str) -> Scope | None:
        """The scope that objects of a namespace are in; None where none of them covers it."""
        found = self._parts.covering(namespace)
        return found[0] if found is not None else None

    @property
    def scopes(self) -> tuple[Scope, ...]:
        return self._parts.scopes

    # State

    @property
    def stopped(self) -> bool:
        """Whether it has ended, by `stop` or because the task that ran it has."""
        return self._stopped

    @property
    def has_synced(self) -> bool:
        """Whether the handlers have been told a whole initial state (I4). Never false again."""
        return self._synced

    def has_synced_in(self, namespace: str | None) -> bool:
        """Whether the state of a namespace, or of all of them, is there: of one that was added later too."""
        if namespace is None:
            return self._parts.have_told
        found = self._parts.covering(namespace)
        return found is not None and found[1].has_told

    @property
    def is_absent(self) -> bool:
        """Whether the server has said, and not only once, that it has no such kind (any more)."""
        return self._parts.is_absent

    @property
    def condition(self) -> Condition:
        """How well the kind is seen, by that of its scopes which is seen worst; `SYNCING` before it runs."""
        return self._parts.condition

    @property
    def problem(self) -> ListWatchError | None:
        """What the server last refused, until it answers well again."""
        return self._parts.problem

    def problem_in(self, namespace: str) -> ListWatchError | None:
        """As `problem`, of the scope that covers a namespace."""
        found = self._parts.covering(namespace)
        return found[1].problem if found is not None else None

    @property
    def last_event_at(self) -> float | None:
        """When the server last sent anything, of the scope that is silent longest; None before that."""
        return self._parts.last_event_at

    @property
    def observed_version(self) -> int:
        """The resource version that the store has reached, moved by events and by bookmarks; 0 before it has synced.

        Versions compare as integers (KEP-5504). It falls only where the server itself went back (a restored backup).
        """
        return self._parts.observed_version

    def observed(self, namespace: str) -> int:
        """The version that the store has reached for the objects of one namespace."""
        found = self._parts.covering(namespace)
        return found[1].observed_version if found is not None else 0

    @property
    def unreadable(self) -> Mapping[Key, Unreadable]:
        """Objects whose last event could not be read. The store still has what it had of them before."""
        return MappingProxyType(self._aside)

    # Handlers

    def add_handler(self, handler: Handler, *, echoes: bool = True) -> Registration:
        """Tell `handler` the present state now, and every change from now on (I3).

        Args:
            echoes: False leaves out events whose state is exactly what a write of ours was answered with (`wrote`): who
                wrote it knows it. Such a handler may hear of an object first when somebody else changes it.

        Raises:
            InformerStopped: there will be no change any more.
        """
        if self._stopped:
            raise InformerStopped(f"informer {self.name}: has stopped; add handlers before")
        return self._handlers.add(handler, self, echoes=echoes)

    def wrote(self, entry: Entry, *, gone: bool = False) -> None:
        """Tell what a write of ours was answered with; `gone`: that was the object's last state.

        Versions that are not decimal numbers cannot be compared; such an answer is ignored.
        """
        found = self._parts.covering(entry.namespace)
        if found is None or self._stopped or not entry.resource_version.isdecimal():
            return
        scope, reflector = found
        version, key = int(entry.resource_version), entry.key
        self.written.note_version(entry.resource_version)
        if not gone and not scope.selects(entry):
            self.written.put_outside(key, entry.uid, version)
            return
        kept = reflector.taken(entry)
        if isinstance(kept, Unreadable):
            return  # the watch will report it
        self.written.put(key, Written(entry.uid, version, kept, gone))
        if not gone and self.written.was_missed(key, version):
            self._handlers.tell((Added(kept), Deleted(kept, state_unknown=True)))

    # Waiting

    async def wait_synced(
        self,
        timeout_seconds: float | None = None,
        *,
        namespace: str | None = None,
        unless: tuple[type[ListWatchError], ...] = (),
    ) -> None:
        """Return when `has_synced`, and the kind is there.

        Args:
            namespace: wait for this one, which was added later.
            unless: problems not to be waited out: they are raised.

        Raises:
            TimeoutError: not within the time; the message has the condition and the last problem.
            InformerStopped: it stopped before.
        """

        def reached() -> bool:
            done = self._synced if namespace is None else self.has_synced_in(namespace)
            return done and not self.is_absent

        problem = None if namespace is None else partial(self.problem_in, namespace)
        await self._waits.wait(reached, timeout_seconds, "the initial state", unless, problem)

    async def wait_version(self, version: int | str, timeout_seconds: float | None = None) -> None:
        """Return when the store has reached `version`, of a write's answer, say, and shows that or a later state.

        Raises:
            ValueError: `version` is no decimal number.
            TimeoutError, InformerStopped: as in `wait_synced`.
        """
        wanted = int(version)
        await self._waits.wait(
            lambda: self._synced and self.observed_version >= wanted, timeout_seconds, f"resource version {version}"
        )

    def listen(self, moved: Callable[[], None] | None) -> None:
        """Have `moved` called whenever a version may have been reached; None: no more. For `Waits`."""
        self._parts.listen(moved)

    # Running

    async def run(self) -> None:
        """Follow the kind until `stop`, or until cancelled.

        Raises:
            RuntimeError: it runs, or ran, already.
        """
        if self._over is not None:
            raise RuntimeError(f"informer {self.name}: runs once; make a new one")
        if self._stopped:
            return
        self._over = asyncio.get_running_loop().create_future()
        for scope, reflector in self._parts:
            self._begin(scope, reflector)
        try:
            await self._over
        finally:
            self._end()
            tasks = [task for each in self._tasks.values() for task in each]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def stop(self) -> None:
        """End `run`; handlers are told nothing more. The store keeps what it has."""
        self._end()
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    def _begin(self, scope: Scope, reflector: Reflector) -> None:
        where = f" {scope.namespace}" if scope.namespace else ""
        tasks = [asyncio.create_task(reflector.run(), name=f"informer {self.name}{where}")]
        if scope.resync_seconds:
            every = resync(self.store, scope, self._handlers, random=self._random)
            tasks.append(asyncio.create_task(every, name=f"resync {self.name}{where}"))
        for task in tasks:
            task.add_done_callback(self._ended)
        self._tasks[scope.namespace] = tasks
        self._waits.listen()

    def _ended(self, task: asyncio.Task[None]) -> None:
        """None of them ends but by a mistake in it, which is not to be silent."""
        error = None if task.cancelled() else task.exception()
        if error is not None and self._over is not None and not self._over.done():
            self._over.set_exception(error)

    def _end(self) -> None:
        self._stopped = True
        self._handlers.clear()
        self._waits.stop()

    def _refused(self, problem: ListWatchError) -> None:
        self._on_problem(problem)
        self._waits.wake()

    def _warn(self, problem: ListWatchError) -> None:
        logger.warning("informer %s: %s: %s; trying again", self.name, self.condition, problem)

    # Applying

    def _apply(self, event: Upserted | Removed | Unreadable) -> None:
        if isinstance(event, Upserted):
            deltas = self.store.upsert(event.entry)
        elif isinstance(event, Removed):
            deltas = self.store.remove(event.entry)
        else:
            self._aside.put(event)
            deltas = self.store.discard(event.key) if event.removed and event.key else ()
        if self._aside and not isinstance(event, Unreadable):
            self._aside.pop(event.entry.key, None)
        if deltas:
            if self._handlers.some_skip_echoes and isinstance(event, Upserted) and self.written.is_echo(event.entry):
                self._handlers.tell_echo(deltas)
            else:
                self._handlers.tell(deltas)

    def _replace(self, reflector: Reflector, state: Replaced) -> None:
        scope = self._parts.of(reflector)
        self._aside.forget(scope.covers)
        for item in state.unreadable:
            self._aside.put(item)
        listed: dict[Key, object] = dict(self._aside)
        if len(self.written):
            listed.update((entry.key, entry) for entry in state.entries)
        deltas: list[Delta] = []
        until = int(state.resource_version) if state.resource_version.isdecimal() else 0
        for entry in self.written.missed(listed, reflector.replaced_from, until, scope.covers):
            deltas += self.store.upsert(entry)
        deltas += self.store.replace(state.entries, self._aside, within=None if scope.is_whole else scope.covers)
        if not reflector.has_told:
            deltas = [Added(delta.entry, initial=True) if isinstance(delta, Added) else delta for delta in deltas]
        self._handlers.tell(deltas)
        reflector.has_told = True
        self._synced = self._synced or self.has_synced_in(None)
        self._waits.wake()
