"""Which event loop the programs run on. A module of its own, because two rooms that may not know each other ask."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable

__all__ = ["loop_factory"]


def loop_factory() -> Callable[[], AbstractEventLoop] | None:
    """uvloop's loop where it is installed (the `speedups` extra), for `asyncio.Runner`."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
