"""Markers of shape: how lists and maps are merged, and where a schema is open.

List types are a promise to server-side apply about what tells one item from another, and the server checks them on
every object. What makes them impossible (items that may be null, keys that may be absent) is found here, with the
Python names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .errors import Place, Problems
from .formats import nearest
from .markers import (
    EmbeddedResource,
    ListAtomic,
    ListMap,
    ListSet,
    MapAtomic,
    PreserveUnknown,
    UniqueItems,
    spell,
)
from .node import CALLED, Node

__all__ = ["TOPOLOGY", "meaningless", "no_past"]

_LIST_TYPES: Final = {ListMap: "map", ListSet: "set", ListAtomic: "atomic"}


def meaningless(node: Node, marker: Any, place: Place, problems: Problems, cure: str) -> None:
    """Report a marker that stands beside the wrong type."""
    problems.add(place, f"{spell(marker)} has no meaning for {CALLED[node.kind]}", cure)


def no_past(node: Node) -> str:
    """Why nothing below an atomic list can look at its old value."""
    return f"compares with oldSelf below {node.uncorrelated}, whose items have no identity"


# -- topology ---------------------------------------------------------------------------------------------------------


def _list_type(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    if any(marker != group[0] for marker in group):
        problems.add(place, f"{' and '.join(map(spell, group))} exclude each other", "keep one")
        return
    marker = group[0]
    if node.kind != "list":
        cure = "use MapAtomic" if node.kind in ("dict", "object") else "take it away"
        meaningless(node, marker, place, problems, cure)
        return
    item = node.item
    node.schema["x-kubernetes-list-type"] = _LIST_TYPES[type(marker)]
    if item is None or item.kind == "broken":
        return
    if not isinstance(marker, ListAtomic) and item.schema.get("nullable"):
        problems.add(place, f"{spell(marker)} does not go with items that may be None", "take | None off the items")
    if isinstance(marker, ListSet):
        _check_set(item, place, problems)
    if isinstance(marker, ListMap):
        _check_keys(node, item, marker, place, problems)


def _check_set(item: Node, place: Place, problems: Problems) -> None:
    # A server takes sets of atomic objects and warns that neither server-side apply nor rules work on them.
    if item.kind in ("object", "dict", "list", "any"):
        cure = "use ListMap with the fields that tell items apart" if item.kind == "object" else "use ListAtomic()"
        problems.add(place, f"ListSet() of {CALLED[item.kind]}: server-side apply compares scalars only", cure)


def _check_keys(node: Node, item: Node, marker: ListMap, place: Place, problems: Problems) -> None:
    if item.kind != "object" or "properties" not in item.schema:
        cure = "use ListSet" if item.kind not in ("object", "dict", "any") else "declare a Model for the items"
        problems.add(place, f"{spell(marker)} needs items that are Models and has {CALLED[item.kind]}", cure)
        return
    keys: list[str] = []
    for key in marker.keys:
        wire = item.names.get(key, key)
        problem = _key_problem(item, key, wire) or (("is named twice", "name it once") if wire in keys else None)
        if problem is not None:
            problems.add(place, f"{spell(marker)}: {key!r} {problem[0]}", problem[1])
        keys.append(wire)
    if not keys:
        problems.add(place, "ListMap() names no key", "name the fields that tell items apart: ListMap('name')")
    node.schema["x-kubernetes-list-map-keys"] = keys


def _key_problem(item: Node, key: str, wire: str) -> tuple[str, str] | None:
    field = item.schema["properties"].get(wire)
    if field is None:
        return "is not a field of the items", nearest(key, item.names, "field")
    if field.get("type") in ("array", "object"):
        return "is not a scalar", "use fields that hold one plain value"
    if field.get("nullable"):
        return "may be null", "take Nullable and | None off the field"
    if wire not in item.schema.get("required", ()) and field.get("default") is None:
        return "may be absent", "give the field no default, or one that is not None"
    return None


def _map_atomic(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    if node.kind not in ("dict", "object"):
        cure = "use ListAtomic" if node.kind == "list" else "take it away"
        meaningless(node, group[0], place, problems, cure)
    else:
        node.schema["x-kubernetes-map-type"] = "atomic"


def _unique(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    problems.add(place, "UniqueItems() is forbidden in structural schemas", "use ListSet()")


# -- openness ---------------------------------------------------------------------------------------------------------


def _preserve(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    if node.kind not in ("object", "dict", "any"):
        meaningless(node, group[0], place, problems, "take it away, or declare Any")
    else:
        node.schema["x-kubernetes-preserve-unknown-fields"] = True


def _embedded(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    if node.kind not in ("object", "dict", "any"):
        meaningless(node, group[0], place, problems, "declare dict[str, Any]")
        return
    if "additionalProperties" in node.schema:
        meaningless(node, group[0], place, problems, "declare dict[str, Any]: values of an object are of many types")
        return
    if node.kind == "object" and not {"apiVersion", "kind"} <= set(node.names.values()):
        rule = f"{spell(group[0])} on a Model that cannot carry apiVersion and kind"
        problems.add(place, rule, "declare dict[str, Any], or give the Model fields api_version and kind")
        return
    node.schema["type"] = "object"
    node.schema["x-kubernetes-embedded-resource"] = True
    if node.kind != "object":
        node.schema["x-kubernetes-preserve-unknown-fields"] = True


TOPOLOGY: Final[dict[Any, Callable[..., None]]] = {
    EmbeddedResource: _embedded,
    PreserveUnknown: _preserve,
    ListMap: _list_type,
    ListSet: _list_type,
    ListAtomic: _list_type,
    MapAtomic: _map_atomic,
    UniqueItems: _unique,
}
"""The function of each marker."""
