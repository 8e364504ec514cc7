"""`FakeApi`: the Transport of a test, in virtual time.

The real HttpClient, its retries and its typed errors are part of every test. Answers take up to `latency_seconds` each
way, watches are `lag_seconds` behind, and nothing sleeps for real. One seed decides what is left to chance.

    api = FakeApi(Web, Deployment)                           in a running event loop
    api.put(Web(...)); api.change(Web, "a", {"spec": ...})   what users do, at once
    api.fault("apply", "/deployments/", at=2, status=503)    what goes wrong, and when
    api.cut(); api.expire()                                  what happens to watches
    api.writes                                               what was asked for
"""

from __future__ import annotations

import asyncio
import bisect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlsplit

import orjson

from kubewright.client import Client, ClientConfig, ConnectionLost, HttpClient, RequestTimeout, Response
from kubewright.client.transport import Headers
from kubewright.model import Key, Object, decode, encode, info_of, key_of

from .discovery import aggregated
from .objects import Json, Kind, Objects, Refused
from .selecting import shown_as

__all__ = ["Asked", "FakeApi", "Fault"]

T = TypeVar("T", bound=Object)

_PATH = re.compile(r"(/api/v1|/apis/[^/]+/[^/]+)(?:/namespaces/([^/]+))?/([^/]+)(?:/([^/]+))?(?:/([^/]+))?")
_JSON = {"content-type": "application/json"}
_PAGE_NOT_FOUND = Response(404, {"content-type": "text/plain"}, b"404 page not found\n")


class Asked(NamedTuple):
    """One request."""

    verb: str
    path: str
    query: Mapping[str, str]
    body: Any

    def __str__(self) -> str:
        return f"{self.verb} {self.path}"


@dataclass
class Fault:
    """What goes wrong with requests of one verb whose path contains `path`: `times` of them, from the `at`-th on."""

    verb: str
    path: str
    at: int = 1
    times: int = 1
    delay_seconds: float = 0.0
    status: int = 0
    reason: str = ""
    retry_after: int | None = None
    lost: Literal["", "request", "answer"] = ""
    then: Callable[[], object] | None = None  # what somebody else does first
    seen: int = 0

    def hits(self, asked: Asked) -> bool:
        if self.verb not in ("*", asked.verb) or self.path not in asked.path:
            return False
        self.seen += 1
        return self.at <= self.seen < self.at + self.times

    def refusal(self) -> Response | None:
        if not self.status:
            return None
        refused = Refused(self.status, self.reason, "as the test said").response
        return refused if self.retry_after is None else refused._replace(headers={"retry-after": str(self.retry_after)})


@dataclass(eq=False)
class _Watch:
    changed: asyncio.Event
    cut: str = ""


class FakeApi:
    """See the module. Versions, times and names are the same for the same seed and the same requests."""

    def __init__(
        self, *kinds: type[Object], seed: int = 0, lag_seconds: float = 0.0, latency_seconds: float = 0.0
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._random = Random(seed)
        self._lag_seconds = lag_seconds
        self._kinds = {_base_path(kind): Kind(kind) for kind in kinds}
        self._watches: set[_Watch] = set()
        self.latency_seconds = latency_seconds
        self.bookmark_seconds = 60.0
        self.objects = Objects(self._random, self._loop.time)
        self.requests: list[Asked] = []
        self.faults: list[Fault] = []

    # What a test does and sees

    def client(self, *, field_manager: str = "test", namespace: str = "default") -> Client:
        """A client of this server, with all of the real one but its sockets."""
        config = ClientConfig(server="http://fake.example")
        http = HttpClient(config, self, clock=self._loop.time, rand=self._random.random)
        return Client(http, field_manager=field_manager, namespace=namespace)

    def fault(self, verb: str, path: str, **options: Any) -> Fault:
        """From now on, let something go wrong. Verbs: get list watch create update patch apply delete, or *."""
        self.faults.append(Fault(verb, path, **options))
        return self.faults[-1]

    @property
    def writes(self) -> list[str]:
        """All writes that were asked for, as `apply /apis/...`."""
        return [str(asked) for asked in self.requests if asked.verb not in ("get", "list", "watch")]

    @property
    def open_watches(self) -> int:
        return len(self._watches)

    @property
    def lag_seconds(self) -> float:
        """How far watches, and lists at version "0", are behind."""
        return self._lag_seconds

    @lag_seconds.setter
    def lag_seconds(self, seconds: float) -> None:
        self._lag_seconds = seconds
        self._wake()

    def cut(self, how: Literal["reset", "end", "gone"] = "reset") -> None:
        """End all watches: by a lost connection, well, or with 410."""
        for watch in self._watches:
            watch.cut = how
        self._wake()

    def expire(self) -> None:
        """Forget the past: a watch from before now is refused."""
        self.objects.oldest = self.objects.version

    def uninstall(self, cls: type[Object]) -> None:
        """Remove a kind, as the removal of its CRD does: first its objects, then what is served. Watches of it end."""
        for key in self.all(cls):
            self.remove(cls, key.name, namespace=key.namespace)
        self._kinds.pop(_base_path(cls))
        self.cut("end")

    def install(self, cls: type[Object]) -> None:
        """Serve one more kind."""
        self._kinds[_base_path(cls)] = Kind(cls)

    def put(self, obj: T) -> T:
        """Create an object, or replace one."""
        kind, key = self._place(type(obj), obj.metadata.name, obj.metadata.namespace or "default")
        body: Json = orjson.loads(encode(obj))
        if key in kind.objects:
            meta = {**kind.objects[key]["metadata"], **body["metadata"]}
            return self._done(type(obj), self.objects.replace(kind, key, {**body, "metadata": meta}, ""))
        return self._done(type(obj), self.objects.create(kind, key, body))

    def change(self, cls: type[T], name: str, patch: Json, *, namespace: str = "default", at: str = "") -> T:
        """A merge patch by somebody else; `at="status"` of the status."""
        kind, key = self._place(cls, name, namespace)
        return self._done(cls, self.objects.patch(kind, key, patch, at))

    def remove(self, cls: type[Object], name: str, *, namespace: str = "default") -> None:
        """A deletion by somebody else; finalizers hold it back."""
        self.objects.delete(*self._place(cls, name, namespace), None)
        self._wake()

    def get(self, cls: type[T], name: str, *, namespace: str = "default") -> T | None:
        """The object as it is now."""
        kind, key = self._place(cls, name, namespace)
        return None if key not in kind.objects else decode(cls, orjson.dumps(kind.objects[key]))

    def all(self, cls: type[T]) -> dict[Key, T]:
        kind, _ = self._place(cls, "", "")
        return {key_of(obj): obj for obj in (decode(cls, orjson.dumps(each)) for each in kind.objects.values())}

    def _place(self, cls: type[Object], name: str, namespace: str) -> tuple[Kind, Key]:
        info = info_of(cls)
        return self._kinds[_base_path(cls)], Key(namespace if info.namespaced else "", name)

    def _done(self, cls: type[T], obj: Json) -> T:
        self._wake()
        return decode(cls, orjson.dumps(obj))

    # Transport

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        asked = _asked(method, target, headers, body)
        try:
            async with asyncio.timeout(timeout_seconds or 30.0):
                fault = await self._begin(asked)
                response = (fault and fault.refusal()) or self._respond(asked)
                await asyncio.sleep(self._random.random() * self.latency_seconds)
        except TimeoutError:
            raise RequestTimeout("fake.example", "response", "no answer in time") from None
        if fault and fault.lost == "answer":
            raise ConnectionLost("fake.example", "response", "reset")
        return response

    async def stream(
        self,
        method: str,
        target: str,
        *,
        on_line: Callable[[bytes], None],
        on_response: Callable[[Response], None] | None = None,
        headers: Headers = (),
        body: bytes | None = None,
        idle_seconds: float | None = None,
    ) -> Response:
        asked = _asked(method, target, headers, body)
        fault = await self._begin(asked)
        kind, namespace, _, _ = self._find(asked.path)
        refusal = (fault and fault.refusal()) or (_PAGE_NOT_FOUND if kind is None else None)
        if refusal is not None or kind is None:
            return refusal or _PAGE_NOT_FOUND
        opened = Response(200, _JSON, b"")
        if on_response is not None:
            on_response(opened)
        watch = _Watch(asyncio.Event())
        self._watches.add(watch)
        try:
            await self._show(watch, kind, namespace, asked.query, on_line)
        finally:
            self._watches.discard(watch)
        return opened

    async def close(self) -> None:
        self.cut()

    async def _begin(self, asked: Asked) -> Fault | None:
        self.requests.append(asked)
        hit = [fault for fault in self.faults if fault.hits(asked)]
        fault = hit[0] if hit else None
        delay_seconds = fault.delay_seconds if fault else 0.0
        await asyncio.sleep(delay_seconds + self._random.random() * self.latency_seconds)
        if fault and fault.then:
            fault.then()
        if fault and fault.lost == "request":
            raise ConnectionLost("fake.example", "response", "reset")
        return fault

    def _find(self, path: str) -> tuple[Kind | None, str | None, str, str]:
        match = _PATH.fullmatch(path)
        if match is None:
            return None, None, "", ""
        return self._kinds.get(f"{match[1]}/{match[3]}"), match[2], match[4] or "", match[5] or ""

    def _respond(self, asked: Asked) -> Response:
        kind, namespace, name, at = self._find(asked.path)
        if kind is None and asked.path in ("/api", "/apis"):
            served = aggregated(asked.path, (each.info for each in self._kinds.values()))
            return Response(200, _JSON, orjson.dumps(served))
        if kind is None:
            return Response(200, _JSON, b"{}") if asked.path == "/version" else _PAGE_NOT_FOUND
        try:
            answer = self._carry_out(asked, kind, namespace, Key(namespace or "", name), at)
        except Refused as refused:
            return refused.response
        self._wake()
        return Response(201 if asked.verb == "create" else 200, _JSON, orjson.dumps(answer))

    def _carry_out(self, asked: Asked, kind: Kind, namespace: str | None, key: Key, at: str) -> Json:
        objects, body, query = self.objects, asked.body, asked.query
        if asked.verb == "list":
            return objects.list(kind, namespace, query, self._loop.time() - self._lag_seconds)
        if asked.verb == "get":
            return objects.live(kind, key)
        if asked.verb == "create":
            return objects.create(kind, key._replace(name=body["metadata"].get("name", "")), body)
        if asked.verb == "update":
            return objects.replace(kind, key, body, at)
        if asked.verb == "apply":
            return objects.apply(kind, key, body, query["fieldManager"], query.get("force") == "true")
        if asked.verb == "delete":
            return objects.delete(kind, key, body)
        return objects.patch(kind, key, body, at)

    # Watches

    def _wake(self) -> None:
        for watch in self._watches:
            watch.changed.set()

    async def _show(
        self,
        watch: _Watch,
        kind: Kind,
        namespace: str | None,
        query: Mapping[str, str],
        on_line: Callable[[bytes], None],
    ) -> None:
        time, history = self._loop.time, self.objects.history
        shown = int(query["resourceVersion"])
        ends_at = time() + int(query["timeoutSeconds"])
        bookmark_at = time() + self.bookmark_seconds
        if shown < self.objects.oldest:
            watch.cut = "gone"
        while True:
            watch.changed.clear()
            if watch.cut == "reset":
                raise ConnectionLost("fake.example", "stream", "reset")
            if watch.cut == "gone":
                on_line(_event("ERROR", Refused(410, "Expired", f"too old resource version: {shown}").status))
            now = time()
            if watch.cut or now >= ends_at:
                return
            due = self.objects.due(now - self._lag_seconds)
            for change in history[bisect.bisect_right(history, shown, key=lambda change: change.version) : due]:
                if change.kind is kind and namespace in (None, change.key.namespace):
                    shown_type = shown_as(query, change.type, change.new, change.old)
                    if shown_type is not None:
                        on_line(_event(shown_type, change.new))
            shown = max(shown, self.objects.version_at(now - self._lag_seconds))
            if now >= bookmark_at:
                bookmark_at = now + self.bookmark_seconds
                on_line(_event("BOOKMARK", {"kind": kind.info.kind, "metadata": {"resourceVersion": str(shown)}}))
            next_at = history[due].at + self._lag_seconds if due < len(history) else ends_at
            try:
                async with asyncio.timeout_at(min(ends_at, bookmark_at, next_at)):
                    await watch.changed.wait()
            except TimeoutError:
                pass


def _base_path(cls: type[Object]) -> str:
    info = info_of(cls)
    return f"{info.gvr.base_path}/{info.plural}"


def _asked(method: str, target: str, headers: Headers, body: bytes | None) -> Asked:
    url = urlsplit(target)
    query = dict(parse_qsl(url.query, keep_blank_values=True))
    match = _PATH.fullmatch(url.path)
    verb = {"POST": "create", "PUT": "update", "DELETE": "delete", "PATCH": "patch"}.get(method, "get")
    if method == "PATCH" and any("apply-patch" in value for _, value in headers):
        verb = "apply"
    if method == "GET" and match is not None and not match[4]:
        verb = "watch" if "watch" in query else "list"
    return Asked(verb, url.path, query, None if body is None else orjson.loads(body))


def _event(kind: str, obj: Json) -> bytes:
    return b'{"type":"%b","object":%b}' % (kind.encode(), orjson.dumps(obj))
