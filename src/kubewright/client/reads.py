"""The verbs that read: get, find, list, iterate, watch.

Owns their signatures; paths, pages and resumption are the business of `paths`, `lists` and `watch`. All of them go to
the server: reads from a cache are the cache's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from typing_extensions import TypeVar

from ..model import Key, Object, decode
from .calls import ACCEPT, Calls, Target
from .errors import NotFound
from .lists import PAGE_SIZE, FetchPage, ObjectList, iterate, list_page, list_whole
from .options import Fields, Labels, ListQuery, VersionMatch
from .paths import InvalidRequest
from .watch import WatchEvent, watch

__all__ = ["Reads"]

T = TypeVar("T", bound=Object)


class Reads(Calls):
    """See `Client`."""

    __slots__ = ()

    async def get(
        self,
        kind: type[T],
        name: str | Key,
        *,
        namespace: str | None = None,
        resource_version: str | None = None,
        of: Target | None = None,
        subresource: str | None = None,
    ) -> T:
        """Read one object.

        Args:
            name: its name, or its Key.
            namespace: the client's unless given or in the Key.
            resource_version: at least as new as this version; `"0"`: whatever the server has in its memory.
            subresource: read `.../<name>/<subresource>`.
            of: the kind that the subresource belongs to where it is not `kind`:
                `get(Scale, "web", of=Deployment, subresource="scale")`.

        Raises:
            NotFound: there is no such object.
            KindNotServed: there is no such kind.
            InvalidRequest: the name or the namespace cannot be one.
            ApiError, TransportError: see there.
        """
        cls, path = await self._object(kind, name, namespace, of, subresource)
        if resource_version is not None:
            path += ListQuery(resource_version=resource_version).page(None)
        return decode(kind, await self._send("GET", path, ACCEPT, None, cls))

    async def find(
        self,
        kind: type[T],
        name: str | Key,
        *,
        namespace: str | None = None,
        resource_version: str | None = None,
    ) -> T | None:
        """As `get`, but None for an object that does not exist. A kind that does not exist is still KindNotServed."""
        try:
            return await self.get(kind, name, namespace=namespace, resource_version=resource_version)
        except NotFound:
            return None

    async def list(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        limit: int | None = None,
        continue_: str | None = None,
        resource_version: str | None = None,
        resource_version_match: VersionMatch | None = None,
    ) -> ObjectList[T]:
        """Read the objects of a kind.

        Args:
            namespace: None: all namespaces.
            labels: a selector as text (`"app=web,tier in (a, b)"`), a mapping (all must be equal), a `Selector` or
                a `LabelSelector`.
            fields: a field selector as text (`"status.phase!=Running"`), a mapping, or a `FieldSelector`.
            limit: at most so many objects: one page, whose `continue_` leads to the next. Without it all pages are
                followed, 500 objects each, and the list is one snapshot.
            continue_: the token of a page that was read before, with the same selectors.
            resource_version: at least as new as this version, unless `resource_version_match` says `"Exact"`;
                `"0"`: whatever the server has in its memory. Without it: the newest.

        Raises:
            Gone: the token or the exact version is older than what the server remembers.
            KindNotServed, InvalidRequest, ApiError, TransportError.
        """
        query = ListQuery.of(labels, fields, resource_version, resource_version_match)
        _check_limit("limit", limit)
        fetch = await self._pages(kind, namespace)
        if limit is not None or continue_:
            return await list_page(fetch, kind, query, limit, continue_ or "")
        return await list_whole(fetch, kind, query)

    async def iterate(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        page_size: int = PAGE_SIZE,
        resource_version: str | None = None,
        resource_version_match: VersionMatch | None = None,
    ) -> AsyncIterator[T]:
        """Object after object of a large collection, one page in memory at a time. Arguments as for `list`.

        The objects are one snapshot as long as the server remembers it (some minutes). A slower reader goes on in a
        newer state: no object comes twice, and none that was there all the time is left out.
        """
        query = ListQuery.of(labels, fields, resource_version, resource_version_match)
        _check_limit("page_size", page_size)
        fetch = await self._pages(kind, namespace)
        async for obj in iterate(fetch, kind, query, page_size):
            yield obj

    def watch(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        resource_version: str | None = None,
        send_initial: bool = True,
        timeout_seconds: float | None = None,
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """The changes of a kind, as they happen; for scripts. A controller has informers.

        ```python
        async for event in client.watch(Pod, namespace="a", timeout_seconds=60):
            print(event.type, event.object.metadata.name)
        ```

        Args:
            namespace, labels, fields: as for `list`.
            resource_version: start after this version, such as that of a list.
            send_initial: without a `resource_version`, begin with an ADDED event (`initial` is True) for each object
                that exists; False: begin with the next change.
            timeout_seconds: end after so long; None: never.

        Guarantees: G1 each change after the start comes once and in order, over any number of connections. G2 an object
        that starts or stops to fit the selectors comes as ADDED or DELETED: DELETED does not mean that it is gone.

        Cancellation: leaving the loop, `aclose()` or the end of the task closes the connection.

        Raises:
            Gone: the server no longer remembers the version to go on from; list again.
            KindNotServed, InvalidRequest, other ApiErrors at once; TransportError, 429 and 5xx after ten attempts in
            a row without an event (about three minutes).
        """
        query = ListQuery.of(labels, fields)
        if resource_version in ("", "0"):
            rule = "is not a version that a watch can be resumed from"
            raise InvalidRequest("resource_version", resource_version, rule, "leave it out, or take that of a list")
        return watch(self, kind, namespace, query, resource_version, send_initial, timeout_seconds)

    async def _pages(self, kind: type[T], namespace: str | None) -> FetchPage:
        path = await self._collection(kind, namespace)

        async def fetch(query: str) -> bytes:
            return await self._send("GET", path + query, ACCEPT, None, kind)

        return fetch


def _check_limit(field: str, value: int | None) -> None:
    if value is not None and value < 1:
        raise InvalidRequest(field, value, "is less than 1", "leave it out to read everything")
