"""What mutations have beside other expressions: objects and JSON patches as literals, and `jsonpatch.escapeKey`.

`Object{spec: Object.spec{replicas: 3}}` has any fields, of any type; that names of types follow the fields is checked
when the value is used. `JSONPatch{op: "add", path: "/a", value: 1}` is one operation.
Rule: apiserver/pkg/cel/mutation, library/jsonpatch.go.
"""

from __future__ import annotations

from typing import Any, Final

from .environment import StructType
from .signatures import Library
from .types import DYN, STRING, Type
from .values import ObjectValue

__all__ = ["JSON_PATCH", "JSON_PATCH_TYPE", "OBJECT_TYPE", "patch_struct", "wrong_names"]

JSON_PATCH: Final = Library("kubernetes.jsonpatch")
JSON_PATCH.add(
    "string_jsonpatch_escapeKey_string",
    "jsonpatch.escapeKey (string) -> string",
    lambda key: key.replace("~", "~0").replace("/", "~1"),
)
OBJECT_TYPE: Final = "Object"
JSON_PATCH_TYPE: Final = "JSONPatch"
_PATCH_FIELDS: Final = {"op": STRING, "path": STRING, "from": STRING, "value": DYN}


def patch_struct(name: str) -> StructType | None:
    """The types of patches: `JSONPatch`, `Object`, `Object.spec`, ..."""
    if name == JSON_PATCH_TYPE:
        return StructType(name, _PATCH_FIELDS.get, lambda fields: ObjectValue(name, fields))
    if name == OBJECT_TYPE or name.startswith(f"{OBJECT_TYPE}."):
        return StructType(name, _any_type, lambda fields: ObjectValue(name, fields))
    return None


def _any_type(_: str) -> Type:
    return DYN


def wrong_names(value: Any, expected: str = OBJECT_TYPE) -> list[str]:
    """What objects inside of an object have types named otherwise than their fields, in the server's words."""
    found: list[str] = []
    todo: list[tuple[Any, str]] = [(value, expected)]
    while todo:
        each, name = todo.pop()
        if isinstance(each, ObjectValue):
            if each.cel_type != name:
                found.append(
                    f'unexpected type name "{each.cel_type}", expected "{name}", which matches field name path from'
                    " root Object type"
                )
            todo += [(inner, f"{name}.{field}") for field, inner in each.items()]
        elif isinstance(each, list):
            todo += [(inner, name) for inner in each]
        elif isinstance(each, dict):
            todo += [(inner, name) for inner in each.values()]
    return found
