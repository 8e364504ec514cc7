"""What a server asks of each keyword of a CRD's schema, beside its structure.

Forbidden keywords, the types of list-type and map-type, keys of list maps, texts of rules, places of defaults: the
part of `apis/apiextensions/validation` that walks the schema. Rules are read as texts; what CEL makes of them is for a
`RuleCheck`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .crdpaths import CelPathError, follow
from .fielderrors import FieldError, child, forbidden, index, invalid, key, not_supported, required

__all__ = ["openapi_errors"]

Schema = Mapping[str, Any]

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_LIST_TYPES: Final = ("atomic", "set", "map")
_MAP_TYPES: Final = ("atomic", "granular")
_META: Final = ("metadata", "kind", "apiVersion")
_UNSUPPORTED: Final = (
    ("id", bool),
    ("additionalItems", lambda value: value is not None),
    ("patternProperties", bool),
    ("definitions", bool),
    ("dependencies", lambda value: value is not None),
    ("$ref", lambda value: value is not None),
)
_BREAKS: Final = re.compile(r"[\n\r]+")


class _Place(msgspec.Struct, frozen=True):
    """Where in the schema the walk is, as far as rules depend on it."""

    in_meta: bool = False
    no_defaults: str | None = None
    """Why there may be no defaults."""


def openapi_errors(schema: Schema, path: str) -> list[FieldError]:
    """The errors of a schema and all below, in the server's order (its maps have none)."""
    return _schema(schema, path, _Place(), is_root=True)


def _schema(schema: Any, path: str, place: _Place, is_root: bool = False) -> list[FieldError]:
    if not isinstance(schema, Mapping):
        return []
    errors = _standard(schema, path, place)
    if schema.get("uniqueItems"):
        said = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.append(forbidden(child(path, "uniqueItems"), said))
    errors += _children(schema, path, place, is_root)
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        where = child(path, "x-kubernetes-preserve-unknown-fields")
        errors.append(invalid(where, False, "must be true or undefined"))
    errors += _map_type(schema, path)
    errors += _list_type(schema, path)
    errors += _keys(schema, path)
    errors += _items_of_sets_and_maps(schema, path)
    for place_of, rule in enumerate(schema.get("x-kubernetes-validations") or []):
        errors += _rule(schema, rule, index(child(path, "x-kubernetes-validations"), place_of))
    return errors


def _standard(schema: Schema, path: str, place: _Place) -> list[FieldError]:
    errors: list[FieldError] = []
    kind = schema.get("type") or ""
    if kind and kind not in _TYPES:
        errors.append(not_supported(child(path, "type"), kind, _TYPES))
    if schema.get("default") is not None and place.no_defaults is not None:
        errors.append(forbidden(child(path, "default"), f"must not be set {place.no_defaults}"))
    errors += [
        forbidden(child(path, keyword), f"{keyword} is not supported")
        for keyword, is_set in _UNSUPPORTED
        if is_set(schema.get(keyword))
    ]
    if kind == "null":
        said = "type cannot be set to null, use nullable as an alternative"
        errors.append(forbidden(child(path, "type"), said))
    if isinstance(schema.get("items"), list) and schema["items"]:
        errors.append(forbidden(child(path, "items"), "items must be a schema object and not an array"))
    if place.in_meta and schema.get("x-kubernetes-embedded-resource"):
        where = child(path, "x-kubernetes-embedded-resource")
        errors.append(forbidden(where, "must not be used inside of resource meta"))
    return errors


def _children(schema: Schema, path: str, place: _Place, is_root: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    properties, extra = schema.get("properties") or {}, schema.get("additionalProperties")
    if extra is not None:
        if properties and extra is not True:
            said = "additionalProperties and properties are mutual exclusive"
            errors.append(forbidden(child(path, "additionalProperties"), said))
        below = place
        if place.in_meta:
            below = _Place(True, "inside additionalProperties applying to object metadata")
        errors += _schema(extra, child(path, "additionalProperties"), below)
    for name, each in properties.items():
        below = place
        if (is_root or schema.get("x-kubernetes-embedded-resource")) and name in _META:
            below = _Place(True, f"in top-level {name}" if is_root else place.no_defaults)
        errors += _schema(each, key(child(path, "properties"), name), below)
    errors += _schema(schema.get("not"), child(path, "not"), place)
    for junctor in ("allOf", "oneOf", "anyOf"):
        for position, each in enumerate(schema.get(junctor) or []):
            errors += _schema(each, index(child(path, junctor), position), place)
    for name, each in (schema.get("definitions") or {}).items():
        errors += _schema(each, key(child(path, "definitions"), name), place)
    items = schema.get("items")
    if isinstance(items, list):
        for position, each in enumerate(items):
            errors += _schema(each, index(child(path, "items"), position), place)
    else:
        errors += _schema(items, child(path, "items"), place)
    for name, each in (schema.get("dependencies") or {}).items():
        errors += _schema(each, key(child(path, "dependencies"), name), place)
    return errors


def _map_type(schema: Schema, path: str) -> list[FieldError]:
    map_type, kind = schema.get("x-kubernetes-map-type"), schema.get("type") or ""
    if map_type is None:
        return []
    errors: list[FieldError] = []
    if kind != "object":
        said = "must be object if x-kubernetes-map-type is specified"
        where = child(path, "type")
        errors.append(invalid(where, kind, said) if kind else required(where, said))
    if map_type not in _MAP_TYPES:
        errors.append(not_supported(child(path, "x-kubernetes-map-type"), map_type, _MAP_TYPES))
    return errors


def _list_type(schema: Schema, path: str) -> list[FieldError]:
    list_type, kind = schema.get("x-kubernetes-list-type"), schema.get("type") or ""
    if list_type is None:
        return []
    errors: list[FieldError] = []
    items = schema.get("items")
    if kind != "array":
        said = "must be array if x-kubernetes-list-type is specified"
        where = child(path, "type")
        errors.append(invalid(where, kind, said) if kind else required(where, said))
    elif list_type == "set" and isinstance(items, Mapping):
        said = "must be atomic as item of a list with x-kubernetes-list-type=set"
        below = items.get("x-kubernetes-list-type")
        if items.get("type") == "array" and below is not None and below != "atomic":
            errors.append(invalid(child(child(path, "items"), "x-kubernetes-list-type"), below, said))
        if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
            errors.append(invalid(child(child(path, "items"), "x-kubernetes-map-type"), below, said))
    if list_type not in _LIST_TYPES:
        errors.append(not_supported(child(path, "x-kubernetes-list-type"), list_type, _LIST_TYPES))
    return errors


def _keys(schema: Schema, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    list_type, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys") or []
    where = child(path, "x-kubernetes-list-type")
    if keys and list_type != "map":
        said = "must be map if x-kubernetes-list-map-keys is non-empty"
        errors.append(required(where, said) if list_type is None else invalid(where, list_type, said))
    if list_type != "map":
        return errors
    named, items = child(path, "x-kubernetes-list-map-keys"), schema.get("items")
    if not keys:
        errors.append(required(named, "must not be empty if x-kubernetes-list-type is map"))
    if items is None:
        errors.append(required(child(path, "items"), "must have a schema if x-kubernetes-list-type is map"))
    if not isinstance(items, Mapping):
        return errors
    kind = items.get("type") or ""
    if kind != "object":
        said = "must be object if parent array's x-kubernetes-list-type is map"
        return [*errors, invalid(child(child(path, "items"), "type"), kind, said)]
    properties = items.get("properties") or {}
    for place, name in enumerate(keys):
        if name not in properties:
            errors.append(invalid(named, keys, "entries must all be names of item properties"))
        elif properties[name].get("type") in ("array", "object"):
            below = child(key(child(child(path, "items"), "properties"), name), "type")
            said = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            errors.append(invalid(below, kind, said))
        if name in keys[:place]:
            errors.append(invalid(named, keys, "must not contain duplicate entries"))
    return errors


def _items_of_sets_and_maps(schema: Schema, path: str) -> list[FieldError]:
    list_type, items = schema.get("x-kubernetes-list-type"), schema.get("items")
    if list_type not in ("set", "map") or not isinstance(items, Mapping):
        return []
    errors: list[FieldError] = []
    below = child(path, "items")
    if items.get("nullable"):
        said = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        errors.append(forbidden(child(below, "nullable"), said))
    if list_type == "set":
        return errors
    said = "this property is in x-kubernetes-list-map-keys, so it"
    for name in schema.get("x-kubernetes-list-map-keys") or []:
        field = (items.get("properties") or {}).get(name)
        if field is None:
            continue
        where = key(child(below, "properties"), name)
        if name not in (items.get("required") or []) and field.get("default") is None:
            errors.append(required(child(where, "default"), f"{said} must have a default or be a required property"))
        if field.get("nullable"):
            errors.append(forbidden(child(where, "nullable"), f"{said} cannot be nullable"))
    return errors


def _rule(schema: Schema, rule: Mapping[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    text, message = str(rule.get("rule") or ""), str(rule.get("message") or "")
    if not text.strip():
        errors.append(required(child(path, "rule"), "rule is not specified"))
    elif message and not message.strip():
        errors.append(invalid(child(path, "message"), message, "must be non-empty if specified"))
    elif _BREAKS.search(message.strip()):
        errors.append(invalid(child(path, "message"), message, "must not contain line breaks"))
    elif _BREAKS.search(text.strip()) and not message.strip():
        said = "message must be specified if rule contains line breaks"
        errors.append(required(child(path, "message"), said))
    expression = str(rule.get("messageExpression") or "")
    if expression and not expression.strip():
        said = "messageExpression must be non-empty if specified"
        errors.append(required(child(path, "messageExpression"), said))
    reason = rule.get("reason")
    if reason is not None and reason not in _REASONS:
        errors.append(not_supported(child(path, "reason"), reason, _REASONS))
    blamed = str(rule.get("fieldPath") or "")
    where = child(path, "fieldPath")
    if blamed and not blamed.strip():
        errors.append(invalid(where, blamed, "must be non-empty if specified"))
    if _BREAKS.search(blamed):
        errors.append(invalid(where, blamed, "must not contain line breaks"))
    if blamed:
        try:
            follow(schema, blamed)
        except CelPathError:
            errors.append(invalid(where, blamed, "must be a valid path"))
    return errors
