"""Definitions to classes: the walk over the schemas, and every decision on fields and defaults.

| field | in Python |
|---|---|
| required | no default; but a time of a Go type is `datetime | None = None`, as Go writes a zero one as null |
| optional scalar, object or enum | `T | None = None` |
| optional scalar of a Go type that is no pointer (`default: ""`, `0`) | that zero, always sent, as Go does |
| optional list or map of one type | `[]`, `{}`: an empty one is absent on the wire, as with Go's `omitempty` |
| the same of a custom resource, with items by default (or `keep_empty`) | `None`: absent, an empty one is sent |
| optional and nullable, of a custom resource, with a default (or `keep_empty`) | `T | None | UnsetType = UNSET` |
| what a server keeps and the schema does not name | `unknown_fields: UnknownFields = {}` |
| a name with `"` or a backslash, which no Model can have | the same |
| apiVersion, kind and metadata of an embedded resource | fields, whether named or not |
| `spec` of a kind | required when its class has required fields, else made empty |
| `status` of a kind | made empty: what it requires gets Go's zero value, so that reading a status never fails |

A zero of a status that is a Go type is left out of the JSON again, where Go reads it back as zero. A custom resource's
server insists on what the schema requires, so there the zero is sent.

Objects without a name are called by their path: `Web`, `WebSpec`, `WebSpecRoutesItem`, `WebSpecLimitsValue`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kubewright.model import ResourceInfo

from .definitions import Definition, Definitions, Home, Schema
from .facts import FREE_FORM, MODEL_TYPES, TIMES
from .merging import note_merge_facts
from .naming import can_be_field, class_name, distinct, field_names
from .types import (
    EMBEDDED_METADATA,
    FREE_OBJECT,
    UNKNOWN_FIELDS,
    Enums,
    Ref,
    TypeExpr,
    is_embedded_metadata,
    keeps_unknown,
    limited,
    list_of,
    map_of,
    nullable,
    optional,
    scalar,
    unset,
    well_known,
)

__all__ = ["Class", "ClassBuilder", "Field"]

_ZERO: Final = {"str": '""', "int": "0", "float": "0.0", "bool": "False", "bytes": 'b""'}
_EMPTY: Final = {"list": "[]", "map": "{}"}
_NOT_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})
_OF_OBJECTS: Final = frozenset({"api_version", "kind", "metadata"})
_EMBEDDED: Final[dict[str, Schema]] = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}
_UNKNOWN: Final = "unknown_fields"


@dataclass(frozen=True)
class Field:
    """One field. A required one has neither `default`, Python text, nor `factory`, the class it is made of."""

    name: str
    wire: str
    type: TypeExpr
    default: str | None = None
    factory: Ref | None = None
    doc: str = ""

    @property
    def required(self) -> bool:
        return self.default is None and self.factory is None


@dataclass
class Class:
    """One class of a module. `data` is what becomes class attributes, by attribute name (see `merging.py`)."""

    name: str
    doc: str = ""
    fields: list[Field] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    resource: ResourceInfo | None = None
    omit_zero: bool = False


@dataclass(frozen=True)
class _Place:
    """Where a schema is met: its module, the class it is below, and whether it is a CRD's."""

    home: Home
    owner: str
    structural: bool


class ClassBuilder:
    """Builds the classes of kinds and of all that they refer to.

    Args:
        enums: "strict" makes a `Literal`; "open" one for the type checker only, so that a value that a newer server
            knows does not fail to decode.
        elsewhere: the dotted module of a class that need not be generated, or None.
        keep_empty: of custom resources, tell an empty list or map, and a null, from one that is absent.
    """

    def __init__(
        self,
        definitions: Definitions,
        enums: Enums,
        elsewhere: Callable[[Home, str], str | None],
        *,
        keep_empty: bool = False,
    ) -> None:
        self.modules: dict[Home, dict[str, Class]] = {}
        self._definitions = definitions
        self._enums: Enums = enums
        self._elsewhere = elsewhere
        self._keep_empty = keep_empty
        self._refs: dict[str, Ref] = {}
        self._statuses: set[str] = set()

    def build(self, kinds: Iterable[Definition]) -> None:
        """Add the classes of `kinds` to `modules`."""
        chosen = list(kinds)
        made: list[tuple[Definition, Class]] = []
        for kind in chosen:  # all kinds first: a kind has the name that its users know it by
            status = _reference(_properties(kind.schema).get("status", {}))
            if status:
                self._statuses.add(self._definitions.target(status).name)
            self._refs[kind.name], cls = self._claim(kind.home, kind.class_name)
            cls.doc, cls.resource = kind.schema.get("description", ""), kind.resource
            made.append((kind, cls))
        for kind, cls in made:
            properties = {wire: part for wire, part in _properties(kind.schema).items() if wire not in _NOT_FIELDS}
            place = _Place(kind.home, cls.name, kind.structural)
            self._fill(cls, kind.schema, properties, place)

    def _claim(self, home: Home, wanted: str) -> tuple[Ref, Class]:
        """A class name that nobody has yet in a module, and an empty class of that name."""
        module = self.modules.setdefault(home, {})
        cls = Class(distinct(wanted, module))
        module[cls.name] = cls
        return Ref(home, cls.name), cls

    # -- types ----------------------------------------------------------------------------------------------------

    def _type(self, schema: Schema, place: _Place, *path: str, status: bool = False) -> TypeExpr:
        reference = _reference(schema)
        if reference:
            return self._named(reference)
        if schema.get("type") == "array":
            item = schema.get("items") or {}
            if place.structural and keeps_unknown(schema):  # a server then keeps those of the items
                item = {**item, "x-kubernetes-preserve-unknown-fields": True}
            expr = list_of(self._element(item, place, *path, "Item"))
        elif _properties(schema) and (schema.get("type") or not place.structural):
            expr = well_known(schema) or self._nested(schema, place, path, status)
        elif schema.get("type") == "object":
            values = schema.get("additionalProperties")
            if not isinstance(values, dict) or not values:
                return FREE_OBJECT
            expr = map_of(self._element(values, place, *path, "Value"))
        else:
            expr = scalar(schema, self._enums, exact=place.structural)
        return limited(expr, schema) if place.structural else expr

    def _element(self, schema: Schema, place: _Place, *path: str) -> TypeExpr:
        expr = self._type(schema, place, *path)
        return optional(expr) if schema.get("nullable") else expr

    def _named(self, reference: str) -> TypeExpr:
        definition = self._definitions.target(reference)
        name, schema = definition.name, definition.schema
        if name in MODEL_TYPES:
            return TypeExpr((Ref(*MODEL_TYPES[name]),), "time" if name in TIMES else "other")
        if name in FREE_FORM:
            return FREE_OBJECT
        if schema.get("type") != "object":
            return scalar(schema, self._enums)
        if name not in self._refs:
            self._refs[name] = self._elsewhere_or_new(definition)
        return TypeExpr((self._refs[name],), "model")

    def _elsewhere_or_new(self, definition: Definition) -> Ref:
        module = self._elsewhere(definition.home, definition.class_name)
        if module is not None:
            return Ref(module, definition.class_name)
        ref, cls = self._claim(definition.home, definition.class_name)
        self._refs[definition.name] = ref  # before its fields: a type may hold itself
        cls.doc = definition.schema.get("description", "")
        place = _Place(definition.home, cls.name, definition.structural)
        status = definition.name in self._statuses
        self._fill(cls, definition.schema, _properties(definition.schema), place, zeros=status)
        cls.omit_zero = status and any(f.default in _ZERO.values() for f in cls.fields)
        return ref

    def _nested(self, schema: Schema, place: _Place, path: tuple[str, ...], status: bool) -> TypeExpr:
        ref, cls = self._claim(place.home, class_name(place.owner, *path))
        cls.doc = schema.get("description", "")
        self._fill(cls, schema, _properties(schema), replace(place, owner=cls.name), zeros=status)
        return TypeExpr((ref,), "model")

    # -- fields ---------------------------------------------------------------------------------------------------

    def _fill(
        self, cls: Class, schema: Schema, properties: dict[str, Schema], place: _Place, *, zeros: bool = False
    ) -> None:
        required = set(schema.get("required", ()))
        taken = set(_OF_OBJECTS) if cls.resource is not None else set()
        if place.structural and schema.get("x-kubernetes-embedded-resource"):
            properties, required = {**_EMBEDDED, **properties}, {*required, "apiVersion", "kind"}
        nameless = [wire for wire in properties if not can_be_field(wire)]
        properties = {wire: part for wire, part in properties.items() if wire not in nameless}
        if nameless or (place.structural and keeps_unknown(schema)):
            taken.add(_UNKNOWN)
        for wire, name in field_names(properties, taken).items():
            part = properties[wire]
            if place.structural and is_embedded_metadata(wire, part, schema):
                expr = EMBEDDED_METADATA
            else:
                expr = self._type(part, place, wire, status=cls.resource is not None and wire == "status")
            zero = zeros if wire in required else not place.structural and part.get("default") in ("", 0)
            needed = wire in required and (place.structural or expr.shape != "time")
            default = part.get("default")  # it takes the place of what is absent, and of nothing else
            null = place.structural and (self._keep_empty or default is not None)
            empty = place.structural and (self._keep_empty or bool(default))
            made = _field(
                name, wire, expr, part, required=needed, zero=zero, null=null, empty=empty, structural=place.structural
            )
            is_part = cls.resource is not None and not (null and part.get("nullable"))
            cls.fields.append(self._made_of(made, must_be=wire in required) if is_part else made)
            zero_default = place.structural and not made.required
            note_merge_facts(cls.data, wire, part, atomic=self._is_atomic(part), zero_default=zero_default)
        if _UNKNOWN in taken:
            doc = "What the server keeps beside the other fields."
            cls.fields.append(Field(_UNKNOWN, "unknownFields", UNKNOWN_FIELDS, default="{}", doc=doc))
        if schema.get("x-kubernetes-map-type") == "atomic":
            cls.data["__atomic__"] = True

    def _made_of(self, made: Field, *, must_be: bool) -> Field:
        """A field of a kind: `spec` and `status` are made when they can be.

        An absent one that cannot be made is read as zero values. Where there are none (an enumeration), or with
        `keep_empty`, it is None if the schema lets it be absent.
        """
        ref = made.type.parts[0] if made.type.shape == "model" else None
        if made.wire not in ("spec", "status") or not isinstance(ref, Ref) or not isinstance(ref.module, tuple):
            return made
        bare = TypeExpr((ref,), "model")
        if not any(f.required for f in self.modules[ref.module][ref.name].fields):
            return replace(made, type=bare, default=None, factory=ref)
        if must_be or (self._has_zero(bare, ()) and not self._keep_empty):
            return replace(made, type=bare, default=None)
        return made

    def _has_zero(self, expr: TypeExpr, above: tuple[Ref, ...]) -> bool:
        """Whether a required value that is absent can be read: choices have no zero, nor what has one inside."""
        if expr.shape != "model":
            return not any(isinstance(part, Ref) and part.name in ("Literal", "OneOf") for part in expr.parts[:1])
        ref = expr.parts[0]
        if not isinstance(ref, Ref) or not isinstance(ref.module, tuple) or ref in above:
            return True
        fields = self.modules[ref.module][ref.name].fields
        return all(self._has_zero(field.type, (*above, ref)) for field in fields if field.required)

    def _is_atomic(self, schema: Schema) -> bool:
        """Whether a field is of an atomic type that has no class of ours to say so."""
        reference = _reference(schema)
        if not reference:
            return False
        definition = self._definitions.target(reference)
        ours = definition.name not in MODEL_TYPES
        return not ours and definition.schema.get("x-kubernetes-map-type") == "atomic"


def _field(
    name: str,
    wire: str,
    expr: TypeExpr,
    schema: Schema,
    *,
    required: bool,
    zero: bool,
    null: bool,
    empty: bool,
    structural: bool,
) -> Field:
    """One field.

    Args:
        zero: the default is the zero of the type, if it has one.
        null: a null is something else than absent.
        empty: an empty list or map is something else than absent.
        structural: the schema is a CRD's.
    """
    made = Field(name, wire, expr, doc=schema.get("description", ""))
    if required and not zero:
        if not schema.get("nullable") or (expr.shape in _EMPTY and not null):
            return made
        return replace(made, type=nullable(expr) if structural else optional(expr))
    if null and schema.get("nullable"):
        return replace(made, type=unset(optional(expr)), default="UNSET")
    if expr.shape in _EMPTY and not empty:
        return replace(made, default=_EMPTY[expr.shape])
    if zero and expr.shape in _ZERO:
        return replace(made, default=_ZERO[expr.shape])
    return replace(made, type=optional(expr), default="None")


def _properties(schema: Schema) -> dict[str, Schema]:
    found: dict[str, Schema] = schema.get("properties") or {}
    return found


def _reference(schema: Schema) -> str:
    """What a schema refers to, or "". A reference with a default or a description is wrapped in an `allOf` of one."""
    if "$ref" in schema:
        return str(schema["$ref"])
    parts = schema.get("allOf", ())
    return str(parts[0].get("$ref", "")) if len(parts) == 1 else ""
