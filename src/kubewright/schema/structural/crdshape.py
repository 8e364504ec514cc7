"""Whether a document has the shape of a CustomResourceDefinition: known fields, of the right types.

The tables are apiextensions.k8s.io/v1. What is not in them is an unknown field, in the words of strict field
validation; what has a wrong type keeps a server from decoding the document at all. Below `items`,
`additionalProperties` and their like a server does not see unknown fields and drops them without a word: `unseen`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .gotext import kind_of

__all__ = ["Shape", "shape_of", "without_nulls"]

_LIST: Final = "list of "
_MAP: Final = "map of "

_TYPES: Final[dict[str, dict[str, str]]] = {
    "crd": {
        "apiVersion": "string",
        "kind": "string",
        "metadata": "any",
        "spec": "spec",
        "status": "any",
    },
    "spec": {
        "conversion": "conversion",
        "group": "string",
        "names": "names",
        "preserveUnknownFields": "boolean",
        "scope": "string",
        "versions": "list of version",
    },
    "old crd": {
        "apiVersion": "string",
        "kind": "string",
        "metadata": "any",
        "spec": "old spec",
        "status": "any",
    },
    "old spec": {
        "additionalPrinterColumns": "list of old column",
        "conversion": "old conversion",
        "group": "string",
        "names": "names",
        "preserveUnknownFields": "boolean",
        "scope": "string",
        "subresources": "subresources",
        "validation": "validation",
        "version": "string",
        "versions": "list of old version",
    },
    "old conversion": {
        "conversionReviewVersions": "list of string",
        "strategy": "string",
        "webhookClientConfig": "client",
    },
    "names": {
        "categories": "list of string",
        "kind": "string",
        "listKind": "string",
        "plural": "string",
        "shortNames": "list of string",
        "singular": "string",
    },
    "conversion": {"strategy": "string", "webhook": "webhook"},
    "webhook": {"clientConfig": "client", "conversionReviewVersions": "list of string"},
    "client": {"caBundle": "string", "service": "service", "url": "string"},
    "service": {"name": "string", "namespace": "string", "path": "string", "port": "integer"},
    "version": {
        "additionalPrinterColumns": "list of column",
        "deprecated": "boolean",
        "deprecationWarning": "string",
        "name": "string",
        "schema": "validation",
        "selectableFields": "list of selectable",
        "served": "boolean",
        "storage": "boolean",
        "subresources": "subresources",
    },
    "column": {
        "description": "string",
        "format": "string",
        "jsonPath": "string",
        "name": "string",
        "priority": "integer",
        "type": "string",
    },
    "selectable": {"jsonPath": "string"},
    "subresources": {"scale": "scale", "status": "empty"},
    "scale": {"labelSelectorPath": "string", "specReplicasPath": "string", "statusReplicasPath": "string"},
    "empty": {},
    "validation": {"openAPIV3Schema": "schema"},
    "docs": {"description": "string", "url": "string"},
    "rule": {
        "fieldPath": "string",
        "message": "string",
        "messageExpression": "string",
        "optionalOldSelf": "boolean",
        "reason": "string",
        "rule": "string",
    },
    "schema": {
        "$ref": "string",
        "$schema": "string",
        "additionalItems": "schema or boolean",
        "additionalProperties": "schema or boolean",
        "allOf": "list of schema",
        "anyOf": "list of schema",
        "default": "any",
        "definitions": "map of schema",
        "dependencies": "map of schema or list",
        "description": "string",
        "enum": "list of any",
        "example": "any",
        "exclusiveMaximum": "boolean",
        "exclusiveMinimum": "boolean",
        "externalDocs": "docs",
        "format": "string",
        "id": "string",
        "items": "schema or list",
        "maxItems": "integer",
        "maxLength": "integer",
        "maxProperties": "integer",
        "maximum": "number",
        "minItems": "integer",
        "minLength": "integer",
        "minProperties": "integer",
        "minimum": "number",
        "multipleOf": "number",
        "not": "schema",
        "nullable": "boolean",
        "oneOf": "list of schema",
        "pattern": "string",
        "patternProperties": "map of schema",
        "properties": "map of schema",
        "required": "list of string",
        "title": "string",
        "type": "string",
        "uniqueItems": "boolean",
        "x-kubernetes-embedded-resource": "boolean",
        "x-kubernetes-int-or-string": "boolean",
        "x-kubernetes-list-map-keys": "list of string",
        "x-kubernetes-list-type": "string",
        "x-kubernetes-map-type": "string",
        "x-kubernetes-preserve-unknown-fields": "boolean",
        "x-kubernetes-validations": "list of rule",
    },
}
_TYPES["old column"] = {name if name != "jsonPath" else "JSONPath": each for name, each in _TYPES["column"].items()}
_TYPES["old version"] = _TYPES["version"] | {"additionalPrinterColumns": "list of old column"}
"""apiextensions.k8s.io/v1beta1, where it differs."""

_CALLED: Final = {"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


class Shape(msgspec.Struct, frozen=True):
    """What is wrong with the shape: `unknown` and `unseen` paths, and `broken` texts of values with wrong types."""

    unknown: list[str]
    broken: list[str]
    unseen: list[str]


def shape_of(crd: Mapping[str, Any], *, wanted: str = "crd") -> Shape:
    """The shape of a CRD document, which `values.json_value` has copied (its depth is bounded).

    Args:
        wanted: `crd`, or `old crd` for v1beta1.
    """
    shape = Shape([], [], [])
    _check(crd, wanted, "", shape)
    return shape


def without_nulls(value: Any, *, wanted: str = "crd") -> Any:
    """A document whose shape is right, with nulls as Go reads them: a field that is null is absent, an item or value
    of a map that is null is empty.
    """
    if wanted.startswith(_LIST):
        return [_filled(item, wanted.removeprefix(_LIST)) for item in value]
    if wanted.startswith(_MAP):
        return {name: _filled(each, wanted.removeprefix(_MAP)) for name, each in value.items()}
    if wanted.startswith("schema or "):
        if isinstance(value, list):
            return [_filled(item, "schema") for item in value]
        return without_nulls(value, wanted="schema") if isinstance(value, dict) else value
    if wanted in _TYPES and isinstance(value, dict):
        fields = _TYPES[wanted]
        return {
            name: without_nulls(each, wanted=fields.get(name, "any"))
            for name, each in value.items()
            if each is not None or fields.get(name, "any") == "any"
        }
    return value


def _filled(value: Any, wanted: str) -> Any:
    if value is None and wanted != "any":
        return "" if wanted == "string" else {}
    return without_nulls(value, wanted=wanted)


def _check(value: Any, wanted: str, path: str, shape: Shape, seen: bool = True) -> None:
    if value is None or wanted == "any":
        return
    found = kind_of(value)
    if wanted.startswith(_LIST):
        if _is(found == "array", found, "a list", path, shape):
            for place, item in enumerate(value):
                _check(item, wanted.removeprefix(_LIST), f"{path}[{place}]", shape, seen)
    elif wanted.startswith(_MAP):
        if _is(found == "object", found, "an object", path, shape):
            for name, each in value.items():
                _check(each, wanted.removeprefix(_MAP), f"{path}.{name}", shape, seen)
    elif wanted.startswith("schema or "):
        _check_choice(value, wanted.removeprefix("schema or "), path, shape)
    elif wanted in _CALLED:
        right = found == wanted or (wanted == "number" and found == "integer")
        whole = wanted == "integer" and found == "number" and float(value).is_integer()
        _is(right or whole, found, _CALLED[wanted], path, shape)
    elif _is(found == "object", found, "an object", path, shape):
        fields = _TYPES[wanted]
        for name, each in value.items():
            below = f"{path}.{name}" if path else name
            if name in fields:
                _check(each, fields[name], below, shape, seen)
            else:
                (shape.unknown if seen else shape.unseen).append(below)


def _check_choice(value: Any, other: str, path: str, shape: Shape) -> None:
    if isinstance(value, dict):
        _check(value, "schema", path, shape, seen=False)
    elif other == "boolean":
        _is(isinstance(value, bool), kind_of(value), "a schema, true or false", path, shape)
    elif _is(isinstance(value, list), kind_of(value), "a schema", path, shape):
        for place, item in enumerate(value):
            if not isinstance(item, str):
                _check(item, "schema", f"{path}[{place}]", shape, seen=False)


def _is(right: bool, found: str, wanted: str, path: str, shape: Shape) -> bool:
    if not right:
        shape.broken.append(f"{path or 'document'}: is of type {found} and has to be {wanted}")
    return right
