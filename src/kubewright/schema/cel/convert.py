"""Conversions between types: `int("1")`, `string(1.5)`, `timestamp("...")`."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from .clock import format_duration, format_timestamp, parse_duration, parse_timestamp
from .effort import spend_long
from .errors import EvaluationError
from .ops import int64, timestamp, uint64
from .values import Duration, Timestamp, UInt

__all__ = [
    "double_text",
    "to_bool",
    "to_bytes",
    "to_double",
    "to_duration",
    "to_int",
    "to_string",
    "to_timestamp",
    "to_uint",
]

_INT: Final = re.compile(r"[+-]?[0-9]+")
_UINT: Final = re.compile(r"[0-9]+")
_DOUBLE: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAMED: Final = {"inf": math.inf, "infinity": math.inf, "nan": math.nan}


def _fails(source: str, target: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{source}' to '{target}'")


def _whole(text: str, form: re.Pattern[str]) -> int | None:
    """The number that a text is, if it is one and of no more than 64 bits; zeros before it do not count."""
    spend_long(len(text))
    if not form.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0")
    return None if len(digits) > 20 else int(digits or "0") * (-1 if text.startswith("-") else 1)


def to_int(value: Any) -> int:
    match value:
        case str():
            number = _whole(value, _INT)
            if number is None:
                raise _fails("string", "int")
            if not -(2**63) <= number < 2**63:
                raise _fails("string", "int")
            return number
        case float():
            # Go refuses both ends: the float nearest to the largest int is above it.
            if not -9223372036854775808.0 < value < 9223372036854775808.0:
                raise EvaluationError("integer overflow")
            return int(value)
        case Timestamp():
            return value.ns // 10**9
        case Duration():
            return value.ns
    return int64(int(value))


def to_uint(value: Any) -> UInt:
    match value:
        case str():
            number = _whole(value, _UINT)
            if number is None or number >= 2**64:
                raise _fails("string", "uint")
            return UInt(number)
        case float():
            if not 0 <= value < 18446744073709551616.0:
                raise EvaluationError("unsigned integer overflow")
            return UInt(int(value))
    return uint64(int(value))


def to_double(value: Any) -> float:
    if isinstance(value, str):
        # Python takes longer for a number the longer it is.
        spend_long(4 * len(value))
        text = value.lower()
        sign = -1.0 if text.startswith("-") else 1.0
        named = _NAMED.get(text.lstrip("+-"))
        if named is not None and len(text) - len(text.lstrip("+-")) <= 1:
            return sign * named
        if not _DOUBLE.fullmatch(value):
            raise _fails("string", "double")
        number = float(value)
        if math.isinf(number):
            raise _fails("string", "double")
        return number
    return float(value)


def double_text(value: float) -> str:
    """A float as Go's `%g` writes it: `1e+06`, `0.1`, `NaN`, `+Inf`."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    mantissa, _, exponent = f"{value!r}".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    power = len(whole) + int(exponent or "0") - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    exp = power - 1
    if exp < -4 or exp >= 6:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{'-' if exp < 0 else '+'}{abs(exp):02d}"
    if power <= 0:
        return f"{sign}0.{'0' * -power}{digits}"
    if len(digits) <= power:
        return sign + digits + "0" * (power - len(digits))
    return f"{sign}{digits[:power]}.{digits[power:]}"


def to_string(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(int(value))
        case float():
            return double_text(value)
        case bytes():
            spend_long(len(value))
            try:
                return value.decode()
            except UnicodeDecodeError:
                raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None
        case Timestamp():
            return format_timestamp(value)
        case Duration():
            return format_duration(value)
    raise EvaluationError("no such overload")


def to_bytes(value: Any) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def to_bool(value: Any) -> bool:
    if isinstance(value, str):
        if value in ("1", "t", "T", "TRUE", "true", "True"):
            return True
        if value in ("0", "f", "F", "FALSE", "false", "False"):
            return False
        raise _fails("string", "bool")
    return bool(value)


def to_duration(value: Any) -> Duration:
    if isinstance(value, Duration):
        return value
    if isinstance(value, int):
        return Duration(value)
    spend_long(40 * len(value))
    try:
        return parse_duration(value)
    except ValueError:
        raise _fails("string", "google.protobuf.Duration") from None


def to_timestamp(value: Any) -> Timestamp:
    if isinstance(value, Timestamp):
        return value
    if isinstance(value, int):
        return timestamp(int(value) * 10**9)
    spend_long(len(value))
    try:
        return parse_timestamp(value)
    except ValueError:
        raise _fails("string", "google.protobuf.Timestamp") from None
