"""When the garbage collector of a process that runs an operator is at work. The library never touches it: whoever
embeds an operator owns the process.

A start makes some hundred thousand objects (modules, classes, functions, what is cached) and no garbage to speak of.
The collector would look through them 80 times, for a tenth of the start, and find nothing. So it rests until the caches
are synced, and does not look at what is there by then ever after: full collections in the months that follow walk over
what came since, and not over all that was imported. A start that waits for its server for hours makes garbage: that is
collected when it is more than a start makes.
"""

from __future__ import annotations

import gc

__all__ = ["begin", "rest"]


_MOST = 400_000  # objects, some 50 MiB
_usual: tuple[int, int, int] | None = None


def rest() -> None:
    """No collections until `begin`, or many objects. By thresholds: `gc.disable()` is left to the operator's program,
    and stays."""
    global _usual
    _usual = gc.get_threshold()
    gc.set_threshold(_MOST, *_usual[1:])


def begin() -> None:
    """Collect from now on, but not what is there. Does nothing if the operator's program has set other thresholds."""
    if _usual is not None and gc.get_threshold()[0] == _MOST:
        gc.freeze()
        gc.set_threshold(*_usual)
