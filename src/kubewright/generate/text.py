"""Python source text: literals, docstrings, and lists that do not fit on a line."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

__all__ = ["WIDTH", "bracketed", "docstring", "fold_annotation", "literal", "literal_tuple", "spread"]

WIDTH: Final = 120
_INDENT: Final = "    "
_SENTENCE_END: Final = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)\.(?=\s|$)|:(?=\s*\n|$)|\n\s*\n")
_TOKEN: Final = re.compile(r'[^"\s]*"(?:[^"\\]|\\.)*"[,\])}]*\s*|[^"\s]+\s*')


def literal(value: Any) -> str:
    """A Python literal of a JSON value, with double quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(name)}: {literal(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def literal_tuple(values: Sequence[Any]) -> str:
    return "(" + ", ".join(literal(value) for value in values) + ("," if len(values) == 1 else "") + ")"


def docstring(text: str, max_lines: int) -> Iterator[str]:
    """The first sentence of `text` as a docstring one level deep, cut to `max_lines`. No lines for no text."""
    sentence = _first_sentence(text).replace("\\", "\\\\").replace('"""', "'''")
    if not sentence:
        return
    if sentence.endswith('"'):
        sentence += " "
    shown = textwrap.wrap(
        sentence,
        WIDTH - len(_INDENT) - 6,
        max_lines=max_lines,
        placeholder=" ...",
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
    if sentence.endswith(" "):
        shown[-1] += " "
    first, rest = shown[0], shown[1:]
    yield f'{_INDENT}"""{first}' + ("" if rest else '"""')
    for line in rest:
        yield _INDENT + line.rstrip()
    if rest:
        yield f'{_INDENT}"""'


def _first_sentence(text: str) -> str:
    text = text.strip()
    end = _SENTENCE_END.search(text)
    sentence = " ".join((text[: end.start()] if end else text).split())
    return f"{sentence}." if end and sentence else sentence


def bracketed(start: str, items: Sequence[str], brackets: str, indent: str = "", width: int = WIDTH) -> Iterator[str]:
    """`start`, then the items in brackets: on one line where they fit, else one item a line.

    An item may have several lines itself.
    """
    line = f"{indent}{start}{brackets[0]}{', '.join(items)}{brackets[1]}"
    if len(line) <= width and "\n" not in line:
        yield line
        return
    yield f"{indent}{start}{brackets[0]}"
    for item in items:
        yield from f"{textwrap.indent(item, indent + _INDENT)},".split("\n")
    yield indent + brackets[1]


def spread(start: str, value: Any) -> str:
    """`start` and a literal; a long dictionary or list, one item a line, at every level."""
    if isinstance(value, dict):
        items = [spread(f"{literal(name)}: ", item) for name, item in value.items()]
        return "\n".join(bracketed(start, items, "{}"))
    if isinstance(value, list):
        return "\n".join(bracketed(start, [spread("", item) for item in value], "[]"))
    return start + (literal_tuple(value) if isinstance(value, tuple) else literal(value))


def fold_annotation(start: str, annotation: str, default: str) -> Iterator[str]:
    """`start: annotation default` of a class body; an annotation that is too long goes over several lines."""
    line = f"{_INDENT}{start}: {annotation}{default}"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{_INDENT}{start}: ("
    line = _INDENT * 2
    for token in _TOKEN.findall(annotation):
        if len(line) + len(token.rstrip()) > WIDTH and line.strip():
            yield line.rstrip()
            line = _INDENT * 2
        line += token
    yield line.rstrip()
    yield f"{_INDENT}){default}"
