"""Lists: their form, their pages, and what to do when a page has expired.

Owns the decoding of a `...List` and the walk over its pages
(https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks). It is handed a
function that fetches one page and knows no path, no connection and no retry.

The pages of a list are one snapshot, which the server forgets after some minutes: a later page is then a 410.

| walk           | a 410 on a later page                                                                              |
|----------------|----------------------------------------------------------------------------------------------------|
| `list_whole`   | starts anew, and asks for all in one answer, which cannot expire: the result is one snapshot       |
| `iterate`      | goes on from the next name in the current state, with the token that came with the 410: no object  |
|                | is handed out twice, and one that was there all the time is not left out                           |

Each item keeps its own copy of its bytes (`origin_of`), so that one item that is kept does not keep the whole list.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Generic, TypeAlias, overload

import msgspec
from typing_extensions import TypeVar

from ..model import DecodeError, ListMeta, Object, decode
from .errors import Gone
from .options import ListQuery

__all__ = ["PAGE_SIZE", "FetchPage", "ObjectList", "decode_list", "iterate", "list_page", "list_whole"]

T = TypeVar("T", bound=Object)

PAGE_SIZE = 500
"""Objects per page where the caller does not say: that of client-go's pager."""

# Decoding goes on for this many objects before other tasks have their turn (about 5 ms of a 3 KB object).
_TURN = 500

FetchPage: TypeAlias = Callable[[str], Awaitable[bytes]]
"""Gets one page: from a query (with its `?`, or empty) to the bytes of the list."""


class ObjectList(Sequence[T], Generic[T]):
    """Objects of one kind as of one version. A sequence; `metadata` is what the server said of the list."""

    __slots__ = ("items", "metadata")

    def __init__(self, items: list[T], metadata: ListMeta) -> None:
        self.items = items
        self.metadata = metadata

    @property
    def resource_version(self) -> str:
        """The version of the collection: where a watch goes on from."""
        return self.metadata.resource_version

    @property
    def continue_(self) -> str:
        """The token of the next page; empty on the last one, and on a list that was read whole."""
        return self.metadata.continue_

    @property
    def remaining_item_count(self) -> int | None:
        """How many objects follow this page, where the server says so (never with a selector)."""
        return self.metadata.remaining_item_count

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        return self.items[index]

    def __repr__(self) -> str:
        return f"ObjectList({len(self.items)} items, resource_version={self.resource_version!r})"


class _RawList(msgspec.Struct):
    metadata: ListMeta | None = None
    items: list[msgspec.Raw] | None = None


_DECODER = msgspec.json.Decoder(_RawList)


def _split(cls: type[T], data: bytes) -> tuple[list[msgspec.Raw], ListMeta]:
    try:
        raw = _DECODER.decode(data)
    except msgspec.DecodeError as error:
        raise DecodeError(f"list of {cls.__name__}", "", str(error)) from None
    # Go writes null for a list of none.
    return raw.items or [], raw.metadata or ListMeta()


def decode_list(cls: type[T], data: bytes) -> ObjectList[T]:
    """One page from its bytes. Raises DecodeError."""
    items, metadata = _split(cls, data)
    return ObjectList([decode(cls, bytes(item)) for item in items], metadata)


async def list_page(
    fetch: FetchPage, cls: type[T], query: ListQuery, limit: int | None, continue_: str
) -> ObjectList[T]:
    """One page, and no other. Raises ApiError, DecodeError."""
    items, metadata = _split(cls, await fetch(query.page(limit, continue_)))
    decoded: list[T] = []
    for start in range(0, len(items), _TURN):
        if start:
            await asyncio.sleep(0)
        decoded += [decode(cls, bytes(item)) for item in items[start : start + _TURN]]
    return ObjectList(decoded, metadata)


async def list_whole(
    fetch: FetchPage, cls: type[T], query: ListQuery, continue_: str = "", page_size: int = PAGE_SIZE
) -> ObjectList[T]:
    """All pages as one list, of one version. Raises ApiError, DecodeError."""
    page = await list_page(fetch, cls, query, page_size, continue_)
    first = page.metadata
    items = page.items
    while page.continue_:
        try:
            page = await list_page(fetch, cls, query, page_size, page.continue_)
        except Gone:
            return await list_page(fetch, cls, query, None, "")
        items += page.items
    version = first.resource_version or page.resource_version
    return ObjectList(items, ListMeta(resource_version=version, self_link=first.self_link))


async def iterate(fetch: FetchPage, cls: type[T], query: ListQuery, page_size: int = PAGE_SIZE) -> AsyncIterator[T]:
    """Object after object, one page in memory at a time. Raises ApiError, DecodeError."""
    token = ""
    while True:
        try:
            page = await list_page(fetch, cls, query, page_size, token)
        except Gone as error:
            if not token or not error.continue_ or error.continue_ == token:
                raise
            token = error.continue_
            continue
        for item in page.items:
            yield item
        token = page.continue_
        if not token:
            return
