"""The collection of a kind that is known by its name only and may not be installed yet.

Where it is in the API the server's discovery says, once it is there. Until then each request is answered as the server
would answer one for a kind that it does not have, so that the watcher's rule for that holds: it looks again, and waits
in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kubewright.cache import ListPage, ListWatchError, NotInstalled, Unavailable, Watch
from kubewright.cache.collection import Collection
from kubewright.client import ApiError, KindNotServed
from kubewright.client.transport import TransportError

__all__ = ["LateCollection"]


class LateCollection:
    """A `ListWatch`.

    Args:
        look_for: finds the collection. Raises KindNotServed while there is none.
    """

    def __init__(self, look_for: Callable[[], Awaitable[Collection]]) -> None:
        self._look_for = look_for
        self._found: Collection | None = None

    async def list_page(self, request: ListPage) -> bytes:
        found = await self._collection()
        try:
            return await found.list_page(request)
        except NotInstalled:
            self._found = None  # it may come back elsewhere, in another version's path
            raise

    async def watch(self, request: Watch, on_line: Callable[[bytes], None], on_open: Callable[[], None]) -> None:
        await (await self._collection()).watch(request, on_line, on_open)

    async def _collection(self) -> Collection:
        if self._found is None:
            try:
                self._found = await self._look_for()
            except KindNotServed as error:
                raise NotInstalled(str(error)) from error
            except (ApiError, TransportError) as error:
                raise _unknown(error) from error
        return self._found


def _unknown(error: Exception) -> ListWatchError:
    return Unavailable(f"the server's discovery failed: {error}")
