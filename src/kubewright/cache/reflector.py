"""One list-and-watch, for ever: the shell around a `Watcher` and a `ListWatch`.

It performs the watcher's actions, reports back, and hands out what comes of them. Everything that is decided, the
watcher decides; what to do with a change, whoever is told.

No task, queue or future per event: a line of a watch goes from the transport's callback through the watcher to `told`
in one call.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from random import Random

from .actions import Condition, Digest, Wait
from .entry import Entry
from .frame import Removed, Unreadable, Upserted
from .intake import Intake, take_in
from .listing import Replaced
from .listwatch import ListPage, ListWatch, ListWatchError, Unavailable, Watch
from .watcher import Watcher

__all__ = ["Reflector"]

logger = logging.getLogger(__name__)

_SLICE = 500  # objects decoded between two turns of the event loop: about 6 ms

Change = Upserted | Removed | Unreadable


class Reflector:
    """Follows one collection.

    Expected flow: make it, `run` it in a task, cancel the task.

    Args:
        told: of each change, in the server's order.
        replaced: of each whole state; `replaced_from` is the version before it.
        refused: of each new problem, once and not with every attempt.
        page_size, stream_initial, silence_seconds, newest, random, intake: see `Watcher`.

    Attributes:
        moved: called after each line while it is set, for who waits for a version.
        has_told: a whole state was taken in; set by who was told it.
    """

    def __init__(
        self,
        source: ListWatch,
        *,
        name: str,
        told: Callable[[Change], None],
        replaced: Callable[[Reflector, Replaced], None],
        refused: Callable[[ListWatchError], None],
        page_size: int = 500,
        stream_initial: bool = False,
        silence_seconds: float = 180.0,
        newest: bool = False,
        random: Random | None = None,
        intake: Intake | None = None,
    ) -> None:
        self.name = name
        self.moved: Callable[[], None] | None = None
        self.has_told = False
        self._source = source
        self._told = told
        self._replaced = replaced
        self._refused = refused
        self._page_size = page_size
        self._stream_initial = stream_initial
        self._silence_seconds = silence_seconds
        self._newest = newest
        self._random = random
        self._intake = intake
        self._watcher: Watcher | None = None
        self._reported: ListWatchError | None = None

    # State

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
    def is_absent(self) -> bool:
        """Whether the server has said, and not only once, that there is no such collection."""
        return self._watcher is not None and self._watcher.is_absent

    @property
    def observed_version(self) -> int:
        """The resource version that has been reached; 0 before the first state."""
        version = self._watcher.resource_version if self._watcher else ""
        return int(version) if version.isdecimal() else 0

    @property
    def replaced_from(self) -> int:
        """The resource version before the last whole state; 0 before the second one."""
        version = self._watcher.replaced_from if self._watcher else ""
        return int(version) if version.isdecimal() else 0

    def taken(self, entry: Entry) -> Entry | Unreadable:
        """An entry as the watch would hand it out."""
        return entry if self._intake is None else take_in(entry, self._intake)

    # Running

    async def run(self) -> None:
        """Follow the collection until cancelled."""
        loop = asyncio.get_running_loop()
        self._watcher = watcher = Watcher(
            loop.time(),
            page_size=self._page_size,
            stream_initial=self._stream_initial,
            silence_seconds=self._silence_seconds,
            newest=self._newest,
            random=self._random,
            intake=self._intake,
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
                    self._replaced(self, replaced)
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
                return
            gone = watcher.page_failed(action, self._failure(error), loop.time())
            if gone is not None:
                self._replaced(self, gone)
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
                if isinstance(event, Replaced):
                    self._replaced(self, event)
                else:
                    self._told(event)
            if self.moved is not None:
                self.moved()
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
        """Problems are told apart by their class: the texts name the request, another one at every attempt."""
        before, self._reported = self._reported, problem
        if problem is not None and type(before) is not type(problem):
            self._refused(problem)
