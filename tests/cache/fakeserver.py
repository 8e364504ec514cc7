"""One collection on a server that can go wrong in every way a real one can.

`FakeServer` is a ListWatch over objects, versions and a history that can be compacted. What has been promised is kept:
a watch shows every change after its version in order, a list is of one moment, an expired version is refused. What has
not been promised can be broken at will: `cut`, `expire`, `list_failures`, `watch_failures`, `garble`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from random import Random
from typing import Any

from watching import bookmark, encode, error, event, obj, page

from kubewright.cache import Expired, ListPage, ListWatchError, Watch

Key = tuple[str, str]


class Cut(Exception):
    """Ends a watch: by the server (no failure), with a failure, or with a last line."""

    def __init__(self, failure: ListWatchError | None = None, line: bytes = b"") -> None:
        super().__init__()
        self.failure = failure
        self.line = line


class FakeServer:
    def __init__(self, version: int = 100) -> None:
        self.version = version
        self.objects: dict[Key, dict[str, Any]] = {}
        self.oldest = version  # versions before this one are compacted
        self.list_failures: list[BaseException] = []
        self.watch_failures: list[BaseException] = []
        self.lists: list[ListPage] = []
        self.watches: list[Watch] = []
        self.open_watches = 0
        self.page_size: int | None = None  # at most so many objects to a page, whatever is asked for
        self.delay_seconds = 0.0
        self._history: list[tuple[int, str, dict[str, Any]]] = []
        self._snapshots: dict[str, tuple[int, list[dict[str, Any]]]] = {}
        self._tokens = itertools.count()
        self._uids = itertools.count()
        self.uid_prefix = "uid"
        self._cut: Cut | None = None
        self.garble = False  # the next event arrives broken
        self._changed = asyncio.Event()

    # What users do

    def put(self, name: str, namespace: str = "ns", **fields: Any) -> int:
        """Create or change an object; its version."""
        self.version += 1
        old = self.objects.get((namespace, name))
        uid = old["metadata"]["uid"] if old else f"{self.uid_prefix}-{next(self._uids)}"
        new = obj(name, self.version, uid=uid, namespace=namespace, **fields)
        self.objects[namespace, name] = new
        self._record("MODIFIED" if old else "ADDED", new)
        return self.version

    def delete(self, name: str, namespace: str = "ns") -> int:
        self.version += 1
        old = self.objects.pop((namespace, name))
        meta = {**old["metadata"], "resourceVersion": str(self.version)}
        self._record("DELETED", {**old, "metadata": meta})
        return self.version

    def _record(self, kind: str, value: dict[str, Any]) -> None:
        self._history.append((self.version, kind, value))
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    # What goes wrong

    def cut(self, failure: ListWatchError | None = None, line: bytes = b"") -> None:
        """End the open watch."""
        self._cut = Cut(failure, line)
        self._notify()

    def bookmark(self) -> None:
        """Tell the open watch the present version."""
        self._history.append((self.version, "BOOKMARK", {}))
        self._notify()

    def expire(self) -> None:
        """Forget all history and all tokens."""
        self.oldest = self.version
        self._snapshots.clear()

    # ListWatch

    async def list_page(self, request: ListPage) -> bytes:
        self.lists.append(request)
        await asyncio.sleep(self.delay_seconds)
        if self.list_failures:
            raise self.list_failures.pop(0)
        if request.continue_token:
            if request.continue_token not in self._snapshots:
                raise Expired("the token has expired")
            version, items = self._snapshots[request.continue_token]
        else:
            if request.resource_version.isdecimal() and int(request.resource_version) > self.version:
                raise Expired("too large resource version")
            version, items = self.version, list(self.objects.values())
        limit = min(request.limit or len(items), self.page_size or len(items))
        token = ""
        if len(items) > limit:
            token = f"token-{next(self._tokens)}"
            self._snapshots[token] = (version, items[limit:])
        return page(items[:limit], version, token)

    async def watch(self, request: Watch, on_line: Callable[[bytes], None], on_open: Callable[[], None]) -> None:
        self.watches.append(request)
        await asyncio.sleep(self.delay_seconds)
        if self.watch_failures:
            raise self.watch_failures.pop(0)
        seen = int(request.resource_version or 0)
        if not request.initial and seen < self.oldest:
            raise Expired("too old resource version")
        on_open()
        self._cut = None
        if request.initial:
            for value in list(self.objects.values()):
                on_line(event("ADDED", value))
            seen = self.version
            on_line(bookmark(seen, initial_events_end=True))
        self.open_watches += 1
        try:
            async with asyncio.timeout(request.timeout_seconds):
                await self._send(seen, on_line)
        except TimeoutError:
            on_line(bookmark(self.version))
        finally:
            self.open_watches -= 1

    async def _send(self, seen: int, on_line: Callable[[bytes], None]) -> None:
        place = next((i for i, (version, _, _) in enumerate(self._history) if version > seen), len(self._history))
        while True:
            for version, kind, value in self._history[place:]:
                line = bookmark(version) if kind == "BOOKMARK" else event(kind, value)
                on_line(line[: len(line) // 2] if self.garble else line)
                self.garble = False
            place = len(self._history)
            if self._cut is not None:
                cut, self._cut = self._cut, None
                if cut.line:
                    on_line(cut.line)
                if cut.failure is not None:
                    raise cut.failure
                return
            await self._changed.wait()

    def state(self) -> dict[Key, str]:
        """Versions of all objects."""
        return {key: value["metadata"]["resourceVersion"] for key, value in self.objects.items()}


def random_cut(server: FakeServer, chance: Random) -> str:
    """Something goes wrong. Its name."""
    from kubewright.cache import Denied, NotInstalled, Rejected, Throttled, Unavailable

    fault = chance.choice(
        ["eof", "reset", "410 event", "410 status", "410 page", "throttle", "5xx", "garbled", "denied", "gone", "bug"]
    )
    if fault == "eof":
        server.cut()
    elif fault == "reset":
        server.cut(Unavailable("connection reset"))
    elif fault == "410 event":
        server.expire()
        server.cut(line=error(410, "Expired"))
    elif fault == "410 status":
        server.expire()
        server.cut(Unavailable("connection reset"))
    elif fault == "410 page":
        server.expire()
        server.page_size = chance.choice([2, 3])
        server.cut(line=error(410, "Gone"))
        server.list_failures += [Expired("the token has expired")] * chance.choice([0, 1])
    elif fault == "throttle":
        server.watch_failures.append(Throttled("busy", after_seconds=chance.choice([None, 1.0])))
        server.cut()
    elif fault == "5xx":
        server.watch_failures += [Unavailable("503", after_seconds=None)] * chance.choice([1, 3, 12])
        server.cut(line=error(500, "InternalError"))
    elif fault == "garbled":
        server.garble = True
    elif fault == "denied":
        server.watch_failures.append(Denied("pods is forbidden"))
        server.cut(line=encode({"type": "SURPRISE", "object": {}}))
    elif fault == "gone":
        server.watch_failures.append(NotInstalled("404"))
        server.list_failures.append(chance.choice([NotInstalled("404"), Rejected("405")]))
        server.cut()
    else:
        server.watch_failures.append(OSError("broken"))
        server.cut()
    return fault
