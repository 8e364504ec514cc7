"""Class data of generated models, read as markers.

`kubewright generate models` keeps what an OpenAPI document says of merging and defaults as class attributes, by wire
name, because the client needs them without a schema. A schema that embeds such a class (a Pod template, a claim) says
the same again.
"""

from __future__ import annotations

from typing import Any, Final

from ..model import LabelSelector
from .markers import Default, ListMap, ListSet, MapAtomic, Marker

__all__ = ["class_facts", "field_facts"]

_ATOMIC: Final = (LabelSelector,)
"""Written by hand, and atomic in meta/v1."""


def class_facts(cls: type[Any]) -> tuple[Marker, ...]:
    """What is known of the class wherever it is used."""
    return (MapAtomic(),) if cls in _ATOMIC or getattr(cls, "__atomic__", False) else ()


def field_facts(cls: type[Any], wire: str) -> tuple[Marker, ...]:
    """What is known of a field, by its wire name."""
    facts: list[Marker] = []
    keys = getattr(cls, "__list_map_keys__", {}).get(wire)
    if keys:
        facts.append(ListMap(*keys))
    if wire in getattr(cls, "__list_sets__", ()):
        facts.append(ListSet())
    if wire in getattr(cls, "__atomic_maps__", ()):
        facts.append(MapAtomic())
    if wire in getattr(cls, "__defaults__", {}):
        facts.append(Default(cls.__defaults__[wire]))
    return tuple(facts)
