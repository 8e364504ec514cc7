"""How much there is to walk through: no comparison, hash or text of a nested value takes longer than a few seconds.

A small expression can build a value that is huge to walk and tiny in memory (`[v, v]` of `[v, v]` of ...). Costs do not
tell: the server charges one for comparing two such values. So what walks through a value counts, and stops.
"""

from __future__ import annotations

from typing import Any, Final

from .errors import CostLimitExceeded

__all__ = ["MAX_EFFORT", "Effort", "check_effort"]

#: Entries of lists and maps that one operation looks at; a request of 3 MiB has fewer.
MAX_EFFORT: Final = 1_600_000


class Effort:
    """What one operation may still look at.

    Raises:
        CostLimitExceeded: by `spend`, when it is too much.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_EFFORT) -> None:
        self.left = left

    def spend(self, entries: int) -> None:
        self.left -= entries
        if self.left < 0:
            raise CostLimitExceeded


def check_effort(value: Any) -> None:
    """Raises CostLimitExceeded where a value has too many entries to be walked through."""
    if not isinstance(value, list | dict):
        return
    effort = Effort()
    todo: list[Any] = [value]
    while todo:
        each = todo.pop()
        effort.spend(len(each))
        inner = each.values() if isinstance(each, dict) else each
        for item in inner:
            if isinstance(item, list | dict):
                todo.append(item)
            elif isinstance(item, str):
                # Texts of 64 MiB together are too long, too.
                effort.spend(len(item) // 40)
