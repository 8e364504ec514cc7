"""A patched object back into its Go type: what `runtime.DefaultUnstructuredConverter` says of wrong types.

Strategic merge patches are applied to maps, which are then copied into structs by reflection, not by the JSON decoder:
a wrong value is named by the kinds of both sides, without its place; a whole float is an integer; and `kind` and
`apiVersion` are those of the struct, whatever the patch says.
"""

from __future__ import annotations

from typing import Any, Final

from ..strategy import Malformed
from .decoding import read_bytes, read_custom
from .gotypes import GoType

__all__ = ["restore"]

_INTEGERS: Final = ("int", "int32", "int64", "uint8")
_KINDS: Final = {dict: "map", list: "slice", str: "string", bool: "bool", int: "int64", float: "float64"}


def restore(obj: dict[str, Any], type_: GoType) -> None:
    """See that an object fits its type, and make whole floats of integer fields integers, in place.

    Raises:
        Malformed: a value has a wrong type.
    """
    _restored(obj, type_)


def _restored(value: Any, type_: GoType) -> Any:
    kind = type_.kind
    if value is None:
        return None
    if kind == "pointer":
        return _restored(value, type_.elem)
    if kind == "struct":
        if not isinstance(value, dict):
            raise Malformed(f"cannot restore struct from: {_KINDS[type(value)]}")
        for name, field in type_.fields.items():
            if name in value:
                value[name] = _restored(value[name], field.type)
        return value
    if kind == "map":
        if not isinstance(value, dict):
            raise Malformed(f"cannot restore map from {_KINDS[type(value)]}")
        for name, each in value.items():
            value[name] = _restored(each, type_.elem)
        return value
    if kind == "slice":
        if not isinstance(value, list):
            raise Malformed(f"cannot restore slice from {_KINDS[type(value)]}")
        value[:] = [_restored(each, type_.elem) for each in value]
        return value
    if kind == "bytes":
        if not isinstance(value, str):
            raise Malformed(f"cannot restore slice from {_KINDS[type(value)]}")
        try:
            return read_bytes(value)
        except Malformed as error:
            raise Malformed(f"error decoding from json: {error}") from None
    if kind == "custom":
        read_custom(value, type_)
        return value
    return _simple(value, type_)


def _simple(value: Any, type_: GoType) -> Any:
    kind, found = type_.kind, _KINDS[type(value)]
    if kind in _INTEGERS:
        if found == "int64":
            return value
        if found == "float64":
            if value == int(value):
                return int(value)
            raise Malformed(f"cannot convert float64 to {type_.said}")
    elif kind == "float64":
        if found in ("int64", "float64"):
            return value
    elif found == kind:
        return value
    elif kind == "string" and found == "int64":
        # Go can make a string of a number, a rune, so this is refused in other words than the rest.
        raise Malformed(f"cannot convert int64 to {type_.said}")
    raise Malformed(f"unrecognized type: {kind}")
