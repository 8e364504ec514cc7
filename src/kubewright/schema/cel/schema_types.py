"""Structural schemas as types: what an expression sees of an object, how large it may be, and its values.

`SchemaType` is a schema seen by CEL. Fields whose names are no identifiers are escaped (`__dash__`); those that cannot
be, and values without a type, are not seen at all. `value()` turns JSON into CEL's values.

Rule: apiserver/pkg/cel/common/schemas.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from . import types as t
from .environment import FieldType
from .schema_meta import RESERVED, escape, with_meta
from .schema_values import Convert, converter
from .types import Type
from .values import Misfit

__all__ = ["MAX_REQUEST_BYTES", "SchemaType", "schema_type"]

MAX_REQUEST_BYTES: Final = 3 * 1024 * 1024


class SchemaType:
    """A schema as CEL sees it.

    Attributes:
        type: its CEL type; objects are named by their path.
        max_elements: the most characters, items or entries; 0 where that has no meaning.
        min_size: the fewest bytes of JSON.
        fields: by escaped name, of objects.
        items: of lists and maps.
    """

    __slots__ = ("_convert", "fields", "items", "keys", "max_elements", "min_size", "schema", "type")

    def __init__(self, schema: Mapping[str, Any], type_: Type, max_elements: int, min_size: int) -> None:
        self.schema = schema
        self.type = type_
        self.max_elements = max_elements
        self.min_size = min_size
        self.fields: dict[str, SchemaType] = {}
        self.keys: dict[str, str] = {}
        self.items: SchemaType | None = None
        self._convert: Convert | None = None

    def value(self, data: Any, misfits: list[Misfit]) -> Any:
        """JSON data as CEL values. The data is used in place where it can be; do not change it meanwhile.

        Args:
            misfits: gets what is not of its type. Where there are some, programs have to be told (`is_sound=False`).
        """
        if self._convert is None:
            self._convert = converter(self.schema)
        return self._convert(data, misfits)

    def objects(self) -> dict[str, dict[str, FieldType]]:
        """The fields of this and all inner objects, by type name, for an Environment."""
        found: dict[str, dict[str, FieldType]] = {}
        todo = [self]
        while todo:
            each = todo.pop()
            if each.type.kind == "object":
                fields = {name: FieldType(field.type, each.keys[name]) for name, field in each.fields.items()}
                for field in tuple(fields.values()):
                    # Reserved words may be written as they are behind a dot: `self.namespace`.
                    if field.key in RESERVED and field.key not in fields:
                        fields[field.key] = FieldType(field.type, field.key)
                found[each.type.name] = fields
                todo.extend(each.fields.values())
            elif each.items is not None:
                todo.append(each.items)
        return found


def schema_type(schema: Mapping[str, Any], *, root: bool = False, name: str = "selfType") -> SchemaType | None:
    """What CEL sees of a schema (JSON, as in a CRD), or None where it sees nothing.

    Args:
        schema: a structural schema.
        root: whether it is that of a whole object, with `apiVersion`, `kind` and `metadata`.
        name: the prefix of the names of object types.
    """
    if schema.get("x-kubernetes-int-or-string"):
        most = _length(schema) * 4 if "maxLength" in schema else MAX_REQUEST_BYTES - 2
        return SchemaType(schema, t.DYN, most, 1)
    if root:
        schema = with_meta(schema)
    match schema.get("type"):
        case "array":
            return _array(schema, name)
        case "object":
            return _object(schema, name)
        case "string":
            return _string(schema)
        case "boolean":
            return SchemaType(schema, t.BOOL, 0, 4)
        case "number":
            return SchemaType(schema, t.DOUBLE, 0, 1)
        case "integer":
            return SchemaType(schema, t.INT, 0, 1)
    return None


def _length(schema: Mapping[str, Any], keyword: str = "maxLength") -> int:
    return max(int(schema[keyword]), 0)


def _array(schema: Mapping[str, Any], name: str) -> SchemaType | None:
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return None
    item = schema_type(items, root=bool(items.get("x-kubernetes-embedded-resource")), name=f"{name}.@idx")
    if item is None:
        return None
    given = schema.get("maxItems")
    most = (MAX_REQUEST_BYTES - 2) // (item.min_size + 1) if given is None else max(int(given), 0)
    found = SchemaType(schema, t.list_of(item.type), most, 2)
    found.items = item
    return found


def _object(schema: Mapping[str, Any], name: str) -> SchemaType | None:
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        value = schema_type(values, root=bool(values.get("x-kubernetes-embedded-resource")), name=f"{name}.@elem")
        if value is None:
            return None
        given = schema.get("maxProperties")
        most = (MAX_REQUEST_BYTES - 2) // (value.min_size + 6) if given is None else max(int(given), 0)
        found = SchemaType(schema, t.map_of(t.STRING, value.type), most, 2)
        found.items = value
        return found
    found = SchemaType(schema, t.object_type(name), 0, 2)
    required = set(schema.get("required") or ())
    for key, field_schema in (schema.get("properties") or {}).items():
        escaped = escape(key)
        is_root = bool(field_schema.get("x-kubernetes-embedded-resource"))
        field = schema_type(field_schema, root=is_root, name=f"{name}.{escaped}")
        if field is None:
            continue
        if escaped is not None:
            found.fields[escaped] = field
            found.keys[escaped] = key
        if key in required and field_schema.get("default") is None:
            found.min_size += len(key.encode()) + field.min_size + 4
    return found


def _string(schema: Mapping[str, Any]) -> SchemaType:
    whole = MAX_REQUEST_BYTES - 2
    match schema.get("format"):
        case "byte":
            return SchemaType(schema, t.BYTES, _length(schema) if "maxLength" in schema else whole, 2)
        case "duration":
            return SchemaType(schema, t.DURATION, 32, 3)
        case "date":
            return SchemaType(schema, t.TIMESTAMP, 12, 12)
        case "date-time":
            return SchemaType(schema, t.TIMESTAMP, 32, 21)
    if "maxLength" in schema:
        most = _length(schema) * 4
    elif schema.get("enum"):
        most = max((len(each.encode()) for each in schema["enum"] if isinstance(each, str)), default=0)
    else:
        most = whole
    return SchemaType(schema, t.STRING, most, 2)
