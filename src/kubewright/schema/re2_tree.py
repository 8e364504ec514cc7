"""The tree of a regular expression, the limits on it, and the error for those who break them.

| node | meaning |
|---|---|
| `Chars(ranges)` | one character out of sorted, disjoint ranges; case folding is already applied |
| `Assertion(kind)` | no character: text or line begin and end, a word boundary or none |
| `Repeat(item, low, high, greedy)` | high None is unbounded |
| `Group(item)` | a capturing group; names are checked and dropped |
| `Concat(items)`, `Choice(items)` | one after the other; leftmost of several |

Limits are Go's: repetition counts up to 1000 (nested ones multiplied), 1000 levels of nesting, about 3.3 million nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .re2_unicode import MAX_RUNE, Ranges

__all__ = [
    "ANY",
    "ANY_BUT_NEWLINE",
    "MAX_HEIGHT",
    "MAX_REPEAT",
    "Assertion",
    "Chars",
    "Choice",
    "Concat",
    "Group",
    "Node",
    "Re2Error",
    "Repeat",
    "check_size",
    "within",
]

MAX_REPEAT: Final = 1000
MAX_HEIGHT: Final = 1000
MAX_NODES: Final = 128 * 1024 * 1024 // 40


class Re2Error(ValueError):
    """A text that Go's regexp refuses; `str()` is Go's message.

    Attributes:
        rule: what is wrong, such as `missing closing ]`.
        part: the part of the expression that is.
    """

    def __init__(self, rule: str, part: str) -> None:
        super().__init__(f"error parsing regexp: {rule}: `{part}`")
        self.rule = rule
        self.part = part


@dataclass(frozen=True, slots=True)
class Chars:
    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Assertion:
    kind: str


@dataclass(frozen=True, slots=True)
class Repeat:
    item: Node
    low: int
    high: int | None
    greedy: bool


@dataclass(frozen=True, slots=True)
class Group:
    item: Node


@dataclass(frozen=True, slots=True)
class Concat:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    items: tuple[Node, ...]


Node = Chars | Assertion | Repeat | Group | Concat | Choice

ANY: Final = Chars(((0, MAX_RUNE),))
ANY_BUT_NEWLINE: Final = Chars(((0, 9), (11, MAX_RUNE)))


def within(node: Node, budget: int) -> bool:
    """Whether counted repetitions, multiplied along each way down, stay within the budget."""
    if isinstance(node, Repeat) and node.low + (node.high or 0) > 0 and (node.high is not None or node.low > 1):
        most = node.high if node.high is not None else node.low
        if node.high == 0:
            return True
        if most > budget:
            return False
        if most > 0:
            budget //= most
    if isinstance(node, Repeat | Group):
        return within(node.item, budget)
    if isinstance(node, Concat | Choice):
        return all(within(item, budget) for item in node.items)
    return True


def check_size(node: Node, text: str) -> None:
    def walk(node: Node, height: int) -> int:
        if height > MAX_HEIGHT:
            raise Re2Error("expression nests too deeply", text)
        match node:
            case Repeat():
                each = walk(node.item, height + 1)
                return each * max(node.low + 1, node.high or 1) + 1
            case Group():
                return walk(node.item, height + 1) + 2
            case Concat() | Choice():
                return sum(walk(item, height + 1) for item in node.items) + len(node.items)
            case _:
                return 1

    try:
        size = walk(node, 1)
    except RecursionError:
        raise Re2Error("expression nests too deeply", text) from None
    if size > MAX_NODES:
        raise Re2Error("expression too large", text)
