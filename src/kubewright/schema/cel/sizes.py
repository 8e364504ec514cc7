"""Ranges of sizes and costs in unsigned 64 bits: what does not fit is the largest number, and stays it."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

__all__ = ["LARGEST", "UNKNOWN", "Range", "fixed"]

LARGEST: Final = 2**64 - 1
_TOP: Final = float(2**64)


def _factor(size: int, factor: float) -> int:
    # Floats on purpose: the server computes with them.
    product = math.ceil(float(size) * factor)
    return LARGEST if product >= _TOP else product


class Range(NamedTuple):
    """From `low` to `high`, of a size or of a cost."""

    low: int
    high: int

    def plus(self, other: Range) -> Range:
        return Range(min(self.low + other.low, LARGEST), min(self.high + other.high, LARGEST))

    def times(self, other: Range) -> Range:
        return Range(min(self.low * other.low, LARGEST), min(self.high * other.high, LARGEST))

    def scaled(self, factor: float) -> Range:
        return Range(_factor(self.low, factor), _factor(self.high, factor))

    def union(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))


UNKNOWN: Final = Range(0, LARGEST)


def fixed(value: int) -> Range:
    return Range(value, value)
