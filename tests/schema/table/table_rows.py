"""What a row of the table is, and how rows become a kind.

A row is a type, values of it that a server takes, and values that it refuses. Rows of a family stand beside each other
as the optional fields of one spec, so that a family is one CRD.
"""

from __future__ import annotations

import types
from typing import Any, NamedTuple

from kubewright.model import Model, Object, Resource, resource
from kubewright.model.base import ModelMeta

__all__ = ["GROUP", "Row", "kind_of", "row"]

GROUP = "table.example.com"


class Row(NamedTuple):
    """`changes` are pairs of an old and a new value that a server refuses to make of it."""

    type: Any
    good: tuple[Any, ...]
    bad: tuple[Any, ...]
    changes: tuple[tuple[Any, Any], ...] = ()


def row(wanted: Any, good: list[Any], bad: list[Any], changes: list[tuple[Any, Any]] | None = None) -> Row:
    return Row(wanted, tuple(good), tuple(bad), tuple(changes or ()))


def kind_of(family: str, rows: dict[str, Row]) -> type[Object]:
    """A kind with a field for each row."""
    annotations = {name: each.type | None for name, each in rows.items()}
    namespace: dict[str, Any] = {"__annotations__": annotations, "__module__": __name__, **dict.fromkeys(rows)}
    spec: Any = ModelMeta(f"{family.title()}Spec", (Model,), namespace)
    made: Any = types.new_class(family.title(), (Resource[spec],))
    return resource(group=GROUP, version="v1")(made)  # type: ignore[no-any-return]
