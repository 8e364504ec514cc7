"""Printer columns, the scale subresource and selectable fields, checked against the schema they point into.

A server takes any path. One that names nothing prints an empty column for ever, so here it is an error. A column's type
is that of its field unless it is given; one that `kubectl` would print nothing for is an error as well.

`Age`: a kind without columns gets one from the server; one with columns gets none, and every user looks for it. So it
is added as the last, unless a column shows `.metadata.creationTimestamp` or is called Age. To have it in `-o wide`
only, give it: `Column("Age", ".metadata.creationTimestamp", priority=1)`.
"""

from __future__ import annotations

from typing import Any, Final

from ..model import Column, ResourceInfo, ScaleInfo
from .errors import Place, Problems
from .known import ROOT_METADATA
from .node import Schema
from .paths import PathError, closest, describe, follow

__all__ = ["columns_of", "scale_of", "selectable_of"]

_AGE: Final = Column("Age", ".metadata.creationTimestamp")
_TYPES: Final = ("string", "integer", "number", "boolean", "date")
_FORMATS: Final = frozenset({"int32", "int64", "float", "double", "byte", "date", "date-time", "password"})
_CAN_SHOW: Final[dict[str, frozenset[str]]] = {
    "integer": frozenset({"integer", "number"}),
    "number": frozenset({"number"}),
    "boolean": frozenset({"boolean"}),
    "date": frozenset({"date"}),
}
"""Which types may show a field besides string, by the type that the field has."""


def columns_of(info: ResourceInfo, schema: Schema, place: Place, problems: Problems) -> list[dict[str, Any]]:
    """`additionalPrinterColumns` of a version; empty when the kind has no columns."""
    if not info.columns:
        return []
    columns = list(info.columns)
    if not any(column.path == _AGE.path or column.name.lower() == "age" for column in columns):
        columns.append(_AGE)
    whole = _with_metadata(schema)
    return [_column(column, whole, place, problems) for column in columns]


def _with_metadata(schema: Schema) -> Schema:
    return {**schema, "properties": {**schema.get("properties", {}), "metadata": ROOT_METADATA}}


def _column(column: Column, schema: Schema, place: Place, problems: Problems) -> dict[str, Any]:
    where = f"column {column.name!r}"
    shown: str = column.type or "string"
    if not column.name:
        problems.add(place, f"a column of {column.path!r} has no name", "name it")
    found = _find(schema, column.path, where, place, problems)
    if found is not None:
        natural = _type_of(found)
        shown = column.type or natural
        if shown not in _TYPES:
            problems.add(place, f"{where} has the type {shown!r}", f"use one of {', '.join(_TYPES)}")
        elif found and shown != "string" and shown not in _CAN_SHOW.get(natural, ()):
            rule = f"{where} of type {shown} shows {column.path}, which is {describe(found)}: it would stay empty"
            problems.add(place, rule, f"take type= away (it is {natural})")
    if column.format is not None and column.format not in _FORMATS:
        problems.add(place, f"{where} has the format {column.format!r}", f"use one of {', '.join(sorted(_FORMATS))}")
    made: dict[str, Any] = {"jsonPath": column.path, "name": column.name, "type": shown}
    if column.description:
        made["description"] = column.description
    if column.format:
        made["format"] = column.format
    if column.priority:
        made["priority"] = column.priority
    return made


def _find(schema: Schema, path: str, what: str, place: Place, problems: Problems) -> Schema | None:
    try:
        return follow(schema, path)
    except PathError as error:
        near = closest(schema, path)
        cure = f"did you mean {near}?" if near else "name a field of the class, as on the wire: .spec.someField"
        problems.add(place, f"{what}: the path {path!r} {error}", cure)
        return None


def _type_of(schema: Schema) -> str:
    kind = schema.get("type", "string")
    if kind == "string" and schema.get("format") in ("date-time", "date"):
        return "date"
    return str(kind) if kind in ("integer", "number", "boolean") else "string"


_MOST_SELECTABLE: Final = 8


def selectable_of(info: ResourceInfo, schema: Schema, place: Place, problems: Problems) -> list[dict[str, str]]:
    """`selectableFields` of a version. The server's rules: at most eight, scalars, no lists on the way."""
    paths = info.selectable_fields
    if len(set(paths)) != len(paths):
        problems.add(place, f"selectable_fields: {list(paths)!r} names a field twice", "name it once")
    if len(paths) > _MOST_SELECTABLE:
        rule = f"selectable_fields: there are {len(paths)}, and a server takes {_MOST_SELECTABLE}"
        problems.add(place, rule, "take some away")
    for path in paths:
        found = _find(schema, path, "selectable_fields", place, problems)
        if path.startswith(".metadata"):
            rule = f"selectable_fields: {path!r} is metadata"
            problems.add(place, rule, "select it by metadata.name, metadata.namespace or a label")
        elif found is not None and ("[" in path or found.get("type") not in ("string", "integer", "boolean")):
            rule = f"selectable_fields: {path!r} is {describe(found)}"
            problems.add(place, rule, "name a field that is a string, an integer or a boolean, and not in a list")
    return [{"jsonPath": path} for path in paths]


def scale_of(info: ScaleInfo, schema: Schema, place: Place, problems: Problems) -> dict[str, str]:
    """The scale subresource. The server's rule: replicas below .spec and .status, the selector below either."""
    made = {"specReplicasPath": info.replicas_path, "statusReplicasPath": info.status_replicas_path}
    _scale_path("replicas_path", info.replicas_path, (".spec.",), "integer", schema, place, problems)
    _scale_path("status_replicas_path", info.status_replicas_path, (".status.",), "integer", schema, place, problems)
    if info.label_selector_path is not None:
        made["labelSelectorPath"] = info.label_selector_path
        below = (".status.", ".spec.")
        _scale_path("label_selector_path", info.label_selector_path, below, "string", schema, place, problems)
    return made


def _scale_path(
    what: str, path: str, below: tuple[str, ...], wanted: str, schema: Schema, place: Place, problems: Problems
) -> None:
    found = _find(schema, path, f"scale {what}", place, problems)
    if not path.startswith(below) or "[" in path:
        cure = f"name a field below {' or '.join(each.rstrip('.') for each in below)}"
        problems.add(place, f"scale {what}: {path!r} is not a plain path there", cure)
    elif found and found.get("type") != wanted:
        rule = f"scale {what}: {path!r} is {describe(found)}"
        problems.add(place, rule, f"it has to be {'an integer' if wanted == 'integer' else 'a string'}")
