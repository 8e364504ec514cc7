"""The values of string, bytes and number tokens. Raises ValueError with cel-go's words."""

from __future__ import annotations

from typing import Final

__all__ = ["parse_bytes", "parse_int", "parse_string", "parse_uint"]

_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_HEX_DIGITS: Final = {"x": 2, "X": 2, "u": 4, "U": 8}


def _strip(token: str) -> tuple[str, bool]:
    """What is between the quotes, and whether backslashes mean nothing in it."""
    raw = token[0] in "rR"
    if raw:
        token = token[1:]
    quotes = 3 if len(token) >= 6 and token[:3] in ('"""', "'''") else 1
    return token[quotes:-quotes].replace("\r\n", "\n").replace("\r", "\n"), raw


def parse_string(token: str) -> str:
    text, raw = _strip(token)
    if raw or "\\" not in text:
        return text
    return "".join(_chars(text, False))  # type: ignore[arg-type]


def parse_bytes(token: str) -> bytes:
    """The bytes of a token without its `b`. `\\x` and octal escapes are bytes; other characters are UTF-8."""
    text, raw = _strip(token)
    if raw or "\\" not in text:
        return text.encode()
    return b"".join(part if isinstance(part, bytes) else part.encode() for part in _chars(text, True))


def _chars(text: str, as_bytes: bool) -> list[str | bytes]:
    found: list[str | bytes] = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\":
            found.append(char)
            continue
        letter = text[at]
        at += 1
        if letter in _SIMPLE:
            found.append(_SIMPLE[letter])
            continue
        if letter in _HEX_DIGITS:
            digits, base = text[at : at + _HEX_DIGITS[letter]], 16
            at += len(digits)
            if as_bytes and letter in "uU":
                raise ValueError("unable to unescape string")
        else:
            digits, base = text[at - 1 : at + 2], 8
            at += 2
        value = int(digits, base)
        if as_bytes:
            if value > 0xFF:
                raise ValueError("unable to unescape string")
            found.append(bytes((value,)))
        elif value > 0x10FFFF or 0xD800 <= value < 0xE000:
            raise ValueError("invalid unicode code point")
        else:
            found.append(chr(value))
    return found


def parse_int(token: str, negative: bool) -> int:
    value = int(token, 16) if token[:2] == "0x" else _decimal(token, "invalid int literal")
    value = -value if negative else value
    if not -(2**63) <= value < 2**63:
        raise ValueError("invalid int literal")
    return value


def parse_uint(token: str) -> int:
    digits = token[:-1]
    value = int(digits, 16) if digits[:2] == "0x" else _decimal(digits, "invalid uint literal")
    if value >= 2**64:
        raise ValueError("invalid uint literal")
    return value


def _decimal(digits: str, rule: str) -> int:
    # Python refuses to convert huge decimals with a text of its own.
    if len(digits.lstrip("0")) > 20:
        raise ValueError(rule)
    return int(digits)
