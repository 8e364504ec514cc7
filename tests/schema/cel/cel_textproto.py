"""Protobuf's text format to Python, as far as cel-spec's simple tests use it: `{name: [values]}`, nested."""

from __future__ import annotations

import re
from typing import Any

_TOKEN = re.compile(
    r"""[\s,;]+|\#[^\n]*|(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<word>[A-Za-z_][\w.]*)
    |(?P<number>-?(?:0x[0-9a-fA-F]+|[0-9.]+(?:[eE][+-]?[0-9]+)?|inf|nan)f?)|(?P<sign>[{}<>:\[\]/-])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


class Word(str):
    """A name as a value: an enumeration's, or true and false."""


def _unescape(found: re.Match[bytes]) -> bytes:
    octal, hexadecimal, short, long, other = found.groups()
    if octal:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal:
        return bytes([int(hexadecimal, 16)])
    if short or long:
        return chr(int(short or long, 16)).encode("utf-8", "surrogatepass")
    return _PLAIN.get(other, other)


def parse(text: str) -> dict[str, list[Any]]:
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"not text format at {text[at : at + 40]!r}")
        if found.lastgroup:
            tokens.append((found.lastgroup, found.group()))
        at = found.end()
    message, _ = _message(tokens, 0)
    return message


def _message(tokens: list[tuple[str, str]], at: int) -> tuple[dict[str, list[Any]], int]:
    message: dict[str, list[Any]] = {}
    while at < len(tokens) and tokens[at][1] not in ("}", ">"):
        if tokens[at][1] == "[":
            end = at
            while tokens[end][1] != "]":
                end += 1
            name = "[" + "".join(token for _, token in tokens[at + 1 : end]) + "]"
            at = end + 1
        else:
            name = tokens[at][1]
            at += 1
        if tokens[at][1] == ":":
            at += 1
        if tokens[at][1] == "[":
            at += 1
            while tokens[at][1] != "]":
                value, at = _value(tokens, at)
                message.setdefault(name, []).append(value)
            at += 1
        else:
            value, at = _value(tokens, at)
            message.setdefault(name, []).append(value)
    return message, at + 1


def _value(tokens: list[tuple[str, str]], at: int) -> tuple[Any, int]:
    kind, text = tokens[at]
    if text in ("{", "<"):
        return _message(tokens, at + 1)
    if text == "-":
        value, at = _value(tokens, at + 1)
        return (-float(value) if isinstance(value, str) else -value), at
    if kind == "string":
        parts = []
        while at < len(tokens) and tokens[at][0] == "string":
            parts.append(_ESCAPE.sub(_unescape, tokens[at][1][1:-1].encode("utf-8", "surrogatepass")))
            at += 1
        return b"".join(parts), at
    if kind == "word":
        return Word(text), at + 1
    if text[:2] == "0x":
        return int(text, 16), at + 1
    return (float(text) if any(char in text for char in ".einE") else int(text)), at + 1
