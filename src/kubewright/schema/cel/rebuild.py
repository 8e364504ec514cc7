"""The tree of a text with syntax errors to nodes, as far as it goes: what else is wrong is in what could be read.

A server looks at the rest of such a text once more and also reports numbers out of range, reserved words and wrong
arguments of macros there. Nothing else is made of these nodes: the text does not compile. Its quirks are cel-go's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from .errors import Problems
from .lexer import Token
from .literals import parse_bytes, parse_int, parse_string, parse_uint
from .macros import MacroError, expand
from .nodes import Call, Ident, ListNode, Literal, MapNode, Node, Select, StructNode
from .recovery import Tree

__all__ = ["NOWHERE", "rebuild"]

#: The offset of nodes that stand for what could not be read.
NOWHERE: Final = -2
_THROUGH: Final = frozenset({"member", "primary", "nested", "constant"})


def rebuild(tree: Tree, problems: Problems, reserved: frozenset[str]) -> None:
    """Adds to `problems` what is wrong in the parts that were read."""
    # Errors in a part that is nested deeper than Python's stack stay unsaid; those of the syntax are noted by now.
    with contextlib.suppress(RecursionError):
        _Rebuild(problems, reserved).visit(_tree(tree, "e"))


def _tree(tree: Tree, label: str, number: int = 0) -> Tree | None:
    parts = tree.parts.get(label, [])
    part = parts[number] if number < len(parts) else None
    return part if isinstance(part, Tree) else None


def _trees(tree: Tree, label: str) -> list[Tree]:
    return [part for part in tree.parts.get(label, []) if isinstance(part, Tree)]


def _token(tree: Tree, label: str) -> Token | None:
    parts = tree.parts.get(label, [])
    return parts[-1] if parts and isinstance(parts[-1], Token) else None


def _tokens(tree: Tree, label: str) -> list[Token]:
    return [part for part in tree.parts.get(label, []) if isinstance(part, Token)]


class _Rebuild:
    def __init__(self, problems: Problems, reserved: frozenset[str]) -> None:
        self.problems = problems
        self.reserved = reserved

    def visit(self, tree: Tree | None) -> Node:
        tree = _unnested(tree)
        if tree is None:
            return Node(NOWHERE)
        return _VISITS.get((tree.rule, tree.name), _Rebuild.unknown)(self, tree)

    def unknown(self, tree: Tree) -> Node:
        return Node(NOWHERE)

    def wrong(self, offset: int, message: str) -> Node:
        self.problems.add(offset, message)
        return Node(offset)

    # -- operators ----------------------------------------------------------------------------------------------------

    def conditional(self, tree: Tree) -> Node:
        offset = _tokens(tree, "op")[0].offset
        parts = [self.visit(_tree(tree, label)) for label in ("e", "e1", "e2")]
        return Call(offset, "_?_:_", None, parts)

    def logic(self, tree: Tree) -> Node:
        node = self.visit(_tree(tree, "e"))
        rest = _trees(tree, "e1")
        for number, sign in enumerate(_tokens(tree, "op")):
            if number >= len(rest):
                return self.wrong(tree.offset, f"unexpected character, wanted '{sign.text}'")
            node = Call(sign.offset, f"_{sign.text}_", None, [node, self.visit(rest[number])])
        return node

    def binary(self, tree: Tree) -> Node:
        sign = _tokens(tree, "op")[0]
        if sign.kind == "missing":
            return self.wrong(tree.offset, "operator not found")
        left = self.visit(_tree(tree, "left"))
        return Call(sign.offset, f"_{sign.text}_", None, [left, self.visit(_tree(tree, "right"))])

    def sign(self, tree: Tree) -> Node:
        signs = _tokens(tree, "op")
        node = self.visit(_tree(tree, "e"))
        return Call(signs[0].offset, f"{signs[0].text}_", None, [node]) if len(signs) % 2 else node

    # -- members ------------------------------------------------------------------------------------------------------

    def select(self, tree: Tree) -> Node:
        operand = self.visit(_tree(tree, "left"))
        sign, name = _token(tree, "op"), _tree(tree, "id")
        if sign is None or name is None:
            return Node(tree.offset)
        text = self.field(name, name.offset)
        if _token(tree, "opt"):
            return Call(sign.offset, "_?._", None, [operand, Literal(name.offset, text)])
        return Select(sign.offset, operand, text)

    def field(self, name: Tree | None, offset: int) -> str:
        token = _token(name, "id") if name is not None else None
        if name is None or not name.name or token is None:
            self.wrong(offset, "unsupported ident kind")
            return ""
        return token.text if name.name == "simple" else token.text[1:-1]

    def member_call(self, tree: Tree) -> Node:
        operand = self.visit(_tree(tree, "left"))
        name, bracket = _token(tree, "id"), _token(tree, "open")
        if name is None:
            return Node(tree.offset)
        return self.call(bracket.offset if bracket else NOWHERE, name.text, operand, self.arguments(tree))

    def index(self, tree: Tree) -> Node:
        operand = self.visit(_tree(tree, "left"))
        sign = _token(tree, "op")
        if sign is None:
            return Node(tree.offset)
        return Call(sign.offset, "_[_]", None, [operand, self.visit(_tree(tree, "index"))])

    def arguments(self, tree: Tree) -> list[Node]:
        given = _tree(tree, "args")
        return [self.visit(each) for each in _trees(given, "e")] if given is not None else []

    def call(self, offset: int, name: str, target: Node | None, args: list[Node]) -> Node:
        try:
            return expand(offset, name, target, args) or Call(offset, name, target, args)
        except MacroError as error:
            return self.wrong(error.offset, error.message)

    # -- primaries ----------------------------------------------------------------------------------------------------

    def ident(self, tree: Tree) -> Node:
        name = _token(tree, "id")
        if name is None:
            return Node(tree.offset)
        if name.text in self.reserved:
            return self.wrong(tree.offset, f"reserved identifier: {name.text}")
        dot = "." if _token(tree, "dot") else ""
        if tree.name == "ident":
            return Ident(name.offset, dot + name.text)
        bracket = _token(tree, "op")
        return self.call(bracket.offset if bracket else NOWHERE, dot + name.text, None, self.arguments(tree))

    def list_literal(self, tree: Tree) -> Node:
        elems = _tree(tree, "elems")
        items = [self.visit(_tree(each, "e")) for each in _trees(elems, "elem")] if elems is not None else []
        return ListNode(_start(tree), items)

    def map_literal(self, tree: Tree) -> Node:
        entries = _tree(tree, "entries")
        if entries is not None:
            keys, values = _trees(entries, "key"), _trees(entries, "value")
            for number in range(len(_tokens(entries, "col"))):
                if number >= len(keys) or number >= len(values):
                    break
                self.visit(_tree(keys[number], "e"))
                self.visit(values[number])
        return MapNode(_start(tree), [])

    def message(self, tree: Tree) -> Node:
        entries = _tree(tree, "entries")
        if entries is not None:
            columns, values = _tokens(entries, "col"), _trees(entries, "value")
            for number, name in enumerate(_trees(entries, "field")):
                if number >= len(columns) or number >= len(values):
                    break
                before = len(self.problems.issues)
                self.field(_tree(name, "id"), entries.offset)
                if len(self.problems.issues) == before:
                    self.visit(values[number])
        return StructNode(_start(tree), "", [])

    def literal(self, tree: Tree) -> Node:
        token = _token(tree, "tok")
        if token is None:
            return Node(NOWHERE)
        try:
            return Literal(tree.offset, _value(tree.name, token.text, _token(tree, "sign") is not None))
        except ValueError as error:
            return self.wrong(tree.offset, str(error))


def _start(tree: Tree) -> int:
    sign = _token(tree, "op")
    return sign.offset if sign is not None else NOWHERE


def _unnested(tree: Tree | None) -> Tree | None:
    """The first tree below that is more than its only part."""
    while tree is not None:
        if tree.rule in ("relation", "calc") and "left" in tree.parts:
            return tree if _token(tree, "op") else _tree(tree, "e")
        plain = tree.rule in ("expr", "conditionalOr", "conditionalAnd", "relation", "calc") and not _token(tree, "op")
        whole = tree.rule == "member" and "left" not in tree.parts
        if not (plain or whole or tree.name in _THROUGH):
            return tree
        tree = _tree(tree, "e")
    return None


def _value(kind: str, text: str, negative: bool) -> object:
    match kind:
        case "NUM_INT":
            return parse_int(text, negative)
        case "NUM_UINT":
            return parse_uint(text)
        case "NUM_FLOAT":
            if float(text) == float("inf"):
                raise ValueError("invalid double literal")
        case "STRING":
            return parse_string(text)
        case "BYTES":
            return parse_bytes(text[1:])
    return None


_VISITS: Final[dict[tuple[str, str], Callable[[_Rebuild, Tree], Node]]] = {
    ("expr", ""): _Rebuild.conditional,
    ("conditionalOr", ""): _Rebuild.logic,
    ("conditionalAnd", ""): _Rebuild.logic,
    ("relation", ""): _Rebuild.binary,
    ("calc", ""): _Rebuild.binary,
    ("unary", "not"): _Rebuild.sign,
    ("unary", "negate"): _Rebuild.sign,
    ("member", "select"): _Rebuild.select,
    ("member", "call"): _Rebuild.member_call,
    ("member", "index"): _Rebuild.index,
    ("primary", "ident"): _Rebuild.ident,
    ("primary", "global"): _Rebuild.ident,
    ("primary", "list"): _Rebuild.list_literal,
    ("primary", "map"): _Rebuild.map_literal,
    ("primary", "message"): _Rebuild.message,
    **{
        ("literal", name): _Rebuild.literal
        for name in ("NUM_INT", "NUM_UINT", "NUM_FLOAT", "STRING", "BYTES", "true", "false", "null")
    },
}
