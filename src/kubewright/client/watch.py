"""A watch for scripts: one unbroken sequence of events over any number of connections.

Owns the resumption (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes):

| the connection                                  | then                                                          |
|-------------------------------------------------|---------------------------------------------------------------|
| ends, as the server ends each after some minutes| goes on from the last version, at once (after a second, if it |
| breaks, is silent for too long                  | brought nothing)                                              |
| cannot be made, or the server answers 429, 5xx  | the same after a pause (0.8 s, doubled, up to 30 s)           |
| ten of these in a row without an event          | the last error is raised                                      |
| is told 410, as status or as an event           | `Gone` is raised: what happened since is lost                 |
| is told anything else                           | that error is raised                                          |

The existing objects come from a list, and the watch starts at its version. A watch that starts without a version sends
them too, but in the order of their names: when it breaks in the middle there is no version to go on from.

A controller's reflector is another machine (it relists on a 410 and compares); this one tells its reader the truth and
stops. It buffers what arrives while its reader is busy, up to `MAX_BUFFERED_BYTES`; then it hangs up and goes on from
the last event that was read.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from collections.abc import AsyncGenerator
from typing import Generic, Literal, TypeAlias, cast

import msgspec
from typing_extensions import TypeVar

from ..model import DecodeError, Object, decode
from .calls import ACCEPT, Calls
from .errors import ApiError, ResourceTypeNotFound
from .lists import list_page, list_whole
from .options import ListQuery
from .statuses import error_from_status
from .transport import Response, TLSError, TransportClosed, TransportError

__all__ = ["EventType", "WatchEvent", "watch"]

T = TypeVar("T", bound=Object)

MAX_BUFFERED_BYTES = 64 * 1024 * 1024
"""Bytes of events that wait for their reader before the connection is given up."""

MAX_FAILURES = 10
_FIRST_PAUSE_SECONDS = 0.8
_MAX_PAUSE_SECONDS = 30.0
# The pause between two connections that each ended well and brought nothing (client-go's RetryWatcher).
_QUIET_PAUSE_SECONDS = 1.0
# How long the server is asked to keep one connection, and how much longer its silence is borne.
_SERVER_SECONDS = 300
_SILENCE_SECONDS = 30.0


EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]


class WatchEvent(msgspec.Struct, Generic[T], frozen=True):
    """A change: `type`, and the object after it (DELETED: as it was last). `initial`: it existed before the watch."""

    type: EventType
    object: T
    initial: bool = False


class _Frame(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Bookmark(msgspec.Struct):
    metadata: _Meta


_FRAME = msgspec.json.Decoder(_Frame)
_BOOKMARK = msgspec.json.Decoder(_Bookmark)


class _BufferFull(Exception):
    pass


class _Connection:
    """The lines of one stream, buffered for one reader.

    Guarantees: G1 lines come in order. G2 `next` raises how the stream ended only after its last line has been handed
    out. Cancellation: a cancelled `next` has taken nothing; `close` leaves no task behind.
    """

    def __init__(self, calls: Calls, target: str, idle_seconds: float) -> None:
        self.opened_at: float | None = None
        self.heard = False
        self._clock = asyncio.get_running_loop().time
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._arrived = asyncio.Event()
        # Started last: everything that it calls back into exists by now.
        self._task = asyncio.ensure_future(
            calls._http.stream(
                "GET",
                target,
                on_line=self._take,
                on_response=self._opened,
                headers=ACCEPT,
                idle_seconds=idle_seconds,
            )
        )
        self._task.add_done_callback(lambda _: self._arrived.set())

    def _opened(self, _: Response) -> None:
        self.opened_at = self._clock()

    def _take(self, line: bytes) -> None:
        if self._bytes > MAX_BUFFERED_BYTES:
            raise _BufferFull
        self._lines.append(line)
        self._bytes += len(line)
        self._arrived.set()

    async def next(self, deadline: float | None) -> bytes | None:
        """The next line; None at the deadline (of the loop's clock) and at the end. Raises what the stream raised."""
        while not self._lines:
            if self._task.done():
                self._task.result()
                return None
            self._arrived.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._arrived.wait()
            except TimeoutError:
                return None
        line = self._lines.popleft()
        self._bytes -= len(line)
        self.heard = True
        return line

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def was_of_use(self) -> bool:
        """It brought something, or held for so long that there was nothing to bring."""
        return self.heard or (self.opened_at is not None and self._clock() - self.opened_at >= _MAX_PAUSE_SECONDS)


async def watch(
    calls: Calls,
    cls: type[T],
    namespace: str | None,
    query: ListQuery,
    resource_version: str | None,
    send_initial: bool,
    timeout_seconds: float | None,
) -> AsyncGenerator[WatchEvent[T], None]:
    """See `Reads.watch`, whose arguments these are."""
    clock = asyncio.get_running_loop().time
    deadline = None if timeout_seconds is None else clock() + timeout_seconds
    path = await calls._collection(cls, namespace)
    if resource_version is None:

        async def fetch(page: str) -> bytes:
            return await calls._send("GET", path + page, ACCEPT, None, cls)

        # One object is enough to learn the version.
        listed = await (list_whole(fetch, cls, query) if send_initial else list_page(fetch, cls, query, 1, ""))
        for obj in listed if send_initial else ():
            yield WatchEvent("ADDED", obj, initial=True)
        resource_version = listed.resource_version
        del listed

    failures = 0
    while deadline is None or clock() < deadline:
        seconds = _SERVER_SECONDS if deadline is None else min(_SERVER_SECONDS, math.ceil(deadline - clock()))
        target = path + query.watch(resource_version, seconds)
        started_at = clock()
        connection = _Connection(calls, target, seconds + _SILENCE_SECONDS)
        try:
            while (line := await connection.next(deadline)) is not None:
                frame = _frame(line)
                if frame.type == "ERROR":
                    raise error_from_status(bytes(frame.object), method="GET", target=target)
                if frame.type == "BOOKMARK":
                    resource_version = _BOOKMARK.decode(frame.object).metadata.resource_version or resource_version
                    continue
                obj = decode(cls, bytes(frame.object))
                resource_version = obj.metadata.resource_version
                yield WatchEvent(cast("EventType", frame.type), obj)
            failures = 0
        except _BufferFull:
            failures = 0
        except ResourceTypeNotFound as error:
            raise await calls._kind_not_served(cls, error) from error
        except (ApiError, TransportError) as error:
            failures = 0 if connection.was_of_use() else failures + 1
            if failures >= MAX_FAILURES or not _passes(error):
                raise
        finally:
            await connection.close()
        pause = _pause(failures) if failures or connection.heard else _QUIET_PAUSE_SECONDS - (clock() - started_at)
        if deadline is not None:
            pause = min(pause, deadline - clock())
        if pause > 0:
            await asyncio.sleep(pause)


def _frame(line: bytes) -> _Frame:
    try:
        return _FRAME.decode(line)
    except msgspec.DecodeError as error:
        raise DecodeError("watch event", "", str(error)) from None


def _pause(failures: int) -> float:
    if not failures:
        return 0.0
    grown: float = min(_FIRST_PAUSE_SECONDS * 2 ** (failures - 1), _MAX_PAUSE_SECONDS)
    return grown * random.uniform(1.0, 1.5)  # noqa: S311


def _passes(error: ApiError | TransportError) -> bool:
    """Whether another attempt may do better."""
    if isinstance(error, ApiError):
        return error.code == 429 or error.code >= 500
    return not isinstance(error, TLSError | TransportClosed)
