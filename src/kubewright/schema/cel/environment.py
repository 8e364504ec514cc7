"""What an expression may use: variables, functions, types, fields of objects. Immutable; safe to share.

`Environment(libraries=..., variables=...)` is all that the core knows; Kubernetes' own is made in `kubernetes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .costs import RUNTIME, RuntimeCost
from .nodes import Literal, Node
from .signatures import Function, Library, Overload
from .types import Type

__all__ = ["Environment", "FieldType"]


@dataclass(frozen=True, slots=True)
class FieldType:
    """A field of an object: its type, and the key of the value in the object's dict."""

    type: Type
    key: str


class Environment:
    """Variables, functions and types.

    Args:
        libraries: functions and constants; later ones add overloads to functions of the same name.
        variables: types by name; names may have dots.
        objects: the fields of object types, by type name.
        literal_checks: by function name, what raises ValueError for a string literal that it cannot take.
        one_type: whether all items of a list literal have one type, and all keys and values of a map literal.
        costs: by overload id, what a call costs at run time, beside what the core knows.
        prepare: by overload id, what makes the function to run from a literal second argument (a pattern).
    """

    def __init__(
        self,
        libraries: Sequence[Library],
        *,
        variables: Mapping[str, Type] | None = None,
        objects: Mapping[str, Mapping[str, FieldType]] | None = None,
        literal_checks: Mapping[str, Callable[[str], None]] | None = None,
        one_type: bool = True,
        costs: Mapping[str, RuntimeCost] | None = None,
        prepare: Mapping[str, Callable[[str], Callable[..., Any]]] | None = None,
    ) -> None:
        self.libraries: Final = tuple(libraries)
        self.variables: Final = dict(variables or {})
        self.objects: Final = dict(objects or {})
        self.literal_checks: Final = dict(literal_checks or {})
        self.one_type: Final = one_type
        self.costs: Final = {**RUNTIME, **(costs or {})}
        self.prepare: Final = dict(prepare or {})
        self.functions: Final[dict[str, Function]] = {}
        self.constants: Final[dict[str, tuple[Type, Any]]] = {}
        for library in self.libraries:
            self.constants.update(library.constants)
            for overload in library.overloads():
                function = self.functions.setdefault(overload.function, Function(overload.function))
                if all(each.id != overload.id for each in function.overloads):
                    function.overloads.append(overload)

    def extend(
        self,
        *,
        variables: Mapping[str, Type] | None = None,
        objects: Mapping[str, Mapping[str, FieldType]] | None = None,
    ) -> Environment:
        """This environment with more variables and object types. Shares the functions; cheap."""
        extended = object.__new__(Environment)
        for name, value in vars(self).items():
            object.__setattr__(extended, name, value)
        object.__setattr__(extended, "variables", {**self.variables, **(variables or {})})
        object.__setattr__(extended, "objects", {**self.objects, **(objects or {})})
        return extended

    def prepared(self, overload: Overload, args: Sequence[Node]) -> Callable[..., Any] | None:
        """The function to run where a literal argument lets work be done once; else None."""
        prepare = self.prepare.get(overload.id)
        if prepare is None or not isinstance(args[1], Literal) or not isinstance(args[1].value, str):
            return None
        return prepare(args[1].value)
