"""The grammar of CEL as an augmented transition network, for texts that are no expression.

What is expected at a place, and where a parse goes on after an error, are questions about cel-go's grammar as ANTLR has
it. The states here are those of such a network: blocks, loops and rule calls. Valid texts never come here: `parser` is
written by hand and quicker. Rules that call themselves on the left are loops with precedences.
Rule: https://github.com/google/cel-go/blob/master/parser/gen/CEL.g4
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

__all__ = ["EPSILON", "GRAMMAR", "TOKENS", "Edge", "Grammar", "State", "shown"]

#: Token kinds in the order of their numbers, which is the order in which a set of them is printed.
TOKENS: Final = (
    "EOF", "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?",
    ":", "+", "*", "/", "%", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES",
    "IDENTIFIER", "ESC_IDENTIFIER",
)  # fmt: skip
_ORDER: Final = {kind: number for number, kind in enumerate(TOKENS)}
#: In a set of next tokens: the end of the rule can be reached.
EPSILON: Final = ""


def shown(kinds: frozenset[str]) -> str:
    """A set of token kinds as messages print it."""
    names = [_name(kind) for kind in sorted(kinds - {EPSILON}, key=_ORDER.__getitem__)]
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def _name(kind: str) -> str:
    if kind == "EOF":
        return "<EOF>"
    return kind if kind.isupper() else f"'{kind}'"


@dataclass(slots=True, eq=False)
class Edge:
    """One way out of a state: over a token of `tokens`, through `rule`, if `least` allows it, or freely."""

    target: State
    tokens: frozenset[str] | None = None
    rule: str = ""
    precedence: int = 0
    least: int = 0
    #: What the token or the rule's tree is in the tree of this rule: `op`, `e`, ...
    label: str = ""


@dataclass(slots=True, eq=False)
class State:
    """kind: basic, block, star block, plus block, entry (of a loop), star back, plus back, end (of a rule)."""

    number: int
    rule: str
    kind: str = "basic"
    edges: list[Edge] = field(default_factory=list)
    #: For a decision whose alternatives begin with different tokens: which begins with what; else None.
    first: list[frozenset[str]] | None = None
    #: The loop decides by precedence.
    by_precedence: bool = False
    #: For the way back of a `*` loop: its entry.
    entry: State | None = None
    #: The name of each alternative, for the tree.
    names: tuple[str, ...] = ()
    #: The alternatives of a left-recursive rule: what was read so far becomes the first part.
    wraps: bool = False


# -- parts of rules, as trees ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    kind: str
    parts: tuple[_Part, ...] = ()
    tokens: tuple[str, ...] = ()
    rule: str = ""
    number: int = 0
    label: str = ""
    names: tuple[str, ...] = ()


def _t(*tokens: str, label: str = "") -> _Part:
    return _Part("token", tokens=tokens, label=label)


def _r(rule: str, label: str = "", precedence: int = 0) -> _Part:
    return _Part("rule", rule=rule, label=label, number=precedence)


def _seq(*parts: _Part) -> _Part:
    return _Part("seq", parts)


def _or(*parts: _Part, names: tuple[str, ...] = ()) -> _Part:
    return _Part("or", parts, names=names)


def _maybe(*parts: _Part) -> _Part:
    return _Part("maybe", (_seq(*parts),))


def _star(*parts: _Part) -> _Part:
    return _Part("star", (_seq(*parts),))


def _plus(*parts: _Part) -> _Part:
    return _Part("plus", (_seq(*parts),))


def _loop(*alternatives: tuple[int, str, _Part]) -> _Part:
    """The rest of a left-recursive rule: (least precedence, name, what follows the part that is there)."""
    parts = tuple(_Part("if", (part,), number=least) for least, _, part in alternatives)
    return _Part("loop", parts, names=tuple(name for _, name, _ in alternatives))


_DOT: Final = _maybe(_t(".", label="dot"))
_OPT: Final = _maybe(_t("?", label="opt"))
_ID: Final = _t("IDENTIFIER", label="id")
_ARGS: Final = (_maybe(_r("exprList", "args")), _t(")"))
_MINUS: Final = _maybe(_t("-", label="sign"))
_ENTRY: Final = (_r("optExpr", "key"), _t(":", label="col"), _r("expr", "value"))
_FIELD: Final = (_r("optField", "field"), _t(":", label="col"), _r("expr", "value"))

_RULES: Final = {
    "start": _seq(_r("expr", "e"), _t("EOF")),
    "expr": _seq(
        _r("conditionalOr", "e"),
        _maybe(_t("?", label="op"), _r("conditionalOr", "e1"), _t(":"), _r("expr", "e2")),
    ),
    "conditionalOr": _seq(_r("conditionalAnd", "e"), _star(_t("||", label="op"), _r("conditionalAnd", "e1"))),
    "conditionalAnd": _seq(_r("relation", "e"), _star(_t("&&", label="op"), _r("relation", "e1"))),
    "relation": _seq(
        _r("calc", "e"),
        _loop((1, "", _seq(_t("<", "<=", ">=", ">", "==", "!=", "in", label="op"), _r("relation", "right", 2)))),
    ),
    "calc": _seq(
        _r("unary", "e"),
        _loop(
            (2, "", _seq(_t("*", "/", "%", label="op"), _r("calc", "right", 3))),
            (1, "", _seq(_t("+", "-", label="op"), _r("calc", "right", 2))),
        ),
    ),
    "unary": _or(
        _r("member", "e"),
        _seq(_plus(_t("!", label="op")), _r("member", "e")),
        _seq(_plus(_t("-", label="op")), _r("member", "e")),
        names=("member", "not", "negate"),
    ),
    "member": _seq(
        _r("primary", "e"),
        _loop(
            (3, "select", _seq(_t(".", label="op"), _OPT, _r("escapeIdent", "id"))),
            (2, "call", _seq(_t(".", label="op"), _ID, _t("(", label="open"), *_ARGS)),
            (1, "index", _seq(_t("[", label="op"), _OPT, _r("expr", "index"), _t("]"))),
        ),
    ),
    "primary": _or(
        _seq(_DOT, _ID),
        _seq(_DOT, _ID, _t("(", label="op"), *_ARGS),
        _seq(_t("("), _r("expr", "e"), _t(")")),
        _seq(_t("[", label="op"), _maybe(_r("listInit", "elems")), _maybe(_t(",")), _t("]")),
        _seq(_t("{", label="op"), _maybe(_r("mapInitializerList", "entries")), _maybe(_t(",")), _t("}")),
        _seq(
            _DOT, _ID, _star(_t("."), _ID), _t("{", label="op"), _maybe(_r("fieldInitializerList", "entries")),
            _maybe(_t(",")), _t("}"),
        ),
        _r("literal", "e"),
        names=("ident", "global", "nested", "list", "map", "message", "constant"),
    ),
    "exprList": _seq(_r("expr", "e"), _star(_t(","), _r("expr", "e"))),
    "listInit": _seq(_r("optExpr", "elem"), _star(_t(","), _r("optExpr", "elem"))),
    "fieldInitializerList": _seq(*_FIELD, _star(_t(","), *_FIELD)),
    "optField": _seq(_OPT, _r("escapeIdent", "id")),
    "mapInitializerList": _seq(*_ENTRY, _star(_t(","), *_ENTRY)),
    "escapeIdent": _or(_ID, _t("ESC_IDENTIFIER", label="id"), names=("simple", "escaped")),
    "optExpr": _seq(_OPT, _r("expr", "e")),
    "literal": _or(
        _seq(_MINUS, _t("NUM_INT", label="tok")),
        _t("NUM_UINT", label="tok"),
        _seq(_MINUS, _t("NUM_FLOAT", label="tok")),
        *(_t(kind, label="tok") for kind in ("STRING", "BYTES", "true", "false", "null")),
        names=("NUM_INT", "NUM_UINT", "NUM_FLOAT", "STRING", "BYTES", "true", "false", "null"),
    ),
}  # fmt: skip


class Grammar:
    """The network. Immutable once made.

    Attributes:
        starts, ends: the first and the last state of each rule.
        calls: the states that follow a call of a rule, with the precedence of the call.
    """

    def __init__(self, rules: dict[str, _Part]) -> None:
        self.states: list[State] = []
        self.calls: dict[str, list[tuple[State, int]]] = {name: [] for name in rules}
        self.starts = {name: self._state(name) for name in rules}
        self.ends = {name: self._state(name, "end") for name in rules}
        #: Rules whose loop decides by precedence.
        self.recursive = frozenset(name for name, part in rules.items() if any(p.kind == "loop" for p in part.parts))
        for name, part in rules.items():
            last = self._build(name, part, self.starts[name])
            last.edges.append(Edge(self.ends[name]))
        self._next: dict[int, frozenset[str]] = {}
        for state in self.states:
            self.next_tokens(state)
            if len(state.edges) > 1 and not state.by_precedence and not state.wraps:
                state.first = self._disjoint(state)

    def next_tokens(self, state: State) -> frozenset[str]:
        """What can come next within the rule; with EPSILON where its end can be reached."""
        known = self._next.get(state.number)
        if known is None:
            known = self._next[state.number] = frozenset(self._look(state, outside=False))
        return known

    def _look(self, state: State, outside: bool) -> set[str]:
        """The tokens that can come next; `outside` goes on behind the end of the rule, wherever it is called."""
        found: set[str] = set()
        seen: set[tuple[int, tuple[int, ...]]] = set()
        todo: list[tuple[State, tuple[int, ...]]] = [(state, ())]
        while todo:
            each, stack = todo.pop()
            if (each.number, stack) in seen:
                continue
            seen.add((each.number, stack))
            if each.kind == "end":
                if stack:
                    todo.append((self.states[stack[-1]], stack[:-1]))
                elif outside:
                    todo += [(follow, ()) for follow, _ in self.calls[each.rule]]
                else:
                    found.add(EPSILON)
            for edge in each.edges:
                if edge.tokens is not None:
                    found |= edge.tokens
                elif edge.rule:
                    todo.append((self.starts[edge.rule], (*stack, edge.target.number)))
                else:
                    todo.append((edge.target, stack))
        return found

    def _disjoint(self, state: State) -> list[frozenset[str]] | None:
        sets = [frozenset(self._look(edge.target, outside=True)) for edge in state.edges]
        return sets if sum(map(len, sets)) == len(frozenset().union(*sets)) else None

    def _state(self, rule: str, kind: str = "basic") -> State:
        state = State(len(self.states), rule, kind)
        self.states.append(state)
        return state

    def _build(self, rule: str, part: _Part, at: State) -> State:
        """Adds a part behind a state; the state behind the part."""
        match part.kind:
            case "seq":
                for each in part.parts:
                    at = self._build(rule, each, at)
                return at
            case "token":
                after = self._state(rule)
                at.edges.append(Edge(after, tokens=frozenset(part.tokens), label=part.label))
                return after
            case "rule":
                after = self._state(rule)
                at.edges.append(Edge(after, rule=part.rule, precedence=part.number, label=part.label))
                self.calls[part.rule].append((after, part.number))
                return after
            case "if":
                after = self._state(rule)
                at.edges.append(Edge(after, least=part.number))
                return self._build(rule, part.parts[0], after)
            case "or" | "maybe":
                block, after = self._state(rule, "block"), self._state(rule)
                at.edges.append(Edge(block))
                self._alternatives(rule, part, block, after)
                if part.kind == "maybe":
                    block.edges.append(Edge(after))
                return after
        return self._repeat(rule, part, at)

    def _alternatives(self, rule: str, part: _Part, block: State, after: State) -> None:
        block.names = part.names
        for each in part.parts:
            first = self._state(rule)
            block.edges.append(Edge(first))
            self._build(rule, each, first).edges.append(Edge(after))

    def _repeat(self, rule: str, part: _Part, at: State) -> State:
        if part.kind == "plus":
            block, back, after = self._state(rule, "plus block"), self._state(rule, "plus back"), self._state(rule)
            at.edges.append(Edge(block))
            self._alternatives(rule, part, block, back)
            back.edges += [Edge(block), Edge(after)]
            return after
        entry, block, back = self._state(rule, "entry"), self._state(rule, "star block"), self._state(rule, "star back")
        after = self._state(rule)
        at.edges.append(Edge(entry))
        entry.edges += [Edge(block), Edge(after)]
        self._alternatives(rule, part, block, back)
        back.edges.append(Edge(entry))
        back.entry = entry
        entry.by_precedence = block.wraps = part.kind == "loop"
        return after


GRAMMAR: Final = Grammar(_RULES)
