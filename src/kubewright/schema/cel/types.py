"""Types of CEL, and how they are written in errors.

A type is a value: a kind, a name and parameters. Objects are known by name here; their fields are the environment's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = [
    "ANY",
    "BOOL",
    "BYTES",
    "DOUBLE",
    "DURATION",
    "DYN",
    "ERROR",
    "INT",
    "NULL",
    "STRING",
    "TIMESTAMP",
    "TYPE",
    "UINT",
    "Type",
    "format_signature",
    "list_of",
    "map_of",
    "object_type",
    "opaque",
    "optional_of",
    "param",
    "type_of_type",
]


@dataclass(frozen=True, slots=True)
class Type:
    """kind is one of bool, int, ..., list, map, object, opaque, type, param, dyn, any, null and error."""

    kind: str
    name: str
    params: tuple[Type, ...] = ()

    @property
    def is_dyn(self) -> bool:
        return self.kind in ("dyn", "any")

    @property
    def is_optional(self) -> bool:
        return self.kind == "opaque" and self.name == "optional_type"

    def __str__(self) -> str:
        if not self.params or self.kind == "param":
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"


BOOL: Final = Type("bool", "bool")
INT: Final = Type("int", "int")
UINT: Final = Type("uint", "uint")
DOUBLE: Final = Type("double", "double")
STRING: Final = Type("string", "string")
BYTES: Final = Type("bytes", "bytes")
NULL: Final = Type("null", "null")
DYN: Final = Type("dyn", "dyn")
ANY: Final = Type("any", "any")
ERROR: Final = Type("error", "!error!")
TIMESTAMP: Final = Type("timestamp", "timestamp")
DURATION: Final = Type("duration", "duration")
TYPE: Final = Type("type", "type")


def list_of(item: Type) -> Type:
    return Type("list", "list", (item,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", "map", (key, value))


def object_type(name: str) -> Type:
    return Type("object", name)


def opaque(name: str, *params: Type) -> Type:
    return Type("opaque", name, params)


def optional_of(item: Type) -> Type:
    return Type("opaque", "optional_type", (item,))


def param(name: str) -> Type:
    return Type("param", name)


def type_of_type(item: Type) -> Type:
    return Type("type", "type", (item,))


def format_signature(args: list[Type], member: bool) -> str:
    """`(int, string)`, or `int.(string)` for a call on a receiver."""
    shown = [str(arg) for arg in args]
    target = f"{shown.pop(0)}." if member else ""
    return f"{target}({', '.join(shown)})"
