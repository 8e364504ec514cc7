"""What a watcher asks of the API server, and what it can be answered.

Owns the requests with their query parameters, the failures by what a watcher does about them, and the `ListWatch`
protocol between an informer and whatever speaks HTTP. Refuses to know HTTP, URLs, selectors and kinds: one ListWatch
stands for one collection (a kind, perhaps in one namespace, perhaps with selectors), and adds those itself.

    failure        the server said                                the watcher then
    Expired        410 Gone or Expired, ResourceVersionTooLarge   lists again
    Throttled      429                                            waits at least Retry-After, resumes
    Unavailable    5xx, refused, reset, timed out                 waits, resumes
    Denied         401, 403                                       waits, resumes; shown as `forbidden`
    NotInstalled   404 of the collection                          waits, lists again; shown as `not_installed`
    Rejected       any other 4xx, or no list or watch at all      waits, lists again

Failures are sorted by what to do, not by status code, so that the table above is the whole of the contract between the
two rooms and the machine never sees HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

__all__ = [
    "Denied",
    "Expired",
    "ListPage",
    "ListWatch",
    "ListWatchError",
    "NotInstalled",
    "Rejected",
    "Throttled",
    "Unavailable",
    "Watch",
]


class ListWatchError(Exception):
    """A list or a watch failed. Raised by a ListWatch; kept by the watcher as `problem`.

    Attributes: `message` one line for a user, with the cure where there is one; `after_seconds` what the server asks to
    wait at least (Retry-After), or None.
    """

    def __init__(self, message: str, after_seconds: float | None = None) -> None:
        super().__init__(message, after_seconds)
        self.message = message
        self.after_seconds = after_seconds

    def __str__(self) -> str:
        return self.message


class Expired(ListWatchError):
    """The resource version or the continue token is too old, or newer than anything the server knows."""


class Throttled(ListWatchError):
    """The server is asked too much (429)."""


class Unavailable(ListWatchError):
    """No answer, or none of use: 5xx, connection refused or reset, timeout."""


class Denied(ListWatchError):
    """The credentials may not list or watch this collection (401, 403). The message names the missing rule."""


class NotInstalled(ListWatchError):
    """The server does not know the collection (404): its CRD is not installed, or not served in this version."""


class Rejected(ListWatchError):
    """The server refuses the request itself, or answers something that is no list and no watch."""


class ListPage(Struct, frozen=True):
    """Ask for one page of a list.

    `resource_version` as the API defines it: `"0"` any, `""` the newest, else at least that. `limit` is None for no
    limit. With a `continue_token` the version is left out, as the API demands.
    """

    resource_version: str
    limit: int | None
    continue_token: str = ""

    def params(self) -> dict[str, str]:
        """The query parameters of the request, unescaped."""
        params: dict[str, str] = {}
        if self.limit is not None:
            params["limit"] = str(self.limit)
        if self.continue_token:
            params["continue"] = self.continue_token
        elif self.resource_version:
            params["resourceVersion"] = self.resource_version
        return params


class Watch(Struct, frozen=True):
    """Ask for all changes after `resource_version`, for at most `timeout_seconds` of the server's time.

    `initial`: begin with the whole state as ADDED events and a bookmark (`sendInitialEvents`, KEP-3157).
    """

    resource_version: str
    timeout_seconds: int
    initial: bool = False

    def params(self) -> dict[str, str]:
        """The query parameters of the request, unescaped."""
        params = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(self.timeout_seconds)}
        if self.resource_version:
            params["resourceVersion"] = self.resource_version
        if self.initial:
            params["sendInitialEvents"] = "true"
            params["resourceVersionMatch"] = "NotOlderThan"
        return params


class ListWatch(Protocol):
    """One collection of objects that can be listed and watched.

    Cancellation: both calls may be cancelled at any await and must close what they have opened.
    """

    async def list_page(self, request: ListPage) -> bytes:
        """The body of a list page. Raises a ListWatchError for anything but success."""
        ...

    async def watch(self, request: Watch, on_line: Callable[[bytes], None], on_open: Callable[[], None]) -> None:
        """Call `on_open` when the server accepts the watch, `on_line` with each complete line, return at its end.

        Both are plain functions that take microseconds, do not raise, and may be called from a protocol's
        `data_received`. An unfinished last line is dropped. Raises a ListWatchError where the server refuses the
        watch, and for a connection that breaks (`Unavailable`).
        """
        ...
