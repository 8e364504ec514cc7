"""Structural schemas as JSON Schema (draft 2020-12), for editors and for `kubeconform`.

| structural schema | JSON Schema |
|---|---|
| `nullable` | `null` among the types, or beside a choice |
| int-or-string | two types |
| fields that are not known | refused, as `kubectl` does with what a server would drop |
| `exclusiveMinimum: true` | the bound itself |
| required, with a default | not required: the server fills it in |
| set | `uniqueItems` |
| `format: byte` | `contentEncoding: base64` |
| a pattern that only Go reads | a comment |
| rules (CEL) | comments: an editor cannot evaluate them |

Names of files are those of the well-known catalogues, `<group>/<kind>_<version>.json` in lower case; `all.json` takes
any of the kinds, by `apiVersion` and `kind`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..known import ROOT_METADATA
from ..node import Schema

__all__ = ["editor_schema", "editor_schemas"]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_ONLY_GO: Final = re.compile(r"\(\?(?!:)|\\[AzQEpPCa]|\[\[:|\\x\{")
_FORMATS: Final = {"uuid3": "uuid", "uuid4": "uuid", "uuid5": "uuid"}
_NOT_JSON_SCHEMA: Final = frozenset({"duration", "byte", "datetime", "int32", "int64", "float", "double"})
"""JSON Schema's `duration` is ISO 8601; Kubernetes' is Go's."""

_AS_IT_IS: Final = (
    *("title", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"),
    *("minProperties", "maxProperties", "enum", "default"),
)
_INT32: Final = {"minimum": -(2**31), "maximum": 2**31 - 1}


def editor_schemas(crds: Iterable[Mapping[str, Any]]) -> dict[str, Schema]:
    """A schema for every served version of every kind, by file name; and `all.json`."""
    made: dict[str, Schema] = {}
    for crd in crds:
        names = crd["spec"]["names"]
        for version in crd["spec"]["versions"]:
            if version.get("served", True):
                file = f"{crd['spec']['group']}/{names['kind'].lower()}_{version['name']}.json"
                made[file] = editor_schema(crd, version["name"])
    return {**dict(sorted(made.items())), "all.json": _any_of(made)}


def editor_schema(crd: Mapping[str, Any], version: str) -> Schema:
    """The JSON Schema of one version of a kind. Raises KeyError: there is no such version."""
    found = {each["name"]: each for each in crd["spec"]["versions"]}[version]
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    root = (found.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
    made: Schema = {"$schema": _DIALECT, **_convert(root), "title": f"{kind} ({group}/{version})"}
    properties = dict(made.get("properties", {}))
    for name, value in (("apiVersion", f"{group}/{version}"), ("kind", kind)):
        properties[name] = {**properties.get(name, {}), "const": value, "type": "string"}
    properties["metadata"] = _metadata(properties.get("metadata", {}))
    made["properties"] = properties
    made["required"] = sorted({"apiVersion", "kind", "metadata", *made.get("required", ())})
    made["x-kubernetes-group-version-kind"] = [{"group": group, "kind": kind, "version": version}]
    return made


def _metadata(schema: Schema) -> Schema:
    known = _convert(ROOT_METADATA)
    owner = known["properties"]["ownerReferences"]["items"]
    for name in ("blockOwnerDeletion", "controller"):
        owner["properties"][name] = {"type": "boolean"}
    known["properties"]["managedFields"] = {"items": {"type": "object"}, "type": "array"}
    for name, part in schema.get("properties", {}).items():  # a kind may bound the name
        known["properties"][name] = {**known["properties"].get(name, {}), **part}
    return known


def _any_of(schemas: Mapping[str, Schema]) -> Schema:
    """By `apiVersion` and `kind`: what is none of the kinds is not judged."""
    cases = []
    for file, schema in sorted(schemas.items()):
        said = {name: {"const": schema["properties"][name]["const"]} for name in ("apiVersion", "kind")}
        condition = {"properties": said, "required": ["apiVersion", "kind"]}
        cases.append({"if": condition, "then": {"$ref": file}})
    return {"$schema": _DIALECT, "type": "object", "allOf": cases}


def _convert(schema: Mapping[str, Any], *, closed: bool = True) -> Schema:
    """`closed`: whether fields that are not named are refused. Inside of `anyOf` and its like they are not."""
    made: Schema = {name: schema[name] for name in _AS_IT_IS if name in schema}
    _documented(schema, made)
    if schema.get("x-kubernetes-int-or-string"):
        made["type"] = ["integer", "string"]
    elif "type" in schema:
        made["type"] = schema["type"]
    _scalars(schema, made)
    _containers(schema, made, closed)
    for word in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(word)
        if parts and not (schema.get("x-kubernetes-int-or-string") and _says_int_or_string(parts)):
            made[word] = [_convert(part, closed=False) for part in parts]
    if "not" in schema:
        made["not"] = _convert(schema["not"], closed=False)
    return _with_null(made) if schema.get("nullable") else made


def _documented(schema: Mapping[str, Any], made: Schema) -> None:
    words = [schema["description"]] if schema.get("description") else []
    if url := (schema.get("externalDocs") or {}).get("url"):
        words.append(f"More: {url}")
    if words:
        made["description"] = "\n\n".join(words)
    if "example" in schema:
        made["examples"] = [schema["example"]]
    comments = []
    for rule in schema.get("x-kubernetes-validations") or ():
        message = rule.get("message")
        comments.append(f"{message}: {rule['rule']}" if message else rule["rule"])
    pattern = schema.get("pattern")
    if pattern is not None and _ONLY_GO.search(pattern):
        comments.append(f"must match {pattern} (Go's regular expressions)")
    elif pattern is not None:
        made["pattern"] = pattern
    if comments:
        made["$comment"] = "\n".join(comments)


def _scalars(schema: Mapping[str, Any], made: Schema) -> None:
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if schema.get(exclusive) and bound in made:
            made[exclusive] = made.pop(bound)
    form = schema.get("format")
    if form == "byte":
        made["contentEncoding"] = "base64"
    elif form == "int32":
        for bound, value in _INT32.items():
            if f"exclusive{bound.title()}" not in made:
                made.setdefault(bound, value)
    elif form and form not in _NOT_JSON_SCHEMA:
        made["format"] = _FORMATS.get(form, form)


def _containers(schema: Mapping[str, Any], made: Schema, closed: bool) -> None:
    if "items" in schema:
        made["items"] = _convert(schema["items"], closed=closed)
    if schema.get("x-kubernetes-list-type") == "set":
        made["uniqueItems"] = True
    properties = schema.get("properties") or {}
    if properties:
        made["properties"] = {name: _convert(part, closed=closed) for name, part in properties.items()}
    required = [name for name in schema.get("required") or () if "default" not in properties.get(name, {})]
    if schema.get("x-kubernetes-embedded-resource"):
        required = sorted({*required, "apiVersion", "kind"})
        made["properties"] = {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            **made.get("properties", {}),
        }
    if required:
        made["required"] = required
    values = schema.get("additionalProperties")
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        if made.get("type") == "object":
            made["additionalProperties"] = True
    elif isinstance(values, Mapping):
        made["additionalProperties"] = _convert(values, closed=closed)
    elif values is not None:
        made["additionalProperties"] = values
    elif closed and made.get("type") == "object":
        made["additionalProperties"] = False


def _says_int_or_string(parts: list[Any]) -> bool:
    return [part.get("type") for part in parts] == ["integer", "string"] and all(len(part) == 1 for part in parts)


def _with_null(made: Schema) -> Schema:
    """Null is taken whatever else is said; a server looks no further."""
    if not made.keys() & {"enum", "allOf", "anyOf", "oneOf", "not", "const"}:
        if "type" in made:
            kinds = made["type"] if isinstance(made["type"], list) else [made["type"]]
            made["type"] = [*kinds, "null"]
        return made
    words: Schema = {name: made.pop(name) for name in ("title", "description", "default", "examples") if name in made}
    return {**words, "anyOf": [{"type": "null"}, made]}
