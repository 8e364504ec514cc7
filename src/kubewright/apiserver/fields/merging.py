"""Merging what is stated into what is there, and taking away what is stated no more.

| | rule |
|---|---|
| merge | what is stated wins at the leaves; lists by key keep the live order, shared items the stated one |
| remove | fields and items by path; what is left of a list or map without anything is nothing |

Rules: `structured-merge-diff/typed/{merge,remove}.go`. Neither changes what it is given; results share parts with it.
"""

from __future__ import annotations

from typing import Any

from .paths import FieldPath, FieldSet
from .types import FieldType, ListType, MapType, deduce
from .walking import ABSENT, elements_of

__all__ = ["merge", "remove"]


def merge(live: Any, stated: Any, type_: FieldType) -> Any:
    """`live` with all that `stated` says."""
    found = _merge(live, stated, type_)
    return None if found is ABSENT else found


def _merge(live: Any, stated: Any, type_: FieldType) -> Any:
    if stated is ABSENT:
        # Nothing is stated here or below, so all of it stays.
        return live
    stated_shape = deduce(type_, stated)[0]
    if live is not ABSENT and deduce(type_, live)[0] != stated_shape:
        return stated
    if stated_shape == "map":
        inner = type_.map
        assert inner is not None
        before = live if isinstance(live, dict) else None
        after = stated if isinstance(stated, dict) else None
        if inner.is_atomic or not (before or after):
            return stated
        return _merge_fields(before or {}, after or {}, inner)
    if stated_shape == "list":
        items = type_.list
        assert items is not None
        first = live if isinstance(live, list) else None
        second = stated if isinstance(stated, list) else None
        if not items.is_associative or not (first or second):
            return stated
        return _merge_items(first or [], second or [], items)
    return stated


def _merge_fields(live: dict[str, Any], stated: dict[str, Any], inner: MapType) -> Any:
    made: dict[str, Any] = {}
    for name, before in live.items():
        found = _merge(before, stated.get(name, ABSENT), inner.of(name))
        if found is not ABSENT:
            made[name] = found
    for name, after in stated.items():
        if name not in live:
            found = _merge(ABSENT, after, inner.of(name))
            if found is not ABSENT:
                made[name] = found
    return made or ABSENT


def _merge_items(live: list[Any], stated: list[Any], items: ListType) -> Any:
    """Both lists in one. Items of both come in the order in which they are stated; live ones stay between them."""
    left, right = elements_of(live, items), elements_of(stated, items)
    live_by: dict[str, Any] = {}
    for element, item in zip(left, live, strict=True):
        # Items that are there twice are not merged with the stated one.
        live_by[element] = None if element in live_by else item
    stated_by = dict(zip(right, stated, strict=True))
    shared = [each for each in right if each in live_by]
    merged: set[str] = set()
    made: list[Any] = []

    def take(element: str) -> None:
        merged.add(element)
        found = _merge(live_by.get(element, ABSENT), stated_by[element], items.elem)
        if found is not ABSENT:
            made.append(found)

    first = second = 0
    while first < len(left) or second < len(right):
        if first < len(left) and second < len(right):
            if left[first] == right[second]:
                take(right[second])
                first, second = first + 1, second + 1
                shared = shared[1:]
                continue
            if left[first] in stated_by and shared and shared[0] != left[first]:
                first += 1
                continue
        if first < len(left):
            element = left[first]
            if element not in stated_by:
                made.append(live[first])
                first += 1
                continue
            if element in merged:
                first += 1
        if second < len(right):
            element = right[second]
            take(element)
            second += 1
            if shared and shared[0] == element:
                shared = shared[1:]
    return made or ABSENT


# -- removing ---------------------------------------------------------------------------------------------------------

_Tree = dict[str, "tuple[bool, _Tree]"]


def remove(value: Any, paths: FieldSet, type_: FieldType) -> Any:
    """`value` without what is at the paths."""
    if not paths:
        return value
    return _remove(value, _tree(paths), type_)


def _tree(paths: FieldSet) -> _Tree:
    nested: dict[str, Any] = {}
    for path in paths:
        inner = nested
        for element in path:
            inner = inner.setdefault(element, {})
    return _marked(nested, (), paths)


def _marked(nested: dict[str, Any], path: FieldPath, members: FieldSet) -> _Tree:
    return {
        element: ((*path, element) in members, _marked(inner, (*path, element), members))
        for element, inner in nested.items()
    }


def _remove(value: Any, tree: _Tree, type_: FieldType) -> Any:
    shape = deduce(type_, value)[0]
    if shape == "map":
        inner = type_.map
        assert inner is not None
        if not isinstance(value, dict) or not value or inner.is_atomic:
            return None
        made: dict[str, Any] = {}
        for name, each in value.items():
            found = tree.get(f"f:{name}")
            if found is None:
                made[name] = each
            elif not found[0]:
                made[name] = _remove(each, found[1], inner.of(name)) if found[1] else each
        return made or None
    if shape == "list":
        items = type_.list
        assert items is not None
        if not isinstance(value, list) or not value or not items.is_associative:
            return None
        kept: list[Any] = []
        for element, item in zip(elements_of(value, items), value, strict=True):
            found = tree.get(element)
            if found is None:
                kept.append(item)
            elif not found[0]:
                kept.append(_remove(item, found[1], items.elem) if found[1] else item)
        return kept or None
    return value
