"""Calls whose overload is only known at run time: the first one whose types the arguments have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from .costs import RuntimeCost
from .errors import EvaluationError
from .ops import type_name
from .signatures import Overload
from .types import Type

__all__ = ["Dispatch", "fits"]

_NAMES: Final = {
    "bool": "bool", "int": "int", "uint": "uint", "double": "double", "string": "string", "bytes": "bytes",
    "null": "null_type", "list": "list", "map": "map", "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration", "type": "type",
}  # fmt: skip


#: Functions whose error does not name the types that it was called with.
_SILENT: Final = frozenset({"startsWith", "endsWith", "contains", "matches"})


def fits(value: Any, type_: Type) -> bool:
    """Whether a value has a type, as far as its kind tells."""
    name = _NAMES.get(type_.kind)
    if name is not None:
        return type_name(value) == name
    return type_.kind not in ("object", "opaque") or type_name(value) == type_.name


class Dispatch:
    """One call with several possible overloads. Calling it returns the result and the cost.

    Args:
        name: the function, for the error.
        overloads: in the order of their declaration.
        costs: run-time costs by overload id; 1 where there is none.
    """

    def __init__(self, name: str, overloads: Sequence[Overload], costs: dict[str, RuntimeCost]) -> None:
        self.name = name
        self.overloads = tuple((each, costs.get(each.id)) for each in overloads)
        self._known: dict[tuple[type, ...], tuple[Callable[..., Any], RuntimeCost | None]] = {}

    def price(self, *args: Any) -> int:
        """What the call will cost; only where that does not depend on its result."""
        _, cost = self._chosen(args)
        return 1 if cost is None else cost(args, None)

    def _chosen(self, args: tuple[Any, ...]) -> tuple[Callable[..., Any], RuntimeCost | None]:
        kinds = tuple(arg.__class__ for arg in args)
        known = self._known.get(kinds)
        if known is None:
            known = self._known[kinds] = self._find(args)
        return known

    def __call__(self, *args: Any) -> tuple[Any, int]:
        run, cost = self._chosen(args)
        result = run(*args)
        return result, 1 if cost is None else cost(args, result)

    def _find(self, args: tuple[Any, ...]) -> tuple[Callable[..., Any], RuntimeCost | None]:
        for overload, cost in self.overloads:
            if all(map(fits, args, overload.args)):
                return overload.run, cost
        if self.name == "size":
            raise EvaluationError("no such overload: size")
        if self.name in _SILENT or not self.name.isidentifier():
            raise EvaluationError("no such overload")
        raise EvaluationError(f"no such overload: {self.name}({', '.join(map(type_name, args))})")
