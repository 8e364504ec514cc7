"""Kubernetes' quantities and semantic versions."""

from __future__ import annotations

from functools import total_ordering
from typing import ClassVar, Final

from ...model import Quantity
from .effort import spend_long
from .errors import EvaluationError
from .signatures import Library
from .types import object_type, type_of_type
from .values import TypeValue

__all__ = ["QUANTITY", "SEMVER", "QuantityValue", "Semver"]

QUANTITY: Final = Library("kubernetes.quantity")
SEMVER: Final = Library("kubernetes.Semver")
_NANO: Final = 10**9


class QuantityValue:
    """An amount; equal ones may be written differently."""

    cel_type: ClassVar = "kubernetes.Quantity"
    __slots__ = ("quantity",)

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuantityValue) and self.quantity == other.quantity

    def __hash__(self) -> int:
        return hash(self.quantity)


def _parse(text: str) -> QuantityValue:
    spend_long(len(text))
    try:
        return QuantityValue(Quantity(text))
    except ValueError:
        raise EvaluationError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ) from None


def _is_quantity(text: str) -> bool:
    try:
        Quantity(text)
    except ValueError:
        return False
    return True


def _whole(value: QuantityValue) -> int | None:
    units, rest = divmod(value.quantity.nanos, _NANO)
    return None if rest or not -(2**63) <= units < 2**63 else units


def _as_integer(value: QuantityValue) -> int:
    units = _whole(value)
    if units is None:
        raise EvaluationError("cannot convert value to integer")
    return units


def _compare(one: QuantityValue, other: QuantityValue) -> int:
    left, right = one.quantity.nanos, other.quantity.nanos
    return (left > right) - (left < right)


def _sign(value: QuantityValue) -> int:
    return (value.quantity.nanos > 0) - (value.quantity.nanos < 0)


_TYPE: Final = "kubernetes.Quantity"
QUANTITY.constants[_TYPE] = (type_of_type(object_type(_TYPE)), TypeValue(_TYPE))
QUANTITY.add_all(
    (
        ("string_to_quantity", f"quantity (string) -> {_TYPE}", _parse),
        ("is_quantity_string", "isQuantity (string) -> bool", _is_quantity),
        ("quantity_sign", f"sign ({_TYPE}) -> int", _sign),
        ("quantity_is_greater_than", f".isGreaterThan ({_TYPE}, {_TYPE}) -> bool", lambda a, b: _compare(a, b) > 0),
        ("quantity_is_less_than", f".isLessThan ({_TYPE}, {_TYPE}) -> bool", lambda a, b: _compare(a, b) < 0),
        ("quantity_compare_to", f".compareTo ({_TYPE}, {_TYPE}) -> int", _compare),
        ("quantity_get_float", f".asApproximateFloat ({_TYPE}) -> double", lambda value: float(value.quantity)),
        ("quantity_get_int", f".asInteger ({_TYPE}) -> int", _as_integer),
        ("quantity_is_integer", f".isInteger ({_TYPE}) -> bool", lambda value: _whole(value) is not None),
        ("quantity_add", f".add ({_TYPE}, {_TYPE}) -> {_TYPE}", lambda a, b: QuantityValue(a.quantity + b.quantity)),
        ("quantity_add_int", f".add ({_TYPE}, int) -> {_TYPE}", lambda a, b: QuantityValue(a.quantity + b)),
        ("quantity_sub", f".sub ({_TYPE}, {_TYPE}) -> {_TYPE}", lambda a, b: QuantityValue(a.quantity - b.quantity)),
        ("quantity_sub_int", f".sub ({_TYPE}, int) -> {_TYPE}", lambda a, b: QuantityValue(a.quantity - b)),
    )
)


# -- versions ---------------------------------------------------------------------------------------------------------


@total_ordering
class Semver:
    """A semantic version. Build metadata does not count in comparisons."""

    cel_type: ClassVar = "kubernetes.Semver"
    __slots__ = ("major", "minor", "patch", "pre")

    def __init__(self, major: int, minor: int, patch: int, pre: tuple[str, ...]) -> None:
        self.major = major
        self.minor = minor
        self.patch = patch
        self.pre = pre

    def _key(self) -> tuple[int, int, int, bool, list[tuple[bool, int, str]]]:
        spend_long(50 * len(self.pre))
        pre = [(not each.isdigit(), int(each) if each.isdigit() else 0, each) for each in self.pre]
        return self.major, self.minor, self.patch, not self.pre, pre

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self._key() == other._key()

    def __lt__(self, other: Semver) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(str(self._key()))


_ALPHANUMERIC: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


def parse_semver(text: str) -> Semver:
    """A version by https://semver.org. Raises ValueError with the server's words."""
    spend_long(4 * len(text))
    if not text:
        raise ValueError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise ValueError("No Major.Minor.Patch elements found")
    major = _version_number(parts[0], "Major", "major")
    minor = _version_number(parts[1], "Minor", "minor")
    rest, plus, build = parts[2].partition("+")
    rest, dash, pre = rest.partition("-")
    patch = _version_number(rest, "Patch", "patch")
    found: list[str] = []
    for each in pre.split(".") if dash else ():
        if not each:
            raise ValueError("Prerelease is empty")
        if not _ALPHANUMERIC.issuperset(each):
            raise ValueError(f'Invalid character(s) found in prerelease "{each}"')
        if each.isdigit() and len(each) > 1 and each[0] == "0":
            raise ValueError(f'Numeric PreRelease version must not contain leading zeroes "{each}"')
        if each.isdigit():
            _unsigned(each)
        found.append(each)
    for each in build.split(".") if plus else ():
        if not each:
            raise ValueError("Build meta data is empty")
        if not _ALPHANUMERIC.issuperset(each):
            raise ValueError(f'Invalid character(s) found in build meta data "{each}"')
    return Semver(major, minor, patch, tuple(found))


def _version_number(text: str, title: str, name: str) -> int:
    if not (text.isascii() and text.isdigit()):
        if not text and title == "Patch":
            raise ValueError('strconv.ParseUint: parsing "": invalid syntax')
        raise ValueError(f'Invalid character(s) found in {name} number "{text}"')
    if len(text) > 1 and text[0] == "0":
        raise ValueError(f'{title} number must not contain leading zeroes "{text}"')
    return _unsigned(text)


def _unsigned(digits: str) -> int:
    number = int(digits) if len(digits) <= 20 else 2**64
    if number >= 2**64:
        raise ValueError(f'strconv.ParseUint: parsing "{digits}": value out of range')
    return number


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for place, part in enumerate(parts):
        if len(part) > 1:
            bare = part.lstrip("0")
            parts[place] = bare if bare and bare[0] in "0123456789" else "0" + bare
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise ValueError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _semver(text: str, normalize: bool = False) -> Semver:
    try:
        return parse_semver(_normalized(text) if normalize else text)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        parse_semver(_normalized(text) if normalize else text)
    except ValueError:
        return False
    return True


_VERSION: Final = "kubernetes.Semver"
SEMVER.constants[_VERSION] = (type_of_type(object_type(_VERSION)), TypeValue(_VERSION))
SEMVER.add_all(
    (
        ("string_to_semver", f"semver (string) -> {_VERSION}", _semver),
        ("string_bool_to_semver", f"semver (string, bool) -> {_VERSION}", _semver),
        ("is_semver_string", "isSemver (string) -> bool", _is_semver),
        ("is_semver_string_bool", "isSemver (string, bool) -> bool", _is_semver),
        ("semver_is_greater_than", f".isGreaterThan ({_VERSION}, {_VERSION}) -> bool", lambda a, b: a > b),
        ("semver_is_less_than", f".isLessThan ({_VERSION}, {_VERSION}) -> bool", lambda a, b: a < b),
        ("semver_compare_to", f".compareTo ({_VERSION}, {_VERSION}) -> int", lambda a, b: (a > b) - (a < b)),
        ("semver_major", f".major ({_VERSION}) -> int", lambda version: version.major),
        ("semver_minor", f".minor ({_VERSION}) -> int", lambda version: version.minor),
        ("semver_patch", f".patch ({_VERSION}) -> int", lambda version: version.patch),
    )
)
