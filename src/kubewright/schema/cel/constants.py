"""Parts of an expression that are constant: literals, lists and maps of them, conversions of them.

Kubernetes evaluates these once when a program is made, so they cost nothing at run time, and a conversion that fails
fails then.
"""

from __future__ import annotations

from typing import Any, Final

from .environment import Environment
from .nodes import Call, ListNode, Literal, MapNode, Node
from .values import encode_key

__all__ = ["constant_of", "is_constant"]

CONVERSIONS: Final = frozenset(
    {"bool", "bytes", "double", "dyn", "duration", "int", "string", "timestamp", "type", "uint"}
)


def is_constant(node: Node) -> bool:
    match node:
        case Literal():
            return True
        case ListNode():
            return not node.optional and all(map(is_constant, node.items))
        case MapNode():
            return all(
                not entry.optional and is_constant(entry.key) and is_constant(entry.value) for entry in node.entries
            )
        case Call():
            if node.target is None and node.function == "@in":
                return isinstance(node.args[1], ListNode) and not node.args[1].items
            return node.target is None and node.function in CONVERSIONS and is_constant(node.args[0])
    return False


def constant_of(node: Node, env: Environment) -> Any:
    """The value of a constant.

    Raises:
        EvaluationError: it has none, such as `int("a")`.
    """
    match node:
        case Literal():
            return node.value
        case ListNode():
            return [constant_of(item, env) for item in node.items]
        case MapNode():
            entries: dict[Any, Any] = {}
            for entry in node.entries:
                entries[encode_key(constant_of(entry.key, env))] = constant_of(entry.value, env)
            return entries
        case Call():
            if node.function == "@in":
                return False
            value = constant_of(node.args[0], env)
            from .dispatch import Dispatch

            overloads = [each for each in env.functions[node.function].overloads if each.id in node.overloads]
            return Dispatch(node.function, overloads, {})(value)[0]
    raise TypeError(f"{node!r} is no constant")
