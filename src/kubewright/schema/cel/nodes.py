"""The tree of an expression. The parser makes it, the checker notes types in it, the others read both.

Every node has the offset of the character that stands for it (an operator's sign, a call's parenthesis), which is where
errors point. Comprehension macros become a `Fold`, which is what the checker and the estimate of costs look at; its
`macro` and `parts` keep what was written, which is what is compiled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .types import ERROR, Type

__all__ = ["Call", "Entry", "Fold", "Ident", "ListNode", "Literal", "MapNode", "Node", "Select", "StructNode", "reads"]


@dataclass(slots=True, eq=False)
class Node:
    offset: int
    type: Type = field(default=ERROR, init=False)


@dataclass(slots=True, eq=False)
class Literal(Node):
    value: Any


@dataclass(slots=True, eq=False)
class Ident(Node):
    name: str


@dataclass(slots=True, eq=False)
class Select(Node):
    operand: Node
    name: str
    test_only: bool = False


@dataclass(slots=True, eq=False)
class Call(Node):
    function: str
    target: Node | None
    args: list[Node]
    #: Ids of the overloads that fit, in the order of their declaration.
    overloads: tuple[str, ...] = field(default=(), init=False)


@dataclass(slots=True, eq=False)
class ListNode(Node):
    items: list[Node]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Entry:
    offset: int
    key: Node
    value: Node
    optional: bool = False


@dataclass(slots=True, eq=False)
class MapNode(Node):
    entries: list[Entry]


@dataclass(slots=True, eq=False)
class StructNode(Node):
    name: str
    fields: list[tuple[int, str, Node, bool]]


@dataclass(slots=True, eq=False)
class Fold(Node):
    range: Node
    var: str
    var2: str | None
    accu: str
    init: Node
    condition: Node
    step: Node
    result: Node
    #: all, exists, exists_one, map, filter, transform_list, transform_map, transform_entry or bind.
    macro: str
    #: The macro's predicate and transformation, None where it has none.
    parts: tuple[Node | None, Node | None]


def reads(node: Node, name: str) -> bool:
    """Whether an expression reads a variable."""
    todo: list[Node | None] = [node]
    seen: set[int] = set()
    while todo:
        each = todo.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        match each:
            case Ident():
                if each.name.removeprefix(".") == name:
                    return True
            case Select():
                todo.append(each.operand)
            case Call():
                todo += [each.target, *each.args]
            case ListNode():
                todo += each.items
            case MapNode():
                todo += [part for entry in each.entries for part in (entry.key, entry.value)]
            case StructNode():
                todo += [value for _, _, value, _ in each.fields]
            case Fold():
                todo += [each.range, each.init, each.step, each.result]
    return False
