"""Bounds of numbers, with the conversions that a server makes on the way.

A bound is a float64, also that of an integer. A server checks an integer against the bound cut to an integer, whatever
the type of the schema: under `type: number, maximum: 2.5` the integer 3 breaks "less than or equal to 2". A bound that
does not fit the type is an error of every value ("Maximum boundary value must be of type integer ..."). None of this
is wanted by anybody, all of it is what happens (`kube-openapi/pkg/validation/validate`, `go-openapi/swag`).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Final

import msgspec

from .gotext import plain

__all__ = ["Bounds", "is_whole"]

Number = int | float

_EXACT: Final = float(2**53)
_CLOSE: Final = 1e-9


def is_whole(number: float) -> bool:
    """Whether a floating-point number counts as an integer: within 53 bits, and whole or next to it."""
    if not math.isfinite(number) or number < -_EXACT or number > _EXACT - 1:
        return False
    whole = float(math.trunc(number))
    if number == whole:
        return True
    if number < 0 or whole == 0:
        return False
    return (number - whole) / (number + whole) < _CLOSE


def _as_integer(number: float) -> int:
    """A float64 as an int64, on a machine that gives the least one where it does not fit."""
    return math.trunc(number) if -(2.0**63) <= number < 2.0**63 else -(2**63)


class Bounds(msgspec.Struct, frozen=True):
    """What a schema says of numbers. `kind` is "integer", "number", or "" where the schema has no or several types."""

    kind: str
    format: str
    multiple: float | None = None
    minimum: float | None = None
    above: bool = False
    maximum: float | None = None
    below: bool = False

    @property
    def is_open(self) -> bool:
        """Whether any number passes (that has the right type)."""
        limited = self.kind == "integer" or self.format == "float"
        return not limited and self.multiple is None and self.minimum is None and self.maximum is None

    def allow(self, number: Number) -> bool:
        """Whether a number keeps them."""
        return next(self.problems(number), None) is None

    def problems(self, number: Number) -> Iterator[tuple[str, str, Number]]:
        """What a number breaks, as (kind of problem, text, the number as it was compared).

        The kinds: "range" for what is said without a field, "multiple", "limit", and "factor" when the schema itself
        is at fault (the number is then the factor).
        """
        if not self._fits(number):
            yield "range", self._unfit("Checked"), number
        if self.multiple is not None:
            yield from self._of_multiple(number, self.multiple)
        if self.minimum is not None:
            yield from self._of_limit(number, self.minimum, "Minimum boundary", is_low=True, exclusive=self.above)
        if self.maximum is not None:
            yield from self._of_limit(number, self.maximum, "Maximum boundary", is_low=False, exclusive=self.below)

    def _fits(self, number: Number) -> bool:
        if self.kind == "integer":
            bits = 31 if self.format == "int32" else 63
            return (isinstance(number, int) or float(number).is_integer()) and -(2**bits) <= number < 2**bits
        if self.format == "float" and self.kind == "number":
            try:
                struct.pack("<f", number)
            except OverflowError:
                return False
        return True

    def _unfit(self, what: str) -> str:
        shown = f"with format {self.format}" if self.format else "(default format)"
        return f"{what} value must be of type {self.kind} {shown} in "

    def _of_multiple(self, number: Number, factor: float) -> Iterator[tuple[str, str, Number]]:
        if not self._fits(factor):
            yield "range", self._unfit("MultipleOf"), number
            yield from _multiple(float(number), factor)
        elif isinstance(number, int):
            yield from _multiple_of_integer(number, _as_integer(factor))
        else:
            yield from _multiple(number, factor)

    def _of_limit(
        self, number: Number, limit: float, what: str, *, is_low: bool, exclusive: bool
    ) -> Iterator[tuple[str, str, Number]]:
        bound: Number = limit
        if not self._fits(limit):
            yield "range", self._unfit(what), number
            number = float(number)
        elif isinstance(number, int):
            bound = _as_integer(limit)
        broken = number < bound if is_low else number > bound
        if broken or (exclusive and number == bound):
            direction = "greater" if is_low else "less"
            equal = "" if exclusive else " or equal to"
            yield "limit", f"should be {direction} than{equal} {plain(bound)}", number


def _multiple(number: float, factor: float) -> Iterator[tuple[str, str, Number]]:
    if factor <= 0:
        yield "factor", plain(factor), factor
        return
    times = 1 / factor * number if factor < 1 else number / factor
    if not is_whole(times):
        yield "multiple", f"should be a multiple of {plain(factor)}", number


def _multiple_of_integer(number: int, factor: int) -> Iterator[tuple[str, str, Number]]:
    if factor <= 0:
        yield "factor", plain(factor), factor
    elif number % factor:
        yield "multiple", f"should be a multiple of {factor}", number
