"""CRDs of apiextensions.k8s.io/v1beta1, which no cluster serves since 1.22, to v1.

Most of it is moving: schema, subresources and columns into every version, `JSONPath` to `jsonPath`, the client of a
conversion webhook one level down. What v1 asks for and v1beta1 did not has to be assumed, and every assumption is told:

| v1beta1 | v1 |
|---|---|
| no schema | an open object |
| `preserveUnknownFields` true, which is its default | `x-kubernetes-preserve-unknown-fields` at the root |
| a field without a type | object or array where its keywords say so, else anything |
| `anyOf` integer and string | `x-kubernetes-int-or-string` |
| keywords inside allOf, anyOf, oneOf, not | without types, defaults and words |
| `uniqueItems` of scalars | list type set |
| `additionalProperties: false` beside properties | nothing: unknown fields are pruned |

The result is checked by the server's rules; what is still wrong is in `remaining`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from ..checking.sources import read_sources
from ..structural.crdcheck import check_crd
from ..structural.crdshape import shape_of, without_nulls
from ..structural.values import TooDeep, json_value
from ..yaml import to_yaml

__all__ = ["Conversion", "convert_crd", "convert_files"]

_OLD: Final = "apiextensions.k8s.io/v1beta1"
_NEW: Final = "apiextensions.k8s.io/v1"
_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
_JUNCTORS: Final = ("allOf", "anyOf", "oneOf")
_INT_OR_STRING: Final = ["integer", "string"]
_NOT_INSIDE: Final = ("type", "default", "title", "description", "nullable", "additionalProperties", _OPEN)
_SCALARS: Final = ("string", "integer", "number", "boolean")


class Conversion(msgspec.Struct, frozen=True):
    """A converted CRD, what was assumed on the way, and what a server would still refuse."""

    crd: dict[str, Any]
    assumed: tuple[str, ...]
    remaining: tuple[str, ...]


def convert_crd(crd: Mapping[str, Any]) -> Conversion:
    """Convert one CRD; one that is v1 already is only checked.

    Args:
        crd: the document. It is not changed.
    """
    assumed: list[str] = []
    try:
        made: dict[str, Any] = json_value(dict(crd))
    except (TooDeep, TypeError) as error:
        return Conversion(dict(crd), (), (str(error),))
    if made.get("apiVersion") == _OLD:
        _mend(made, assumed)
        broken = shape_of(made, wanted="old crd").broken
        if broken or not made.get("spec"):
            return Conversion(made, (), tuple(broken) or ("spec: Required value",))
        made = _converted(without_nulls(made, wanted="old crd"), assumed)
    outcome = check_crd(made)
    remaining = [
        *outcome.broken,
        *map(str, outcome.errors),
        *(f'unknown field "{each}"' for each in (*outcome.unknown, *outcome.unseen)),
    ]
    return Conversion(made, tuple(dict.fromkeys(assumed)), tuple(remaining))


def convert_files(files: Iterable[str | Path]) -> tuple[str, list[str], bool]:
    """The documents of files as YAML with their CRDs converted, what to say about it, and whether all is well, which
    it is not where there is none.

    Raises:
        OSError: a file is not there.
    """
    files = list(files)
    sources = read_sources(files)
    notes = [f"{problem.file}:{problem.line}: {problem.rule}" for problem in sources.problems]
    if not any(source.is_crd for source in sources.objects) and not notes:
        notes.append(f"error: {', '.join(map(str, files))}: no CustomResourceDefinition is there to be converted")
    is_complete = not notes
    documents = []
    for source in sources.objects:
        if not source.is_crd:
            documents.append(source.value)
            continue
        conversion = convert_crd(source.value)
        documents.append(conversion.crd)
        where = f"{source.file}:{source.line_of('')}"
        notes += [f"{where}: assumed: {each}" for each in conversion.assumed]
        notes += [f"{where}: error: {each}" for each in conversion.remaining]
        is_complete = is_complete and not conversion.remaining
    return to_yaml(*documents) if documents else "", notes, is_complete


def _converted(crd: dict[str, Any], assumed: list[str]) -> dict[str, Any]:
    old: dict[str, Any] = crd.get("spec") or {}
    shared = {name: old.get(name) for name in ("validation", "subresources", "additionalPrinterColumns")}
    versions = old.get("versions") or []
    if not versions and old.get("version"):
        versions = [{"name": old["version"], "served": True, "storage": True}]
    keeps = old.get("preserveUnknownFields") is not False
    if keeps:
        assumed.append(
            f"unknown fields were kept, since preserveUnknownFields was not false; every schema has {_OPEN}: true at"
            " its root now, take it away once the schema is complete"
        )
    spec: dict[str, Any] = {
        "group": old.get("group"),
        "names": old.get("names") or {},
        "scope": old.get("scope") or "Cluster",
        "versions": [_version(each, shared, keeps, assumed) for each in versions],
    }
    if not old.get("scope"):
        assumed.append("scope was not said, which meant Cluster")
    if conversion := _conversion(old.get("conversion") or {}, assumed):
        spec["conversion"] = conversion
    metadata = {name: each for name, each in _mapping(crd.get("metadata")).items() if each is not None}
    return {"apiVersion": _NEW, "kind": crd["kind"], "metadata": metadata, "spec": spec}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _conversion(old: Mapping[str, Any], assumed: list[str]) -> dict[str, Any]:
    if old.get("strategy") != "Webhook":
        return {}
    reviews = old.get("conversionReviewVersions")
    if not reviews:
        reviews = ["v1beta1"]
        assumed.append("conversionReviewVersions was not said, which meant v1beta1; let the webhook understand v1")
    webhook: dict[str, Any] = {"conversionReviewVersions": reviews}
    if old.get("webhookClientConfig") is not None:
        webhook["clientConfig"] = old["webhookClientConfig"]
    return {"strategy": "Webhook", "webhook": webhook}


def _version(old: Mapping[str, Any], shared: Mapping[str, Any], keeps: bool, assumed: list[str]) -> dict[str, Any]:
    name = str(old.get("name"))
    made: dict[str, Any] = {
        "name": name,
        "served": bool(old.get("served", True)),
        "storage": bool(old.get("storage", False)),
    }
    for field in ("deprecated", "deprecationWarning"):
        if old.get(field) is not None:
            made[field] = old[field]
    validation = old.get("schema") or shared["validation"] or {}
    schema = validation.get("openAPIV3Schema")
    if not schema:
        schema = {"type": "object", _OPEN: True}
        assumed.append(f"{name} had no schema; it is an open object now")
    else:
        schema = _Schemas(assumed).root(json_value(schema), name)
        if keeps:
            schema[_OPEN] = True
    made["schema"] = {"openAPIV3Schema": schema}
    subresources = old.get("subresources") or shared["subresources"]
    if subresources:
        made["subresources"] = dict(subresources)
    columns = old.get("additionalPrinterColumns") or shared["additionalPrinterColumns"]
    if columns:
        made["additionalPrinterColumns"] = [
            {"jsonPath" if key == "JSONPath" else key: each for key, each in column.items()} for column in columns
        ]
    return made


def _mend(crd: dict[str, Any], assumed: list[str]) -> None:
    """`status: true` was never right, and is in many files."""
    spec = _mapping(crd.get("spec"))
    versions = spec.get("versions")
    for holder in (spec, *(versions if isinstance(versions, list) else ())):
        subresources = _mapping(_mapping(holder).get("subresources"))
        if subresources.get("status") is True:
            subresources["status"] = {}
            assumed.append("subresources.status was true; it is an object now: {}")
        elif subresources.get("status") is False:
            del subresources["status"]


class _Schemas:
    """Makes schemas structural, in place."""

    def __init__(self, assumed: list[str]) -> None:
        self._assumed = assumed

    def root(self, schema: dict[str, Any], name: str) -> dict[str, Any]:
        schema.setdefault("type", "object")
        schema.pop("nullable", None)
        metadata = (schema.get("properties") or {}).get("metadata")
        if isinstance(metadata, dict) and set(metadata) - {"type"}:
            names = {
                each: metadata["properties"][each]
                for each in ("name", "generateName")
                if each in (metadata.get("properties") or {})
            }
            self._say(
                f"{name}.metadata", "only name and generateName can be restricted; all else is what every object has"
            )
            schema["properties"]["metadata"] = {"type": "object"} | ({"properties": names} if names else {})
        self._node(schema, name)
        return schema

    def _say(self, path: str, what: str) -> None:
        self._assumed.append(f"{path}: {what}")

    def _node(self, schema: Any, path: str) -> None:
        if not isinstance(schema, dict):
            return
        self._type(schema, path)
        self._lists(schema, path)
        extra = schema.get("additionalProperties")
        if schema.get("properties") and extra is not None and extra is not True:
            what = "further names were forbidden" if extra is False else "further names had a schema"
            self._say(path, f"{what}, which cannot stand beside properties; they are pruned now")
            del schema["additionalProperties"]
        for junctor in _JUNCTORS:
            for place, each in enumerate(schema.get(junctor) or []):
                self._inside(each, f"{path}.{junctor}[{place}]", schema)
        if schema.get("not") is not None:
            self._inside(schema["not"], f"{path}.not", schema)
        for name, each in (schema.get("properties") or {}).items():
            self._node(each, f"{path}.{name}")
        self._node(schema.get("items"), f"{path}[]")
        self._node(schema.get("additionalProperties"), f"{path}{{}}")

    def _type(self, schema: dict[str, Any], path: str) -> None:
        kinds = [each.get("type") for each in schema.get("anyOf") or [] if isinstance(each, dict)]
        if (
            sorted(map(str, kinds)) == _INT_OR_STRING
            and schema.get("type") in (None, "")
            and len(kinds) == len(schema["anyOf"])
        ):
            schema.pop("type", None)
            schema["x-kubernetes-int-or-string"] = True
            schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
            return
        if schema.get("type") or schema.get("x-kubernetes-int-or-string") or schema.get(_OPEN):
            return
        if schema.get("properties") or schema.get("additionalProperties") is not None:
            schema["type"] = "object"
            self._say(path, "had no type; it is an object, as it has fields")
        elif schema.get("items") is not None:
            schema["type"] = "array"
            self._say(path, "had no type; it is an array, as it has items")
        else:
            schema[_OPEN] = True
            self._say(path, "had no type; anything is allowed now, as it was; give it a type")

    def _lists(self, schema: dict[str, Any], path: str) -> None:
        if schema.get("type") != "array":
            return
        if schema.get("items") is None:
            schema["items"] = {_OPEN: True}
            self._say(path, "its items had no schema; they may be anything")
        if schema.pop("uniqueItems", False):
            if schema["items"].get("type") in _SCALARS and "x-kubernetes-list-type" not in schema:
                schema["x-kubernetes-list-type"] = "set"
                self._say(path, "uniqueItems became list type set, which server-side apply merges by item")
            else:
                self._say(path, "uniqueItems was dropped; servers refuse it, and these items cannot be a set")

    def _inside(self, schema: Any, path: str, outside: dict[str, Any]) -> None:
        """A value validation: nothing but restrictions of what stands outside."""
        if not isinstance(schema, dict):
            return
        if outside.get("x-kubernetes-int-or-string") and set(schema) == {"type"}:
            return
        for keyword in _NOT_INSIDE:
            if keyword in schema:
                del schema[keyword]
                self._say(path, f"{keyword} was dropped; it may only stand outside")
        for junctor in _JUNCTORS:
            for place, each in enumerate(schema.get(junctor) or []):
                self._inside(each, f"{path}.{junctor}[{place}]", {})
        for name, each in (schema.get("properties") or {}).items():
            self._inside(each, f"{path}.{name}", {})
        self._inside(schema.get("items"), f"{path}[]", {})
        self._inside(schema.get("not"), f"{path}.not", {})
