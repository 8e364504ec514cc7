"""The Table representation: the columns of a kind, a row per object, in the row as much of the object as was asked for.

| kind | columns |
|---|---|
| built-in | its strategy's; without any: Name and Created At |
| custom | Name and its `additionalPrinterColumns`; without any: Name and Age |

Cells of custom columns are the first value that the JSON path finds, if it is of the column's type; dates are shown as
ages, by the server's clock. Rules: `apiextensions-apiserver/pkg/registry/customresource/tableconvertor`,
`apiserver/pkg/registry/rest/table.go`, `apiserver/pkg/endpoints/handlers/response.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import orjson

from kubewright.model.times import parse_time
from kubewright.schema.structural.gotext import as_json, plain

from ..catalog import ResourceType
from ..errors import bad_request
from ..representation import Representation
from ..request import JSON
from ..store import Entry
from ..strategy import Cells, Column
from .ages import human_since

if TYPE_CHECKING:
    from .jsonpath import JsonPath

__all__ = ["Table", "table_transform"]

_POLICIES: Final = ("", "None", "Metadata", "Object")
_MOST_KINDS: Final = 256
"""Kinds whose columns are kept; they are made again when they are asked for again."""


def table_transform(
    now: Callable[[], datetime], describe: Callable[[str], str]
) -> Callable[[str, Mapping[str, str]], Representation]:
    """What makes Tables for `Accept: ...;as=Table`.

    Args:
        now: the server's clock.
        describe: the description of a field of ObjectMeta; asked once for each.
    """
    describe = lru_cache(maxsize=8)(describe)

    @lru_cache(maxsize=_MOST_KINDS)
    def columns(kind: ResourceType) -> _Columns:
        return _columns(kind, describe)

    def transform(api_version: str, query: Mapping[str, str]) -> Representation:
        policy = query.get("includeObject", "")
        if policy not in _POLICIES:
            raise bad_request(
                f'Unable to convert to Table as requested: includeObject: Invalid value: "{policy}": '
                "must be 'Metadata', 'Object', 'None', or empty"
            )
        return Table(api_version, policy or "Metadata", now, columns)

    return transform


class Table:
    """Objects as rows. See the head of the module."""

    content_type = JSON

    def __init__(
        self, api_version: str, policy: str, now: Callable[[], datetime], columns: Callable[[ResourceType], _Columns]
    ) -> None:
        self.key: Hashable = ("table", api_version, policy)
        self._api_version, self._policy = api_version, policy
        self._now, self._columns = now, columns

    def one(self, kind: ResourceType, entry: Entry) -> bytes:
        return self._table(kind, [entry], {"resourceVersion": str(entry.revision)}) + b"\n"

    def many(self, kind: ResourceType, entries: Sequence[Entry], meta: Mapping[str, Any]) -> bytes:
        return self._table(kind, entries, meta) + b"\n"

    def in_event(self, kind: ResourceType, entry: Entry, *, is_first: bool) -> bytes:
        return self._table(kind, [entry], {"resourceVersion": str(entry.revision)}, with_columns=is_first)

    def _table(
        self, kind: ResourceType, entries: Sequence[Entry], meta: Mapping[str, Any], *, with_columns: bool = True
    ) -> bytes:
        columns, cells = self._columns(kind)
        now = self._now()
        return orjson.dumps({
            "kind": "Table",
            "apiVersion": self._api_version,
            "metadata": meta,
            "columnDefinitions": columns if with_columns else None,
            "rows": [{"cells": cells(each.object, now), "object": self._shown(each)} for each in entries],
        })  # fmt: skip

    def _shown(self, entry: Entry) -> Any:
        if self._policy == "None":
            return None
        if self._policy == "Object":
            return entry.object
        meta = entry.object.get("metadata") or {}
        return {"kind": "PartialObjectMetadata", "apiVersion": self._api_version, "metadata": meta}


_Row = Callable[[dict[str, Any], datetime], Cells]
_Columns = tuple[Sequence[Column], _Row]


def _columns(kind: ResourceType, describe: Callable[[str], str]) -> _Columns:
    strategy = kind.strategy
    if kind.is_custom:
        return _custom(kind, describe)
    if strategy.columns:
        return strategy.columns, strategy.cells
    columns = (_name_column(describe), _column("Created At", "date", describe("creationTimestamp")))
    return columns, _name_and_time


def _name_and_time(obj: dict[str, Any], now: datetime) -> Cells:
    meta = obj.get("metadata") or {}
    return [meta.get("name", ""), meta.get("creationTimestamp")]


def _column(name: str, kind: str, description: str, *, shown_as: str = "", priority: int = 0) -> Column:
    return {"name": name, "type": kind, "format": shown_as, "description": description, "priority": priority}


def _name_column(describe: Callable[[str], str]) -> Column:
    return _column("Name", "string", describe("name"), shown_as="name")


# -- custom kinds -----------------------------------------------------------------------------------------------------


def _custom(kind: ResourceType, describe: Callable[[str], str]) -> _Columns:
    given: Sequence[Column] = kind.strategy.columns or (
        {
            "name": "Age",
            "type": "date",
            "description": describe("creationTimestamp"),
            "jsonPath": ".metadata.creationTimestamp",
        },
    )
    readers = [(str(each["type"]), _path(str(each.get("jsonPath", "")))) for each in given]

    def cells(obj: dict[str, Any], now: datetime) -> Cells:
        name = (obj.get("metadata") or {}).get("name", "")
        return [name, *(_cell(shown_as, path, obj, now) for shown_as, path in readers)]

    return [_name_column(describe), *map(_custom_column, given)], cells


def _custom_column(given: Column) -> Column:
    description = given.get("description") or (
        f"Custom resource definition column (in JSONPath format): {given.get('jsonPath', '')}"
    )
    return _column(
        given["name"],
        given["type"],
        description,
        shown_as=given.get("format", ""),
        priority=given.get("priority", 0),
    )


@lru_cache(maxsize=1024)
def _path(text: str) -> JsonPath | None:
    from .jsonpath import JsonPath, JsonPathError  # only custom resources have columns by path

    try:
        return JsonPath(text)
    except JsonPathError:
        return None


def _cell(shown_as: str, path: JsonPath | None, obj: dict[str, Any], now: datetime) -> Any:
    found = path.find(obj) if path is not None else []
    if not found:
        return None
    value = found[0]
    if shown_as == "string":
        return value if isinstance(value, str) else _printed(value)
    if shown_as == "date":
        return _age(value, now)
    if isinstance(value, bool):
        return value if shown_as == "boolean" else None
    if shown_as == "integer":
        return int(value) if isinstance(value, int | float) else None
    if shown_as == "number":
        return float(value) if isinstance(value, int | float) else None
    return None


def _printed(value: Any) -> str:
    if value is None:
        return "null"
    return as_json(value) if isinstance(value, dict | list) else plain(value)


def _age(value: Any, now: datetime) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        parse_time(value)
    except ValueError:
        return "<invalid>"
    return human_since(value, now)
