"""Functions as they are declared, `".startsWith (string, string) -> bool"`, and what runs for them.

A `Library` collects overloads under ids. Signatures are read once, when a library is first used in an environment.
Capital letters are type parameters; `list(A)`, `map(K, V)`, `optional(V)` and `type(A)` are as in CEL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from . import types as t
from .types import Type

__all__ = ["Function", "Library", "Overload", "parse_type"]

_SIMPLE: Final = {
    "bool": t.BOOL, "int": t.INT, "uint": t.UINT, "double": t.DOUBLE, "string": t.STRING, "bytes": t.BYTES,
    "null": t.NULL, "dyn": t.DYN, "timestamp": t.TIMESTAMP, "duration": t.DURATION, "type": t.TYPE,
}  # fmt: skip
_OPAQUE: Final = frozenset({"net.IP", "net.CIDR"})
#: Calls of one function that are remembered.
MAX_RESOLVED: Final = 200


@dataclass(frozen=True, slots=True)
class Overload:
    """One form of a function: its types, and the Python function that is called with all arguments, target first."""

    id: str
    function: str
    args: tuple[Type, ...]
    result: Type
    member: bool
    run: Callable[..., Any]
    #: The names of its type parameters.
    params: tuple[str, ...] = ()


@dataclass(slots=True)
class Function:
    """All overloads of one name, in the order of their declaration."""

    name: str
    overloads: list[Overload] = field(default_factory=list)
    #: By whether it is called on a receiver and the types of all arguments: the overloads that fit, the result, and how
    #: many type parameters it takes to find them.
    resolved: dict[tuple[bool | Type, ...], tuple[tuple[str, ...], Type, int]] = field(default_factory=dict)

    def remember(self, key: tuple[bool | Type, ...], found: tuple[tuple[str, ...], Type, int]) -> None:
        if len(self.resolved) >= MAX_RESOLVED:
            self.resolved.clear()
        self.resolved[key] = found


@dataclass(slots=True)
class Library:
    """Functions, constants and types that belong together."""

    name: str
    functions: list[tuple[str, str, str, Callable[..., Any]]] = field(default_factory=list)
    #: Identifiers with a type and a value, such as type names.
    constants: dict[str, tuple[Type, Any]] = field(default_factory=dict)

    def add(self, overload: str, signature: str, run: Callable[..., Any]) -> None:
        """`signature` is `name (types) -> result`; a dot before the name makes the first type that of the receiver."""
        name, _, rest = signature.partition(" ")
        self.functions.append((overload, name, rest, run))

    def add_all(self, table: Iterable[tuple[str, str, Callable[..., Any]]]) -> None:
        for overload, signature, run in table:
            self.add(overload, signature, run)

    def overloads(self) -> Iterable[Overload]:
        for overload, name, rest, run in self.functions:
            types, _, result = rest.partition(" -> ")
            member = name.startswith(".")
            args = tuple(parse_type(each) for each in _split(types.strip()[1:-1]))
            returned = parse_type(result)
            params = tuple(sorted(frozenset().union(*map(_params, (*args, returned)))))
            yield Overload(overload, name.lstrip("."), args, returned, member, run, params)


def _split(text: str) -> list[str]:
    parts: list[str] = []
    depth = start = 0
    for at, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    if text[start:].strip():
        parts.append(text[start:].strip())
    return parts


def parse_type(text: str, known: Mapping[str, Type] = _SIMPLE) -> Type:
    """The type of `int`, `list(A)`, `kubernetes.URL`, ..."""
    text = text.strip()
    if text in known:
        return known[text]
    head, _, rest = text.partition("(")
    params = tuple(parse_type(part) for part in _split(rest[:-1])) if rest else ()
    match head:
        case "list":
            return t.list_of(*params)
        case "map":
            return t.map_of(*params)
        case "optional":
            return t.optional_of(*params)
        case "type":
            return t.type_of_type(*params)
    if len(text) == 1 and text.isupper():
        return t.param(text)
    return t.opaque(text) if text in _OPAQUE else t.object_type(text)


def _params(type_: Type) -> frozenset[str]:
    if type_.kind == "param":
        return frozenset((type_.name,))
    return frozenset().union(*map(_params, type_.params)) if type_.params else frozenset()
