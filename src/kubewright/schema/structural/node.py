"""A schema, read once.

`Node.read` turns a JSONSchemaProps dictionary into a tree of `Node`, with bounds, patterns, formats and enumerations
ready to be asked. Everything else in this room walks these trees. What the tree is made of is the structural part
(properties, items, additionalProperties) and the value validations (allOf, anyOf, oneOf, not), which are nodes as well
but are never pruned, defaulted or correlated.

Schemas are read as a server has them, which is out of storage: an `enum` or `default` of 1.0 is the integer 1. (With
`stored=False` they are as they were sent, which is how the defaults of a CRD are checked.)

It refuses to judge: whether a server would take the schema as that of a CRD is for `crdschema`. Only what has no
meaning at all (a `properties` that is no object) is a `SchemaShapeError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..re2 import Re2Error
from ..re2 import compile as compile_re2
from .numbers import Bounds
from .strformats import FORMATS
from .values import as_stored, json_value

__all__ = ["MAX_SCHEMA_DEPTH", "Node", "SchemaShapeError", "is_format_known"]

_INTEGER_FORMATS: Final = ("int32", "int64")
_NUMBER_FORMATS: Final = ("float", "double")
_ABSENT: Final = object()

MAX_SCHEMA_DEPTH: Final = 80
"""Levels of schemas in schemas; the deepest that people write have some thirty. Every walk here is bounded by it."""


class SchemaShapeError(ValueError):
    """A schema that cannot be read. `path` is where, `rule` what is wrong there."""

    def __init__(self, path: str, rule: str) -> None:
        super().__init__(path, rule)
        self.path, self.rule = path, rule

    def __str__(self) -> str:
        return f"{self.path or 'schema'}: {self.rule}"


def is_format_known(kind: str, name: str) -> bool:
    """Whether a server checks a format of a type; `kind` is "" where the schema has no or several types."""
    if kind in ("", "string"):
        return name.replace("-", "") in FORMATS
    known = {"integer": _INTEGER_FORMATS, "number": _NUMBER_FORMATS}.get(kind, ())
    return name in known


class Node:
    """One schema. All attributes are plain data, read-only by convention."""

    __slots__ = (
        "_stored",
        "additional",
        "all_of",
        "any_of",
        "bounds",
        "closed",
        "default",
        "embedded",
        "enum",
        "format",
        "format_check",
        "has_default",
        "has_embedded",
        "has_sets",
        "items",
        "keys",
        "list_type",
        "map_type",
        "max_items",
        "max_length",
        "max_properties",
        "min_items",
        "min_length",
        "min_properties",
        "none_of",
        "nullable",
        "one_of",
        "open",
        "pattern",
        "pattern_matches",
        "preserve",
        "properties",
        "required",
        "rules",
        "types",
        "unique",
        "valid",
    )

    valid: Callable[[Any], bool] | None
    """The predicate of this node, once `checks.predicate` has made it."""
    types: tuple[str, ...]
    """Empty where any type is allowed."""
    properties: dict[str, Node]
    additional: Node | None
    """The schema of further values."""
    open: bool
    """`additionalProperties` is there: what `properties` does not name is kept (and pruned by `additional`)."""
    has_sets: bool
    """A list of type set or map stands here or below."""
    has_embedded: bool
    """An embedded resource stands here or below."""
    closed: bool
    """`additionalProperties: false`: what `properties` does not name is an error."""

    def __init__(self, schema: Mapping[str, Any], path: str = "", depth: int = 0, *, stored: bool = True) -> None:
        if depth > MAX_SCHEMA_DEPTH:
            raise SchemaShapeError(path, f"is nested deeper than {MAX_SCHEMA_DEPTH} levels")
        if not isinstance(schema, Mapping):
            raise SchemaShapeError(path, "is not an object")
        self.valid = None
        read = _Reader(schema, path)
        declared = read.text("type")
        int_or_string = read.flag("x-kubernetes-int-or-string")
        # The defaults of a CRD are checked against its schema before int-or-string is read as two types.
        self.types = ("integer", "string") if int_or_string and stored else (declared,) if declared else ()
        kind = self.types[0] if len(self.types) == 1 else ""
        self.nullable = read.flag("nullable")
        self._stored = stored
        self.enum: list[Any] = self._kept(read.items("enum"))
        self._read_strings(read, kind)
        self.bounds = _bounds(read, kind, self.format)
        self.min_items, self.max_items = read.count("minItems"), read.count("maxItems")
        self.unique = read.flag("uniqueItems")
        self.min_properties, self.max_properties = read.count("minProperties"), read.count("maxProperties")
        self.required = tuple(read.texts("required"))
        self.has_default = schema.get("default") is not None
        self.default = self._kept(json_value(schema.get("default")))
        self._read_extensions(read)
        self._read_children(read, depth)
        below = [each for each in (*self.properties.values(), self.items, self.additional) if each is not None]
        self.has_sets = self.list_type in ("set", "map") or any(each.has_sets for each in below)
        self.has_embedded = self.embedded or any(each.has_embedded for each in below)

    def _kept(self, value: Any) -> Any:
        return as_stored(value) if self._stored else value

    def _read_strings(self, read: _Reader, kind: str) -> None:
        name = read.text("format")
        self.format = name if name and is_format_known(kind, name) else ""
        self.format_check: Callable[[str], bool] | None = FORMATS.get(self.format.replace("-", ""))
        self.min_length, self.max_length = read.count("minLength"), read.count("maxLength")
        self.pattern = read.text("pattern")
        self.pattern_matches: Callable[[str], bool] | None = None
        if self.pattern:
            try:
                self.pattern_matches = compile_re2(self.pattern).matches
            except Re2Error as error:
                raise SchemaShapeError(f"{read.path}.pattern", str(error)) from None

    def _read_extensions(self, read: _Reader) -> None:
        self.preserve = read.flag("x-kubernetes-preserve-unknown-fields")
        self.embedded = read.flag("x-kubernetes-embedded-resource")
        self.list_type = read.text("x-kubernetes-list-type")
        self.map_type = read.text("x-kubernetes-map-type")
        self.keys = tuple(read.texts("x-kubernetes-list-map-keys"))
        self.rules = tuple(read.mappings("x-kubernetes-validations"))

    def _read_children(self, read: _Reader, depth: int) -> None:
        def node(schema: Any, part: str) -> Node:
            return Node(schema, f"{read.path}{part}", depth + 1, stored=self._stored)

        self.properties = {
            name: node(each, f".properties[{name}]") for name, each in read.mapping("properties").items()
        }
        extra = read.schema.get("additionalProperties", _ABSENT)
        self.open = extra is not _ABSENT and extra is not None
        self.closed = extra is False
        self.additional = node(extra, ".additionalProperties") if isinstance(extra, Mapping) else None
        items = read.schema.get("items")
        self.items = None if items is None else node(items, ".items")
        self.all_of = tuple(node(each, f".allOf[{i}]") for i, each in enumerate(read.items("allOf")))
        self.any_of = tuple(node(each, f".anyOf[{i}]") for i, each in enumerate(read.items("anyOf")))
        self.one_of = tuple(node(each, f".oneOf[{i}]") for i, each in enumerate(read.items("oneOf")))
        without = read.schema.get("not")
        self.none_of = None if without is None else node(without, ".not")

    @property
    def has_rules(self) -> bool:
        """Whether a rule (CEL) stands here or below, where a server evaluates them."""
        if self.rules:
            return True
        below = [*self.properties.values(), self.items, self.additional]
        return any(each is not None and each.has_rules for each in below)

    @property
    def has_patterns(self) -> bool:
        """Whether a text anywhere is searched by a pattern."""
        below = [*self.properties.values(), self.items, self.additional, self.none_of]
        below += [*self.all_of, *self.any_of, *self.one_of]
        return self.pattern_matches is not None or any(each is not None and each.has_patterns for each in below)

    def child(self, name: str) -> Node | None:
        """The schema of a field or map value, None where there is none."""
        return self.properties.get(name) or self.additional


def _bounds(read: _Reader, kind: str, format_name: str) -> Bounds:
    numeric = kind if kind in ("integer", "number") else ""
    return Bounds(
        kind=numeric,
        format=format_name if numeric else "",
        multiple=read.number("multipleOf"),
        minimum=read.number("minimum"),
        above=read.flag("exclusiveMinimum"),
        maximum=read.number("maximum"),
        below=read.flag("exclusiveMaximum"),
    )


class _Reader:
    """Keywords of one schema by their type; a wrong type is a SchemaShapeError that names the keyword."""

    def __init__(self, schema: Mapping[str, Any], path: str) -> None:
        self.schema, self.path = schema, path

    def _get(self, keyword: str, wanted: type | tuple[type, ...], called: str) -> Any:
        value = self.schema.get(keyword)
        if value is None:
            return None
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise SchemaShapeError(f"{self.path}.{keyword}".lstrip("."), f"is {value!r} and has to be {called}")
        return value

    def text(self, keyword: str) -> str:
        return self._get(keyword, str, "a string") or ""

    def flag(self, keyword: str) -> bool:
        return bool(self._get(keyword, bool, "true or false"))

    def count(self, keyword: str) -> int | None:
        value: int | None = self._get(keyword, int, "a whole number")
        return value

    def number(self, keyword: str) -> float | None:
        value = self._get(keyword, (int, float), "a number")
        return None if value is None else float(value)

    def items(self, keyword: str) -> list[Any]:
        return json_value(self._get(keyword, list, "a list") or [])  # type: ignore[no-any-return]

    def texts(self, keyword: str) -> list[str]:
        found = self.items(keyword)
        if not all(isinstance(each, str) for each in found):
            raise SchemaShapeError(f"{self.path}.{keyword}".lstrip("."), "has to be a list of strings")
        return found

    def mappings(self, keyword: str) -> list[dict[str, Any]]:
        found = self.items(keyword)
        if not all(isinstance(each, dict) for each in found):
            raise SchemaShapeError(f"{self.path}.{keyword}".lstrip("."), "has to be a list of objects")
        return found

    def mapping(self, keyword: str) -> Mapping[str, Any]:
        return self._get(keyword, Mapping, "an object") or {}
