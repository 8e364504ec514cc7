"""The server: a request in, a response or a stream out. No sockets, no threads.

`ApiServer.handle` finds the resource type of a path, the representation of the Accept header and the verb, and leaves
the rest to the registry. What is no resource path (discovery, OpenAPI, health) is asked of `documents`, in order. Hooks
around a request (authorization, faults, audit) are `filters`: each may answer, refuse, or pass it on.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Final, Protocol
from weakref import WeakSet

import orjson
from msgspec.structs import replace

from .catalog import Catalog, ResourceType, Subresource
from .errors import (
    StatusError,
    bad_request,
    internal,
    method_not_allowed,
    method_not_supported,
    not_found,
    path_not_found,
    too_many_requests,
)
from .negotiation import Transform, negotiate
from .options import wants_watch
from .registry.backend import Admission, Backend, FieldManager
from .registry.call import Call, warning_header
from .registry.create import create
from .registry.delete import delete, delete_collection
from .registry.get import get
from .registry.lists import list_collection
from .registry.parts import call_action, connect, create_action, get_view, patch_view, update_view
from .registry.patch import patch
from .registry.update import update
from .registry.watches import Watching, watch
from .representation import AS_IS
from .request import JSON, Request, Response, Stream
from .routes import Route, route
from .store import Store
from .watch import Hub

__all__ = ["Answer", "ApiServer", "Document", "Filter", "Next", "Part"]

_log = logging.getLogger("kubewright.apiserver")

Answer = Response | Stream
Document = Callable[["ApiServer", Request], "Answer | None"]
"""Answers what is no resource path; None leaves it to the next."""

Next = Callable[[Request], Awaitable[Answer]]
Filter = Callable[["ApiServer", Request, Next], Awaitable[Answer]]
"""Sees each request before the server does: may answer itself, raise StatusError, or `await` the next."""

Verb = Callable[[Call], Awaitable[Response]]

_VERBS: Final[Mapping[str, Verb]] = {
    "get": get,
    "list": list_collection,
    "create": create,
    "update": update,
    "patch": patch,
    "delete": delete,
    "deletecollection": delete_collection,
}
_SAME: Final[Mapping[str, Verb]] = {"get": get, "update": update, "patch": patch}
_VIEW: Final[Mapping[str, Verb]] = {"get": get_view, "update": update_view, "patch": patch_view}
_TO_COLLECTIONS: Final = frozenset({"list", "watch", "create", "deletecollection"})
_TO_OBJECTS: Final = frozenset({"get", "update", "patch", "delete"})
_ACROSS_NAMESPACES: Final = frozenset({"list", "watch"})
_GROUP_STEPS: Final = 3
_NO_SUCH_PAGE: Final = b"404 page not found\n"


class Part(Protocol):
    """Something that lives beside a server and follows its store: a controller."""

    def fork(self, backend: Backend) -> Part:
        """The same part for a fork of its server."""

    async def settle(self) -> None:
        """Until nothing is due that the part does by itself, at once."""

    def close(self) -> None:
        """Let go of everything that waits."""


class ApiServer:
    """One server, with its own store.

    Expected flow: make it with a catalog; `handle` from tasks of one event loop; `close` at the end.

    Guarantees:
    G1 every request gets an answer: what is raised inside becomes a Status, never an exception of `handle`.
    G2 a write that was answered with success is seen by every read and watch that starts later.
    G3 requests are applied one after another; a write is never seen in part.
    G4 after `close` every stream has ended or is about to.

    Cancellation: a cancelled `handle` has written all or nothing.
    Caveats: not thread-safe; one event loop.

    Args:
        catalog: what is served.
        store: what is in it; a new one.
        now: the clock.
        seed: makes uids and generated names the same in every run.
        admission, field_manager: see `registry.backend`.
        documents, filters: see there.
        transforms: representations by kind, for `Accept: ...;as=KIND`.
    """

    def __init__(
        self,
        catalog: Catalog | None = None,
        *,
        store: Store | None = None,
        now: Callable[[], datetime] | None = None,
        seed: int | None = None,
        admission: Admission | None = None,
        field_manager: FieldManager | None = None,
        documents: tuple[Document, ...] = (),
        filters: tuple[Filter, ...] = (),
        transforms: Mapping[str, Transform] | None = None,
        backend: Backend | None = None,
    ) -> None:
        if backend is None:
            backend = Backend(store=store if store is not None else Store(), seed=seed)
            backend.catalog = catalog or Catalog()
            backend.admission, backend.field_manager = admission, field_manager
            if now is not None:
                backend.now = now
        self.backend = backend
        self.hub = Hub(backend.store)
        backend.catalog_listeners.append(self._retire)
        self.documents, self.filters = documents, filters
        self.transforms: Mapping[str, Transform] = transforms or {}
        self._streams: WeakSet[Watching] = WeakSet()
        self._parts: list[Part] = []
        self._chain = self._chained()

    @property
    def store(self) -> Store:
        return self.backend.store

    @property
    def catalog(self) -> Catalog:
        """What is served now. Set another one to serve other things from the next request on."""
        return self.backend.catalog

    @catalog.setter
    def catalog(self, catalog: Catalog) -> None:
        self.backend.serve(catalog)

    def add(self, part: Part) -> None:
        """Let a part live and end with the server."""
        self._parts.append(part)

    def use(self, *filters: Filter, first: bool = False) -> None:
        """Let every request pass these filters too. Forks have them as well.

        Args:
            first: before those that there are, so that they see what those refuse; else inside of them.
        """
        self.filters = (*filters, *self.filters) if first else (*self.filters, *filters)
        self._chain = self._chained()

    async def handle(self, request: Request) -> Answer:
        """Answer a request."""
        try:
            return await self._chain(request)
        except StatusError as error:
            answer = error_response(error)
        except Exception:
            _log.exception("%s %s failed", request.method, request.path)
            answer = error_response(internal("an error that nobody expected; it is in the log of the server"))
        if request.method == "HEAD":
            answer.body = b""
        return answer

    def fork(self) -> ApiServer:
        """A server that goes on from here by itself: neither sees what is written to the other. Streams stay."""
        made = ApiServer(backend=self.backend.fork(), documents=self.documents, filters=self.filters)
        made.transforms = self.transforms
        for part in self._parts:
            made.add(part.fork(made.backend))
        return made

    async def settle(self) -> None:
        """Wait until what follows from the writes so far has happened: garbage is gone, namespaces are empty.

        Without parts that do such things it is at once.
        """
        for part in self._parts:
            await part.settle()

    def close(self) -> None:
        """End all streams. May be called again."""
        for part in self._parts:
            part.close()
        for stream in list(self._streams):
            stream.close()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _retire(self, old: Catalog, new: Catalog) -> None:
        """Watches of what is served no more, or otherwise, end: clients come back and see what there is now."""
        left = {id(each) for each in new.types}
        gone = {id(each) for each in old.types if id(each) not in left}
        if gone:
            for stream in list(self._streams):
                if id(stream.kind) in gone:
                    stream.end()

    def _chained(self) -> Next:
        handler: Next = self._dispatch
        for each in reversed(self.filters):
            handler = self._wrapped(each, handler)
        return handler

    def _wrapped(self, outer: Filter, inner: Next) -> Next:
        async def handle(request: Request) -> Answer:
            return await outer(self, request, inner)

        return handle

    async def _dispatch(self, request: Request) -> Answer:
        where = route(request.path)
        if where is None:
            return self._document(request)
        kind = self.backend.catalog.find(where.group, where.version, where.plural)
        if kind is None:
            return self._document(request)
        verb = where.verb(request.method, watch=wants_watch(request.query))
        if kind.namespaced is not bool(where.namespace):
            where = self._scoped(kind, where, verb)
        part = self._part(kind, where, verb)
        call = Call(self.backend, request, kind, where, verb, AS_IS, part)
        if kind.warning:
            call.warn(kind.warning)
        call.representation = self._representation(call)
        if kind.unready and verb in _ACROSS_NAMESPACES:
            raise too_many_requests(kind.unready)
        if verb == "watch" and part is None:
            stream = watch(call, self.hub)
            assert isinstance(stream.chunks, Watching)
            self._streams.add(stream.chunks)
            return stream
        try:
            return await self._verb(call)(call)
        except StatusError as error:
            # What was warned of before the refusal is said all the same.
            error.headers += tuple(("warning", warning_header(each)) for each in call.warnings)
            raise

    def _scoped(self, kind: ResourceType, where: Route, verb: str) -> Route:
        """The route, if the scope of the resource allows it. Raises StatusError."""
        if kind.namespaced:
            if where.name or verb not in _ACROSS_NAMESPACES:
                if verb == "create" and not where.name and not kind.is_custom:
                    raise method_not_allowed()
                raise self._no_route(kind)
            return where
        if kind.plural == "namespaces" and where.name == where.namespace:
            return where._replace(namespace="")
        raise self._no_route(kind)

    def _no_route(self, kind: ResourceType) -> StatusError:
        return _PageNotFound() if kind.is_custom else path_not_found()

    def _part(self, kind: ResourceType, where: Route, verb: str) -> Subresource | None:
        if not where.subresource:
            return None
        part = kind.subresources.get(where.subresource)
        if part is None or (where.rest and part.name != "proxy"):
            raise not_found(kind, where.name) if kind.is_custom else path_not_found()
        return part

    def _verb(self, call: Call) -> Verb:
        """What answers the call. Raises StatusError: nothing does."""
        kind, part, verb = call.kind, call.subresource, call.verb
        found: Verb | None
        if part is not None:
            if verb not in part.verbs:
                found = None
            elif part.action is not None and verb == "create":
                found = call_action
            elif part.view is None and part.strategy is None:
                found = connect
            else:
                found = (_VIEW if part.view is not None else _SAME).get(verb)
        elif call.route.name and not kind.is_custom and _TO_OBJECTS.isdisjoint(kind.verbs):
            raise path_not_found()
        elif verb not in kind.verbs or (call.request.method == "HEAD" and not kind.is_custom):
            found = None
        elif (verb in _TO_COLLECTIONS) is bool(call.route.name):
            if kind.is_custom and verb in ("update", "patch"):
                raise bad_request("name must be provided")
            # Custom resources have one handler for all paths: a POST to an object creates what its body says.
            found = create if kind.is_custom and verb == "create" else None
        elif kind.action is not None and verb == "create":
            found = create_action
        else:
            found = _VERBS.get(verb)
        if found is None:
            raise method_not_supported(kind, verb) if kind.is_custom else method_not_allowed()
        return found

    def _representation(self, call: Call) -> Any:
        accept = call.request.headers.get("accept", "")
        if not accept or accept == JSON or accept == "*/*":
            return AS_IS
        return negotiate(
            accept,
            is_custom=call.kind.is_custom,
            transforms=self.transforms,
            query=dict(call.request.query),
        )

    def _document(self, request: Request) -> Answer:
        """What is no resource. Below the paths of the API itself, also errors are Statuses."""
        is_api = self._is_api(request.path)
        if is_api and request.method not in ("GET", "HEAD"):
            known = self._told(replace(request, method="GET"))
            raise path_not_found() if known is None else method_not_allowed()
        answer = self._told(request)
        if answer is None and is_api:
            raise path_not_found()
        return page_not_found() if answer is None else answer

    def _told(self, request: Request) -> Answer | None:
        for each in self.documents:
            answer = each(self, request)
            if answer is not None:
                return answer
        return None

    def _is_api(self, path: str) -> bool:
        """Whether a path is below one of those that built-in kinds and the version are at."""
        steps = path.rstrip("/").split("/")
        if len(steps) < _GROUP_STEPS or steps[1] != "apis":
            return steps[1:2] in (["api"], ["apis"], ["version"])
        return any(each.group == steps[2] and not each.is_custom for each in self.backend.catalog.types)


class _PageNotFound(StatusError):
    """A path that nobody has a handler for, where the real server answers without a Status."""

    def __init__(self) -> None:
        super().__init__(404, "", "404 page not found")


def page_not_found() -> Response:
    """What a mux says of a path that it does not know."""
    headers = [("content-type", "text/plain; charset=utf-8"), ("x-content-type-options", "nosniff")]
    return Response(404, _NO_SUCH_PAGE, headers)


def error_response(error: StatusError) -> Response:
    """The Status of an error as an answer."""
    if isinstance(error, _PageNotFound):
        return page_not_found()
    headers = [("content-type", JSON), *error.headers]
    if error.retry_after_seconds:
        headers.append(("retry-after", str(error.retry_after_seconds)))
    return Response(error.code, orjson.dumps(error.status) + b"\n", headers)
