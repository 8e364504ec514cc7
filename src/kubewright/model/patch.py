"""Differences of JSON documents: JSON merge patch (RFC 7386) and JSON patch (RFC 6902). Pure functions.

| function | gives |
|---|---|
| `merge_diff(before, after)` | the smallest merge patch, None when nothing differs |
| `merge_apply(document, patch)` | the patched document |
| `json_diff(before, after, guarded=...)` | a list of operations, empty when nothing differs |
| `json_apply(document, operations)` | the patched document, or `JSONPatchError` |

A merge patch says "absent" with null, so that it cannot say "null": `merge_apply(before, merge_diff(before, after))` is
`after` where the changed parts of `after` have no null (outside of lists, which it replaces as a whole). For Kubernetes
the two are the same except in custom resources with `nullable` fields; use a JSON patch there.

Values are compared as JSON: `1` and `1.0` are equal, `1` and `true` are not. Nothing that is passed in is changed; what
comes out may share parts with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

__all__ = [
    "JSONPatchError",
    "PatchTestFailed",
    "json_apply",
    "json_diff",
    "merge_apply",
    "merge_diff",
    "pointer",
    "same_json",
    "split_pointer",
]

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
_BAD_ESCAPE: Final = re.compile(r"~(?![01])")


def same_json(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON. Python's `==` takes `true` for `1`."""
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same_json(value, right[name]) for name, value in left.items())
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right) and isinstance(left, bool) is isinstance(right, bool)


# -- RFC 7386 ---------------------------------------------------------------------------------------------------------


def merge_diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any] | None:
    """The merge patch from one object to another, or None when they are equal."""
    patch: dict[str, Any] = dict.fromkeys(name for name in before if name not in after)
    for name, wanted in after.items():
        if name not in before:
            patch[name] = wanted
            continue
        current = before[name]
        if isinstance(current, dict) and isinstance(wanted, dict):
            inner = merge_diff(current, wanted)
            if inner is not None:
                patch[name] = inner
        elif not same_json(current, wanted):
            patch[name] = wanted
    return patch or None


def merge_apply(document: Any, patch: Any) -> Any:
    """The document with a merge patch applied. A patch that is not an object replaces the document."""
    if not isinstance(patch, dict):
        return patch
    merged: dict[str, Any] = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_apply(merged.get(name), value)
    return merged


# -- RFC 6901: pointers -----------------------------------------------------------------------------------------------


def pointer(*parts: str | int) -> str:
    """The JSON pointer of a path: `pointer("metadata", "labels", "a/b")` is `/metadata/labels/a~1b`."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def split_pointer(text: str) -> list[str]:
    """The path of a JSON pointer. Raises ValueError: it does not start with `/`, or has a bare `~`."""
    if not text:
        return []
    if not text.startswith("/"):
        raise ValueError(f"JSON pointer {text!r}: does not start with '/'; write it as '/{text}'")
    if _BAD_ESCAPE.search(text):
        raise ValueError(f"JSON pointer {text!r}: has a bare '~'; write '~0' for '~' and '~1' for '/'")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


# -- RFC 6902 ---------------------------------------------------------------------------------------------------------


def json_diff(before: Any, after: Any, *, guarded: bool = False) -> list[dict[str, Any]]:
    """The operations that turn one document into another.

    Args:
        guarded: put a `test` of the old value before each change of something that is there, so that the patch fails
            where another writer was faster. A list that changes is tested as a whole: places in it mean nothing in
            another list. That something is absent cannot be tested.
    """
    operations: list[dict[str, Any]] = []
    _diff("", before, after, guarded, operations)
    return operations


def _diff(path: str, before: Any, after: Any, guarded: bool, out: list[dict[str, Any]]) -> None:
    if isinstance(before, dict) and isinstance(after, dict):
        for name, current in before.items():
            place = path + pointer(name)
            if name in after:
                _diff(place, current, after[name], guarded, out)
            else:
                if guarded:
                    out.append({"op": "test", "path": place, "value": current})
                out.append({"op": "remove", "path": place})
        out.extend(
            {"op": "add", "path": path + pointer(name), "value": wanted}
            for name, wanted in after.items()
            if name not in before
        )
        return
    if same_json(before, after):
        return
    if guarded:
        out.append({"op": "test", "path": path, "value": before})
    if isinstance(before, list) and isinstance(after, list):
        _diff_lists(path, before, after, out)
    else:
        out.append({"op": "replace", "path": path, "value": after})


def _diff_lists(path: str, before: list[Any], after: list[Any], out: list[dict[str, Any]]) -> None:
    """Leave equal ends alone; compare what is between in pairs, and remove or insert what is left over."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and same_json(before[head], after[head]):
        head += 1
    tail = 0
    while tail < shorter - head and same_json(before[-1 - tail], after[-1 - tail]):
        tail += 1
    pairs = shorter - head - tail
    for place in range(head, head + pairs):
        _diff(f"{path}/{place}", before[place], after[place], False, out)
    rest = head + pairs
    out.extend({"op": "remove", "path": f"{path}/{rest}"} for _ in range(len(before) - tail - rest))
    out.extend(
        {"op": "add", "path": f"{path}/{place}", "value": after[place]} for place in range(rest, len(after) - tail)
    )


class JSONPatchError(ValueError):
    """An operation cannot be applied. None of the patch was.

    Attributes: `index` of the operation, `operation` its `op`, `path` as written, `rule`.
    """

    def __init__(self, index: int, operation: str, path: str, rule: str) -> None:
        super().__init__(index, operation, path, rule)
        self.index, self.operation, self.path, self.rule = index, operation, path, rule

    def __str__(self) -> str:
        return f"JSON patch operation {self.index} ({self.operation} {self.path!r}): {self.rule}"


class PatchTestFailed(JSONPatchError):
    """A `test` found another value: somebody else was faster."""


class _Broken(Exception):
    """A rule of RFC 6902 is broken; `json_apply` adds which operation it was."""


class _Differs(_Broken):
    """A `test` does not hold."""


def json_apply(document: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
    """The document with all operations applied in turn, or an error and no document.

    Raises:
        JSONPatchError: an operation is malformed, or its target is not there.
        PatchTestFailed: a `test` does not hold.
    """
    result = _copy(document)
    for index, operation in enumerate(operations):
        try:
            result = _apply(result, operation)
        except _Broken as error:
            kind = PatchTestFailed if isinstance(error, _Differs) else JSONPatchError
            raise kind(index, str(operation.get("op")), str(operation.get("path")), str(error)) from None
    return result


def _apply(document: Any, operation: Mapping[str, Any]) -> Any:
    name, path = operation.get("op"), _path(operation, "path")
    if name == "add":
        return _add(document, path, _copy(_value(operation)))
    if name == "remove":
        _remove(document, path)
        return document
    if name == "replace":
        wanted = _copy(_value(operation))
        if not path:
            return wanted
        parent = _walk(document, path[:-1])
        parent[_member(parent, path[-1], path)] = wanted
        return document
    if name == "test":
        found, wanted = _walk(document, path), _value(operation)
        if not same_json(found, wanted):
            raise _Differs(f"the value is {found!r} and not {wanted!r}; read the object again")
        return document
    if name == "copy":
        return _add(document, path, _copy(_walk(document, _path(operation, "from"))))
    if name == "move":
        source = _path(operation, "from")
        if path[: len(source)] == source:
            if path == source:
                _walk(document, source)
                return document
            raise _Broken("a value cannot move into itself; copy it")
        value = _walk(document, source)
        _remove(document, source)
        return _add(document, path, value)
    raise _Broken("is no operation; use add, remove, replace, move, copy or test")


def _path(operation: Mapping[str, Any], member: str) -> list[str]:
    text = operation.get(member)
    if not isinstance(text, str):
        raise _Broken(f"has no {member!r}; give it as a JSON pointer such as '/spec/replicas'")
    try:
        return split_pointer(text)
    except ValueError as error:
        raise _Broken(str(error)) from None


def _value(operation: Mapping[str, Any]) -> Any:
    if "value" not in operation:
        raise _Broken("has no 'value'; give one, null included")
    return operation["value"]


def _walk(document: Any, path: list[str]) -> Any:
    for depth, part in enumerate(path):
        document = document[_member(document, part, path[: depth + 1])]
    return document


def _member(parent: Any, part: str, path: list[str]) -> Any:
    """The key or the place of something that is there."""
    if isinstance(parent, dict):
        if part in parent:
            return part
        raise _Broken(f"there is no {pointer(*path)}")
    if isinstance(parent, list):
        place = _place(part, path)
        if place < len(parent):
            return place
        raise _Broken(f"there is no {pointer(*path)}; the list has {len(parent)} items")
    raise _Broken(f"there is no {pointer(*path)}; {pointer(*path[:-1]) or 'the document'} is neither object nor list")


def _place(part: str, path: list[str]) -> int:
    if _INDEX.fullmatch(part) is None:
        raise _Broken(f"{pointer(*path)} does not name a place in a list; use 0, 1, 2 and so on")
    return int(part)


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _walk(document, path[:-1])
    if isinstance(parent, dict):
        parent[path[-1]] = value
    elif isinstance(parent, list):
        place = len(parent) if path[-1] == "-" else _place(path[-1], path)
        if place > len(parent):
            raise _Broken(f"there is no place {place} to insert at; the list has {len(parent)} items")
        parent.insert(place, value)
    else:
        raise _Broken(f"{pointer(*path[:-1])} is neither object nor list")
    return document


def _remove(document: Any, path: list[str]) -> None:
    if not path:
        raise _Broken("the whole document cannot be removed; replace it")
    parent = _walk(document, path[:-1])
    del parent[_member(parent, path[-1], path)]


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
