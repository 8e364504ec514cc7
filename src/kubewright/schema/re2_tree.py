"""The tree of a regular expression, the limits on it, and the error for those who break them.

| node | meaning |
|---|---|
| `Chars(ranges)` | one character out of sorted, disjoint ranges; case folding is already applied |
| `Assertion(kind)` | no character: text or line begin and end, a word boundary or none |
| `Repeat(item, low, high, greedy)` | high None is unbounded |
| `Group(item)` | a capturing group; names are checked and dropped |
| `Concat(items)`, `Choice(items)` | one after the other; leftmost of several |

Limits are Go's: repetition counts up to 1000 (nested ones multiplied), 1000 levels of nesting, about 3.3 million nodes,
some 33 million bounds of ranges. So nothing here or in what walks through a tree may use Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from .re2_unicode import MAX_RUNE, Ranges

__all__ = [
    "ANY",
    "ANY_BUT_NEWLINE",
    "MAX_HEIGHT",
    "MAX_NODES",
    "MAX_REPEAT",
    "MAX_RUNES",
    "Assertion",
    "Chars",
    "Choice",
    "Concat",
    "Group",
    "Node",
    "Re2Error",
    "Repeat",
    "flatten",
    "fold",
    "within",
]

T = TypeVar("T")

MAX_REPEAT: Final = 1000
MAX_HEIGHT: Final = 1000
MAX_NODES: Final = 128 * 1024 * 1024 // 40
MAX_RUNES: Final = 128 * 1024 * 1024 // 4


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


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Repeat() | Group():
            return (node.item,)
        case Concat() | Choice():
            return node.items
    return ()


def fold(root: Node, combine: Callable[[Node, list[T]], T]) -> dict[int, T]:
    """What `combine` makes of each node and of what it made of the parts, by the node's id. Depth is no matter."""
    order: list[Node] = []
    todo = [root]
    while todo:
        node = todo.pop()
        order.append(node)
        todo += children(node)
    made: dict[int, T] = {}
    for node in reversed(order):
        made[id(node)] = combine(node, [made[id(each)] for each in children(node)])
    return made


def flatten(root: Node) -> Node:
    """The same without sequences in sequences and choices in choices, which may nest deeper than anything else."""
    order: list[tuple[Node, list[Node]]] = []
    todo = [root]
    while todo:
        node = todo.pop()
        parts = _parts(node)
        order.append((node, parts))
        todo += parts
    made: dict[int, Node] = {}
    for node, parts in reversed(order):
        items = tuple(made[id(each)] for each in parts)
        match node:
            case Repeat() | Group():
                made[id(node)] = replace(node, item=items[0])
            case Concat() | Choice():
                made[id(node)] = replace(node, items=items)
            case _:
                made[id(node)] = node
    return made[id(root)]


def _parts(node: Node) -> list[Node]:
    if not isinstance(node, Concat | Choice):
        return list(children(node))
    parts: list[Node] = []
    todo = list(reversed(node.items))
    while todo:
        each = todo.pop()
        if isinstance(each, Concat | Choice) and each.__class__ is node.__class__:
            todo.extend(reversed(each.items))
        else:
            parts.append(each)
    return parts


def within(root: Node, budget: int) -> bool:
    """Whether counted repetitions, multiplied along each way down, stay within the budget."""
    todo = [(root, budget)]
    while todo:
        node, left = todo.pop()
        if isinstance(node, Repeat) and (node.low, node.high) not in ((0, None), (1, None), (0, 1)):
            most = node.high if node.high is not None else node.low
            if most == 0:
                continue
            if most > left:
                return False
            left //= most
        todo += [(each, left) for each in children(node)]
    return True
