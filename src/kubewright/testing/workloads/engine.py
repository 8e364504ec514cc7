"""What is due, and when: one queue, one worker, one list of times for all controllers.

Owns the order. Keys are worked on one after another, first come first served, so that a run is the same each time; what
has to wait for a time waits on the clock, which a test may move. It refuses to know what controllers do.

| a pass ends with | then |
|---|---|
| success | it is forgotten |
| a refusal of the server (a conflict, a quota) | it is tried again after 5 ms, doubled each time, up to 10 s |
| a namespace that is going | it is forgotten |
| a mistake of ours | it is logged, and raised by the next `settle` |

What is seen comes by the toolkit's informers and client. Rejected: its `Manager` with work queues, too. Their times are
the event loop's and their workers many, and a test wants one order, and a clock that it moves.

Guarantees: E1 no two passes run at the same time. E2 `settle` returns when no key is due at this time of the clock, and
the view is what the server has. Cancellation: a cancelled `settle` stops nothing.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple, Protocol

import orjson

from kubewright.cache import Deleted, Delta, Informer
from kubewright.cache.collection import Collection
from kubewright.client import ApiError, Client, TransportError
from kubewright.client.transport import TransportClosed

from .clock import Clock, VirtualClock
from .kinds import ALL, Kind, Obj, Ref
from .view import View

__all__ = ["Controller", "Engine", "Key"]

logger = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS: Final = 0.005
_LONGEST_PAUSE_SECONDS: Final = 10.0
_PATIENCE: Final = 6
"""So many failures in a row are waited for by `settle`; what fails longer than that waits for something else."""
_SETTLE_SECONDS: Final = 30.0
_TURNS: Final = 20
_PAGE: Final = 500
_METADATA: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"


class Key(NamedTuple):
    """Something to do: of which controller, for which object."""

    controller: str
    namespace: str
    name: str


class Controller(Protocol):
    """What a part of the control plane does. It is told of changes, and gives its keys to the engine."""

    name: str

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        """Of which of its objects a pass is due, now that one has changed."""
        ...

    async def sync(self, ref: Ref) -> None:
        """Do what is due of one of its objects. Raises ApiError: the server refused a write."""
        ...


class Engine:
    """Runs controllers on what a client sees."""

    def __init__(self, client: Client, view: View, clock: Clock) -> None:
        self.view, self.clock = view, clock
        self._client = client
        self._controllers: dict[str, Controller] = {}
        self._due: deque[Key] = deque()
        self._is_due: set[Key] = set()
        self._times: list[tuple[datetime, int, Key]] = []
        self._at: dict[Key, datetime] = {}
        self._number = 0
        self._failures: dict[Key, int] = {}
        self._pauses: dict[Key, asyncio.TimerHandle] = {}
        self._informers: dict[Kind, Informer] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._mistakes: list[BaseException] = []
        self._settled_at: tuple[int, datetime] | None = None

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self, controllers: Iterable[Controller]) -> None:
        """Follow all kinds and begin. Raises ListWatchError: the server refuses; TimeoutError."""
        self._controllers = {each.name: each for each in controllers}
        self.view.listeners.append(self._changed)
        for kind in ALL:
            informer = Informer(Collection(self._client.http, kind.path()), name=kind.plural, newest=True)
            informer.add_handler(partial(self._heard, kind))
            self._informers[kind] = informer
            self._tasks.append(asyncio.create_task(informer.run(), name=f"workloads: {kind.plural}"))
        for informer in self._informers.values():
            await informer.wait_synced(_SETTLE_SECONDS)
        self._tasks.append(asyncio.create_task(self._run(), name="workloads"))

    async def close(self) -> None:
        for pause in self._pauses.values():
            pause.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        self.view.listeners.clear()

    # -- what is due --------------------------------------------------------------------------------------------------

    def add(self, controller: str, ref: Ref) -> None:
        """A pass is due now."""
        key = Key(controller, ref.namespace, ref.name)
        if key not in self._is_due:
            self._is_due.add(key)
            self._due.append(key)
            self._idle.clear()
            self._wake.set()

    def after(self, controller: str, ref: Ref, seconds: float) -> None:
        """A pass is due after so much time of the clock; the earliest counts."""
        key = Key(controller, ref.namespace, ref.name)
        at = self.clock() + timedelta(seconds=max(seconds, 0.0))
        if key in self._at and self._at[key] <= at:
            return
        self._at[key] = at
        self._number += 1
        heapq.heappush(self._times, (at, self._number, key))
        self._wake.set()

    @property
    def next_at(self) -> datetime | None:
        """When the next pass is due that waits for a time."""
        while self._times and self._at.get(self._times[0][2]) != self._times[0][0]:
            heapq.heappop(self._times)
        return self._times[0][0] if self._times else None

    def _changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> None:
        for name, controller in self._controllers.items():
            for ref in controller.changed(kind, old, new):
                self.add(name, ref)

    def _heard(self, kind: Kind, delta: Delta) -> None:
        self.view.saw(int(delta.entry.resource_version))
        if isinstance(delta, Deleted):
            self.view.remove(kind, Ref(delta.entry.namespace, delta.entry.name), delta.entry.uid)
        elif self.view.version(kind, Ref(delta.entry.namespace, delta.entry.name)) != delta.entry.resource_version:
            self.view.put(kind, orjson.loads(delta.entry.data))

    # -- work ---------------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            self._ring()
            if self._due:
                key = self._due.popleft()
                self._is_due.discard(key)
                await self._pass(key)
                continue
            self._idle.set()
            self._wake.clear()
            at = None if isinstance(self.clock, VirtualClock) else self.next_at
            try:
                async with asyncio.timeout(None if at is None else max((at - self.clock()).total_seconds(), 0.0)):
                    await self._wake.wait()
            except TimeoutError:
                pass

    def _ring(self) -> None:
        """What has waited for this time is due."""
        while (at := self.next_at) is not None and at <= self.clock():
            key = heapq.heappop(self._times)[2]
            del self._at[key]
            self.add(key.controller, Ref(key.namespace, key.name))

    async def _pass(self, key: Key) -> None:
        ref = Ref(key.namespace, key.name)
        try:
            await self._controllers[key.controller].sync(ref)
        except (ApiError, TransportError) as error:
            if isinstance(error, TransportClosed):
                return
            if isinstance(error, ApiError) and error.has_cause("NamespaceTerminating"):
                return
            self._try_again(key, error)
        except Exception as error:
            logger.exception("workloads: %s %s/%s", key.controller, key.namespace, key.name)
            self._mistakes.append(error)
        else:
            self._failures.pop(key, None)

    def _try_again(self, key: Key, error: Exception) -> None:
        tries = self._failures[key] = self._failures.get(key, 0) + 1
        seconds = min(_FIRST_PAUSE_SECONDS * 2.0 ** (tries - 1), _LONGEST_PAUSE_SECONDS)
        logger.debug("workloads: %s %s/%s, after %g s again: %s", *key, seconds, error)
        if (before := self._pauses.pop(key, None)) is not None:
            before.cancel()
        self._pauses[key] = asyncio.get_running_loop().call_later(seconds, self._resume, key)

    def _resume(self, key: Key) -> None:
        self._pauses.pop(key, None)
        self.add(key.controller, Ref(key.namespace, key.name))

    # -- settling -----------------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Until nothing is due now, and all has been seen that the server has.

        Raises:
            TimeoutError: it does not come to rest: two fight over an object, or the server answers no more.
            Exception: a mistake in a controller.
        """
        try:
            async with asyncio.timeout(_SETTLE_SECONDS):
                await self._settle()
        except TimeoutError:
            due = ", ".join("/".join(each) for each in list(self._due)[:5] + list(self._pauses)[:5])
            raise TimeoutError(
                f"workloads do not settle within {_SETTLE_SECONDS:g} s; due: {due or 'nothing'}"
            ) from None

    async def _settle(self) -> None:
        turns = 0
        while True:
            self._ring()
            await self._rest()
            self._raise_mistakes()
            revision = await self._revision()
            if self._settled_at == (revision, self.clock()) and not self._due:
                return
            if await self._has_caught_up(revision, turns) and not self._due and not self._is_waiting():
                self._settled_at = revision, self.clock()
                return
            turns += 1
            # In process an event is there after a few turns of the loop; behind a network it needs time.
            await asyncio.sleep(0 if turns < _TURNS else 0.005)

    async def _has_caught_up(self, revision: int, turns: int) -> bool:
        """Whether the view is what the server had at a revision. Objects are compared only where counting is no proof,
        because others write, too, what is not followed here."""
        if self._settled_at is not None and self.view.has_seen(self._settled_at[0], revision):
            return True
        if self._settled_at is not None and turns < _TURNS:
            return False
        return not await self._is_behind() and await self._revision() == revision

    async def _rest(self) -> None:
        while self._due or not self._idle.is_set():
            self._wake.set()
            await self._idle.wait()

    def _is_waiting(self) -> bool:
        return any(self._failures.get(key, 0) < _PATIENCE for key in self._pauses)

    def _raise_mistakes(self) -> None:
        if self._mistakes:
            mistakes, self._mistakes = self._mistakes, []
            raise mistakes[0]

    async def _revision(self) -> int:
        answer = await self._client.raw("GET", ALL[0].path(), query={"limit": "1"})
        return int(orjson.loads(answer.body)["metadata"]["resourceVersion"])

    async def _is_behind(self) -> bool:
        """Whether the server has other versions of objects than the view."""
        for kind in ALL:
            seen = {ref: self.view.version(kind, ref) for ref in self.view.refs(kind)}
            if await self._listed(kind) != seen:
                return True
        return False

    async def _listed(self, kind: Kind) -> dict[Ref, str | None]:
        found: dict[Ref, str | None] = {}
        query = {"limit": str(_PAGE)}
        while True:
            answer = await self._client.raw("GET", kind.path(), query=query, headers=(("accept", _METADATA),))
            page = orjson.loads(answer.body)
            for each in page["items"] or ():
                meta = each["metadata"]
                found[Ref(meta.get("namespace") or "", meta["name"])] = meta["resourceVersion"]
            if not (token := page["metadata"].get("continue")):
                return found
            query["continue"] = token
