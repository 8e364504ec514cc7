"""Sets of characters as sorted, disjoint, inclusive ranges; case folding; the names behind `\\p{...}`.

Nothing is computed at import: general categories are read off `unicodedata` once, on the first `\\pL`; folding follows
the simple case pairs, which is what RE2 folds by. Python's tables may be of another Unicode version than Go's: a
character assigned in between is in no category here or there.
"""

from __future__ import annotations

import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from .re2_scripts import script_ranges

__all__ = ["MAX_RUNE", "PERL", "POSIX", "WORD", "Ranges", "fold_ranges", "merge", "named_ranges", "negate"]

Ranges = tuple[tuple[int, int], ...]
MAX_RUNE: Final = sys.maxunicode

DIGIT: Final[Ranges] = ((0x30, 0x39),)
SPACE: Final[Ranges] = ((0x9, 0xA), (0xC, 0xD), (0x20, 0x20))
WORD: Final[Ranges] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
PERL: Final = {"d": DIGIT, "s": SPACE, "w": WORD}
POSIX: Final[dict[str, Ranges]] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0, 0x7F),),
    "blank": ((0x9, 0x9), (0x20, 0x20)),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x9, 0xD), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}

_ALIASES: Final = {
    "letter": "L", "casedletter": "LC", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt",
    "modifierletter": "Lm", "otherletter": "Lo", "mark": "M", "combiningmark": "M", "nonspacingmark": "Mn",
    "spacingmark": "Mc", "enclosingmark": "Me", "number": "N", "decimalnumber": "Nd", "digit": "Nd",
    "letternumber": "Nl", "othernumber": "No", "punctuation": "P", "punct": "P", "connectorpunctuation": "Pc",
    "dashpunctuation": "Pd", "openpunctuation": "Ps", "closepunctuation": "Pe", "initialpunctuation": "Pi",
    "finalpunctuation": "Pf", "otherpunctuation": "Po", "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc",
    "modifiersymbol": "Sk", "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs", "lineseparator": "Zl",
    "paragraphseparator": "Zp", "other": "C", "control": "Cc", "cntrl": "Cc", "format": "Cf", "surrogate": "Cs",
    "privateuse": "Co", "unassigned": "Cn",
}  # fmt: skip


def merge(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same set, sorted and disjoint."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return tuple(merged)


def negate(ranges: Ranges) -> Ranges:
    """Every other character."""
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    if start <= MAX_RUNE:
        found.append((start, MAX_RUNE))
    return tuple(found)


@cache
def _folds() -> dict[int, tuple[int, ...]]:
    """Characters that are equal to others but for case, with those others."""
    classes: dict[str, set[int]] = {}
    for rune in range(MAX_RUNE + 1):
        char = chr(rune)
        lower, upper = char.lower(), char.upper()
        if lower == char and upper == char:
            continue
        for other in (lower, upper, upper.lower() if len(upper) == 1 else upper):
            if len(other) == 1:
                key = other.upper().lower()
                if len(key) == 1:
                    classes.setdefault(key, set()).update((rune, ord(other)))
    return {rune: tuple(sorted(same - {rune})) for same in classes.values() if len(same) > 1 for rune in same}


def fold_ranges(ranges: Ranges) -> Ranges:
    """The same set with all characters that differ by case only."""
    if ranges and ranges[0][0] == 0 and ranges[-1] == (ranges[-1][0], MAX_RUNE) and len(ranges) == 1:
        return ranges
    extra: list[tuple[int, int]] = []
    if all(high < 0x80 for _, high in ranges):
        for low, high in ranges:
            for rune in range(low, high + 1):
                char = chr(rune)
                if char.isalpha():
                    extra.append((ord(char.swapcase()),) * 2)
                if char in "kK":
                    extra.append((0x212A, 0x212A))
                if char in "sS":
                    extra.append((0x17F, 0x17F))
        return merge((*ranges, *extra))
    return _folded(merge(ranges))


@lru_cache(maxsize=64)
def _folded(ranges: Ranges) -> Ranges:
    starts = [low for low, _ in ranges]
    extra: list[tuple[int, int]] = []
    for rune, others in _folds().items():
        place = bisect_right(starts, rune) - 1
        if place >= 0 and rune <= ranges[place][1]:
            extra.extend((other, other) for other in others)
    return merge((*ranges, *extra))


@cache
def _categories() -> dict[str, Ranges]:
    found: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, unicodedata.category("\0")
    for rune in range(1, MAX_RUNE + 2):
        category = unicodedata.category(chr(rune)) if rune <= MAX_RUNE else ""
        if category != current:
            found.setdefault(current, []).append((start, rune - 1))
            start, current = rune, category
    for category in list(found):
        found.setdefault(category[0], []).extend(found[category])
    found["LC"] = found["Lu"] + found["Ll"] + found["Lt"]
    return {name: merge(ranges) for name, ranges in found.items()}


@cache
def _scripts() -> dict[str, Ranges]:
    return {_canonical(name): ranges for name, ranges in script_ranges().items()}


def _canonical(name: str) -> str:
    return "".join(char for char in name.lower() if char not in "_- ")


def named_ranges(name: str) -> Ranges | None:
    """The characters of a general category (`L`, `Nd`, `Letter`), a script (`Greek`), `Any` or `Assigned`."""
    canonical = _canonical(name)
    if canonical == "any":
        return ((0, MAX_RUNE),)
    if canonical == "ascii":
        return ((0, 0x7F),)
    if canonical == "assigned":
        return negate(_categories()["Cn"])
    if canonical in _scripts():
        return _scripts()[canonical]
    category = _ALIASES.get(canonical, "LC" if canonical == "lc" else canonical.capitalize())
    return _categories().get(category)
