"""The Go types of the built-in kinds: what a server decodes a request into, and writes back.

A `GoType` says what of a JSON value fits (`kind`), what Go calls it in an error (`said`), and of a struct the fields:
which are left out when they are empty, how a strategic merge patch merges them, which numbers they have in protobuf.
Types are read from the data file one package at a time, and are made when somebody first asks for them.

A name is a package and a type, `core/v1.Pod`; `[]T`, `*T` and `map[string]T` are made of others.
"""

from __future__ import annotations

from typing import Any, Final

from .datafile import Data

__all__ = ["GoField", "GoType", "GoTypes"]

_BASIC: Final = frozenset({"string", "bool", "int", "int32", "int64", "uint8", "float64"})
_ZEROS: Final[dict[str, Any]] = {"string": "", "bool": False, "float64": 0}
_CUSTOM_ZEROS: Final[dict[str, Any]] = {"Quantity": "0", "IntOrString": 0}


class GoField:
    """One field of a struct, embedded structs flattened.

    `omits` is "" for a field that is always written, "empty" or "zero" for one that is left out then; `strategy` and
    `merge_key` are those of strategic merge patches; `number` is that of protobuf, 0 for none; `default` is the one
    that the type declares, None for none; `said` is the name in errors, which goes through embedded structs.
    """

    __slots__ = ("default", "merge_key", "name", "number", "omits", "said", "strategy", "type")

    def __init__(
        self, name: str, type_: GoType, omits: str, strategy: str, merge_key: str, number: int, default: Any = None
    ) -> None:
        self.name, self.type, self.omits = name, type_, omits
        self.strategy, self.merge_key, self.number, self.default = strategy, merge_key, number, default
        self.said = name

    def embedded_in(self, struct: str) -> GoField:
        """The field as one of a struct that embeds the one it is of."""
        made = GoField(self.name, self.type, self.omits, self.strategy, self.merge_key, self.number, self.default)
        made.said = f"{struct}.{self.said}"
        return made

    @property
    def is_kept(self) -> bool:
        """Whether the field is written when nothing is in it."""
        return not self.omits or (self.omits == "empty" and self.type.kind in ("struct", "custom"))


class GoType:
    """One Go type.

    `kind` is one of struct, slice, map, pointer, string, bool, int32, int64, float64, bytes, custom; `custom` names
    the reader of a custom one (Quantity, Time, ...). `name` is that of the type alone, `Pod`, and `key` with the
    package, `core/v1.Pod`; both are "" without a name.
    """

    def __init__(self, registry: GoTypes, kind: str, said: str, name: str = "") -> None:
        self.kind, self.said, self.name = kind, said, name
        self.custom = ""
        self.key = ""
        self._registry = registry
        self._elem = ""
        self._raw_fields: list[list[Any]] = []
        self._elem_type: GoType | None = None
        self._fields: dict[str, GoField] | None = None
        self._kept: tuple[GoField, ...] | None = None

    def __repr__(self) -> str:
        return f"GoType({self.said})"

    @property
    def elem(self) -> GoType:
        """The type of items, values, or what a pointer points to."""
        if self._elem_type is None:
            self._elem_type = self._registry.get(self._elem)
        return self._elem_type

    @property
    def fields(self) -> dict[str, GoField]:
        """The fields by their JSON names, in order."""
        if self._fields is None:
            self._fields = self._build()
        return self._fields

    @property
    def kept(self) -> tuple[GoField, ...]:
        """The fields that are written even when nothing is in them."""
        if self._kept is None:
            self._kept = tuple(each for each in self.fields.values() if each.is_kept)
        return self._kept

    @property
    def inlined(self) -> tuple[tuple[GoType, int], ...]:
        """The embedded structs, with their protobuf numbers."""
        found = [raw for raw in self._raw_fields if not raw[0]]
        return tuple((self._registry.get(raw[1]), raw[5]) for raw in found)

    def other(self, name: str) -> GoType:
        """Another type of the same data. Raises KeyError."""
        return self._registry.get(name)

    def _build(self) -> dict[str, GoField]:
        made: dict[str, GoField] = {}
        for name, type_name, *facts in self._raw_fields:
            below = self._registry.get(type_name)
            if name:
                made[name] = GoField(name, below, *facts)
            else:
                inner = below.elem if below.kind == "pointer" else below
                for each in inner.fields.values():
                    made.setdefault(each.name, each.embedded_in(inner.name))
        return made

    def zero(self) -> Any:
        """What Go writes for the empty value."""
        if self.kind == "struct":
            return {each.name: each.type.zero() for each in self.kept}
        if self.kind == "custom":
            return _CUSTOM_ZEROS.get(self.custom)
        if self.kind in ("int32", "int64"):
            return 0
        return _ZEROS.get(self.kind)

    # -- as strategic merge patches see it ----------------------------------------------------------------------------

    @property
    def go_kind(self) -> str:
        """Go's `reflect.Kind`."""
        return {"custom": "struct", "bytes": "slice", "pointer": "ptr"}.get(self.kind, self.kind)

    def patch_field(self, name: str) -> tuple[GoType, str, str]:
        """Type, strategy and merge key of a field. Raises KeyError, with the text for the user."""
        struct = self.elem if self.kind == "pointer" else self
        if struct.kind != "struct":
            said = "merging an object in json but data type is not struct, instead is: "
            raise KeyError(said + struct.go_kind)
        field = struct.fields.get(name)
        if field is None:
            folded = [each for each in struct.fields.values() if each.name.lower() == name.lower()]
            if not folded:
                raise KeyError(f'unable to find api field in struct {struct.name} for the json field "{name}"')
            field = folded[0]
        return field.type, field.strategy, field.merge_key

    def patch_items(self) -> GoType:
        """The type of the items of a list. Raises KeyError."""
        if self.kind == "slice":
            if self.elem.kind in ("slice", "bytes"):
                raise KeyError("unexpected slice of slice")
            return self.elem
        if self.kind == "pointer":
            return self.elem.elem if self.elem.kind == "slice" else self.elem
        raise KeyError("expected slice or array type, but got: struct")


class GoTypes:
    """All Go types of the data file, made on demand."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._types: dict[str, GoType] = {}

    def get(self, name: str) -> GoType:
        """A type by its name: `core/v1.Pod`, `[]string`. Raises KeyError."""
        found = self._types.get(name)
        if found is None:
            found = self._types[name] = self._make(name)
        return found

    def of_kind(self, api_version: str, kind: str) -> GoType:
        """The type of an object, such as `apps/v1` and `Deployment`. Raises KeyError."""
        name: str = self._data.get("types/kinds.json")[api_version][kind]
        return self.get(name)

    def _make(self, name: str) -> GoType:
        if name in _BASIC:
            return GoType(self, name, name, name)
        if name == "[]uint8":
            return GoType(self, "bytes", "[]uint8")
        for prefix, kind in (("[]", "slice"), ("*", "pointer"), ("map[string]", "map")):
            if name.startswith(prefix):
                made = GoType(self, kind, "")
                made._elem = name[len(prefix) :]
                made.said = f"{prefix}{self.get(made._elem).said}"
                return made
        return self._named(name)

    def _named(self, name: str) -> GoType:
        package, _, short = name.rpartition(".")
        raw = self._data.get(f"types/{package.replace('/', '_')}.json")[short]
        kind = raw["kind"]
        version = package.rpartition("/")[2]
        made = GoType(self, kind, f"{version}.{short}", short)
        made.key = name
        if kind == "custom":
            made.custom = short
        elif kind == "struct":
            made._raw_fields = raw["fields"]
        elif kind in ("slice", "map"):
            made._elem = raw["elem"]
        return made
