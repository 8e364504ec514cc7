"""Indexes: find the objects of a kind by a value that a function, or a field, has for them.

    @index(Database)
    def by_secret(db: Database) -> Iterable[str]:
        return [db.spec.secret_name]

    by_node = field_index(Pod, "spec.nodeName")

    await ctx.list(Database, index={by_secret: "s3"})

An `Index` is a description, like a controller: it takes effect in a cache when somebody first reads by it, or hands it
in beforehand. It may be added at any time; the objects that are there are indexed then. What is looked up costs its
result, and nothing that does not match is decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from msgspec import Struct

from kubewright.model import Object, decode, encode

from .entry import Entry
from .fields import fields_of

__all__ = ["FieldValues", "Index", "field_index", "index"]

T = TypeVar("T", bound=Object)


class Index(Generic[T]):
    """An index over a kind. Immutable; called, it is the function that it was made of.

    Attributes: `kind`; `name`, unique among the indexes of a kind; `of_entry`, the values of what is cached.
    """

    __slots__ = ("_function", "kind", "name", "of_entry")

    def __init__(
        self,
        kind: type[T],
        name: str,
        function: Callable[[T], Iterable[str]],
        of_entry: Callable[[Entry], Iterable[str]] | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self._function = function
        self.of_entry = of_entry or (lambda entry: function(decode(kind, entry.data)))

    def __call__(self, obj: T) -> Iterable[str]:
        return self._function(obj)

    def __repr__(self) -> str:
        return f"<index {self.name} of {self.kind.__name__}>"


def index(kind: type[T], *, name: str | None = None) -> Callable[[Callable[[T], Iterable[str]]], Index[T]]:
    """Make an index of a function: from an object to the values to find it by, none or several.

    The function must be pure. Where it raises, that object is left out of this index, and the log says so.

    Args:
        name: that of the function by default, with its module.
    """

    def described(function: Callable[[T], Iterable[str]]) -> Index[T]:
        module, where = getattr(function, "__module__", ""), getattr(function, "__qualname__", repr(function))
        return Index(kind, name or f"{module}.{where}", function)

    return described


def field_index(kind: type[T], path: str) -> Index[T]:
    """An index by a field, such as `spec.nodeName`; through lists by each of their elements. From the bytes: 3 us.

    An object without the field is found by `""`, as a field selector of Kubernetes would.
    """
    values = FieldValues(path)
    return Index(kind, f"field:{path}", lambda obj: values.of(encode(obj)), values)


class FieldValues(Struct, frozen=True):
    """The index function of a field: equal to that of another index by the same one."""

    path: str

    def __call__(self, entry: Entry) -> Iterable[str]:
        return self.of(entry.data)

    def of(self, data: bytes) -> Iterable[str]:
        """The values in an object's JSON."""
        return fields_of(data, self.path) or ("",)
