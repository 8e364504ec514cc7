"""Tokens to a tree: operator precedence (Pratt), macros expanded on the way, depth and size bounded.

| binds | operators |
|---|---|
| 1 | `? :` (right) |
| 2, 3 | `||`, `&&` (chains become balanced trees, so that a long one is not deep) |
| 4 | `== != < <= > >= in` |
| 5, 6 | `+ -`, `* / %` |
| 7 | `! -` before an operand |
| 8 | `.name`, `.?name`, `.call()`, `[index]`, `[?index]` |

The first syntax error ends this parse; `recovery` then tells all of them in a server's words. Rule: https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax
"""

from __future__ import annotations

from typing import Final

from .errors import CompileError, Problems
from .lexer import Token, tokenize
from .literals import parse_bytes, parse_int, parse_string, parse_uint
from .macros import MacroError, expand
from .nodes import Call, Entry, Ident, ListNode, Literal, MapNode, Node, Select, StructNode
from .rebuild import rebuild
from .recovery import parse_tree
from .tokens import MAX_DEPTH, Stop, TokenStream
from .values import UInt

__all__ = ["MAX_DEPTH", "MAX_SIZE", "parse"]

MAX_SIZE: Final = 100_000
RESERVED: Final = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_BINARY: Final = {
    "||": 2, "&&": 3, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "+": 5, "-": 5, "*": 6, "/": 6,
    "%": 6,
}  # fmt: skip
_OR: Final = 2
_LOGICAL: Final = 3
_FUNCTIONS: Final = {"in": "@in"}


def parse(source: str) -> Node:
    """The tree of an expression, macros expanded.

    Raises:
        CompileError: it is no expression, or one that is too long or too deep.
    """
    problems = Problems(source)
    if len(source) > MAX_SIZE:
        problems.add(-1, f"expression code point size exceeds limit: size: {len(source)}, limit {MAX_SIZE}")
        problems.raise_if_any()
    tokens, bad = tokenize(source)
    if not bad:
        try:
            parser = _Parser(tokens, problems)
            node = parser.expression()
            parser.expect("EOF")
        except Stop:
            pass
        else:
            problems.raise_if_any()
            return node
    told = Problems(source)
    tree = parse_tree(tokens, bad, told, MAX_DEPTH)
    if tree is not None:
        rebuild(tree, told, RESERVED)
    raise CompileError(source, told.issues or problems.issues)


class _Parser(TokenStream):
    __slots__ = ()

    # -- operators ----------------------------------------------------------------------------------------------------

    def expression(self) -> Node:
        self.deeper()
        node = self.operators(_OR)
        if self.token.kind == "?":
            offset = self.next().offset
            yes = self.operators(_OR)
            self.expect(":")
            node = Call(offset, "_?_:_", None, [node, yes, self.expression()])
        self.depth -= 1
        return node

    def operators(self, least: int) -> Node:
        """Operands and the operators between them that bind at least so strongly."""
        depth = self.depth
        node = self.operand()
        while (power := _BINARY.get(self.token.kind, 0)) >= least:
            sign = self.next()
            if power <= _LOGICAL:
                # A chain of one of these is a balanced tree, so that a long one stays shallow.
                terms, offsets = [node, self.operators(power + 1)], [sign.offset]
                while self.token.kind == sign.kind:
                    offsets.append(self.next().offset)
                    terms.append(self.operators(power + 1))
                node = _balance(f"_{sign.kind}_", terms, offsets, 0, len(offsets) - 1)
                continue
            # Each operator to the left makes the tree deeper by one.
            self.deeper()
            right = self.operators(power + 1)
            node = Call(sign.offset, _FUNCTIONS.get(sign.kind, f"_{sign.kind}_"), None, [node, right])
        self.depth = depth
        return node

    def operand(self) -> Node:
        """A primary with the signs before it and the selections, calls and indices behind it."""
        sign, count = self.token, 0
        if sign.kind == "!" or (sign.kind == "-" and self.tokens[self.at + 1].kind not in ("NUM_INT", "NUM_FLOAT")):
            while self.token.kind == sign.kind:
                self.next()
                count += 1
        if self.token.kind == "(":
            # Not in `primary`, to keep the stack short: parentheses nest the deepest.
            self.next()
            node = self.expression()
            self.expect(")")
        else:
            node = self.primary()
        if self.token.kind in (".", "["):
            node = self.member(node)
        return Call(sign.offset, f"{sign.kind}_", None, [node]) if count % 2 else node

    def member(self, node: Node) -> Node:
        depth = self.depth
        while self.token.kind in (".", "["):
            self.deeper()
            sign = self.next()
            if sign.kind == "[":
                function = "_[?_]" if self.accept("?") else "_[_]"
                index = self.expression()
                self.expect("]")
                node = Call(sign.offset, function, None, [node, index])
                continue
            optional = self.accept("?") is not None
            name = self.token
            is_escaped = name.kind == "ESC_IDENTIFIER"
            if is_escaped:
                name = Token("IDENTIFIER", name.text[1:-1], name.offset)
            if name.kind != "IDENTIFIER":
                self.fail()
            self.next()
            if self.token.kind == "(" and not optional and not is_escaped:
                node = self.call(name.text, node)
            elif optional:
                node = Call(sign.offset, "_?._", None, [node, Literal(name.offset, name.text)])
            else:
                node = Select(sign.offset, node, name.text)
        self.depth = depth
        return node

    def call(self, name: str, target: Node | None) -> Node:
        offset = self.expect("(").offset
        args: list[Node] = []
        if self.token.kind != ")":
            args.append(self.expression())
            while self.accept(","):
                args.append(self.expression())
        self.expect(")")
        try:
            return expand(offset, name, target, args) or Call(offset, name, target, args)
        except MacroError as error:
            self.problems.add(error.offset, error.message)
            return Ident(offset, "<error>")

    # -- operands -----------------------------------------------------------------------------------------------------

    def primary(self) -> Node:
        token = self.token
        match token.kind:
            case "[":
                return self.list_literal()
            case "{":
                return self.map_literal()
            case "IDENTIFIER" | ".":
                return self.name()
            case "true" | "false":
                self.next()
                return Literal(token.offset, token.kind == "true")
            case "null":
                self.next()
                return Literal(token.offset, None)
            case "-" | "NUM_INT" | "NUM_UINT" | "NUM_FLOAT" | "STRING" | "BYTES":
                return self.literal()
        return self.fail()

    def literal(self) -> Node:
        offset = self.token.offset
        negative = self.accept("-") is not None
        token = self.token
        if negative and token.kind not in ("NUM_INT", "NUM_FLOAT"):
            self.fail()
        self.next()
        try:
            match token.kind:
                case "NUM_INT":
                    return Literal(offset, parse_int(token.text, negative))
                case "NUM_UINT":
                    return Literal(offset, UInt(parse_uint(token.text)))
                case "NUM_FLOAT":
                    value = float(token.text)
                    if value == float("inf"):
                        raise ValueError("invalid double literal")
                    return Literal(offset, -value if negative else value)
                case "STRING":
                    return Literal(offset, parse_string(token.text))
                case _:
                    return Literal(offset, parse_bytes(token.text[1:]))
        except ValueError as error:
            self.problems.add(offset, str(error))
            return Literal(offset, None)

    def name(self) -> Node:
        start = self.token.offset
        dot = "." if self.accept(".") else ""
        token = self.token
        if token.kind != "IDENTIFIER":
            self.fail()
        self.next()
        if self.is_struct():
            names = [token.text]
            while self.accept("."):
                names.append(self.next().text)
            return self.struct_literal(dot + ".".join(names))
        if token.text in RESERVED:
            self.problems.add(start, f"reserved identifier: {token.text}")
        if self.token.kind == "(":
            return self.call(dot + token.text, None)
        return Ident(token.offset, dot + token.text)

    def is_struct(self) -> bool:
        """Whether `{` follows the dotted name that was begun."""
        at, tokens = self.at, self.tokens
        while tokens[at].kind == "." and tokens[at + 1].kind == "IDENTIFIER":
            at += 2
        return tokens[at].kind == "{"

    def list_literal(self) -> Node:
        offset = self.next().offset
        items: list[Node] = []
        optional: set[int] = set()
        while self.token.kind != "]":
            if self.token.kind == "," and not items:
                self.next()
                break
            if self.accept("?"):
                optional.add(len(items))
            items.append(self.expression())
            if not self.accept(","):
                break
        self.expect("]")
        return ListNode(offset, items, frozenset(optional))

    def map_literal(self) -> Node:
        offset = self.next().offset
        entries: list[Entry] = []
        while self.token.kind != "}":
            if self.token.kind == "," and not entries:
                self.next()
                break
            optional = self.accept("?") is not None
            key = self.expression()
            colon = self.expect(":")
            entries.append(Entry(colon.offset, key, self.expression(), optional))
            if not self.accept(","):
                break
        self.expect("}")
        return MapNode(offset, entries)

    def struct_literal(self, name: str) -> Node:
        offset = self.next().offset
        fields: list[tuple[int, str, Node, bool]] = []
        while self.token.kind != "}":
            optional = self.accept("?") is not None
            field = self.expect("IDENTIFIER")
            colon = self.expect(":")
            fields.append((colon.offset, field.text, self.expression(), optional))
            if not self.accept(","):
                break
        self.expect("}")
        return StructNode(offset, name, fields)


def _balance(function: str, terms: list[Node], offsets: list[int], low: int, high: int) -> Node:
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balance(function, terms, offsets, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balance(function, terms, offsets, middle + 1, high)
    return Call(offsets[middle], function, None, [left, right])
