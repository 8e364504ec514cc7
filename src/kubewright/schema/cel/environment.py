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

__all__ = ["Environment", "FieldType", "StructType"]


@dataclass(frozen=True, slots=True)
class FieldType:
    """A field of an object: its type, and the key of the value in the object's dict."""

    type: Type
    key: str


@dataclass(frozen=True, slots=True)
class StructType:
    """A type whose values an expression may make: `Name{field: value}`.

    Attributes:
        name: as it is written.
        field_type: the type of a field by its name; None where there is no such field.
        make: the value, from the fields that are given.
    """

    name: str
    field_type: Callable[[str], Type | None]
    make: Callable[[dict[str, Any]], Any]


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
        structs: by name, the types whose values can be made; None where there is no such type.
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
        structs: Callable[[str], StructType | None] | None = None,
    ) -> None:
        self.libraries: Final = tuple(libraries)
        self.variables: Final = dict(variables or {})
        self.objects: Final = dict(objects or {})
        self.literal_checks: Final = dict(literal_checks or {})
        self.one_type: Final = one_type
        self.costs: Final = {**RUNTIME, **(costs or {})}
        self.prepare: Final = dict(prepare or {})
        self.structs: Final[Callable[[str], StructType | None]] = structs or (lambda _: None)
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
        constants: Mapping[str, tuple[Type, Any]] | None = None,
    ) -> Environment:
        """This environment with more variables, object types and constants. Shares the functions; cheap."""
        extended = object.__new__(Environment)
        for name, value in vars(self).items():
            object.__setattr__(extended, name, value)
        object.__setattr__(extended, "variables", {**self.variables, **(variables or {})})
        object.__setattr__(extended, "objects", {**self.objects, **(objects or {})})
        if constants:
            object.__setattr__(extended, "constants", {**self.constants, **constants})
        return extended

    def field(self, type_name: str, name: str) -> FieldType | None:
        """A field of an object type, if that has it."""
        fields = self.objects.get(type_name)
        if fields is not None:
            return fields.get(name)
        struct = self.structs(type_name)
        found = None if struct is None else struct.field_type(name)
        return None if found is None else FieldType(found, name)

    def key(self, type_name: str, name: str) -> str:
        """The key of a field's value, of a field that there is."""
        field = self.field(type_name, name)
        return name if field is None else field.key

    def prepared(self, overload: Overload, args: Sequence[Node]) -> Callable[..., Any] | None:
        """The function to run where a literal argument lets work be done once; else None."""
        prepare = self.prepare.get(overload.id)
        if prepare is None or not isinstance(args[1], Literal) or not isinstance(args[1].value, str):
            return None
        return prepare(args[1].value)
