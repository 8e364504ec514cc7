"""Checks of literals that the types do not make: one type in a list, patterns, durations, clauses of `format`.

Run on a tree whose types are right. Inside of `format` lists may be mixed. Rule: cel-go cel/validator.go and
ext/formatting.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .environment import Environment
from .errors import Problems
from .formatting import clauses
from .nodes import Call, Fold, ListNode, Literal, MapNode, Node, Select, StructNode
from .types import Type

__all__ = ["check_literals", "is_checked"]

_NAMES: Final = {
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
}
_ALLOWED: Final[dict[str, tuple[frozenset[str], str]]] = {
    "d": (frozenset({"int", "uint"}), "decimal clause can only be used on integers"),
    "f": (frozenset({"double", "string"}), "fixed-point clause can only be used on doubles"),
    "e": (frozenset({"double", "string"}), "scientific clause can only be used on doubles"),
    "b": (frozenset({"int", "uint", "bool"}), "only integers and bools can be formatted as binary"),
    "x": (
        frozenset({"int", "uint", "string", "bytes"}),
        "only integers, byte buffers, and strings can be formatted as hex",
    ),
    "o": (frozenset({"int", "uint"}), "octal clause can only be used on integers"),
    "s": (
        frozenset(
            [
                "list",
                "map",
                "int",
                "uint",
                "double",
                "bool",
                "string",
                "timestamp",
                "bytes",
                "duration",
                "type",
                "null",
            ],
        ),
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations,"
        " and timestamps",
    ),
}


def is_checked(node: Node, env: Environment) -> bool:
    """Whether there is anything to check at a node itself."""
    if isinstance(node, Call):
        return node.function == "format" or node.function in env.literal_checks
    return isinstance(node, ListNode | MapNode)


def check_literals(root: Node, env: Environment, problems: Problems) -> None:
    """Add what is wrong with literals anywhere in the tree."""
    seen: set[int] = set()
    todo: list[tuple[Node, bool]] = [(root, not env.one_type)]
    while todo:
        node, exempt = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ListNode) and not exempt:
            _one_type(((item, index in node.optional) for index, item in enumerate(node.items)), problems, True)
        elif isinstance(node, MapNode) and not exempt:
            _one_type(((entry.key, False) for entry in node.entries), problems, False)
            _one_type(((entry.value, entry.optional) for entry in node.entries), problems, False)
        elif isinstance(node, Call):
            _arguments(node, env, problems)
            exempt = exempt or node.function == "format"
        todo.extend((child, exempt) for child in _children(node))


def _children(node: Node) -> list[Node]:
    match node:
        case Select():
            return [node.operand] if node.name else []
        case Call():
            return [*([node.target] if node.target is not None else []), *node.args]
        case ListNode():
            return node.items
        case MapNode():
            return [each for entry in node.entries for each in (entry.key, entry.value)]
        case StructNode():
            return [value for _, _, value, _ in node.fields]
        case Fold():
            return [node.range, node.init, node.condition, node.step, node.result]
    return []


def _one_type(items: Iterable[tuple[Node, bool]], problems: Problems, once: bool) -> None:
    first: Type | None = None
    for node, optional in items:
        found = node.type.params[0] if optional and node.type.params else node.type
        if first is None:
            first = found
        elif found != first:
            problems.add(node.offset, f"expected type '{first}' but found '{found}'")
            if once:
                return


def _arguments(node: Call, env: Environment, problems: Problems) -> None:
    check = env.literal_checks.get(node.function)
    if check is not None and node.args:
        arg = node.args[-1]
        if isinstance(arg, Literal) and isinstance(arg.value, str):
            try:
                check(arg.value)
            except ValueError as error:
                problems.add(arg.offset, str(error))
    if node.function == "format" and node.overloads == ("string_format",) and isinstance(node.target, Literal):
        args = node.args[0]
        if isinstance(node.target.value, str) and isinstance(args, ListNode):
            _format(node, node.target.value, args.items, problems)


def _format(node: Call, template: str, args: list[Node], problems: Problems) -> None:
    used = 0
    try:
        for part in clauses(template, len(args)):
            if isinstance(part, str):
                continue
            wrong = _misfit(part[0].lower(), args[used])
            if wrong is not None:
                problems.add(wrong[0].offset, f"error during formatting: {wrong[1]}")
                return
            used += 1
    except ValueError as error:
        problems.add(node.offset, str(error))
        return
    if len(args) > used:
        text = f"too many arguments supplied to string.format (expected {used}, got {len(args)})"
        problems.add(node.offset, text)


def _misfit(clause: str, arg: Node) -> tuple[Node, str] | None:
    allowed, rule = _ALLOWED[clause]
    if not arg.type.is_dyn and arg.type.kind not in allowed:
        return arg, f"{rule}, was given {_NAMES.get(arg.type.kind, arg.type.name)}"
    if clause == "s" and isinstance(arg, ListNode | MapNode):
        for each in _children(arg):
            found = _misfit(clause, each)
            if found is not None:
                return found
    return None
