"""Which fields differ between two states of an object, and who owns a field according to `managedFields`.

Pure functions over decoded JSON. A path is what managedFields are made of: names, and for the elements of a list their
key (`name`, or what the two states can be told apart by) where they have one; other lists are one field. `text` writes
it as people do: `spec.template.spec.containers[name="web"].image`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

__all__ = ["Path", "differences", "managers_of", "text"]

Path: TypeAlias = tuple["str | tuple[str, str]", ...]
"""Names, and (key, value) for elements of lists."""

_KEYS = ("name", "type", "key", "containerPort", "port", "ip", "uid", "mountPath", "devicePath", "topologyKey")
_ABSENT: Any = object()
_IDLE = frozenset({"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"})


def differences(before: Any, after: Any, shape: Any = None) -> Iterator[tuple[Path, Any, Any]]:
    """The fields in which two objects differ, with their value before and after; None where there is none.

    Args:
        shape: look only at the places that this names, as `applying.projection`.
    """
    for path, one, two in _differences(before, after, shape, ()):
        if not (len(path) >= 2 and path[0] == "metadata" and path[1] in _IDLE):
            yield path, one, two


def _differences(before: Any, after: Any, shape: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in shape if isinstance(shape, Mapping) else {**before, **after}:
            part = shape[name] if isinstance(shape, Mapping) else None
            one, two = before.get(name, _ABSENT), after.get(name, _ABSENT)
            yield from _differences(one, two, part, (*path, name))
    elif isinstance(before, list) and isinstance(after, list) and (key := _key_of(before, after)):
        ones, twos = ({str(each[key]): each for each in items} for items in (before, after))
        for value in {**ones, **twos}:
            one, two = ones.get(value, _ABSENT), twos.get(value, _ABSENT)
            yield from _differences(one, two, None, (*path, (key, value)))
    else:
        yield path, None if before is _ABSENT else before, None if after is _ABSENT else after


def _key_of(before: list[Any], after: list[Any]) -> str | None:
    """What the elements of two lists are told apart by."""
    both = [*before, *after]
    if not all(isinstance(each, Mapping) for each in both):
        return None
    for key in _KEYS:
        if all(key in each for each in both) and all(
            len({str(each[key]) for each in items}) == len(items) for items in (before, after)
        ):
            return key
    return None


def text(path: Path) -> str:
    """As people write it."""
    said = ""
    for part in path:
        said += f'[{part[0]}="{part[1]}"]' if isinstance(part, tuple) else f".{part}" if said else part
    return said


def managers_of(path: Path, managed_fields: Any) -> list[str]:
    """Who has set the field or a part of it, or the whole that it is a part of; the last to write first."""
    found: list[tuple[str, str]] = []
    for entry in managed_fields or ():
        fields = entry.get("fieldsV1")
        if isinstance(fields, Mapping) and _covers(path, fields):
            found.append((entry.get("time") or "", entry.get("manager") or "?"))
    return list(dict.fromkeys(manager for _, manager in sorted(found, reverse=True)))


def _covers(path: Path, fields: Mapping[str, Any]) -> bool:
    for part in path:
        if isinstance(part, tuple):
            names = [name for name in fields if name.startswith("k:") and _is_element(part, name)]
            if not names:
                return False
            fields = fields[names[0]]
        elif f"f:{part}" in fields:
            fields = fields[f"f:{part}"]
            if not fields:
                return True  # the whole below it
        else:
            return False
    return True


def _is_element(part: tuple[str, str], name: str) -> bool:
    try:
        keys = json.loads(name[2:])
    except ValueError:
        return False
    return isinstance(keys, dict) and str(keys.get(part[0])) == part[1]
