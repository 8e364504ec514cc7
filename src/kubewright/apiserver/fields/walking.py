"""What of an object is owned, how two objects differ, and what of an applied object cannot be.

Three walks over typed values, each a few lines per shape. Absent is not null: `ABSENT` stands for what is not there.
Rules: `structured-merge-diff/typed/{tofieldset,compare,validate}.go`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kubewright.schema.structural.gotext import in_go, plain, typed

from .paths import FieldPath, FieldSet, KeyProblem, item_element, shown_element
from .types import FieldType, ListType, MapType, deduce

__all__ = ["ABSENT", "Difference", "are_equal", "compare", "elements_of", "field_set", "type_errors"]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


# -- what is owned ----------------------------------------------------------------------------------------------------


def field_set(value: Any, type_: FieldType) -> FieldSet:
    """The paths that whoever states the value owns."""
    found: set[FieldPath] = set()
    _collect(value, type_, (), found)
    return frozenset(found)


def _collect(value: Any, type_: FieldType, path: FieldPath, found: set[FieldPath]) -> None:
    shape, _ = deduce(type_, value)
    if shape == "map":
        inner = type_.map
        assert inner is not None
        if inner.is_atomic:
            found.add(path)
        elif isinstance(value, dict):
            for name, each in value.items():
                at = (*path, f"f:{name}")
                _collect(each, inner.of(name), at, found)
                if each is None or each == {} or name not in inner.fields:
                    found.add(at)
    elif shape == "scalar":
        found.add(path)
    elif shape == "list":
        items = type_.list
        assert items is not None
        if not items.is_associative:
            found.add(path)
        elif isinstance(value, list):
            _collect_items(value, items, path, found)


def _collect_items(value: list[Any], items: ListType, path: FieldPath, found: set[FieldPath]) -> None:
    elements = elements_of(value, items)
    counts: dict[str, int] = {}
    for element in elements:
        counts[element] = counts.get(element, 0) + 1
    for element, item in zip(elements, value, strict=True):
        at = (*path, element)
        found.add(at)
        if counts[element] == 1:
            _collect(item, items.elem, at, found)


def elements_of(value: list[Any], items: ListType) -> list[str]:
    """The elements of items; those that have none are told apart by their place."""
    made = []
    for place, item in enumerate(value):
        try:
            made.append(item_element(item, items))
        except KeyProblem:
            made.append(f"i:{place}")
    return made


# -- how two objects differ -------------------------------------------------------------------------------------------


class Difference(NamedTuple):
    """The paths that are only there afterwards, only before, and in both but different."""

    added: FieldSet
    modified: FieldSet
    removed: FieldSet

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.modified or self.removed)


class _Comparison:
    def __init__(self, *, is_exact: bool) -> None:
        self.is_exact = is_exact
        self.added: set[FieldPath] = set()
        self.modified: set[FieldPath] = set()
        self.removed: set[FieldPath] = set()

    def leaf(self, old: Any, new: Any, path: FieldPath) -> None:
        if old is ABSENT:
            self.added.add(path)
        elif new is ABSENT:
            self.removed.add(path)
        elif not self.are_equal(old, new):
            self.modified.add(path)

    def are_equal(self, old: Any, new: Any) -> bool:
        """The fast comparison takes 1 for true; where types do not forbid that, a second one looks again."""
        return are_equal(old, new) if self.is_exact else bool(old == new)


def _are_alike(old: Any, new: Any) -> bool:
    """Whether values that are equal to Python are to the server: it takes 2 for 2.0, and not 1 for true."""
    if isinstance(old, dict):
        return all(_are_alike(each, new[name]) for name, each in old.items())
    if isinstance(old, list):
        return all(map(_are_alike, old, new))
    return isinstance(old, bool) == isinstance(new, bool)


def are_equal(old: Any, new: Any) -> bool:
    """Whether two values are one to the server."""
    return bool(old == new) and _are_alike(old, new)


def compare(old: Any, new: Any, type_: FieldType, *, is_exact: bool = True) -> Difference:
    """How `new` differs from `old`.

    Args:
        is_exact: False where no field can be a number in one object and a truth value in the other.
    """
    found = _Comparison(is_exact=is_exact)
    _compare(old, new, type_, (), found)
    return Difference(frozenset(found.added), frozenset(found.modified), frozenset(found.removed))


def _compare(old: Any, new: Any, type_: FieldType, path: FieldPath, found: _Comparison) -> None:
    if old is not ABSENT and new is not ABSENT and found.are_equal(old, new):
        return
    old_shape = deduce(type_, None if old is ABSENT else old)[0]
    new_shape = deduce(type_, None if new is ABSENT else new)[0]
    if new is ABSENT:
        is_leaf = _compare_as(old_shape, old, new, type_, path, found, False)
    elif old is ABSENT or old_shape == new_shape:
        is_leaf = _compare_as(new_shape, old, new, type_, path, found, False)
    else:
        _compare_as(old_shape, old, new, type_, path, found, False)
        is_leaf = _compare_as(new_shape, old, new, type_, path, found, False)
    if not is_leaf:
        if old is ABSENT:
            found.added.add(path)
        elif new is ABSENT:
            found.removed.add(path)


def _compare_as(
    shape: str, old: Any, new: Any, type_: FieldType, path: FieldPath, found: _Comparison, is_leaf: bool
) -> bool:
    """Compare two values as one shape; gives whether they count as a whole."""
    if shape == "map":
        inner = type_.map
        assert inner is not None
        before = old if isinstance(old, dict) else None
        after = new if isinstance(new, dict) else None
        if inner.is_atomic or not (before or after):
            if not is_leaf:
                found.leaf(old, new, path)
            return True
        if not is_leaf:
            _compare_fields(before or {}, after or {}, inner, path, found)
        return is_leaf
    if shape == "list":
        items = type_.list
        assert items is not None
        first = old if isinstance(old, list) else None
        second = new if isinstance(new, list) else None
        if not items.is_associative or not (first or second):
            if not is_leaf:
                found.leaf(old, new, path)
            return True
        if not is_leaf:
            _compare_items(first or [], second or [], items, path, found)
        return is_leaf
    if not is_leaf:
        found.leaf(old, new, path)
    return True


def _compare_fields(
    old: dict[str, Any], new: dict[str, Any], inner: MapType, path: FieldPath, found: _Comparison
) -> None:
    for name, before in old.items():
        after = new.get(name, ABSENT)
        if not found.are_equal(before, after):
            _compare(before, after, inner.of(name), (*path, f"f:{name}"), found)
    for name, after in new.items():
        if name not in old:
            _compare(ABSENT, after, inner.of(name), (*path, f"f:{name}"), found)


def _compare_items(old: list[Any], new: list[Any], items: ListType, path: FieldPath, found: _Comparison) -> None:
    before, after = _grouped(old, items), _grouped(new, items)
    for element in {**before, **after}:
        first, second = before.get(element, []), after.get(element, [])
        at = (*path, element)
        if len(first) <= 1 and len(second) <= 1:
            _compare(first[0] if first else ABSENT, second[0] if second else ABSENT, items.elem, at, found)
        elif len(first) >= 2 and len(second) >= 2:
            if first != second:
                found.modified.add(at)
        elif len(first) >= 2:
            if second:
                _compare(ABSENT, second[0], items.elem, at, found)
            found.removed.add(at)
        else:
            if first:
                _compare(first[0], ABSENT, items.elem, at, found)
            found.added.add(at)


def _grouped(value: list[Any], items: ListType) -> dict[str, list[Any]]:
    made: dict[str, list[Any]] = {}
    for element, item in zip(elements_of(value, items), value, strict=True):
        made.setdefault(element, []).append(item)
    return made


# -- what cannot be ---------------------------------------------------------------------------------------------------


def type_errors(value: Any, type_: FieldType) -> list[str]:
    """What of a stated object does not fit its kind, each with its path."""
    found: list[str] = []
    _check(value, type_, "", found)
    return found


def _check(value: Any, type_: FieldType, path: str, found: list[str]) -> None:
    shape, _ = deduce(type_, value)
    if shape == "map":
        _check_map(value, type_, path, found)
    elif shape == "list":
        _check_list(value, type_, path, found)
    elif shape == "scalar" and value is not None and (problem := _scalar_problem(value, type_.scalar)):
        found.append(f"{path}: {problem}")


def _check_map(value: Any, type_: FieldType, path: str, found: list[str]) -> None:
    inner = type_.map
    assert inner is not None
    if value is None:
        return
    if not isinstance(value, dict):
        found.append(f"{path}: expected map, got &{{{plain(value)}}}")
        return
    for name, each in value.items():
        at = f"{path}.{name}"
        below = inner.fields.get(name, inner.elem)
        if below is None:
            # The server goes no further; which names it has seen by then is chance there.
            found.append(f"{at}: field not declared in schema")
            return
        else:
            _check(each, below, at, found)


def _check_list(value: Any, type_: FieldType, path: str, found: list[str]) -> None:
    items = type_.list
    assert items is not None
    if value is None:
        return
    if not isinstance(value, list):
        found.append(f"{path}: expected list, got &{{{plain(value)}}}")
        return
    seen: set[str] = set()
    for place, item in enumerate(value):
        element = f"i:{place}"
        if items.is_associative:
            try:
                element = item_element(item, items)
            except KeyProblem as problem:
                found.append(f"{path}: element {place}: {problem}")
                return
            if element in seen:
                found.append(f"{path}: duplicate entries for key {shown_element(element)}")
            seen.add(element)
        _check(item, items.elem, f"{path}{shown_element(element)}", found)


def _scalar_problem(value: Any, scalar: str) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if scalar == "numeric" and not is_number:
        return f"expected numeric (int or float), got {typed(value)}"
    if scalar == "string" and not isinstance(value, str):
        return f"expected string, got &value.valueUnstructured{{Value:{in_go(value)}}}"
    if scalar == "boolean" and not isinstance(value, bool):
        return f"expected boolean, got &{{{plain(value)}}}"
    if scalar == "untyped" and isinstance(value, dict | list):
        return f"expected any scalar, got &{{{plain(value)}}}"
    return ""
