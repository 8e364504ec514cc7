"""A `ListWatch` over the HTTP client: one collection of one API server.

Owns the path, the selectors and the translation of the client's errors into what a watcher does about them. When a
watch has been silent for too long is the watcher's to say, not the transport's.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from kubewright.client.errors import ApiError, Forbidden, Gone, NotFound, TooManyRequests, Unauthorized
from kubewright.client.http import HttpClient
from kubewright.client.transport import TransportError

from .listwatch import (
    Denied,
    Expired,
    ListPage,
    ListWatchError,
    NotInstalled,
    Rejected,
    Throttled,
    Unavailable,
    Watch,
)

__all__ = ["Collection"]

_ACCEPT = (("accept", "application/json"),)
_LIST_SECONDS = 60.0
_TOO_LARGE = "ResourceVersionTooLarge"


class Collection:
    """The objects below one path: `Collection(http, "/apis/apps/v1/deployments")`.

    Args:
        path: of the collection, with the namespace where it is one namespace's.
        labels, fields: selectors in the server's syntax; only what they match is seen.
    """

    def __init__(self, http: HttpClient, path: str, *, labels: str = "", fields: str = "") -> None:
        self._http = http
        self._path = path
        self._selectors = {
            name: value for name, value in (("labelSelector", labels), ("fieldSelector", fields)) if value
        }

    def __repr__(self) -> str:
        return f"Collection({self._path!r})"

    async def list_page(self, request: ListPage) -> bytes:
        try:
            answer = await self._http.request(
                "GET", self._target(request.params()), headers=_ACCEPT, timeout_seconds=_LIST_SECONDS
            )
        except (ApiError, TransportError) as error:
            raise _failure(error) from error
        return answer.body

    async def watch(self, request: Watch, on_line: Callable[[bytes], None], on_open: Callable[[], None]) -> None:
        try:
            await self._http.stream(
                "GET",
                self._target(request.params()),
                headers=_ACCEPT,
                on_line=on_line,
                on_response=lambda _: on_open(),
            )
        except (ApiError, TransportError) as error:
            raise _failure(error) from error

    def _target(self, params: dict[str, str]) -> str:
        params.update(self._selectors)
        return f"{self._path}?{urlencode(params)}" if params else self._path


def _failure(error: ApiError | TransportError) -> ListWatchError:
    message = str(error)
    if isinstance(error, TransportError):
        return Unavailable(message)
    wait = error.retry_after_seconds
    if isinstance(error, Gone) or error.has_cause(_TOO_LARGE):
        return Expired(message, wait)
    if isinstance(error, TooManyRequests):
        return Throttled(message, wait)
    if isinstance(error, Forbidden | Unauthorized):
        return Denied(message, wait)
    if isinstance(error, NotFound):
        return NotInstalled(message, wait)
    return Unavailable(message, wait) if error.code >= 500 else Rejected(message, wait)
