"""Server-side apply, as far as a test double needs it: who stated what, and what follows.

A field is a path through objects; lists are fields as a whole, but for owner references (by uid) and finalizers (by
value), to which each manager adds its own. Statements are remembered as the bodies that were sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["conflicts", "drop_unstated", "merge"]

Json = dict[str, Any]
Path = tuple[str, ...]

_IDENTITY = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}
_OWNERS, _FINALIZERS = ("metadata", "ownerReferences"), ("metadata", "finalizers")


def fields(obj: Json, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All fields that an object states, with their values."""
    for name, value in obj.items():
        path = (*at, name)
        if path == _OWNERS:
            yield from ((((*path, owner["uid"]), owner)) for owner in value)
        elif path == _FINALIZERS:
            yield from (((*path, each), each) for each in value)
        elif isinstance(value, dict) and value:
            yield from fields(value, path)
        elif path not in _IDENTITY:
            yield path, value


def conflicts(body: Json, others: Mapping[str, Json]) -> list[str]:
    """The fields that another manager has stated differently."""
    stated = dict(fields(body))
    clash = {path for said in others.values() for path, value in fields(said) if stated.get(path, value) != value}
    return sorted("." + ".".join(path) for path in clash)


def drop_unstated(live: Json, before: Json, now: Json, others: Iterable[Json]) -> Json:
    """`live` without the fields that were stated before and are stated by nobody now."""
    kept = {path for said in (now, *others) for path, _ in fields(said)}
    for path, _ in fields(before):
        if path not in kept:
            live = _without(live, path, kept)
    return live


def merge(live: Json, body: Json, at: Path = ()) -> Json:
    """`live` with everything that `body` states."""
    result = dict(live)
    for name, value in body.items():
        path = (*at, name)
        if path == _OWNERS:
            uids = {owner["uid"] for owner in value}
            result[name] = [owner for owner in live.get(name, ()) if owner["uid"] not in uids] + value
        elif path == _FINALIZERS:
            result[name] = list(dict.fromkeys([*live.get(name, ()), *value]))
        elif isinstance(value, dict) and isinstance(live.get(name), dict):
            result[name] = merge(live[name], value, path)
        else:
            result[name] = value
    return result


def _without(obj: Json, path: Path, kept: set[Path], at: Path = ()) -> Json:
    name, rest = path[0], path[1:]
    if name not in obj:
        return obj
    result = dict(obj)
    here = (*at, name)
    if not rest:
        del result[name]
    elif here == _OWNERS:
        result[name] = [owner for owner in obj[name] if owner["uid"] != rest[0]]
    elif here == _FINALIZERS:
        result[name] = [each for each in obj[name] if each != rest[0]]
    elif isinstance(obj[name], dict):
        result[name] = _without(obj[name], rest, kept, here)
        if not result[name] and not any(other[: len(here)] == here for other in kept):
            del result[name]
    return result
