"""Kubernetes' functions of lists and regular expressions: min, max, sum, isSorted, indexOf, includes, find, findAll."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from .. import re2
from .effort import spend_long
from .equality import equals
from .errors import EvaluationError
from .lists import COMPARABLE
from .ops import add, compare
from .regexes import compile_late, find, find_all, search
from .signatures import Library
from .values import Duration, UInt

__all__ = ["K8S_LISTS", "REGEX", "REGEX_PREPARE"]

K8S_LISTS: Final = Library("kubernetes.lists")
REGEX: Final = Library("kubernetes.regex")

_ZERO: Final[dict[str, Any]] = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}


def _extreme(name: str, worse: int) -> Callable[[list[Any]], Any]:
    def extreme(items: list[Any]) -> Any:
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        spend_long(20 * len(items))
        best = items[0]
        for item in items[1:]:
            if compare(best, item) == worse:
                best = item
        return best

    return extreme


def _sum(zero: Any) -> Callable[[list[Any]], Any]:
    def total(items: list[Any]) -> Any:
        found = zero
        spend_long(20 * len(items))
        for item in items:
            found = add(found, item)
        return found

    return total


def _is_sorted(items: list[Any]) -> bool:
    spend_long(20 * len(items))
    return all(compare(one, other) <= 0 for one, other in pairwise(items))


def _index_of(items: list[Any], item: Any) -> int:
    return next((place for place, each in enumerate(items) if equals(each, item)), -1)


def _last_index_of(items: list[Any], item: Any) -> int:
    return next((place for place in range(len(items) - 1, -1, -1) if equals(items[place], item)), -1)


def _includes(items: Any, item: Any) -> bool:
    if isinstance(items, list):
        return any(equals(each, item) for each in items)
    return equals(items, item)


for _type, _zero in _ZERO.items():
    K8S_LISTS.add(f"list_{_type}_sum_{_type}", f".sum (list({_type})) -> {_type}", _sum(_zero))
for _type in COMPARABLE:
    K8S_LISTS.add(f"list_{_type}_is_sorted_bool", f".isSorted (list({_type})) -> bool", _is_sorted)
    K8S_LISTS.add(f"list_{_type}_max_{_type}", f".max (list({_type})) -> {_type}", _extreme("max", -1))
    K8S_LISTS.add(f"list_{_type}_min_{_type}", f".min (list({_type})) -> {_type}", _extreme("min", 1))
K8S_LISTS.add("list_a_index_of_int", ".indexOf (list(A), A) -> int", _index_of)
K8S_LISTS.add("list_a_last_index_of_int", ".lastIndexOf (list(A), A) -> int", _last_index_of)
K8S_LISTS.add("list_includes_dyn_dyn", ".includes (dyn, dyn) -> bool", _includes)


# -- regular expressions ----------------------------------------------------------------------------------------------


def _compile(pattern: str) -> re2.Regex:
    try:
        return compile_late(pattern)
    except re2.Re2Error as error:
        raise EvaluationError(f"Illegal regex: {error}") from None


def _prepared(pattern: str) -> re2.Regex:
    try:
        return re2.compile(pattern)
    except re2.Re2Error as error:
        raise EvaluationError(str(error)) from None


def _find(text: str, pattern: str) -> str:
    return find(_compile(pattern), text)


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    return find_all(_compile(pattern), text, limit)


REGEX.add("string_find_string", ".find (string, string) -> string", _find)
REGEX.add("string_find_all_string", ".findAll (string, string) -> list(string)", _find_all)
REGEX.add("string_find_all_string_int", ".findAll (string, string, int) -> list(string)", _find_all)


def _prepare_find(pattern: str) -> Callable[..., str]:
    regex = _prepared(pattern)
    return lambda text, _: find(regex, text)


def _prepare_find_all(pattern: str) -> Callable[..., list[str]]:
    regex = _prepared(pattern)
    return lambda text, _, limit=-1: find_all(regex, text, limit)


def _prepare_matches(pattern: str) -> Callable[..., bool]:
    regex = _prepared(pattern)
    return lambda text, _: search(regex, text)


#: What turns literal patterns into functions once, when a program is made.
REGEX_PREPARE: Final[dict[str, Callable[[str], Callable[..., Any]]]] = {
    "matches": _prepare_matches,
    "matches_string": _prepare_matches,
    "string_find_string": _prepare_find,
    "string_find_all_string": _prepare_find_all,
    "string_find_all_string_int": _prepare_find_all,
}
