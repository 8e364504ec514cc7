"""What the cache keeps of each object: any function on its JSON, and two ready-made ones.

    keep("spec.replicas", "status")     metadata and these
    drop("data", "metadata.annotations")    all but these

They are *projections*: paths of field names, applied to the bytes without building the object (a part that stays or
goes whole is not even looked into: some 2 microseconds for a 3 KB object, where a function on dicts costs 20).

What every reader relies on stays, whatever is asked for: `apiVersion`, `kind`, and of the metadata the names, the uid,
versions, labels, owner references, finalizers and times of deletion. `managedFields` never get here (see `frame`).

Caveat: a typed read of what was cut down shows defaults where something is missing, and a write of the *whole* object
(update, PUT) would take that for its state. Patches and applies say only what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Raw

from .entry import Entry

__all__ = ["Projection", "Transform", "drop", "intake_of", "keep"]

Transform = Callable[[dict[str, Any]], dict[str, Any]]
"""An object's JSON as it came, and as it is to be kept. Pure and idempotent; what it raises keeps that object out."""

_ESSENTIAL = frozenset(
    {
        *("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "labels"),
        *("deletionTimestamp", "deletionGracePeriodSeconds", "finalizers", "ownerReferences"),
    }
)
_Tree = dict[str, "_Tree | None"]  # None: the whole of it
_decode = msgspec.json.Decoder(dict[str, Raw]).decode
_encode = msgspec.json.encode


class Projection:
    """A transform by paths. Made by `keep` and `drop`; callable as any transform, and faster on bytes."""

    def __init__(self, name: str, paths: Iterable[str]) -> None:
        self.name = name
        self.paths = tuple(paths)
        self._tree: _Tree = {}
        for path in self.paths:
            _plant(self._tree, path)
        self._cut = _kept if name == "keep" else _rest
        if name == "keep":
            self._tree.update({"apiVersion": None, "kind": None, "metadata": None})

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.paths))})"

    def __call__(self, obj: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.of_bytes(_encode(obj)))
        return found

    def of_bytes(self, data: bytes) -> bytes:
        """The projection of an object's JSON."""
        return bytes(self._cut(data, self._tree))


def keep(*paths: str) -> Projection:
    """Keep the metadata and what is at these paths, such as `"spec.replicas"`. Of lists the whole.

    Raises:
        ValueError: a path is empty, or has an empty name in it.
    """
    return Projection("keep", paths)


def drop(*paths: str) -> Projection:
    """Keep all but what is at these paths, such as `"data"`.

    Raises:
        ValueError: a path is none, or names something that every reader relies on.
    """
    for path in paths:
        parts = path.split(".")
        essential = parts[0] in ("apiVersion", "kind") or parts == ["metadata"]
        if essential or (parts[0] == "metadata" and parts[1] in _ESSENTIAL):
            raise ValueError(
                f"drop({path!r}): every reader of the cache relies on it; drop something below or beside it"
            )
    return Projection("drop", paths)


def intake_of(transform: Transform | None) -> Callable[[Entry], Entry] | None:
    """The transform on entries; their identity and version stay."""
    if transform is None:
        return None
    of_bytes = transform.of_bytes if isinstance(transform, Projection) else _by_dicts(transform)

    def intake(entry: Entry) -> Entry:
        return Entry(
            entry.namespace, entry.name, entry.uid, entry.resource_version, entry.generation, of_bytes(entry.data)
        )

    return intake


def _by_dicts(transform: Transform) -> Callable[[bytes], bytes]:
    def of_bytes(data: bytes) -> bytes:
        found = transform(msgspec.json.decode(data))
        if not isinstance(found, dict):
            raise TypeError(f"the transform returned {type(found).__name__}; it must return the object as a dict")
        return _encode(found)

    return of_bytes


def _plant(tree: _Tree, path: str) -> None:
    *parents, last = parts = path.split(".")
    if not all(parts):
        raise ValueError(f"path {path!r}: has an empty name in it; write field names joined by dots: spec.replicas")
    for name in parents:
        below = tree.setdefault(name, {})
        if below is None:
            return  # the whole of it already
        tree = below
    tree[last] = None


def _kept(data: bytes | Raw, tree: _Tree) -> bytes:
    fields = _decode(data)
    found: dict[str, Raw] = {}
    for name, below in tree.items():
        value = fields.get(name)
        if value is None:
            continue
        found[name] = value if below is None or not _is_object(value) else Raw(_kept(value, below))
    return _encode(found)


def _rest(data: bytes | Raw, tree: _Tree) -> bytes:
    fields = _decode(data)
    for name, below in tree.items():
        value = fields.get(name)
        if value is None:
            continue
        if below is None:
            del fields[name]
        elif _is_object(value):
            fields[name] = Raw(_rest(value, below))
    return _encode(fields)


def _is_object(value: Raw) -> bool:
    return bytes(memoryview(value)[:1]) == b"{"
