"""The tokens of one expression, read one by one; what is missing or too much is reported, and healed where clear.

Texts and healing are those of ANTLR's parser for cel-go's grammar: one token too many before what is expected is
skipped, a missing bracket at the end is taken for written.
"""

from __future__ import annotations

from typing import Final, NoReturn

from .errors import Problems
from .lexer import Token

__all__ = ["MAX_DEPTH", "STARTS", "Stop", "TokenStream"]

MAX_DEPTH: Final = 250
STARTS: Final = frozenset(
    {"[", "{", "(", ".", "-", "!", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES"}
    | {"IDENTIFIER"}
)
_OPERAND: Final = (
    "'['", "']'", "'{'", "'}'", "'('", "')'", "'.'", "','", "'-'", "'!'", "'?'", "'true'", "'false'", "'null'",
    "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER",
)  # fmt: skip
#: Of these, what can only be next in some places.
_SOMETIMES: Final = frozenset({"']'", "'}'", "')'", "','", "'?'"})


class Stop(Exception):
    """The parse cannot go on; the problem is noted."""


class TokenStream:
    """Where a parse is: the token, the depth, how many brackets are open."""

    def __init__(self, tokens: list[Token], problems: Problems) -> None:
        self.tokens = tokens
        self.at = 0
        self.token = tokens[0]
        self.problems = problems
        self.depth = 0
        #: What may come after each expression that is begun, innermost last.
        self.outer: list[tuple[str, ...]] = [("EOF",)]

    def next(self) -> Token:
        token = self.token
        if token.kind != "EOF":
            self.at += 1
            self.token = self.tokens[self.at]
        return token

    def accept(self, kind: str) -> Token | None:
        return self.next() if self.token.kind == kind else None

    def expect(self, kind: str, or_comma: bool = False) -> Token:
        """The next token, which has to be of a kind; one token too many or too few is reported and healed."""
        if self.token.kind == kind:
            return self.next()
        token = self.token
        what = f"{{'{kind}', ','}}" if or_comma else f"'{kind}'" if not kind.isupper() else kind
        if token.kind != "EOF" and self.tokens[self.at + 1].kind == kind:
            self.problems.add(token.offset, f"Syntax error: extraneous input '{token.text}' expecting {what}")
            self.next()
            return self.next()
        follows = token.kind in STARTS if kind == ":" else token.kind in self.outer[-2]
        if follows and kind in (")", "]", "}", ":") and not or_comma:
            self.problems.add(token.offset, f"Syntax error: missing '{kind}' at '{token.text}'")
            return Token(kind, kind, token.offset)
        return self.fail(f"Syntax error: mismatched input '{token.text}' expecting {what}", token.offset)

    def fail_expecting(self, what: str) -> NoReturn:
        self.fail(f"Syntax error: mismatched input '{self.token.text}' expecting {what}", self.token.offset)

    def operand_is_next(self, more: str = "") -> None:
        """Sees to it that an operand can start here, or one of the signs in `more`."""
        token = self.token
        if token.kind in STARTS or token.kind in tuple(more):
            return
        known = [each for each in _OPERAND if each not in _SOMETIMES or each[1] in more]
        shown = "{" + ", ".join(known) + "}"
        if token.kind != "EOF" and self.tokens[self.at + 1].kind in (*STARTS, *more):
            self.problems.add(token.offset, f"Syntax error: extraneous input '{token.text}' expecting {shown}")
            self.next()
            return
        self.fail_expecting(shown)

    def no_alternative(self, start: int, token: Token) -> NoReturn:
        """No rule of the grammar goes on with the token, from where one was begun; the source between is shown."""
        last = self.tokens[self.at - 1] if token.kind == "EOF" and self.at else token
        end = last.offset + len(last.text)
        shown = self.problems.source[start:end].replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        self.fail(f"Syntax error: no viable alternative at input '{shown}'", token.offset)

    def fail(self, message: str, offset: int) -> NoReturn:
        self.problems.add(offset, message)
        raise Stop

    def end(self) -> None:
        if self.token.kind == "EOF":
            return
        alone = self.tokens[self.at + 1].kind == "EOF"
        what = "extraneous" if alone else "mismatched"
        self.fail(f"Syntax error: {what} input '{self.token.text}' expecting <EOF>", self.token.offset)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"expression recursion limit exceeded: {MAX_DEPTH}", -1)
