"""Regular expressions of expressions: searches that would take longer than some seconds end the evaluation.

Costs alone do not bound it: the server charges by lengths, and Go's matcher is a hundred times quicker than this one on
the few expressions that keep it busy. What all searches of one evaluation may do is bounded together (`re2.limited`,
which `Program` enters where it has searches), and what patterns that are only known then take to compile counts.
"""

from __future__ import annotations

from .. import re2
from .effort import spend_work
from .errors import CostLimitExceeded

__all__ = ["compile_late", "find", "find_all", "search"]


def compile_late(pattern: str) -> re2.Regex:
    """A pattern that is no literal.

    Raises:
        Re2Error: it is none.
        CostLimitExceeded: what the evaluation may do is used up.
    """
    regex = re2.compile(pattern)
    spend_work(len(pattern) + regex.size)
    return regex


def search(regex: re2.Regex, text: str) -> bool:
    try:
        return regex.search(text)
    except re2.TooLong:
        raise CostLimitExceeded from None


def find(regex: re2.Regex, text: str) -> str:
    try:
        return regex.find(text) or ""
    except re2.TooLong:
        raise CostLimitExceeded from None


def find_all(regex: re2.Regex, text: str, limit: int = -1) -> list[str]:
    try:
        return regex.find_all(text, limit)
    except re2.TooLong:
        raise CostLimitExceeded from None
