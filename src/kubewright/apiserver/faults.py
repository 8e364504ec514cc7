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
| `hold()` ... `release()` | a watch cache that lags: watches are silent, lists of any version are old, reads are not |
| `compact()` | history is gone: watches and pages of old versions are told 410 |
| `fill_disk()` ... `free_disk()` | each write is refused as by an etcd without space |

Nothing here is random. What is random is decided by the test, which has the seed.
"""

from __future__ import annotations

import asyncio
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
from .request import HANG_UP, Request, Stream
from .routes import Route, route

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
        answer = await following(self._aged(verb, where, request))
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
        """From now on let a resource (empty: all) be seen as it is now: by watches, and by lists with
        `resourceVersion=0`. Reads of single objects, and lists of the newest state, go on."""
        self._held.setdefault(resource, (server.store.revision, asyncio.Event()))

    def release(self, resource: str = "") -> None:
        """Let what was held be seen. Empty: of all resources."""
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

    def _aged(self, verb: str, where: Route, request: Request) -> Request:
        """A list of any version, as it was when the resource was held."""
        if verb != "list" or request.parameter("resourceVersion") != "0":
            return request
        held = self._holding(where.resource)
        if held is None:
            return request
        kept = [each for each in request.query if each[0] not in ("resourceVersion", "resourceVersionMatch")]
        query = [*kept, ("resourceVersion", str(held[0])), ("resourceVersionMatch", "Exact")]
        return Request(request.method, request.path, query, request.headers, request.body, request.user)

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
