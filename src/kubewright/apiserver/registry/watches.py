"""A watch: what is there, then what happens to it, for as long as it was asked for.

| asked for | is sent |
|---|---|
| `resourceVersion` none or 0, or `sendInitialEvents` | what is there as ADDED; with bookmarks one that ends them |
| `resourceVersion` N | what has happened since N |
| `allowWatchBookmarks` | a bookmark each minute, and one shortly before the end |

An object that starts to be selected comes as ADDED, one that stops as DELETED (as it was, with the revision of the
change). A revision that is gone is an event of type ERROR in an answer of 200, never a plain 410: that is what clients
look for. Rules: `storage/cacher/{cacher,cache_watcher}.go`, `endpoints/handlers/{get,watch}.go`.

Events are encoded when somebody reads them, once for all who read the same representation, and kept with the change.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import orjson

from ..catalog import ResourceType
from ..errors import StatusError, expired, method_not_supported, too_large_resource_version, unexplained
from ..options import ListOptions, list_options, revision
from ..request import JSON, Stream
from ..store import Change, Compacted, Entry
from ..watch import Cursor, Hub
from .call import Call, warning_header
from .selection import Selection, selection
from .served import as_served, as_served_now

__all__ = ["Watching", "watch"]

_INITIAL_END: Final = "k8s.io/initial-events-end"
_BOOKMARK_SECONDS: Final = 60.0
_BEFORE_END_SECONDS: Final = 2.0
_SHORTEST_SECONDS: Final = 1800.0
_INITIAL_CHUNK: Final = 500


def watch(call: Call, hub: Hub) -> Stream:
    """Answer a watch. Raises StatusError."""
    options = list_options(call.request.query, is_watch=True)
    if "watch" not in call.kind.verbs:
        raise method_not_supported(call.kind, "watch")
    chosen = selection(call, options)
    since = _since(call, options)
    try:
        watching = _start(call, hub, options, chosen, since)
    except StatusError as error:
        # Whatever is wrong from here on is told inside of the stream.
        watching = Watching(call, hub, chosen, options, error=error)
    headers = [("content-type", JSON), *(("warning", warning_header(each)) for each in call.warnings)]
    return Stream(200, headers, watching, watching.close)


def _since(call: Call, options: ListOptions) -> int:
    try:
        return revision(options.resource_version) if options.resource_version else 0
    except ValueError as error:
        raise unexplained(str(error)) from None


def _start(call: Call, hub: Hub, options: ListOptions, chosen: Selection, since: int) -> Watching:
    store = call.backend.store
    collection = store.collection(call.resource)
    if options.send_initial_events:
        if since > store.revision:
            raise too_large_resource_version(since, store.revision)
        if chosen.key:
            found = collection.live.get(chosen.key)
            initial = [found] if found is not None else []
        else:
            initial = collection.page(chosen.scope).entries
        return Watching(call, hub, chosen, options, initial=initial, number=collection.end)
    if not since:
        return Watching(call, hub, chosen, options, number=collection.end)
    try:
        number = collection.number_after(since)
    except Compacted as gone:
        raise expired(f"too old resource version: {since} ({gone.floor})") from None
    return Watching(call, hub, chosen, options, number=number, since=since)


class Watching(AsyncIterator[bytes]):
    """One watch as it goes on.

    Guarantees: G1 events come in the order of their revisions, each once, whole. G2 it ends: by its time, by `close`,
    or because it was too slow. G3 after `close` nothing of it is left anywhere. Cancellation: a cancelled `__anext__`
    has lost nothing; the next one goes on.
    """

    def __init__(
        self,
        call: Call,
        hub: Hub,
        chosen: Selection,
        options: ListOptions,
        *,
        initial: list[Entry] | None = None,
        number: int = 0,
        since: int = 0,
        error: StatusError | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self._kind, self._form, self._chosen = call.kind, call.representation, chosen
        self._cursor = Cursor(hub, call.resource, chosen.key or chosen.scope, number)
        self._since = max(since, hub.store.revision if initial is not None else 0)
        self._initial, self._place = initial, 0
        self._error = error
        self._is_first = True
        self._bookmarks = options.bookmarks
        self._ends_initial = initial is not None and options.bookmarks and bool(options.send_initial_events)
        self._closed = False
        self._waiter: asyncio.Future[int] | None = None
        self._loop = loop
        seconds = float(options.timeout_seconds)
        if seconds <= 0:
            seconds = _SHORTEST_SECONDS * (1 + call.backend.random.random())
        self._deadline = loop.time() + seconds
        self._bookmark_at = self._next_bookmark(loop.time())

    def __aiter__(self) -> Watching:
        return self

    async def __anext__(self) -> bytes:
        """The next frames, joined."""
        while not self._closed:
            try:
                frames = await self._next()
            except (Compacted, StatusError):
                # It has fallen behind, or what it asked for is no form of an object: there is nobody left to tell.
                self._closed = True
                break
            if frames:
                return b"".join(frames)
        raise StopAsyncIteration

    @property
    def kind(self) -> ResourceType:
        """What is watched."""
        return self._kind

    def end(self) -> None:
        """Let it end by itself, as soon as what has happened until now is told."""
        self._deadline = self._loop.time()
        if self._waiter is not None:
            _wake(self._waiter, self._cursor)

    def close(self) -> None:
        """End it. May be called again, and while somebody waits for the next frame."""
        self._closed = True
        self._initial = None
        if self._waiter is not None and not self._waiter.done():
            self._waiter.cancel()

    # -- steps --------------------------------------------------------------------------------------------------------

    async def _next(self) -> list[bytes]:
        if self._error is not None:
            self._closed = True
            return [_frame("ERROR", orjson.dumps(self._error.status))]
        if self._initial is not None:
            return await self._next_initial(self._initial)
        changes = self._cursor.read()
        if changes:
            frames = [frame for each in changes if (frame := await self._event(each)) is not None]
            if not frames:
                await asyncio.sleep(0)
            return frames
        return await self._sleep()

    async def _next_initial(self, initial: list[Entry]) -> list[bytes]:
        part = initial[self._place : self._place + _INITIAL_CHUNK]
        self._place += len(part)
        frames: list[bytes] = []
        for stored in part:
            entry = as_served_now(self._kind, stored) or await as_served(self._kind, stored)
            if self._chosen.matches(entry):
                frames.append(_frame("ADDED", self._encoded(entry)))
        if self._place >= len(initial):
            self._initial = None
            if self._ends_initial:
                frames.append(self._bookmark(self._since, ends_initial=True))
        return frames

    async def _event(self, change: Change) -> bytes | None:
        """The frame of a change, None where it is of no interest."""
        chosen, kind = self._chosen, self._kind
        if change.revision <= self._since or not chosen.covers(change.entry.key):
            return None
        entry = as_served_now(kind, change.entry) or await as_served(kind, change.entry)
        if chosen.is_everything:
            return self._shared(change, change.type, entry)
        is_selected = change.type != "DELETED" and chosen.matches(entry)
        before = change.previous
        if before is None:
            return self._shared(change, "ADDED", entry) if is_selected else None
        was_selected = chosen.matches(as_served_now(kind, before) or await as_served(kind, before))
        if is_selected:
            return self._shared(change, "MODIFIED" if was_selected else "ADDED", entry)
        if not was_selected:
            return None
        if change.type != "DELETED":
            entry = as_served_now(kind, before) or await as_served(kind, before)
            entry = _at_revision(entry, change.revision)
        return self._shared(change, "DELETED", entry)

    def _shared(self, change: Change, event: str, entry: Entry) -> bytes:
        """The frame of a change, which all watchers of one representation share."""
        if self._is_first:
            # The first one may look different (a Table has its columns there), so it is not for others.
            return _frame(event, self._encoded(entry))
        key = (event, self._kind, self._form.key)
        frame: bytes | None = change.encoded.get(key)
        if frame is None:
            frame = change.encoded[key] = _frame(event, self._encoded(entry))
        return frame

    def _encoded(self, entry: Entry) -> bytes:
        is_first, self._is_first = self._is_first, False
        return self._form.in_event(self._kind, entry, is_first=is_first)

    # -- time ---------------------------------------------------------------------------------------------------------

    async def _sleep(self) -> list[bytes]:
        """Wait for a change in scope, for the time of a bookmark, or for the end."""
        cursor, loop = self._cursor, self._loop
        if loop.time() >= self._deadline:
            self._closed = True
            return []
        waiter = self._waiter = cursor.hub.wait(cursor.resource, cursor.scope)
        timer = loop.call_at(min(self._deadline, self._bookmark_at), _wake, waiter, cursor)
        try:
            number = await waiter
        except asyncio.CancelledError:
            if self._closed and waiter.cancelled() and not _is_cancelling():
                return []
            raise
        finally:
            timer.cancel()
            waiter.cancel()
            self._waiter = None
        if number >= 0:
            cursor.woken(number)
            return []
        # Nothing of interest had happened, or it would have woken us: what was in the log then is not for this scope.
        # What has come since may be, and a bookmark must not be ahead of it.
        cursor.woken(~number)
        now = loop.time()
        if cursor.is_at_end and self._bookmark_at <= now < self._deadline:
            self._bookmark_at = self._next_bookmark(now)
            return [self._bookmark(cursor.hub.store.revision)]
        return []

    def _next_bookmark(self, now: float) -> float:
        if not self._bookmarks:
            return float("inf")
        before_end = self._deadline - _BEFORE_END_SECONDS
        regular = now + _BOOKMARK_SECONDS
        return min(regular, before_end) if before_end > now else regular

    def _bookmark(self, at: int, *, ends_initial: bool = False) -> bytes:
        meta: dict[str, Any] = {"resourceVersion": str(at)}
        if ends_initial:
            meta["annotations"] = {_INITIAL_END: "true"}
        obj = {"kind": self._kind.kind, "apiVersion": self._kind.api_version, "metadata": meta}
        return _frame("BOOKMARK", self._form.in_event(self._kind, Entry("", obj, at), is_first=False))


def _wake(waiter: asyncio.Future[int], cursor: Cursor) -> None:
    """Wake who waits without a change. It runs only later: where the log ends now is told as a negative number."""
    if not waiter.done():
        waiter.set_result(~cursor.hub.store.collection(cursor.resource).end)


def _is_cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _at_revision(entry: Entry, revision: int) -> Entry:
    meta = {**entry.object["metadata"], "resourceVersion": str(revision)}
    return Entry(entry.key, {**entry.object, "metadata": meta}, revision)


def _frame(event: str, encoded: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (event.encode(), encoded)
