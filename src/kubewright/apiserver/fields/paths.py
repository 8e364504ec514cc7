"""Paths to fields, sets of them, and the form in which objects keep them (`FieldsV1`).

A path is a tuple of elements as `FieldsV1` writes them, so that encoding is a matter of nesting:

| element | means |
|---|---|
| `f:name` | a field |
| `k:{"name":"a"}` | the item of a list whose keys have these values |
| `v:"x"` | the item of a set |
| `i:0` | an item by its place |

Sets are Python sets of paths. Rules: `structured-merge-diff/fieldpath`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from kubewright.schema.structural.gotext import as_json

from .types import FieldType, ListType

__all__ = [
    "FieldPath",
    "FieldSet",
    "KeyProblem",
    "decoded",
    "encoded",
    "is_readable",
    "item_element",
    "ordered",
    "shown",
    "with_named",
]

_SMALL: Final = re.compile(r"e-(\d)$")

FieldPath = tuple[str, ...]
FieldSet = frozenset[FieldPath]


class KeyProblem(ValueError):
    """An item of a list that cannot be told from others. The text is the server's."""


def item_element(item: Any, type_: ListType) -> str:
    """The element of an item of a set or of a list with keys. Raises KeyProblem."""
    if not type_.keys:
        if isinstance(item, dict):
            raise KeyProblem("associative list without keys has an element that's a map type")
        if isinstance(item, list):
            raise KeyProblem("not supported: associative list with lists as elements")
        if item is None:
            raise KeyProblem("associative list without keys has an element that's an explicit null")
        return f"v:{_value(item)}"
    if item is None:
        raise KeyProblem("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise KeyProblem("associative list with keys may not have non-map elements")
    found = {}
    for key in type_.keys:
        if key in item:
            found[key] = item[key]
        elif key in type_.defaults:
            found[key] = type_.defaults[key]
    if not found:
        names = " ".join(f'"{each}"' for each in type_.keys)
        raise KeyProblem(
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return f"k:{as_json(found)}"


def _value(item: Any) -> str:
    """As JSON, but for a small exponent, which the server writes with two digits here and with one elsewhere."""
    text = as_json(item)
    return _SMALL.sub(r"e-0\1", text) if isinstance(item, float) else text


# -- FieldsV1 ---------------------------------------------------------------------------------------------------------


def is_readable(fields: Any) -> bool:
    """Whether `fieldsV1` is a set: maps all the way down, and elements that say what they are."""
    if fields is None:
        return True
    if not isinstance(fields, Mapping):
        return False
    return all(is_readable(below) and (element == "." or _is_element(element)) for element, below in fields.items())


def _is_element(element: str) -> bool:
    kind, text = element[:2], element[2:]
    try:
        if kind == "k:":
            return isinstance(orjson.loads(text), dict)
        if kind == "v:":
            orjson.loads(text)
        elif kind == "i:":
            int(text)
        else:
            return kind == "f:"
    except ValueError:
        return False
    return True


def decoded(fields: Mapping[str, Any]) -> FieldSet:
    """The set that `fieldsV1` says."""
    found: list[FieldPath] = []
    waiting: list[tuple[FieldPath, Mapping[str, Any]]] = [((), fields)]
    while waiting:
        path, inner = waiting.pop()
        for element, below in inner.items():
            if element == ".":
                found.append(path)
            elif below:
                waiting.append(((*path, element), below))
            else:
                found.append((*path, element))
    return frozenset(found)


def encoded(paths: Iterable[FieldPath], *, is_custom: bool = False) -> dict[str, Any]:
    """The `fieldsV1` of a set, in the server's order: that of the text for custom kinds, whose objects are maps."""
    tree: dict[str, Any] = {}
    members: set[FieldPath] = set()
    for path in paths:
        members.add(path)
        inner = tree
        for element in path:
            inner = inner.setdefault(element, {})
    return _ordered_tree(tree, (), members, str.encode if is_custom else _order)


def _ordered_tree(
    tree: dict[str, Any], path: FieldPath, members: set[FieldPath], order: Callable[[str], Any]
) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for element in sorted(tree, key=order):
        below, at = tree[element], (*path, element)
        inner = _ordered_tree(below, at, members, order) if below else {}
        made[element] = {".": {}, **inner} if inner and at in members else inner
    return made


@lru_cache(maxsize=65536)
def _order(element: str) -> tuple[Any, ...]:
    """How the server sorts: fields, keys, values, places; values by what they are."""
    kind, text = element[0], element[2:]
    if kind == "f":
        return (0, text)
    if kind == "i":
        return (3, int(text))
    value = orjson.loads(text)
    if kind == "k":
        return (1, tuple((name, _value_order(value[name])) for name in sorted(value)))
    return (2, _value_order(value))


def _value_order(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, int | float):
        return (0, value)
    return (1, value) if isinstance(value, str) else (3, as_json(value))


def ordered(paths: Iterable[FieldPath]) -> list[FieldPath]:
    """As the server goes through a set: at each level first what is in it, then what is below."""
    found: list[FieldPath] = []
    _walk(sorted(paths, key=lambda path: [_order(each) for each in path]), 0, found)
    return found


def _walk(paths: list[FieldPath], depth: int, found: list[FieldPath]) -> None:
    found += [path for path in paths if len(path) == depth + 1]
    below: dict[str, list[FieldPath]] = {}
    for path in paths:
        if len(path) > depth + 1:
            below.setdefault(path[depth], []).append(path)
    for inner in below.values():
        _walk(inner, depth + 1, found)


def shown(path: FieldPath) -> str:
    """A path as conflicts name it: `.spec.containers[name="web"].image`."""
    return "".join(map(shown_element, path))


def shown_element(element: str) -> str:
    """One element of a path, as conflicts name it."""
    kind, text = element[0], element[2:]
    if kind == "f":
        return f".{text}"
    if kind == "k":
        pairs = orjson.loads(text)
        return f"[{','.join(f'{name}={as_json(pairs[name])}' for name in sorted(pairs))}]"
    return f"[={text}]" if kind == "v" else f"[{text}]"


def with_named(paths: FieldSet, type_: FieldType) -> FieldSet:
    """The set with all named fields on the way to its members, as if they were members themselves."""
    added: set[FieldPath] = set(paths)
    seen: set[FieldPath] = set()
    for path in paths:
        current: FieldType | None = type_
        for place in range(1, len(path)):
            element, prefix = path[place - 1], path[:place]
            inner = current.map if current is not None else None
            if element[0] == "f" and inner is not None:
                name = element[2:]
                if prefix not in seen:
                    seen.add(prefix)
                    if name in inner.fields:
                        added.add(prefix)
                current = inner.fields.get(name, inner.elem)
            elif element[0] == "k" and current is not None and current.list is not None:
                current = current.list.elem
            else:
                current = None
    return frozenset(added)
