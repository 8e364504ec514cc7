"""A Python type taken apart: its core, its markers, and which kinds of nothing it allows.

`Annotated[NewType | None, ...]`, aliases and unions nest in any order; what matters to a schema is little. Nothing here
knows what a core or a marker means.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UnsetType

from .foreign import flatten

__all__ = ["Spelled", "name_of", "spell_out"]


class Spelled(msgspec.Struct):
    """`markers` are innermost first. `arms` are the cases of a union of more than `T | None`; `core` is then None."""

    core: Any
    markers: list[Any]
    none: bool = False
    unset: bool = False
    arms: tuple[Any, ...] = ()


def spell_out(wanted: Any) -> Spelled:
    """Take Annotated, NewType, type aliases and Optional apart."""
    markers: list[Any] = []
    none = unset = False
    while True:
        origin = get_origin(wanted)
        if origin is Annotated:
            wanted, *metadata = get_args(wanted)
            markers[:0] = flatten(metadata)
        elif hasattr(wanted, "__supertype__"):
            wanted = wanted.__supertype__
        elif type(wanted).__name__ == "TypeAliasType":
            wanted = wanted.__value__
        elif origin is Literal and None in get_args(wanted):
            none = True
            wanted = Literal[tuple(value for value in get_args(wanted) if value is not None)]
        elif origin in (Union, types.UnionType):
            arms = list(_arms(wanted))
            none = none or type(None) in arms
            unset = unset or UnsetType in arms
            rest = [arm for arm in arms if arm not in (type(None), UnsetType)]
            if len(rest) != 1:
                return Spelled(None, markers, none, unset, tuple(rest))
            wanted = rest[0]
        else:
            return Spelled(wanted, markers, none, unset)


def _arms(union: Any) -> Iterator[Any]:
    for arm in get_args(union):
        if get_origin(arm) in (Union, types.UnionType):
            yield from _arms(arm)
        else:
            yield arm


def name_of(wanted: Any) -> str:
    """A type as its author calls it."""
    origin = get_origin(wanted)
    if origin is Annotated:
        return name_of(get_args(wanted)[0])
    if origin in (Union, types.UnionType):
        return " | ".join(map(name_of, get_args(wanted)))
    name = str(getattr(origin or wanted, "__name__", wanted))
    arguments = ", ".join(repr(each) if origin is Literal else name_of(each) for each in get_args(wanted))
    return f"{name}[{arguments}]" if arguments else name
