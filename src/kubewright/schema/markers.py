"""What only the schema knows of a type, as metadata of `Annotated`.

```python
class WebSpec(Model):
    image: Annotated[str, Pattern(r"^[a-z0-9./:-]+$")]
    replicas: Annotated[int, Ge(0), Le(100)] = 1
    ports: Annotated[list[Port], ListMap("port"), MaxLen(16)] = []
```

Type checkers see `str`, `int`, `list[Port]`. Bounds and lengths are those of `annotated_types` (Ge, Gt, Le, Lt,
Interval, MultipleOf, MinLen, MaxLen, Len), descriptions are docstrings or `Doc`; here is what those lack. A marker
binds to the type it stands beside: `list[Annotated[str, MaxLen(5)]]` bounds the items, `dict[Annotated[str, MaxLen(5)],
V]` the keys.

Markers of objects also stand above a class, for every use of it:

```python
@Rule("self.min <= self.max", message="min must not be above max")
class Range(Model):
    min: int
    max: int
```

Markers are values; only a `Rule` can be asked (`Rule.check`). What each does to a schema, and where it has no meaning,
is in `constraints`. They are Structs, as every start makes their classes: 24 dataclasses take 9 ms to make.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct
from typing_extensions import Doc

if TYPE_CHECKING:
    from .structural.fielderrors import FieldError

__all__ = [
    "AtLeastOneOf",
    "AtMostOneOf",
    "Default",
    "Discriminator",
    "Doc",
    "EmbeddedResource",
    "ExactlyOneOf",
    "Example",
    "ExternalDocs",
    "Format",
    "Immutable",
    "ListAtomic",
    "ListMap",
    "ListSet",
    "MapAtomic",
    "Marker",
    "MaxProperties",
    "MinProperties",
    "Nullable",
    "Pattern",
    "PreserveUnknown",
    "Reason",
    "Rule",
    "Schemaless",
    "Title",
    "UniqueItems",
    "class_markers",
    "spell",
]

Reason = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]

ClassT = TypeVar("ClassT", bound=type[Any])
_CLASS_MARKERS = "__schema_markers__"


class Marker:
    """Base of the markers of this module."""

    __slots__ = ()


class ClassMarker(Marker):
    """A marker that may also stand above a class of the model, as a decorator."""

    __slots__ = ()

    def __call__(self, cls: ClassT) -> ClassT:
        # Decorators run from the bottom up; the schema shows them as they are read.
        setattr(cls, _CLASS_MARKERS, (self, *cls.__dict__.get(_CLASS_MARKERS, ())))
        return cls


class _Several(Marker):
    """Base of those that are made of any number of names, which no Struct is: values, by their slots."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        return spell(self)

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for base in type(self).__mro__ for name in getattr(base, "__slots__", ()))


# -- values -----------------------------------------------------------------------------------------------------------


class Pattern(Struct, Marker, frozen=True):
    """A string in which `regex` is found (RE2 as in Go; not anchored: write `^...$` for the whole string)."""

    regex: str


class Format(Struct, Marker, frozen=True):
    """A form that the server checks: of a string `ipv4`, `ipv6`, `cidr`, `mac`, `uri`, `email`, `hostname`, `uuid`,
    `date`, `k8s-short-name`, ...; of an int `int32` (within 32 bits); of a float `float`.
    """

    name: str


class Nullable(Struct, Marker, frozen=True):
    """An explicit null is kept, and is not the same as absent. Without it a server drops nulls."""


class Default(Struct, Marker, frozen=True, eq=False):
    """What the server fills in where the field is absent, when it is not the Python default. A value of the field."""

    value: Any


class Example(Struct, Marker, frozen=True, eq=False):
    """An example for documentation. A value of the field."""

    value: Any


# -- rules ------------------------------------------------------------------------------------------------------------


class _Expression(Struct, ClassMarker, frozen=True):
    expr: str


class Rule(_Expression, frozen=True, kw_only=True):
    """A CEL expression over `self` that has to be true; with `oldSelf` in it, one over each change (a transition rule).

    A server refuses a CRD with rules whose cost it cannot bound: below a list or dictionary, give that a MaxLen or
    MaxProperties, and the strings that a rule reads a MaxLen. The same goes for `Immutable`.

    Args:
        expr: such as `self.min <= self.max`; names are those on the wire.
        message: one line for who broke it. Required when `expr` has several lines; "failed rule: ..." unless given.
        message_expression: CEL that makes the message; `message` is its fallback.
        reason: the machine-readable cause; FieldValueInvalid unless given.
        field_path: the field below this one to blame, such as `.max`.
        optional_old_self: run a transition rule on creation too; `oldSelf` is then an optional.
    """

    message: str | None = None
    message_expression: str | None = None
    reason: Reason | None = None
    field_path: str | None = None
    optional_old_self: bool | None = None

    def check(self, new: Any, old: Any = None, *, schema: Any = None) -> list[FieldError]:
        """What the rule says of a value, or of a change from `old` to `new`; empty if they keep it.

        Args:
            new, old: JSON data, or an object of a Model, whose schema then types the rule.
            schema: a structural schema, or a type that has one; types the rule where `new` is JSON data.

        Raises:
            CelError: the rule does not compile; `str()` is a server's text.
        """
        from .ruled import ask

        return ask(self, new, old, schema)


class Immutable(Struct, ClassMarker, frozen=True):
    """Once set, the value can be neither changed nor removed. Renders as transition rules."""


class OneOfFamily(_Several, ClassMarker):
    """Base of the three that count which of some fields are set. Fields by their Python or wire names."""

    __slots__ = ("fields",)
    fields: tuple[str, ...]

    def __init__(self, *fields: str) -> None:
        object.__setattr__(self, "fields", fields)


class ExactlyOneOf(OneOfFamily):
    """One of the fields is set, and no other: `@ExactlyOneOf("s3", "gcs")` above a class whose fields are optional."""

    __slots__ = ()


class AtMostOneOf(OneOfFamily):
    """At most one of the fields is set."""

    __slots__ = ()


class AtLeastOneOf(OneOfFamily):
    """At least one of the fields is set."""

    __slots__ = ()


class Discriminator(_Several, ClassMarker):
    """A union as Kubernetes' own APIs have it: the value of `field` says which other field is set.

    ```python
    @Discriminator("type", RollingUpdate="rolling_update", Recreate=None)
    class Strategy(Model):
        type: Literal["RollingUpdate", "Recreate"]
        rolling_update: RollingUpdate | None = None
    ```

    A value without a member (None) says that no member is set. A member may be set only under its value; under it, it
    has to be set, unless `optional=True`.
    """

    __slots__ = ("field", "members", "optional")
    field: str
    members: tuple[tuple[str, str | None], ...]
    optional: bool

    def __init__(
        self,
        field: str,
        members: Mapping[str, str | None] | None = None,
        /,
        *,
        optional: bool = False,
        **more: str | None,
    ) -> None:
        object.__setattr__(self, "field", field)
        object.__setattr__(self, "members", tuple({**(members or {}), **more}.items()))
        object.__setattr__(self, "optional", optional)


# -- lists and maps ---------------------------------------------------------------------------------------------------


class ListMap(_Several):
    """A list of objects in which the fields named `keys` tell one from the other. Appliers own items, not the list."""

    __slots__ = ("keys",)
    keys: tuple[str, ...]

    def __init__(self, *keys: str) -> None:
        object.__setattr__(self, "keys", keys)


class ListSet(Struct, Marker, frozen=True):
    """A list without equal items. Appliers own items, not the list."""


class ListAtomic(Struct, Marker, frozen=True):
    """A list that is owned and replaced as a whole: what every unmarked list is, said aloud."""


class MapAtomic(Struct, ClassMarker, frozen=True):
    """An object or dictionary that is owned and replaced as a whole."""


class MinProperties(Struct, ClassMarker, frozen=True):
    """At least `count` fields or keys are present."""

    count: int


class MaxProperties(Struct, ClassMarker, frozen=True):
    """At most `count` fields or keys are present."""

    count: int


class UniqueItems(Struct, Marker, frozen=True):
    """controller-gen's marker. Servers refuse it (its cost is quadratic): here it is an error that says `ListSet()`."""


# -- what is not checked ----------------------------------------------------------------------------------------------


class PreserveUnknown(Struct, ClassMarker, frozen=True):
    """Fields that the schema does not name are kept and not pruned."""


class Schemaless(Struct, Marker, frozen=True):
    """Nothing is said of the type: any JSON is accepted and kept. Breaks a recursion; shortens a huge schema."""


class EmbeddedResource(Struct, ClassMarker, frozen=True):
    """A whole Kubernetes object: `apiVersion` and `kind` are required, its metadata is checked as metadata."""


class Title(Struct, ClassMarker, frozen=True):
    """A short title."""

    text: str


class _Address(Struct, ClassMarker, frozen=True):
    url: str


class ExternalDocs(_Address, frozen=True, kw_only=True):
    """Where more is written: a URL, and a short description of it."""

    description: str | None = None


# -- reading them -----------------------------------------------------------------------------------------------------


def class_markers(cls: type[Any]) -> tuple[Marker, ...]:
    """What stands above a class and its bases, bases first."""
    return tuple(marker for base in reversed(cls.__mro__) for marker in base.__dict__.get(_CLASS_MARKERS, ()))


def spell(marker: Any) -> str:
    """A marker as it was written: `Ge(1)`, `ListMap('name')`."""
    name = type(marker).__name__
    if isinstance(marker, ListMap | OneOfFamily):
        return f"{name}({', '.join(map(repr, marker.keys if isinstance(marker, ListMap) else marker.fields))})"
    if isinstance(marker, Discriminator):
        said = [f"{value}={member!r}" for value, member in marker.members]
        return f"{name}({', '.join([repr(marker.field), *said])})"
    made = type(marker)  # of annotated_types: a dataclass
    names = made.__struct_fields__ if isinstance(marker, Struct) else getattr(made, "__dataclass_fields__", ())
    unnamed = getattr(made, "__match_args__", ())
    values = [(each, getattr(marker, each)) for each in names]
    shown = [repr(value) if each in unnamed else f"{each}={value!r}" for each, value in values if value is not None]
    return f"{name}({', '.join(shown)})"
