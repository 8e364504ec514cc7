"""JSON values as an API server holds them.

A server reads whole numbers that fit into 64 bits as integers and all others as floating point, and never takes one for
the other: 1 is not 1.0, and True is not 1. Python's `==` does. What goes in is copied once by `json_value`, which also
bounds its depth; everything after it may change the copy and recurse without a thought.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["MAX_DEPTH", "TooDeep", "as_stored", "copied", "is_too_deep", "json_value", "same"]

MAX_DEPTH: Final = 200
"""Levels of an object. Far more than anybody writes; what is deeper is an attack on the stack."""


class TooDeep(ValueError):
    """A value has more levels than `MAX_DEPTH`, or holds itself."""

    def __init__(self) -> None:
        super().__init__(f"is nested deeper than {MAX_DEPTH} levels")


def is_too_deep(value: Any, depth: int = 0) -> bool:
    """Whether decoded JSON has more levels than anything here will walk.

    To be asked before a walk: the decoders take more levels than Python may recurse (a thousand; theirs were bounded by
    that until 3.11, and are bounded by the stack since).
    """
    if depth > MAX_DEPTH:
        return True
    if isinstance(value, Mapping):
        return any(is_too_deep(each, depth + 1) for each in value.values() if isinstance(each, dict | list))
    if isinstance(value, list):
        return any(is_too_deep(each, depth + 1) for each in value if isinstance(each, dict | list))
    return False


def json_value(value: Any, depth: int = 0) -> Any:
    """A deep copy in which numbers are as a server reads them.

    Raises:
        TooDeep: more than `MAX_DEPTH` levels.
        TypeError: a value that JSON has no form for; the text has its type.
    """
    kind = type(value)
    if kind is str or value is None or kind is bool or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else float(value)
    if isinstance(value, float):
        return value
    if depth >= MAX_DEPTH:
        raise TooDeep
    if isinstance(value, dict):
        return {str(name): json_value(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each, depth + 1) for each in value]
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def as_stored(value: Any) -> Any:
    """A value after its way to storage and back, where 1.0 is written as 1 and is an integer from then on."""
    if isinstance(value, dict):
        return {name: as_stored(each) for name, each in value.items()}
    if isinstance(value, list):
        return [as_stored(each) for each in value]
    if isinstance(value, float) and value.is_integer() and -(2**63) <= value < 2**63:
        return int(value)
    return value


def copied(value: Any) -> Any:
    """A deep copy of a value that `json_value` has made."""
    if isinstance(value, dict):
        return {name: copied(each) for name, each in value.items()}
    if isinstance(value, list):
        return [copied(each) for each in value]
    return value


def same(one: Any, other: Any) -> bool:
    """Deep equality that tells 1, 1.0 and True apart (Go's `reflect.DeepEqual`)."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return len(one) == len(other) and all(name in other and same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
