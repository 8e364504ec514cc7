"""How much there is to walk through: no operation takes longer than a few seconds, nor do all of one evaluation.

A small expression can build a value that is huge to walk and tiny in memory (`[v, v]` of `[v, v]` of ...). Costs do not
tell: the server charges one for comparing two such values, nothing for joining lists, and one for each call that fails,
however long its text is. So what walks through a value counts, and stops: for itself, and for its evaluation, which
has one measure for this and for patterns (`re2.limited`, entered by programs that have calls of `costs.WALKS`).
"""

from __future__ import annotations

from typing import Any, Final

from .. import re2
from .errors import CostLimitExceeded

__all__ = ["MAX_EFFORT", "Effort", "check_effort", "spend_long", "spend_work"]

#: Entries of lists and maps that one operation looks at; a request of 3 MiB has fewer.
MAX_EFFORT: Final = 1_600_000
#: What is shorter counts only by its costs.
LONG: Final = 500


def spend_work(work: int) -> None:
    """Count against what an evaluation may do, in about microseconds.

    Raises:
        CostLimitExceeded: it is used up.
    """
    try:
        re2.spend(work)
    except re2.TooLong:
        raise CostLimitExceeded from None


def spend_long(size: int) -> None:
    """Count one pass through a long text or list, which costs nothing where the call fails."""
    if size > LONG:
        spend_work(size // 50)


class Effort:
    """What one operation may still look at.

    Args:
        left: entries.
        each: how many entries take about a microsecond.

    Raises:
        CostLimitExceeded: by `spend`, when it is too much.
    """

    __slots__ = ("each", "left")

    def __init__(self, left: int = MAX_EFFORT, each: int = 2) -> None:
        self.left = left
        self.each = each

    def spend(self, entries: int) -> None:
        self.left -= entries
        if self.left < 0:
            raise CostLimitExceeded
        spend_work((entries + self.each - 1) // self.each)


def check_effort(value: Any) -> None:
    """Raises CostLimitExceeded where a value has too many entries to be walked through and written."""
    if not isinstance(value, list | dict):
        return
    effort = Effort(each=1)
    todo: list[Any] = [value]
    while todo:
        each = todo.pop()
        effort.spend(len(each))
        inner = each.values() if isinstance(each, dict) else each
        for item in inner:
            if isinstance(item, list | dict):
                todo.append(item)
            elif isinstance(item, str):
                # Texts of 64 MiB together are too long, too; what has to be escaped takes longer.
                effort.spend(len(item) // (40 if item.isprintable() else 8))
            elif isinstance(item, bytes):
                effort.spend(len(item) // 8)
