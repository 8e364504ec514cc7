"""What every object has beside its schema, and the names of properties as identifiers.

Rule: apiserver/pkg/cel/escaping.go; apiextensions-apiserver/pkg/apiserver/schema/cel/model/schemas.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from . import parser

__all__ = ["RESERVED", "escape", "has_meta", "with_meta"]

RESERVED: Final = parser.RESERVED | {"true", "false", "null", "in"}
_PLAIN: Final = re.compile(r"[A-Za-z_./\-][A-Za-z0-9_./\-]*")
_ESCAPED: Final = re.compile(r"__|[-./]")
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_NAME_LENGTH: Final = 253


def escape(name: str) -> str | None:
    """A property's name as an identifier, or None where there is none."""
    if name in RESERVED:
        return f"__{name}__"
    if not _PLAIN.fullmatch(name):
        return None
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], name)


def has_meta(schema: Mapping[str, Any]) -> bool:
    """Whether a schema says itself what every object has: it is taken as it is then."""
    properties = schema.get("properties") or {}
    meta = (properties.get("metadata") or {}).get("properties") or {}
    texts = (properties.get("kind"), properties.get("apiVersion"), meta.get("name"), meta.get("generateName"))
    return all(each is not None and each.get("type") == "string" for each in texts)


def with_meta(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a whole object: `apiVersion`, `kind` and the names of its metadata are always there."""
    properties = dict(schema.get("properties") or {})
    meta = (properties.get("metadata") or {}).get("properties") or {}
    string = {"type": "string"}
    properties.update(kind=string, apiVersion=string)
    properties["metadata"] = {
        "type": "object",
        "properties": {
            "name": _capped(meta.get("name") or {}, _NAME_LENGTH),
            "generateName": _capped(meta.get("generateName") or {}, _NAME_LENGTH - 1),
        },
    }
    return {**schema, "properties": properties}


def _capped(schema: Mapping[str, Any], most: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": min(schema.get("maxLength", most), most)}
