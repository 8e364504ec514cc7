"""What a reconcile says at its end.

| it says | the queue does | it is counted as |
|---|---|---|
| returns None, or `done` | forgets the key's failures | `success` |
| returns `after(seconds)` | forgets, then adds the key once more after that time | `requeue_after` |
| raises `Retry(...)` | adds the key with back-off; logged without a traceback | `requeue` |
| raises `Retry(..., after_seconds=)` | forgets, then adds the key once more after that time | `requeue_after` |
| raises `Terminal(...)` | nothing, until the object changes | `error`, and as a terminal one |
| returns anything else | as `Terminal`, with the place of the function | `error`, a terminal one and a panic |
| raises anything else | adds the key with back-off; logged with its traceback | `error` |

Beside `error` the deadline of the controller is counted as a timeout, and what Python itself raises where Go would
panic (TypeError, AttributeError, KeyError, AssertionError, ...) as a panic. The table is controller-runtime's
(`pkg/internal/controller`, `reconcileHandler`), with exceptions in the place of its error values. Outcomes are values
with one constructor each, so that no two of them can be given at once.
"""

from __future__ import annotations

import math
from typing import Final

import msgspec

__all__ = ["Result", "Retry", "Terminal", "after", "done"]


class Result(msgspec.Struct, frozen=True):
    """A reconcile that ended well. Made by `done` and `after`."""

    requeue_after_seconds: float | None = None
    priority: int | None = None


done: Final = Result()


def after(seconds: float, *, priority: int | None = None) -> Result:
    """Reconcile this object again in `seconds`, even if nothing changes.

    Args:
        priority: of that reconcile, against others that are ready then: 0 is that of changes, -100 that of what was
            there at the start. That of the present one unless given.

    Raises:
        ValueError: `seconds` is not a positive, finite number.
    """
    if not (seconds > 0 and math.isfinite(seconds)):
        raise ValueError(f"after(seconds={seconds!r}): must be positive and finite; return None to be done")
    return Result(requeue_after_seconds=seconds, priority=priority)


class Retry(Exception):
    """Not yet: try again. An expected state (a dependency is not there yet), so no traceback is logged.

    Attributes: `after_seconds`, None for the key's exponential back-off; `priority`, as of `after`.
    """

    def __init__(self, message: str, *, after_seconds: float | None = None, priority: int | None = None) -> None:
        super().__init__(message)
        if after_seconds is not None and not (after_seconds > 0 and math.isfinite(after_seconds)):
            raise ValueError(f"Retry(after_seconds={after_seconds!r}): must be positive and finite")
        self.after_seconds = after_seconds
        self.priority = priority


class Terminal(Exception):
    """Trying again is of no use until somebody changes the object: a spec that cannot be satisfied."""
