"""The YAML that kubectl and the tools around it write into a kubeconfig, read without a library.

Owns a part of YAML: block mappings and lists, of scalars that stand in one line and mean a text, or true and false. All
else, and all that is wrong, is left to PyYAML: which takes 20 ms to import, a tenth of the start of an operator, and
2 MiB for as long as that runs. What is read here is read as PyYAML reads it; a text that YAML gives another meaning
(`no`, `1.20`, a date), that goes on in the next line or has an escape in it is not of this part.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

__all__ = ["read"]

_IN_WORD: Final = r"[A-Za-z0-9_./@=+,-]"
_PLAIN: Final = rf"[A-Za-z/]{_IN_WORD}*(?:[: ]{_IN_WORD}+)*"
_LINE: Final = re.compile(
    rf"""(?P<indent>\ *)(?P<dash>-\ )?
    (?:(?P<key>[A-Za-z][A-Za-z0-9_./-]{{0,99}}):(?:\ (?=[^ ])|$))?
    (?P<value>{_PLAIN}|"[ !\#-\[\]-~]*"|'[ -&(-~]*'|\{{\}}|\[\])?""",
    re.X,
)
_WORDS: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


class _Beyond(Exception):
    """Something that is not of this part."""


class _Token(NamedTuple):
    """A dash, or a key with what stands behind it, or (without a key) an item of a list."""

    indent: int
    dash: bool = False
    key: str | None = None
    value: Any = None


_END: Final = _Token(-1)


def read(text: str) -> object:
    """The content of a YAML text: a mapping or a list. None if it holds something that is not of this part."""
    try:
        tokens = [*_tokens(text), _END]
        value, at = _block(tokens, 0)
    except _Beyond:
        return None
    return value if tokens[at] is _END else None


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    for line in text.split("\n"):
        if not line or line.lstrip(" ").startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise _Beyond
        dash, key, value = match["dash"], match["key"], match["value"]
        indent = len(match["indent"])
        if dash:
            found.append(_Token(indent, dash=True))
            indent += 2
        if key is None and (value is None or not dash):
            raise _Beyond
        if key is not None and key.lower() in _WORDS:
            raise _Beyond
        found.append(_Token(indent, False, key, None if value is None else _scalar(value)))
    return found


def _scalar(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    if text in ("{}", "[]"):
        return {} if text == "{}" else []
    if text.lower() in _WORDS:
        if text not in ("true", "false"):
            raise _Beyond
        return text == "true"
    return text


def _block(tokens: list[_Token], at: int) -> tuple[Any, int]:
    """The mapping, list or item that begins at a token, and where it ends."""
    first = tokens[at]
    value: Any
    if first.dash:
        value, at = _list(tokens, at, first.indent)
    elif first.key is not None:
        value, at = _mapping(tokens, at, first.indent)
    elif first is _END:
        raise _Beyond
    else:
        value, at = first.value, at + 1
    if tokens[at].indent > first.indent:
        raise _Beyond
    return value, at


def _list(tokens: list[_Token], at: int, indent: int) -> tuple[list[Any], int]:
    found = []
    while tokens[at].dash and tokens[at].indent == indent:
        item, at = _block(tokens, at + 1)
        found.append(item)
    return found, at


def _mapping(tokens: list[_Token], at: int, indent: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while (key := tokens[at].key) is not None and tokens[at].indent == indent:
        value, at = tokens[at].value, at + 1
        following = tokens[at]
        if value is None and (following.indent > indent or (following.dash and following.indent == indent)):
            value, at = _block(tokens, at)
        if key in found:
            raise _Beyond
        found[key] = value
    return found, at
