"""Sets of fields follow the schema of a definition that has changed since they were written.

What was owned field by field and is owned only as a whole by now (a list or map that became atomic) is the whole, for
whoever owned any of it. The other way round nothing changes: who owned the whole goes on to own that path, and no field
below it. Parts without a schema are left alone.

Rules: `structured-merge-diff/typed/reconcile_schema.go`.
"""

from __future__ import annotations

from typing import Any

from .paths import FieldPath, FieldSet
from .types import DEDUCED, FieldType

__all__ = ["reconciled"]


def reconciled(paths: FieldSet, type_: FieldType) -> FieldSet:
    """The set as a manager would own it by the type as it is now."""
    tree: dict[str, Any] = {}
    for path in paths:
        inner = tree
        for element in path:
            inner = inner.setdefault(element, {})
    whole: set[FieldPath] = set()
    _find_whole(tree, type_, (), paths, whole)
    if not whole:
        return paths
    depths = {len(each) for each in whole}
    kept = (path for path in paths if not any(path[:depth] in whole for depth in depths))
    return frozenset([*kept, *whole])


def _find_whole(
    tree: dict[str, Any], type_: FieldType, path: FieldPath, members: FieldSet, whole: set[FieldPath]
) -> None:
    """Find the paths to what is atomic and is owned in parts."""
    inner = type_.map
    if inner is not None:
        if inner.elem is DEDUCED and not inner.fields:
            return
        if inner.is_atomic:
            if tree:
                whole.add(path)
            return
        for element, below in tree.items():
            known = inner.fields.get(element[2:], inner.elem) if element[0] == "f" else inner.elem
            if known is not None:
                _find_whole(below, known, (*path, element), members, whole)
        return
    if type_.scalar or type_.list is None:
        return
    items = type_.list
    if not items.is_associative:
        if tree or path not in members:
            whole.add(path)
        return
    for element, below in tree.items():
        _find_whole(below, items.elem, (*path, element), members, whole)
