"""What the server's last word on a watch means to a watcher: an ERROR event's Status as one of the failures.

A 410 has three ways to come: as the answer to a list or a watch, which is the `ListWatch`'s to tell, and as an event in
a watch that was accepted, which is told here. All three are `Expired`.
"""

from __future__ import annotations

from .frame import TOO_LARGE, ErrorStatus
from .listwatch import Denied, Expired, ListWatchError, NotInstalled, Rejected, Throttled, Unavailable

__all__ = ["failure_of"]


def failure_of(status: ErrorStatus) -> ListWatchError:
    """The failure that ends the watch."""
    message = status.message or status.reason or "the server ended the watch with an error"
    if status.code == 410 or status.reason in ("Expired", "Gone", TOO_LARGE):
        return Expired(message)
    if status.code == 429:
        return Throttled(message, status.after_seconds)
    if status.code in (401, 403):
        return Denied(message)
    if status.code == 404:
        return NotInstalled(message)
    if 400 <= status.code < 500:
        return Rejected(message)
    return Unavailable(message, status.after_seconds)
