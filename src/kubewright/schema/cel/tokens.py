"""The tokens of one expression, read one by one, until one is not what the grammar expects there."""

from __future__ import annotations

from typing import Final, NoReturn

from .errors import Problems
from .lexer import Token

__all__ = ["MAX_DEPTH", "Stop", "TokenStream"]

MAX_DEPTH: Final = 250


class Stop(Exception):
    """The text is no expression, or one that is too deep."""


class TokenStream:
    """Where a parse is: the token, and the depth."""

    __slots__ = ("at", "depth", "problems", "token", "tokens")

    def __init__(self, tokens: list[Token], problems: Problems) -> None:
        self.tokens = tokens
        self.at = 0
        self.token = tokens[0]
        self.problems = problems
        self.depth = 0

    def next(self) -> Token:
        token = self.token
        if token.kind != "EOF":
            self.at += 1
            self.token = self.tokens[self.at]
        return token

    def accept(self, kind: str) -> Token | None:
        return self.next() if self.token.kind == kind else None

    def expect(self, kind: str) -> Token:
        return self.next() if self.token.kind == kind else self.fail()

    def fail(self) -> NoReturn:
        """What is wrong is told by a parse that goes on after errors; this text is for where that finds nothing."""
        self.problems.add(self.token.offset, f"Syntax error: unexpected input '{self.token.text}'")
        raise Stop

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.problems.add(-1, f"expression recursion limit exceeded: {MAX_DEPTH}")
            raise Stop
