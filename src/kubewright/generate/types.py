"""One schema to one Python type: scalars, enums, limits, and the shapes that `kubewright.model` has a class for.

A `TypeExpr` is text with references in it. What a referenced class is called in a module (and what has to be imported)
is known only when the whole module is; see `render.py`. Objects with properties are not handled here: they are classes
(`classes.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from .definitions import Home, Schema
from .text import literal

__all__ = [
    "ANY",
    "EMBEDDED_METADATA",
    "FREE_OBJECT",
    "UNKNOWN_FIELDS",
    "Enums",
    "Ref",
    "Shape",
    "TypeExpr",
    "is_embedded_metadata",
    "keeps_unknown",
    "limited",
    "list_of",
    "map_of",
    "nullable",
    "optional",
    "scalar",
    "well_known",
]

Shape: TypeAlias = Literal["str", "int", "float", "bool", "bytes", "list", "map", "any", "model", "time", "other"]
Enums: TypeAlias = Literal["strict", "open"]


@dataclass(frozen=True)
class Ref:
    """A name that a module needs: `module` is a dotted path, or the home of a generated class."""

    module: str | Home
    name: str


@dataclass(frozen=True)
class TypeExpr:
    """A type. `shape` decides on its default; `parts` are joined."""

    parts: tuple[str | Ref, ...]
    shape: Shape


_ANY_REF: Final = Ref("typing", "Any")
ANY: Final = TypeExpr((_ANY_REF,), "any")
FREE_OBJECT: Final = TypeExpr(("dict[str, ", _ANY_REF, "]"), "other")
"""Any JSON object. Its shape is not "map": `{}` is something else than nothing where anything may be meant."""

UNKNOWN_FIELDS: Final = TypeExpr((Ref("kubewright.model", "UnknownFields"),), "map")

_SCALARS: Final[dict[tuple[str, str], TypeExpr]] = {
    ("string", "byte"): TypeExpr(("bytes",), "bytes"),
    ("string", "date-time"): TypeExpr((Ref("datetime", "datetime"),), "time"),
}
_PLAIN: Final[dict[str, TypeExpr]] = {
    "string": TypeExpr(("str",), "str"),
    "integer": TypeExpr(("int",), "int"),
    "number": TypeExpr(("float",), "float"),
    "boolean": TypeExpr(("bool",), "bool"),
}
_INT_OR_STRING: Final = TypeExpr((Ref("kubewright.model", "IntOrString"),), "other")
_QUANTITY: Final = TypeExpr((Ref("kubewright.model", "Quantity"),), "other")
_QUANTITY_PATTERN: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""What controller-gen writes for a Quantity."""

_TEXT: Final[Schema] = {"type": "string"}
_CONDITION: Final[dict[str, Schema]] = {
    "lastTransitionTime": {**_TEXT, "format": "date-time"},
    "message": _TEXT,
    "observedGeneration": {"type": "integer"},
    "reason": _TEXT,
    "status": _TEXT,
    "type": _TEXT,
}
_SELECTOR: Final[dict[str, Schema]] = {
    "matchExpressions": {"type": "array", "items": {"type": "object"}},
    "matchLabels": {"type": "object", "additionalProperties": _TEXT},
}

_METADATA: Final[dict[str, Schema]] = {
    "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
    "finalizers": {"type": "array", "items": {"type": "string"}},
    "generateName": {"type": "string"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "name": {"type": "string"},
    "namespace": {"type": "string"},
}
"""What controller-gen writes for the metadata of an object in an object, and the types of that."""
EMBEDDED_METADATA: Final = TypeExpr((Ref("kubewright.model", "ObjectMeta"),), "model")

_NUMBER_LIMITS: Final = (("minimum", "exclusiveMinimum", "Ge", "Gt"), ("maximum", "exclusiveMaximum", "Le", "Lt"))
_LENGTHS: Final = {
    "string": (("minLength", "MinLen"), ("maxLength", "MaxLen")),
    "array": (("minItems", "MinLen"), ("maxItems", "MaxLen")),
}


_EXACT_NUMBER: Final = TypeExpr(("int | float",), "float")


def scalar(schema: Schema, enums: Enums, *, exact: bool = False) -> TypeExpr:
    """The type of a schema that is neither an object nor an array; `Any` for one without a type.

    Args:
        exact: a number of a custom resource, whose server keeps `1` and `1.0` apart, and all digits of large integers.
    """
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return _QUANTITY if schema.get("pattern") == _QUANTITY_PATTERN else _INT_OR_STRING
    kind = schema.get("type", "")
    plain = _SCALARS.get((kind, schema.get("format", ""))) or _PLAIN.get(kind)
    if plain is None:
        return ANY
    if exact and plain.shape == "float":
        return _EXACT_NUMBER
    return _literal(schema["enum"], plain, enums) if schema.get("enum") else plain


def _literal(values: list[Any], plain: TypeExpr, enums: Enums) -> TypeExpr:
    said = [value for value in values if value is not None]
    wanted = {"str": str, "int": int}.get(plain.shape)
    if wanted is None or not said or any(type(value) is not wanted for value in said):
        return plain
    if enums == "open" and plain.shape == "int":
        return plain
    name = Ref("typing", "Literal") if enums == "strict" else Ref("kubewright.models.one_of", "OneOf")
    return TypeExpr((name, "[", ", ".join(literal(value) for value in said), "]"), "other")


def well_known(schema: Schema) -> TypeExpr | None:
    """The class of `kubewright.model` that an object without a name has the shape of, or None."""
    if keeps_unknown(schema):
        return None
    properties = schema.get("properties", {})
    if _CONDITION.keys() - {"observedGeneration"} <= properties.keys() and _are(properties, _CONDITION):
        return TypeExpr((Ref("kubewright.model", "Condition"),), "model")
    if _SELECTOR.keys() == properties.keys() and _are(properties, _SELECTOR):
        return TypeExpr((Ref("kubewright.model", "LabelSelector"),), "model")
    return None


def keeps_unknown(schema: Schema) -> bool:
    """Whether a server keeps fields of the value that the schema does not name."""
    return bool(schema.get("x-kubernetes-preserve-unknown-fields"))


def _are(properties: dict[str, Schema], wanted: dict[str, Schema]) -> bool:
    return all(name in wanted and _has_types(part, wanted[name]) for name, part in properties.items())


def is_embedded_metadata(wire: str, schema: Schema, parent: Schema) -> bool:
    """Whether a field of a custom resource is the metadata of an object to be made: labels, annotations, a name.

    A field may just have that name. It is metadata when its properties are those of metadata, and have their types; one
    without properties, when it is beside a `spec`, as in a template, or beside `apiVersion` and `kind`.
    """
    if wire != "metadata" or schema.get("type") != "object":
        return False
    if parent.get("x-kubernetes-embedded-resource"):
        return True
    if schema.get("additionalProperties") or keeps_unknown(schema):
        return False
    properties = schema.get("properties") or {}
    if properties:
        return _are(properties, _METADATA)
    beside = parent.get("properties") or {}
    return "spec" in beside or {"apiVersion", "kind"} <= set(beside)


def _has_types(schema: Schema, wanted: Schema) -> bool:
    inner = ("items", "additionalProperties")
    if schema.get("type") != wanted["type"] or schema.get("format") != wanted.get("format", schema.get("format")):
        return False
    return all(
        isinstance(schema.get(key), dict) and _has_types(schema[key], wanted[key]) for key in inner if key in wanted
    )


def limited(expr: TypeExpr, schema: Schema) -> TypeExpr:
    """`expr` with the limits of the schema as `Annotated`."""
    marks: list[str | Ref] = []
    if expr.shape in ("int", "float"):
        for name, exclusive, closed, opened in _NUMBER_LIMITS:
            if name in schema:
                mark = opened if schema.get(exclusive) else closed
                marks += [", ", Ref("annotated_types", mark), f"({_number(schema[name])})"]
        if "multipleOf" in schema:
            marks += [", ", Ref("annotated_types", "MultipleOf"), f"({_number(schema['multipleOf'])})"]
    if expr.shape in ("str", "list"):
        for name, mark in _LENGTHS.get(schema.get("type", ""), ()):
            if name in schema:
                marks += [", ", Ref("annotated_types", mark), f"({_number(schema[name])})"]
    if expr.shape == "str" and "pattern" in schema:
        marks += [", ", Ref("kubewright.schema", "Pattern"), f"({literal(schema['pattern'])})"]
    if not marks:
        return expr
    return replace(expr, parts=(Ref("typing", "Annotated"), "[", *expr.parts, *marks, "]"))


def _number(value: float) -> str:
    return repr(int(value)) if float(value).is_integer() else repr(value)


def list_of(item: TypeExpr) -> TypeExpr:
    return TypeExpr(("list[", *item.parts, "]"), "list")


def map_of(value: TypeExpr) -> TypeExpr:
    return TypeExpr(("dict[str, ", *value.parts, "]"), "map")


def optional(expr: TypeExpr) -> TypeExpr:
    """`T | None`; `Any` holds None anyway."""
    return expr if expr.shape == "any" else replace(expr, parts=(*expr.parts, " | None"))


def nullable(expr: TypeExpr) -> TypeExpr:
    """`T | None` of a custom resource where null is a value: CRDs that are made of the class say so again."""
    parts = (*optional(expr).parts, ", ", Ref("kubewright.schema", "Nullable"), "()]")
    return replace(expr, parts=(Ref("typing", "Annotated"), "[", *parts))


def unset(expr: TypeExpr) -> TypeExpr:
    """`T | UnsetType`, where absent is a value of its own."""
    return replace(expr, parts=(*expr.parts, " | ", Ref("kubewright.model", "UnsetType")))
