"""Items that may be there once: lists of type set, and of type map by their keys.

An item counts as the same when it is equal with its type: 1 and 1.0 are two scalars, though `[1]` and `[1.0]` are one
list, since those are compared as JSON. Of three equal items the second is reported, the third is not.
"""

from __future__ import annotations

from typing import Any

from .fielderrors import FieldError, child, duplicate, index, invalid, key
from .gotext import as_json
from .node import Node

__all__ = ["list_errors"]


def list_errors(node: Node, value: Any, path: str = "") -> list[FieldError]:
    """The duplicates in an object and all below it."""
    errors: list[FieldError] = []
    _walk(node, value, path, errors)
    return errors


def _walk(node: Node, value: Any, path: str, errors: list[FieldError]) -> None:
    if not node.has_sets:
        return
    if isinstance(value, list):
        if node.list_type == "set":
            errors += [duplicate(index(path, place), value[place]) for place in _repeated(value)]
        elif node.list_type == "map":
            errors += _map_errors(node, value, path)
        if node.items is not None and node.items.has_sets:
            for place, item in enumerate(value):
                _walk(node.items, item, index(path, place), errors)
    elif isinstance(value, dict):
        if node.additional is not None:
            for name, each in value.items():
                _walk(node.additional, each, key(path, name), errors)
        for name, schema in node.properties.items():
            if schema.has_sets and name in value:
                _walk(schema, value[name], child(path, name), errors)


def _map_errors(node: Node, items: list[Any], path: str) -> list[FieldError]:
    for place, item in enumerate(items):
        if item is not None and not isinstance(item, dict):
            return [invalid(index(path, place), item, "must be an object for an array of list-type map")]
    keys = [{name: item[name] for name in node.keys if name in item} if item else {} for item in items]
    if len(node.keys) != 1:
        return [duplicate(index(path, place), keys[place]) for place in _repeated(keys)]
    # One key is compared by itself, so 1 and 1.0 differ; what has none is equal to all that have none.
    alone = [_scalar(*found.values()) if found else () for found in keys]
    return [duplicate(index(path, place), keys[place]) for place in _repeated_keys(alone)]


def _repeated(items: list[Any]) -> list[int]:
    return _repeated_keys([_scalar(item) for item in items])


def _scalar(item: Any) -> tuple[Any, ...]:
    return ("json", as_json(item)) if isinstance(item, dict | list) else (type(item), item)


def _repeated_keys(keys: list[tuple[Any, ...]]) -> list[int]:
    seen: dict[tuple[Any, ...], int] = {}
    repeated = []
    for place, each in enumerate(keys):
        seen[each] = seen.get(each, 0) + 1
        if seen[each] == 2:
            repeated.append(place)
    return repeated
