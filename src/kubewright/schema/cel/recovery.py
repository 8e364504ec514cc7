"""All syntax errors of a text, in the words of a server: a parse that goes on after an error, as ANTLR's default does.

A token too many is skipped and a missing one is taken for written where the next token shows that; otherwise the rule
is left and tokens are skipped until one that can follow any of the open rules. No error is reported until a token was
accepted after the last one. cel-go's limits hold: 100 errors, 30 recoveries, 256 tokens skipped in one of them.

The parse keeps a stack of its own, so that the depth of a text needs none of Python's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NoReturn

from .errors import Problems
from .grammar import EPSILON, GRAMMAR, Edge, State, shown
from .lexer import Bad, Token, shown_source
from .prediction import NoAlternative, Prediction

__all__ = ["Tree", "parse_tree"]

MAX_ERRORS: Final = 100
MAX_RECOVERIES: Final = 30
MAX_SKIPPED: Final = 256
_NO_NAME: Final = re.compile("no viable alternative at input '.(true|false|null)'")


@dataclass(slots=True, eq=False)
class Tree:
    """What was read of one use of a rule. `name` is empty where no alternative was found.

    Attributes:
        parts: tokens and trees by their labels in the grammar; None for a token that was not there.
    """

    rule: str
    offset: int
    name: str = ""
    parts: dict[str, list[Token | Tree | None]] = field(default_factory=dict)

    def add(self, label: str, part: Token | Tree | None) -> None:
        if label:
            self.parts.setdefault(label, []).append(part)


def parse_tree(tokens: list[Token], bad: list[Bad], problems: Problems, max_depth: int) -> Tree | None:
    """Notes what is wrong in `problems`. The tree of the rest, or None where a limit ended the parse.

    tokens: of the whole text, the last one EOF.
    bad: what in the text is no token.
    max_depth: how often one rule may be open.
    """
    parse = _Parse(tokens, bad, problems, max_depth)
    try:
        return parse.run()
    except _Ended:
        return None


class _Ended(Exception):
    """A limit is reached."""


class _Mismatch(Exception):
    """The token is none of those that are expected."""


@dataclass(slots=True, eq=False)
class _Frame:
    rule: str
    tree: Tree
    #: Where the caller goes on; None for the first rule.
    back: State | None
    label: str
    precedence: int


class _Parse:
    def __init__(self, tokens: list[Token], bad: list[Bad], problems: Problems, max_depth: int) -> None:
        self.tokens = tokens
        self.bad = bad
        self.problems = problems
        self.max_depth = max_depth
        self.at = 0
        #: The state where the parse is, as far as errors are concerned.
        self.state = GRAMMAR.starts["start"]
        self.frames: list[_Frame] = []
        self.open: dict[str, int] = {}
        self.prediction = Prediction(GRAMMAR, self.kind_at)
        self.errors = 0
        self.recoveries = 0
        self.skipped = 0
        self.in_error = False
        self.last_error = -1
        self.last_states: set[int] = set()
        #: How many of `bad` were reported: those before the furthest token that was looked at.
        self.bad_seen = 0
        self.read = -1

    # -- tokens -------------------------------------------------------------------------------------------------------

    def kind_at(self, number: int) -> str:
        number = min(number, len(self.tokens) - 1)
        if number > self.read:
            self.read = number
            offset = self.tokens[number].offset
            while self.bad_seen < len(self.bad) and self.bad[self.bad_seen].start < offset:
                bad = self.bad[self.bad_seen]
                self.bad_seen += 1
                self.notify(bad.start, bad.message)
        return self.tokens[number].kind

    def kind(self) -> str:
        return self.kind_at(self.at)

    def token(self) -> Token:
        return self.tokens[self.at]

    def consume(self) -> None:
        if self.token().kind != "EOF":
            self.at += 1
            self.kind()

    def matched(self) -> None:
        self.in_error = False
        self.last_error = -1
        self.last_states.clear()

    # -- the walk -----------------------------------------------------------------------------------------------------

    def run(self) -> Tree:
        state: State | None = self.enter("start", None, "", 0)
        tree = self.frames[0].tree
        while state is not None:
            try:
                state = self.step(state)
            except (_Mismatch, NoAlternative) as error:
                self.report(error)
                self.recover()
                state = GRAMMAR.ends[self.frames[-1].rule]
        return tree

    def step(self, state: State) -> State | None:
        match state.kind:
            case "end":
                return self.leave()
            case "entry" | "plus block":
                self.synchronize(state)
                return self.decide(state)
            case "block" | "star block":
                if len(state.edges) > 1:
                    self.synchronize(state)
                number = self.number(state)
                self.name(state, number)
                return state.edges[number].target
            case "plus back":
                self.synchronize(state)
                return self.decide(state)
            case "star back":
                self.synchronize(state)
                assert state.entry is not None
                return self.decide(state.entry)
        edge = state.edges[0]
        if edge.rule:
            self.state = state
            return self.enter(edge.rule, edge.target, edge.label, edge.precedence)
        if edge.tokens is not None:
            self.state = state
            self.match(edge)
        return edge.target

    def enter(self, rule: str, back: State | None, label: str, precedence: int) -> State:
        self.kind()
        self.frames.append(_Frame(rule, Tree(rule, self.token().offset), back, label, precedence))
        self.open[rule] = self.open.get(rule, 0) + 1
        if self.open[rule] > self.max_depth:
            self.end_with(f"expression recursion limit exceeded: {self.max_depth}")
        return GRAMMAR.starts[rule]

    def leave(self) -> State | None:
        frame = self.frames.pop()
        self.open[frame.rule] -= 1
        if self.frames:
            self.frames[-1].tree.add(frame.label, frame.tree)
        return frame.back

    def decide(self, state: State) -> State:
        return state.edges[self.number(state)].target

    def number(self, state: State) -> int:
        """Which edge to take."""
        if len(state.edges) == 1:
            return 0
        if state.first is None:
            return self.prediction.choose(state, self.frames[-1].precedence, self.at)
        kind = self.kind()
        for number, kinds in enumerate(state.first):
            if kind in kinds:
                return number
        if state.names:
            raise NoAlternative(self.at, self.at)
        return len(state.edges) - 1

    def name(self, block: State, number: int) -> None:
        """The tree of the rule learns which alternative it is."""
        frame = self.frames[-1]
        if block.wraps:
            before = frame.tree
            frame.tree = Tree(frame.rule, before.offset)
            frame.tree.add("left", before)
        if block.names:
            frame.tree.name = block.names[number]

    def match(self, edge: Edge) -> None:
        assert edge.tokens is not None
        tree = self.frames[-1].tree
        if self.kind() in edge.tokens:
            tree.add(edge.label, self.token())
            self.matched()
            self.consume()
            return
        self.count_recovery()
        if self.delete_one():
            tree.add(edge.label, self.token())
            self.consume()
        elif self.kind() in self.expected(edge.target):
            self.report_missing()
            tree.add(edge.label, self.conjured(edge.tokens))
        else:
            raise _Mismatch

    def conjured(self, kinds: frozenset[str]) -> Token:
        """A token that stands for the missing one."""
        near = self.tokens[self.at - 1] if self.token().kind == "EOF" and self.at else self.token()
        kind = shown(kinds).strip("{}").split(", ")[0]
        text = f"<missing {kind}>" if kind.startswith("'") else "<missing undefined>"
        return Token("missing", text, near.offset)

    # -- what is expected ---------------------------------------------------------------------------------------------

    def expected(self, state: State) -> frozenset[str]:
        """What can come next at a state, given the open rules."""
        found = GRAMMAR.next_tokens(state)
        for frame in reversed(self.frames):
            if EPSILON not in found:
                return found
            follow = {"EOF"} if frame.back is None else GRAMMAR.next_tokens(frame.back)
            found = (found - {EPSILON}) | follow
        return found

    def follows(self) -> frozenset[str]:
        """What can come after any of the open rules."""
        found: set[str] = set()
        for frame in self.frames:
            if frame.back is not None:
                found |= GRAMMAR.next_tokens(frame.back)
        return frozenset(found - {EPSILON})

    def synchronize(self, state: State) -> None:
        """Before a block and after each turn of a loop: sees to it that the next token fits."""
        self.state = state
        if self.in_error:
            return
        following = GRAMMAR.next_tokens(state)
        if EPSILON in following or self.kind() in following:
            return
        if state.kind.endswith("back"):
            self.report_unwanted()
            self.skip_until(self.expected(state) | self.follows())
        elif not self.delete_one():
            raise _Mismatch

    def delete_one(self) -> bool:
        if self.kind_at(self.at + 1 if self.token().kind != "EOF" else self.at) not in self.expected(self.state):
            return False
        self.report_unwanted()
        self.consume()
        self.matched()
        return True

    # -- errors -------------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        self.count_recovery()
        if self.last_error == self.at and self.state.number in self.last_states:
            self.skip()
        self.last_error = self.at
        self.last_states.add(self.state.number)
        follows = self.follows()
        while self.kind() != "EOF" and self.kind() not in follows:
            self.skip()

    def skip(self) -> None:
        if self.skipped >= MAX_SKIPPED:
            self.end_with(f"error recovery token lookahead limit exceeded: {MAX_SKIPPED}")
        self.skipped += 1
        self.consume()

    def skip_until(self, kinds: frozenset[str]) -> None:
        while self.kind() != "EOF" and self.kind() not in kinds:
            self.consume()

    def count_recovery(self) -> None:
        self.skipped = 0
        if self.recoveries == MAX_RECOVERIES:
            self.notify(self.token().offset, f"error recovery attempt limit exceeded: {MAX_RECOVERIES}")
            raise _Ended
        self.recoveries += 1

    def report(self, error: _Mismatch | NoAlternative) -> None:
        if self.in_error:
            return
        self.in_error = True
        if isinstance(error, _Mismatch):
            message = f"mismatched input {self.here()} expecting {shown(self.expected(self.state))}"
            self.notify(self.token().offset, message)
            return
        message = f"no viable alternative at input '{self.between(error.start, error.end)}'"
        self.notify(self.tokens[error.end].offset, _NO_NAME.sub(r"mismatched input '\1' expecting IDENTIFIER", message))

    def report_unwanted(self) -> None:
        if not self.in_error:
            self.in_error = True
            message = f"extraneous input {self.here()} expecting {shown(self.expected(self.state))}"
            self.notify(self.token().offset, message)

    def report_missing(self) -> None:
        if not self.in_error:
            self.in_error = True
            self.notify(self.token().offset, f"missing {shown(self.expected(self.state))} at {self.here()}")

    def here(self) -> str:
        return f"'{shown_source(self.token().text)}'"

    def between(self, start: int, end: int) -> str:
        """The source from one token to another, without what is no token."""
        first, last = self.tokens[start], self.tokens[end]
        if first.kind == "EOF":
            return "<EOF>"
        at, until = first.offset, last.offset + (len(last.text) if last.kind != "EOF" else 0)
        pieces = []
        for bad in self.bad:
            if at <= bad.start < until:
                pieces.append(self.problems.source[at : bad.start])
                at = bad.end
        return shown_source("".join(pieces) + self.problems.source[at:until])

    def notify(self, offset: int, message: str) -> None:
        self.errors += 1
        if self.errors > MAX_ERRORS:
            self.problems.add(offset, f"Syntax error: More than {MAX_ERRORS} syntax errors")
            raise _Ended
        self.problems.add(offset, f"Syntax error: {message}")

    def end_with(self, message: str) -> NoReturn:
        self.problems.add(-1, message)
        raise _Ended
