"""What of a stated object would replace a whole: atomic lists, maps and structs.

Mutating admission policies may not state such fields, as what they leave out would be lost. Only fields that the type
names are looked into. Rule: apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .types import FieldType

__all__ = ["atomics"]


def atomics(value: Any, type_: FieldType, path: str = "") -> Iterator[str]:
    """The paths of what is atomic, as `.spec.args`."""
    if isinstance(value, dict) and (inner := type_.map) is not None:
        if inner.is_atomic:
            yield path
        for name, each in value.items():
            if name in inner.fields:
                yield from atomics(each, inner.fields[name], f"{path}.{name}")
    elif isinstance(value, list) and (items := type_.list) is not None:
        if not items.is_associative:
            yield path
        for place, each in enumerate(value):
            yield from atomics(each, items.elem, f"{path}[{place}]")
