"""Whether a schema is structural: the first thing a server asks of the schema of a CRD.

The invariants, from `apiserver/schema/{validation,complete}.go`: every property, item and the root has a type outside
of allOf, anyOf, oneOf and not, which only restrict values; those of the root speak only of what is declared outside of
them; root metadata is nobody's to describe; an embedded resource is an object that says something or keeps everything.
Errors are sorted by their text, as the server's are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..re2 import Re2Error
from ..re2 import compile as compile_re2
from .fielderrors import FieldError, child, forbidden, invalid, key, required

__all__ = ["structure_errors"]

Schema = Mapping[str, Any]

_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
_JUNCTORS: Final = ("anyOf", "allOf", "oneOf")
_TYPE_MISSING: Final = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_FORBIDDEN_INSIDE: Final = (
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)


def _bare(schema: Schema) -> dict[str, Any]:
    """A schema without keywords that say nothing. An empty `required` or `properties` says something to a server."""
    return {
        name: each
        for name, each in schema.items()
        if not (each is None or each is False or each == "" or (each == [] and name in (*_JUNCTORS, "enum")))
    }


def structure_errors(schema: Schema, path: str) -> list[FieldError]:
    """What keeps a schema from being structural, sorted."""
    errors = [*_invariants(schema, "root", path), *_complete(schema, schema, path, path)]
    return sorted(errors, key=str)


def _invariants(schema: Schema, level: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    kind, items = schema.get("type") or "", schema.get("items")
    properties, extra = schema.get("properties") or {}, schema.get("additionalProperties")
    if kind == "array" and items is None:
        errors.append(required(child(path, "items"), "must be specified"))
    if isinstance(items, Mapping):
        errors += _invariants(items, "item", child(path, "items"))
    for name, each in properties.items():
        errors += _invariants(each, "field", key(child(path, "properties"), name))
    if extra is not None:
        if level == "root":
            errors.append(forbidden(child(path, "additionalProperties"), "must not be used at the root"))
        if isinstance(extra, Mapping):
            errors += _invariants(extra, "field", child(path, "additionalProperties"))
    errors += _extensions(schema, path)
    any_of, all_of = schema.get("anyOf") or [], schema.get("allOf") or []
    skip_any = [_bare(each) for each in any_of] == _INT_OR_STRING
    skip_first = bool(all_of) and [_bare(each) for each in all_of[0].get("anyOf") or []] == _INT_OR_STRING
    errors += _validations(schema, skip_any, skip_first, path)
    errors += _types(schema, level, path)
    errors += _meta(schema, level, path)
    return errors


def _extensions(schema: Schema, path: str) -> list[FieldError]:
    said = "must be false if x-kubernetes-int-or-string is true"
    names = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource")
    if not schema.get("x-kubernetes-int-or-string"):
        return []
    return [invalid(child(path, name), True, said) for name in names if schema.get(name)]


def _types(schema: Schema, level: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    kind, where = schema.get("type") or "", child(path, "type")
    embedded = schema.get("x-kubernetes-embedded-resource")
    preserve = schema.get("x-kubernetes-preserve-unknown-fields")
    if embedded and kind != "object":
        said = "must be object if x-kubernetes-embedded-resource is true"
        errors.append(invalid(where, kind, said) if kind else required(where, said))
    elif not kind and not schema.get("x-kubernetes-int-or-string") and not preserve:
        errors.append(required(where, _TYPE_MISSING[level]))
    if embedded and schema.get("additionalProperties") is not None:
        said = "must not be used if x-kubernetes-embedded-resource is set"
        errors.append(forbidden(child(path, "additionalProperties"), said))
    if level == "root" and kind and kind != "object":
        errors.append(invalid(where, kind, "must be object at the root"))
    if embedded and not preserve and not schema.get("properties"):
        said = (
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        )
        errors.append(required(child(path, "properties"), said))
    return errors


def _meta(schema: Schema, level: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    properties = schema.get("properties") or {}
    whole = level == "root" or bool(schema.get("x-kubernetes-embedded-resource"))
    errors += [
        invalid(child(key(child(path, "properties"), name), "type"), kind, "must be string")
        for name in ("kind", "apiVersion")
        if whole and name in properties and (kind := properties[name].get("type") or "") != "string"
    ]
    metadata = properties.get("metadata")
    if metadata is None:
        return errors
    where = key(child(path, "properties"), "metadata")
    if whole and (kind := metadata.get("type") or "") != "object":
        errors.append(invalid(child(where, "type"), kind, "must be object"))
    if level == "root":
        rest = {name: each for name, each in _bare(metadata).items() if name not in ("type", "default")}
        if set(rest.get("properties", ())) <= {"name", "generateName"}:
            rest.pop("properties", None)
        if rest:
            said = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            errors.append(forbidden(where, said))
    return errors


def _validations(schema: Schema, skip_any: bool, skip_first: bool, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for junctor in _JUNCTORS:
        if junctor == "anyOf" and skip_any:
            continue
        for place, each in enumerate(schema.get(junctor) or []):
            skip = skip_first and junctor == "allOf" and place == 0
            errors += _nested(each, skip, f"{child(path, junctor)}[{place}]")
    if schema.get("not") is not None:
        errors += _nested(schema["not"], False, child(path, "not"))
    pattern = schema.get("pattern")
    if pattern:
        try:
            compile_re2(pattern)
        except Re2Error as error:
            said = f"must be a valid regular expression, but isn't: {error}"
            errors.append(invalid(child(path, "pattern"), pattern, said))
    return errors


def _nested(schema: Schema, skip_any: bool, path: str) -> list[FieldError]:
    """A value validation: nothing but restrictions."""
    errors = _validations(schema, skip_any, False, path)
    if isinstance(schema.get("items"), Mapping):
        errors += _nested(schema["items"], False, child(path, "items"))
    properties = schema.get("properties") or {}
    for name, each in properties.items():
        errors += _nested(each, False, key(child(path, "properties"), name))
    if schema.get("type"):
        errors.append(forbidden(child(path, "type"), "must be empty to be structural"))
    if schema.get("additionalProperties") not in (None, False):
        errors.append(forbidden(child(path, "additionalProperties"), "must be undefined to be structural"))
    for keyword, said in _FORBIDDEN_INSIDE:
        value = schema.get(keyword)
        if value is not None if said.startswith("must be undefined") else value:
            errors.append(forbidden(child(path, keyword), said))
    if "metadata" in properties:
        where = key(child(path, "properties"), "metadata")
        errors.append(forbidden(where, "must not be specified in a nested context"))
    return errors


# -- completeness -----------------------------------------------------------------------------------------------------


def _complete(values: Schema, schema: Schema, path: str, found: str) -> list[FieldError]:
    """What the value validations of a node speak of and its structure does not have."""
    errors: list[FieldError] = []
    if values.get("not") is not None:
        errors += _complete_nested(values["not"], schema, path, child(found, "not"))
    for junctor in ("allOf", "anyOf", "oneOf"):
        for place, each in enumerate(values.get(junctor) or []):
            errors += _complete_nested(each, schema, path, f"{child(found, junctor)}[{place}]")
    return errors


def _complete_nested(values: Schema, schema: Schema | None, path: str, found: str) -> list[FieldError]:
    if schema is None:
        return [required(path, f"because it is defined in {found}")]
    errors = _complete(values, schema, path, found)
    if isinstance(values.get("items"), Mapping):
        items = schema.get("items")
        below = items if isinstance(items, Mapping) else None
        errors += _complete_nested(values["items"], below, child(path, "items"), child(found, "items"))
    known = schema.get("properties") or {}
    for name, each in (values.get("properties") or {}).items():
        where, there = (key(child(way, "properties"), name) for way in (path, found))
        errors += _complete_nested(each, known.get(name), where, there)
    return errors
