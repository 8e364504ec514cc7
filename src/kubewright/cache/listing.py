"""Collect the whole state of a collection: from the pages of a list, or from the initial events of a watch.

Owns what has come so far and when it is complete. Refuses to know retries and time. Until it is complete nothing is
shown: half a list says nothing about what is missing from it.

A page is taken apart in slices (`digest`), because a server that answers from its cache ignores the page size: 100,000
objects in one body are over a second of work, and the event loop must breathe in between.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw, Struct

from kubewright.model import Key

from .entry import Entry
from .frame import Removed, Unreadable, Upserted, read_items, read_page
from .intake import Intake, take_in
from .listwatch import ListPage

__all__ = ["InitialEvents", "Listing", "Replaced"]


class Replaced(Struct, frozen=True):
    """The whole state as of `resource_version`. Objects that are in none of the two lists do not exist any more."""

    entries: list[Entry]
    unreadable: list[Unreadable]
    resource_version: str


class Listing:
    """One list, page after page. All pages are of one state, that of the first one's resource version."""

    def __init__(self, resource_version: str, limit: int | None, intake: Intake | None = None) -> None:
        self.request = ListPage(resource_version, limit)
        """The page to ask for next."""
        self.pages = 0
        """How many pages have come."""
        self._intake = intake
        self._first = self.request
        self._version = ""
        self._token = ""
        self._items: Iterator[Raw] = iter(())
        self._entries: list[Entry] = []
        self._unreadable: list[Unreadable] = []

    def add_page(self, body: bytes) -> None:
        """Take the page that `request` asked for. Raises Garbled if it is no list."""
        page = read_page(body)
        self._version = self._version or page.resource_version
        self._token = page.continue_token
        self._items = iter(page.items)
        self.pages += 1

    def digest(self, limit: int) -> bool:
        """Decode up to `limit` objects of the page; False when there are no more."""
        items = read_items(self._items, limit)
        for each in items:
            item = each if self._intake is None or isinstance(each, Unreadable) else take_in(each, self._intake)
            if isinstance(item, Unreadable):
                self._unreadable.append(item)
            else:
                self._entries.append(item)
        return len(items) == limit

    def turn_page(self) -> Replaced | None:
        """After a page: the state if it was the last one, else None, and `request` is for the next one."""
        if not self._token:
            return Replaced(self._entries, self._unreadable, self._version)
        self.request = ListPage(self._first.resource_version, self._first.limit, self._token)
        return None


class InitialEvents:
    """The state that a watch with sendInitialEvents begins with; complete at the bookmark that says so.

    The events come in no order of versions, so none of them may move the version that a watch resumes from.
    """

    def __init__(self) -> None:
        self._found: dict[Key, Entry] = {}
        self._unreadable: list[Unreadable] = []

    def add(self, event: Upserted | Removed | Unreadable) -> None:
        """Take one event before that bookmark."""
        if isinstance(event, Unreadable):
            self._unreadable.append(event)
            if event.removed and event.key:
                self._found.pop(event.key, None)
        elif isinstance(event, Removed):
            self._found.pop(event.entry.key, None)
        else:
            self._found[event.entry.key] = event.entry

    def complete(self, resource_version: str) -> Replaced:
        """The state as of the bookmark's `resource_version`."""
        return Replaced(list(self._found.values()), self._unreadable, resource_version)
