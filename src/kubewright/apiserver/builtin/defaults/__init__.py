"""Defaults of the built-in kinds: `Defaulter` fills them in, by Go type, wherever a type stands in an object.

A server's defaults belong to types, not kinds: a container gets its own in a Pod, in the template of a Deployment, and
in that of a Job of a CronJob. So a default is a function of one type, found in a table, and one walk applies them:
first the type's function, then the defaults that its fields declare, then what is below, in the order of the fields.

Functions take the value in wire form and change it in place. Absent is empty; what they write is as Go would write it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..gotypes import GoField, GoType
from . import core, pods, workloads
from . import others as other_kinds

__all__ = ["Defaulter"]

Default = Callable[[dict[str, Any]], None]

_TABLE: Final[Mapping[str, Default]] = {
    **core.DEFAULTS,
    **pods.DEFAULTS,
    **workloads.DEFAULTS,
    **other_kinds.DEFAULTS,
}


class Defaulter:
    """Fills in defaults. Remembers which types have none below them, so that a walk is as short as it can be."""

    def __init__(self, table: Mapping[str, Default] = _TABLE) -> None:
        self._table = table
        self._plans: dict[GoType, tuple[GoField, ...]] = {}
        self._matters: dict[GoType, bool] = {}

    def apply(self, obj: dict[str, Any], type_: GoType) -> None:
        """Fill in the defaults of an object of a type, in place."""
        self._walk(obj, type_)

    def _walk(self, value: Any, type_: GoType) -> None:
        kind = type_.kind
        if kind == "pointer":
            self._walk(value, type_.elem)
        elif kind == "slice":
            elem = type_.elem
            for each in value:
                self._walk(each, elem)
        elif kind == "map":
            if (own := self._table.get(type_.key)) is not None:
                own(value)
            elif self._matter(type_.elem):
                for each in value.values():
                    self._walk(each, type_.elem)
        elif kind == "struct":
            self._struct(value, type_)

    def _struct(self, value: dict[str, Any], type_: GoType) -> None:
        if (own := self._table.get(type_.key)) is not None:
            own(value)
        plan = self._plans.get(type_)
        if plan is None:
            plan = self._plans[type_] = tuple(
                each for each in type_.fields.values() if each.default is not None or self._matter(each.type)
            )
        for field in plan:
            found = value.get(field.name)
            if found is None or (found == "" and field.type.kind == "string"):
                if field.default is not None:
                    value[field.name] = field.default
            elif field.type.kind in _NESTED:
                self._walk(found, field.type)

    def _matter(self, type_: GoType) -> bool:
        """Whether there is a default anywhere in a type."""
        known = self._matters.get(type_)
        if known is None:
            known = self._matters[type_] = self._reaches(type_, set())
        return known

    def _reaches(self, type_: GoType, seen: set[GoType]) -> bool:
        # Types hold themselves, so what is found on the way is not the answer for what was passed: only the start's is.
        if type_ in seen:
            return False
        seen.add(type_)
        if type_.key in self._table:
            return True
        if type_.kind in ("pointer", "slice", "map"):
            return self._reaches(type_.elem, seen)
        if type_.kind != "struct":
            return False
        return any(each.default is not None or self._reaches(each.type, seen) for each in type_.fields.values())


_NESTED: Final = frozenset({"pointer", "slice", "map", "struct"})
