"""Trouble on request: what a server, a network or a disk does to a client on a bad day, exactly when a test wants it.

`Faults` is a filter in front of one server. Each `Fault` says which requests it is for, from which of them on, how
often, and what happens to them:

| `Fault` | the client sees | the request was carried out |
|---|---|---|
| `delay_seconds` | its answer, later | yes, after the delay |
| `status` | that error, in the server's words, `Retry-After` with 429 and 503 | no |
| `hang_up="before"` | a closed connection | no |
| `hang_up="after"` | a closed connection | yes: nobody knows from the answer |

| beside requests | what it is like |
|---|---|
| `cut_watches()` | all watches, or those of a resource, end at once |
| `hold()` ... `release()` | a watch cache that stands still: watches are silent, reads of any version are old |
| `lag()` ... `release()` | a watch cache that is behind, by changes or by seconds: reads of any version are old |
| `compact()` | history is gone: watches and pages of old versions are told 410 |
| `fill_disk()` ... `free_disk()` | each write is refused as by an etcd without space |

Reads of any version are lists and gets with `resourceVersion=0`, which a server answers from its cache; all others are
of the newest state, as they are there.

Nothing here is random. What is random is decided by the test, which has the seed.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakSet

from .errors import (
    StatusError,
    conflict,
    expired,
    internal,
    request_timeout,
    service_unavailable,
    too_many_requests,
)
from .options import wants_watch
from .registry.call import resource_key
from .request import HANG_UP, Request, Stream
from .routes import Route, route
from .store import Compacted

if TYPE_CHECKING:
    from .server import Answer, ApiServer, Next
    from .store import Change

__all__ = ["Fault", "Faults"]

_STATUSES: Final = (409, 410, 429, 500, 503, 504)
_MODIFIED: Final = "the object has been modified; please apply your changes to the latest version and try again"
_NO_SPACE: Final = "etcdserver: mvcc: database space exceeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens to which requests.

    Attributes:
        verb: get, list, watch, create, update, patch, delete or deletecollection; empty for any.
        resource: the plural with its group, `pods`, `deployments.apps`; empty for any.
        subresource: None for requests with and without one, empty for those without.
        namespace, name: of the object; empty for any.
        first: from which of the requests that match on, counted from 1.
        times: how many of them; 0 for all that come.
        delay_seconds: before anything else.
        status: the error to answer: 409, 410, 429, 500, 503 or 504.
        retry_after_seconds: of 429 and 503.
        hang_up: close the connection, before or after the request is carried out.
    """

    verb: str = ""
    resource: str = ""
    subresource: str | None = None
    namespace: str = ""
    name: str = ""
    first: int = 1
    times: int = 1
    delay_seconds: float = 0.0
    status: int = 0
    retry_after_seconds: int = 1
    hang_up: Literal["", "before", "after"] = ""

    def __post_init__(self) -> None:
        if self.status and self.status not in _STATUSES:
            raise ValueError(f"Fault.status: {self.status} is not one of {', '.join(map(str, _STATUSES))}")
        if self.first < 1:
            raise ValueError(f"Fault.first: {self.first}; requests are counted from 1")
        if self.times < 0 or self.delay_seconds < 0:
            raise ValueError("Fault.times, Fault.delay_seconds: less than 0; times=0 is for all")
        if not (self.delay_seconds or self.status or self.hang_up):
            raise ValueError("Fault: does nothing; give delay_seconds, status or hang_up")

    def is_for(self, verb: str, where: Route) -> bool:
        """Whether a request is meant."""
        return (
            self.verb in ("", verb)
            and self.resource in ("", where.resource)
            and self.subresource in (None, where.subresource)
            and self.namespace in ("", where.namespace)
            and self.name in ("", where.name)
        )


class Faults:
    """The faults of one server.

    Expected flow: make it, `server.use(faults)`, `add` faults, look at `met` for how often each was.

    Guarantees: F1 a fault meets exactly the requests it is for, in the order in which they come. F2 of several faults
    that are for a request all delay it, and the first that answers or hangs up decides.
    """

    def __init__(self) -> None:
        self._faults: list[tuple[Fault, int]] = []
        self._seen: dict[int, int] = {}
        self.met: dict[Fault, int] = {}
        """How many requests each fault has met."""
        self._watches: WeakSet[_Held] = WeakSet()
        self._held: dict[str, tuple[int, asyncio.Event]] = {}
        self._lags: dict[str, _Lag] = {}

    def add(self, fault: Fault) -> None:
        """Let a fault be, from the next request on."""
        self._faults.append((fault, len(self._seen)))
        self._seen[len(self._seen)] = 0
        self.met.setdefault(fault, 0)

    def clear(self) -> None:
        """Forget all faults; what is held is released."""
        self._faults.clear()
        self.release()

    # -- requests -----------------------------------------------------------------------------------------------------

    async def __call__(self, server: ApiServer, request: Request, following: Next) -> Answer:
        """The filter."""
        where = route(request.path)
        if where is None:
            return await following(request)
        verb = where.verb(request.method, watch=wants_watch(request.query))
        due = self._due(verb, where)
        delay = sum(each.delay_seconds for each in due)
        if delay:
            await asyncio.sleep(delay)
        for fault in due:
            if fault.status:
                raise _error(fault, where)
            if fault.hang_up == "before":
                return HANG_UP
        answer = await self._old(server, verb, where, request) or await following(request)
        if any(each.hang_up == "after" for each in due):
            if isinstance(answer, Stream):
                answer.close()
            return HANG_UP
        if isinstance(answer, Stream) and verb == "watch":
            return self._watched(where, answer)
        return answer

    def _due(self, verb: str, where: Route) -> list[Fault]:
        found = []
        for fault, number in self._faults:
            if fault.is_for(verb, where):
                self._seen[number] += 1
                place = self._seen[number] - fault.first
                if place >= 0 and (not fault.times or place < fault.times):
                    self.met[fault] += 1
                    found.append(fault)
        return found

    # -- watches ------------------------------------------------------------------------------------------------------

    def cut_watches(self, resource: str = "") -> int:
        """End the watches of a resource (empty: all); gives how many there were."""
        found = [each for each in self._watches if resource in ("", each.resource) and not each.is_closed]
        for each in found:
            each.close()
        return len(found)

    def hold(self, server: ApiServer, resource: str = "") -> None:
        """From now on let a resource (empty: all) be seen as it is now: by watches, and by lists and gets with
        `resourceVersion=0`. Reads of the newest state go on."""
        self._held.setdefault(resource, (server.store.revision, asyncio.Event()))

    def lag(self, server: ApiServer, resource: str = "", *, changes: int = 0, seconds: float = 0.0) -> None:
        """From now on let lists and gets with `resourceVersion=0` of a resource (empty: all) be behind.

        Args:
            changes: so many of the newest changes of the resource are not seen.
            seconds: changes are not seen that are younger, by the server's clock.
        """
        if changes < 0 or seconds < 0 or not (changes or seconds):
            raise ValueError(f"Faults.lag: changes={changes}, seconds={seconds}; give one that is more than 0")
        self._lags[resource] = _Lag(server, changes, seconds)

    def release(self, resource: str = "") -> None:
        """Let what was held, or is behind, be seen. Empty: of all resources."""
        for behind in list(self._lags) if not resource else [resource]:
            if (lag := self._lags.pop(behind, None)) is not None:
                lag.close()
        for held in list(self._held) if not resource else [resource]:
            found = self._held.pop(held, None)
            if found is not None:
                found[1].set()

    def _holding(self, resource: str) -> tuple[int, asyncio.Event] | None:
        return self._held.get(resource) or self._held.get("")

    def _watched(self, where: Route, stream: Stream) -> Stream:
        held = _Held(stream, where.resource, self._holding)
        self._watches.add(held)
        return Stream(stream.status, stream.headers, held, held.close)

    async def _old(self, server: ApiServer, verb: str, where: Route, request: Request) -> Answer | None:
        """The answer to a read of any version from a cache that is behind; None where the newest one is right."""
        if not (self._held or self._lags) or verb not in ("get", "list") or where.subresource:
            return None
        if request.parameter("resourceVersion") != "0":
            return None
        kind = server.catalog.find(where.group, where.version, where.plural)
        if kind is None:
            return None
        resource = resource_key(kind.storage.group, kind.storage.plural)
        held = self._holding(where.resource)
        lag = self._lags.get(where.resource) or self._lags.get("")
        revision = held[0] if held is not None else lag.revision(resource) if lag is not None else None
        if revision is None:
            return None
        try:
            store = server.store.as_of(resource, revision)
        except Compacted:
            raise expired("The resourceVersion for the provided list is too old.") from None
        aged = type(server)(backend=server.backend.fork(store), transforms=server.transforms)
        return await aged.handle(request)

    # -- the store ----------------------------------------------------------------------------------------------------

    @staticmethod
    def compact(server: ApiServer) -> None:
        """Forget all history."""
        server.store.compact()

    @staticmethod
    def fill_disk(server: ApiServer) -> None:
        """Refuse every write, until `free_disk`."""
        store = server.store
        if not isinstance(store.journal, _Full):
            store.journal = _Full(store.journal)

    @staticmethod
    def free_disk(server: ApiServer) -> None:
        """Take writes again."""
        store = server.store
        if isinstance(store.journal, _Full):
            store.journal = store.journal.before


class _Lag:
    """How far a cache is behind."""

    def __init__(self, server: ApiServer, changes: int, seconds: float) -> None:
        self._store, self._now = server.store, server.backend.now
        self._changes, self._seconds = changes, seconds
        self._first = self._store.revision
        self._commits: list[tuple[float, int]] = []
        if seconds:
            self._store.listeners.append(self._committed)

    def close(self) -> None:
        if self._committed in self._store.listeners:
            self._store.listeners.remove(self._committed)

    def revision(self, resource: str) -> int:
        """The newest revision that is seen of a resource."""
        seen = self._store.revision
        if self._changes:
            log = self._store.collection(resource).log
            seen = log[-self._changes].revision - 1 if len(log) >= self._changes else 0
        if self._seconds:
            until = self._now().timestamp() - self._seconds
            place = bisect_right(self._commits, until, key=lambda commit: commit[0])
            del self._commits[: max(place - 1, 0)]
            place = min(place, 1)
            seen = min(seen, self._commits[place - 1][1] if place else self._first)
        return max(seen, self._store.collection(resource).floor)

    def _committed(self, resource: str, change: Change, number: int) -> None:
        self._commits.append((self._now().timestamp(), change.revision))


class _Full:
    """A journal without room."""

    def __init__(self, before: Callable[[str, Change], None] | None) -> None:
        self.before = before

    def __call__(self, resource: str, change: Change) -> None:
        raise StatusError(500, "", _NO_SPACE)


class _Held(AsyncIterator[bytes]):
    """A watch that says nothing while its resource is held."""

    def __init__(
        self, stream: Stream, resource: str, holding: Callable[[str], tuple[int, asyncio.Event] | None]
    ) -> None:
        self.resource = resource
        self._stream, self._holding = stream, holding
        self._chunks = aiter(stream.chunks)
        self._closed = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    async def __anext__(self) -> bytes:
        chunk = await anext(self._chunks)
        while not self._closed.is_set() and (held := self._holding(self.resource)) is not None:
            waits = [asyncio.ensure_future(each.wait()) for each in (held[1], self._closed)]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
        if self._closed.is_set():
            raise StopAsyncIteration
        return chunk

    def close(self) -> None:
        self._closed.set()
        self._stream.close()


class _Named:
    """What errors say of a resource."""

    def __init__(self, where: Route) -> None:
        self.group, self.plural, self.kind = where.group, where.plural, where.plural


def _error(fault: Fault, where: Route) -> StatusError:
    makers: dict[int, Callable[[], Any]] = {
        409: lambda: conflict(_Named(where), where.name, _MODIFIED),
        410: lambda: expired("The resourceVersion for the provided list is too old."),
        429: lambda: too_many_requests("too many requests, please try again later", fault.retry_after_seconds),
        500: lambda: internal("a fault that was asked for"),
        503: lambda: service_unavailable("the server is currently unable to handle the request"),
        504: lambda: request_timeout("request did not complete within the allotted timeout"),
    }
    error: StatusError = makers[fault.status]()
    if fault.status == 503:
        error.headers = (*error.headers, ("retry-after", str(fault.retry_after_seconds)))
    return error
