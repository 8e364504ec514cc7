"""Merge facts of a schema as class data: what server-side apply and strategic merge patches have to know.

| class attribute | from | holds |
|---|---|---|
| `__list_map_keys__` | `x-kubernetes-list-type: map` | wire field -> the keys that identify an item |
| `__list_sets__` | `x-kubernetes-list-type: set` | wire fields whose items are distinct scalars |
| `__atomic_maps__` | `x-kubernetes-map-type: atomic` on a field | wire fields that have one owner as a whole |
| `__atomic__` | the same on a type | True: so has every value of this class |
| `__patch_strategies__` | `x-kubernetes-patch-strategy` | wire field -> `merge`, `retainKeys`, `merge,retainKeys` |
| `__patch_merge_keys__` | `x-kubernetes-patch-merge-key` | wire field -> the key of strategic merge patches |
| `__defaults__` | `default` | wire field -> what the server puts where it is absent |

An attribute is there only where it holds something. A list that no attribute names is atomic, as in Kubernetes.
"""

from __future__ import annotations

from typing import Any, Final

from .definitions import Schema

__all__ = ["DATA_TYPES", "note_merge_facts"]

DATA_TYPES: Final = {
    "__list_map_keys__": "dict[str, tuple[str, ...]]",
    "__list_sets__": "tuple[str, ...]",
    "__atomic_maps__": "tuple[str, ...]",
    "__atomic__": "bool",
    "__patch_strategies__": "dict[str, str]",
    "__patch_merge_keys__": "dict[str, str]",
    "__defaults__": "dict[str, object]",
}
"""Class attribute to the type it is declared with, in the order they are written."""


def note_merge_facts(data: dict[str, Any], wire: str, schema: Schema, *, atomic: bool, zero_default: bool) -> None:
    """Add what `schema` says of the field `wire` to a class's data.

    Args:
        atomic: the field's type is atomic and has no class that could say so.
        zero_default: a default of `""`, `0` or `{}` means something. In Go's types it says that a field is no pointer.
    """
    list_type = schema.get("x-kubernetes-list-type")
    if list_type == "map":
        data.setdefault("__list_map_keys__", {})[wire] = tuple(schema.get("x-kubernetes-list-map-keys", ()))
    if list_type == "set":
        data["__list_sets__"] = (*data.get("__list_sets__", ()), wire)
    if atomic or schema.get("x-kubernetes-map-type") == "atomic":
        data["__atomic_maps__"] = (*data.get("__atomic_maps__", ()), wire)
    if "x-kubernetes-patch-strategy" in schema:
        data.setdefault("__patch_strategies__", {})[wire] = schema["x-kubernetes-patch-strategy"]
    if "x-kubernetes-patch-merge-key" in schema:
        data.setdefault("__patch_merge_keys__", {})[wire] = schema["x-kubernetes-patch-merge-key"]
    default = schema.get("default")
    if default or (zero_default and default is not None):
        data.setdefault("__defaults__", {})[wire] = default
