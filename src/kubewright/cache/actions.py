"""What a watcher can want its shell to do, and how well it sees its collection. Values; `watcher` has the transitions.

The two that the server is asked for, `ListPage` and `Watch`, are in `listwatch`: they are part of that protocol.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from .listwatch import ListPage, Watch

__all__ = ["Action", "Condition", "Digest", "Wait"]


class Digest(Struct, frozen=True):
    """A page has come; call `digest` until the action changes, and let others run between the calls."""


class Wait(Struct, frozen=True):
    """Nothing to do before `until` on the watcher's clock."""

    until: float


Action = ListPage | Digest | Watch | Wait


class Condition(StrEnum):
    """How well a watcher sees its collection.

    `LIVE`: the state is there, a watch is asked for, and nothing has gone wrong since the server last answered well.
    `SYNCING`: the state is being listed, for the first time or again after the server forgot our version.
    """

    SYNCING = "syncing"
    LIVE = "live"
    FAILING = "failing"
    FORBIDDEN = "forbidden"
    NOT_INSTALLED = "not_installed"
