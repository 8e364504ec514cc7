"""Dropping what a schema does not name, nulls that it does not allow, and filling in what is missing.

| step | what it does |
|---|---|
| `prune` | removes fields that neither `properties` nor `additionalProperties` name; below `preserve-unknown-fields` |
| | only inside what is named. `apiVersion`, `kind`, `metadata` of a whole object stay |
| `drop_nulls` | removes null where the schema is not `nullable` and has no default; items of lists stay |
| `fill_defaults` | copies `default` to where a field is absent, or null without being `nullable` |

A server does them in this order on every object that it reads, from a request or from its storage, so a stored object
gets defaults that are newer than it. They change the value in place: give them a copy (`values.json_value`).
"""

from __future__ import annotations

from typing import Any, Final

from .node import Node
from .values import copied

__all__ = ["drop_nulls", "fill_defaults", "prune"]

_META: Final = frozenset({"apiVersion", "kind", "metadata"})
_CONTAINERS: Final = (dict, list)


def prune(value: Any, node: Node | None, *, is_root: bool = False) -> list[str]:
    """Remove unknown fields; their paths (`spec.a[0].b`), sorted.

    Args:
        is_root: the value is a whole object, whose apiVersion, kind and metadata are always known.
    """
    unknown: list[str] = []
    _prune(value, node, is_root or (node is not None and node.embedded), "", unknown)
    return sorted(unknown)


def _prune(value: Any, node: Node | None, whole: bool, path: str, unknown: list[str]) -> None:
    if isinstance(value, list):
        items = None if node is None else node.items
        if node is not None and node.preserve:
            _keep(value, node, whole, path, unknown)
            return
        for place, item in enumerate(value):
            _prune(item, items, items is not None and items.embedded, f"{path}[{place}]", unknown)
    elif isinstance(value, dict):
        if node is None:
            unknown += [_below(path, name) for name in value]
            value.clear()
        elif node.preserve:
            _keep(value, node, whole, path, unknown)
        else:
            _prune_fields(value, node, whole, path, unknown)


def _prune_fields(value: dict[str, Any], node: Node, whole: bool, path: str, unknown: list[str]) -> None:
    gone = []
    for name, each in value.items():
        if whole and name in _META:
            continue
        child = node.properties.get(name)
        if child is None and not node.open:
            gone.append(name)
            if path or name not in _META:
                unknown.append(_below(path, name))
        elif isinstance(each, _CONTAINERS):
            child = node.additional if child is None else child
            _prune(each, child, child is not None and child.embedded, _below(path, name), unknown)
    for name in gone:
        del value[name]


def _keep(value: Any, node: Node | None, whole: bool, path: str, unknown: list[str]) -> None:
    """Go through a value whose unknown fields stay, to what is named in it."""
    if node is None:
        return
    if isinstance(value, list):
        for place, item in enumerate(value):
            _keep(item, node.items, node.items is not None and node.items.embedded, f"{path}[{place}]", unknown)
    elif isinstance(value, dict):
        for name, each in value.items():
            if whole and name in _META:
                continue
            child = node.properties.get(name)
            if child is not None:
                _prune(each, child, child.embedded, _below(path, name), unknown)
            elif node.open:
                extra = node.additional
                _prune(each, extra, extra is not None and extra.embedded, _below(path, name), unknown)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def drop_nulls(value: Any, node: Node | None) -> None:
    """Remove fields and map values that are null where the schema has neither `nullable` nor a default."""
    if node is None:
        return
    if isinstance(value, dict):
        gone = []
        for name, each in value.items():
            if each is None:
                child = node.child(name)
                if child is not None and not child.nullable and not child.has_default:
                    gone.append(name)
            elif isinstance(each, _CONTAINERS):
                drop_nulls(each, node.child(name))
        for name in gone:
            del value[name]
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, _CONTAINERS):
                drop_nulls(item, node.items)


def fill_defaults(value: Any, node: Node | None) -> None:
    """Fill in defaults, also inside of defaults that were filled in."""
    if node is None:
        return
    if isinstance(value, dict):
        for name, child in node.properties.items():
            if child.has_default and (name not in value or (value[name] is None and not child.nullable)):
                value[name] = copied(child.default)
        for name, each in value.items():
            known = node.properties.get(name)
            if known is None and node.additional is not None:
                known = node.additional
                if each is None and not known.nullable:
                    value[name] = each = copied(known.default)
            if known is not None and isinstance(each, _CONTAINERS):
                fill_defaults(each, known)
    elif isinstance(value, list) and node.items is not None:
        for place, item in enumerate(value):
            if item is None and not node.items.nullable:
                value[place] = copied(node.items.default)
            fill_defaults(value[place], node.items)
