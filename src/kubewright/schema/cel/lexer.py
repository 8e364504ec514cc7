"""Text to tokens. Whitespace and `//` comments go; what is no token is told apart and skipped, as ANTLR does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Bad", "Token", "shown_source", "tokenize"]

_ESCAPE: Final = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_STRING: Final = (
    rf'[rR]"""(?s:.*?)"""|[rR]\'\'\'(?s:.*?)\'\'\'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
    rf'|"""(?:{_ESCAPE}|[^\\])*?"""|\'\'\'(?:{_ESCAPE}|[^\\])*?\'\'\''
    rf'|"(?:{_ESCAPE}|[^\\"\n\r])*"|\'(?:{_ESCAPE}|[^\\\'\n\r])*\''
)
_TOKEN: Final = re.compile(
    rf"""(?P<skip>[\t \r\n\x0c]+|//[^\n]*)
    |(?P<BYTES>[bB](?:{_STRING}))
    |(?P<STRING>{_STRING})
    |(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
    |(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/\x20]+`)
    |(?P<op>==|!=|<=|>=|&&|\|\||[\[\]{{}}().,\-!?:+*/%<>])""",
    re.VERBOSE,
)
_KEYWORDS: Final = frozenset({"in", "true", "false", "null"})
_BAD_NAME: Final = re.compile(r"`[A-Za-z0-9_.\-/ ]*")
#: The beginning of an escape; ANTLR reads as far as there may still be a string.
_BEGUN: Final = r"(?:\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?)?"
_BAD_STRING: Final = re.compile(rf""""(?:{_ESCAPE}|[^\\"\n\r])*{_BEGUN}|'(?:{_ESCAPE}|[^\\'\n\r])*{_BEGUN}""")


@dataclass(frozen=True, slots=True)
class Token:
    """kind is a token class of the grammar (IDENTIFIER, NUM_INT, ...), the text of an operator or keyword, or EOF."""

    kind: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Bad:
    """A part of a text that is no token."""

    start: int
    end: int
    message: str


def shown_source(text: str) -> str:
    """A piece of source as messages quote it."""
    return text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def tokenize(source: str) -> tuple[list[Token], list[Bad]]:
    """All tokens, the last one EOF; and what is none."""
    tokens: list[Token] = []
    wrong: list[Bad] = []
    at = 0
    match = _TOKEN.match
    while at < len(source):
        found = match(source, at)
        if found is None:
            bad = _BAD_STRING.match(source, at)
            name = _BAD_NAME.match(source, at)
            end = max(bad.end() if bad else 0, name.end() if name else 0, at + 1)
            # The character that made it fail is taken with it.
            if (bad or name or source[at] in "=&|") and end < len(source):
                end += 1
            wrong.append(Bad(at, end, f"token recognition error at: '{source[at:end]}'"))
            at = end
            continue
        kind, text = found.lastgroup, found.group()
        if kind != "skip" and kind is not None:
            if kind == "op" or (kind == "IDENTIFIER" and text in _KEYWORDS):
                kind = text
            tokens.append(Token(kind, text, at))
        at = found.end()
    tokens.append(Token("EOF", "<EOF>", len(source)))
    return tokens, wrong
