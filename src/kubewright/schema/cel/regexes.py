"""Regular expressions of expressions: a search that would take longer than some seconds ends the evaluation.

Costs alone do not bound it: the server charges by lengths, and Go's matcher is a hundred times quicker than this one on
the few expressions that keep it busy.
"""

from __future__ import annotations

from typing import Final

from .. import re2
from .errors import CostLimitExceeded

__all__ = ["MAX_WORK", "find", "find_all", "search"]

MAX_WORK: Final = 2_000_000


def search(regex: re2.Regex, text: str) -> bool:
    try:
        return regex.search(text, re2.Work(MAX_WORK))
    except re2.TooLong:
        raise CostLimitExceeded from None


def find(regex: re2.Regex, text: str) -> str:
    try:
        return regex.find(text, re2.Work(MAX_WORK)) or ""
    except re2.TooLong:
        raise CostLimitExceeded from None


def find_all(regex: re2.Regex, text: str, limit: int = -1) -> list[str]:
    try:
        return regex.find_all(text, limit, re2.Work(MAX_WORK))
    except re2.TooLong:
        raise CostLimitExceeded from None
