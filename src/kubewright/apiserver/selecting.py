"""Label and field selectors of a query: read by `kubewright.model`, refused in the real server's words.

The model's own messages are for programs that are written here; a client of the server gets what kube-apiserver says.
So a text that does not parse is gone through a second time, by the steps of `apimachinery/pkg/labels`, to the place
where they stop. Only the words are made here: what is a selector is the model's to say.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from kubewright.model.fieldselector import FieldSelector
from kubewright.model.selector import Selector
from kubewright.schema.structural.fielderrors import summary
from kubewright.schema.structural.gotext import quoted
from kubewright.schema.structural.metarules import label_value, qualified_name

from .errors import bad_request

__all__ = ["field_selector", "label_selector"]

_WORDS: Final = re.compile(r"==|!=|[=!(),<>]|[^=!(),<>\s\0]+")
_SPECIAL: Final = frozenset({"==", "!=", "=", "!", "(", ")", ",", "<", ">"})
_OPERATORS: Final = ("in", "notin", "=", "==", "!=", "gt", "lt")
_BINARY: Final = frozenset({"in", "notin", "=", "==", "!=", ">", "<"})


@lru_cache(maxsize=512)
def label_selector(text: str) -> Selector:
    """Raises StatusError: it is none."""
    try:
        return Selector.parse(text)
    except ValueError as error:
        raise bad_request(_label_problem(text) or f"unable to parse requirement: {error}") from None


@lru_cache(maxsize=512)
def field_selector(text: str) -> FieldSelector:
    """Raises StatusError: it is none."""
    try:
        return FieldSelector.parse(text)
    except ValueError as error:
        for term in re.split(r"(?<!\\),", text):
            if term and "=" not in term:
                raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'") from None
        raise bad_request(str(error)) from None


class _Stop(Exception):
    """Where the real parser stops."""


class _Steps:
    """The words of a label selector; the empty one ends them."""

    def __init__(self, text: str) -> None:
        self._words = [*map(str, _WORDS.findall(text)), ""]
        self._place = 0

    @property
    def next(self) -> str:
        return self._words[min(self._place, len(self._words) - 1)]

    def take(self) -> str:
        word = self.next
        self._place += 1
        return word


def _is_name(word: str) -> bool:
    return bool(word) and word not in _SPECIAL


def _label_problem(text: str) -> str:
    """Where and why the real parser stops; empty if it would not."""
    steps = _Steps(text)
    while True:
        word = steps.next
        if not word:
            return ""
        if not _is_name(word) and word != "!":
            return f"found '{word}', expected: !, identifier, or 'end of string'"
        try:
            _requirement(steps)
        except _Stop as stop:
            return f"unable to parse requirement: {stop}"
        word = steps.take()
        if not word:
            return ""
        if word != ",":
            return f"found '{word}', expected: ',' or 'end of string'"
        if not _is_name(steps.next) and steps.next != "!":
            return f"found '{steps.next}', expected: identifier after ','"


def _requirement(steps: _Steps) -> None:
    word = steps.take()
    is_absent = word == "!"
    if is_absent:
        word = steps.take()
    if not _is_name(word):
        raise _Stop(f"found '{word}', expected: identifier")
    if problems := qualified_name(word):
        raise _Stop(f"<nil>: Invalid value: {quoted(word)}: {'; '.join(problems)}")
    if is_absent or steps.next in ("", ","):
        return
    key, operator = word, steps.take()
    if operator not in _BINARY:
        raise _Stop(f"found '{operator}', expected: {', '.join(_OPERATORS)}")
    values = _values(steps) if operator in ("in", "notin") else [_value(steps)]
    said: list[str] = []
    for place, value in enumerate(sorted(set(values))):
        if operator in (">", "<") and re.fullmatch(r"[+-]?[0-9]+", value) is None:
            said.append(f"values[{place}]: Invalid value: {quoted(value)}: {_NUMBER}")
        if problems := label_value(value):
            said.append(f"values[{place}][{key}]: Invalid value: {quoted(value)}: {'; '.join(problems)}")
    if said:
        raise _Stop(summary(said))


_NUMBER: Final = "for 'Gt', 'Lt' operators, the value must be an integer"


def _value(steps: _Steps) -> str:
    if steps.next in ("", ","):
        return ""
    word = steps.take()
    if not _is_name(word):
        raise _Stop(f"found '{word}', expected: identifier")
    return word


def _values(steps: _Steps) -> list[str]:
    word = steps.take()
    if word != "(":
        raise _Stop(f"found '{word}' expected: '('")
    if steps.next == ")":
        steps.take()
        return [""]
    if not _is_name(steps.next) and steps.next != ",":
        raise _Stop(f"found '{steps.next}', expected: ',', ')' or identifier")
    found: list[str] = []
    while True:
        word = steps.take()
        if _is_name(word):
            found.append(word)
            if steps.next not in (",", ")"):
                raise _Stop(f"found '{steps.next}', expected: ',' or ')'")
        elif word == ",":
            if not found or steps.next in (",", ")"):
                found.append("")
        elif word == ")":
            return found
        else:
            raise _Stop(f"found '{word}', expected: ',', or identifier")
