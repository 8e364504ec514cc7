"""Objects in memory, in the place of a cache and of the server behind it: what a `FakeContext` stands on.

They are kept as JSON and handed out as fresh objects, so that a test that keeps one is not fooled by a later write.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import orjson

from kubewright.cache.entry import Entry
from kubewright.cache.fields import field_of
from kubewright.cache.frame import entry_of
from kubewright.cache.index import Index
from kubewright.model import GroupVersionKind, Key, Object, decode, encode, info_of, key_of
from kubewright.model.fieldselector import FieldSelector
from kubewright.model.owners import controller_of
from kubewright.model.selector import Selector

__all__ = ["World"]

T = TypeVar("T", bound=Object)


class World:
    """The `Reads` of a FakeContext.

    Args:
        namespace: of objects that have none and need one.
        clock: the time at which they are created and deleted.
    """

    def __init__(self, namespace: str, clock: Callable[[], datetime]) -> None:
        self._namespace = namespace
        self._clock = clock
        self._objects: dict[GroupVersionKind, dict[Key, bytes]] = {}
        self._versions = itertools.count(1)

    # -- what there is ---------------------------------------------------------------------------------------------

    def json(self, kind: type[Object], key: Key) -> dict[str, Any] | None:
        """A fresh copy of an object as JSON, or None."""
        data = self.cached(kind, key)
        return None if data is None else orjson.loads(data)

    async def find(self, kind: type[T], key: Key) -> T | None:
        data = self.cached(kind, key)
        return None if data is None else decode(kind, data)

    async def list(
        self,
        kind: type[T],
        *,
        namespace: str | None,
        labels: str | Mapping[str, str] | None,
        owner: str | None,
        index: Mapping[Index[Any], str] | None = None,
        fields: str | Mapping[str, str] | None = None,
    ) -> Sequence[T]:
        found = [decode(kind, data) for _, data in sorted(self._of(kind).items())]
        if namespace is not None:
            found = [each for each in found if each.metadata.namespace == namespace]
        if labels is not None:
            matches = Selector.of(labels).matches
            found = [each for each in found if matches(each.metadata.labels)]
        if owner is not None:
            found = [each for each in found if (by := controller_of(each)) is not None and by.uid == owner]
        for values, value in (index or {}).items():
            found = [each for each in found if value in values(each)]
        if fields is not None:
            wanted = FieldSelector.of(fields)
            names = [each.field for each in wanted.requirements]
            found = [each for each in found if wanted.matches({n: field_of(encode(each), n) for n in names})]
        return found

    def cached(self, kind: type[Object], key: Key) -> bytes | None:
        return self._of(kind).get(key)

    def entry(self, kind: type[Object], key: Key) -> Entry | None:
        data = self.cached(kind, key)
        return None if data is None else entry_of(data)

    def watches(self, kind: type[Object], key: Key | None = None) -> bool:
        return True

    # -- what happens ----------------------------------------------------------------------------------------------

    def add(self, obj: T) -> T:
        """Put in an object of the test's, status included."""
        return self.store(type(obj), orjson.loads(encode(obj)))

    def find_or_add(self, obj: T) -> T:
        """The object of that name, or `obj` put in."""
        wanted = obj.metadata.namespace or (self._namespace if info_of(type(obj)).namespaced else "")
        data = self.cached(type(obj), Key(wanted, obj.metadata.name))
        return self.add(obj) if data is None else decode(type(obj), data)

    def store(self, kind: type[T], new: dict[str, Any]) -> T:
        """Make `new` the object of its name. It goes when it waits for a deletion and nothing holds it back."""
        meta = new.setdefault("metadata", {})
        info = info_of(kind)
        if info.namespaced:
            meta.setdefault("namespace", self._namespace)
        key = Key(meta.get("namespace", ""), meta["name"])
        live = self.json(kind, key)
        number = next(self._versions)
        meta.setdefault("uid", f"uid-{number}")
        meta.setdefault("creationTimestamp", self._now())
        if live is not None and _without_version(live) == _without_version(new):
            return decode(kind, orjson.dumps(live))
        if "spec" in new:
            changed = live is not None and live.get("spec") != new["spec"]
            meta["generation"] = meta.get("generation", 1) + changed
        if live is not None or "resourceVersion" not in meta:
            meta["resourceVersion"] = str(number)
        data = orjson.dumps({"apiVersion": info.api_version, "kind": info.kind, **new})
        if "deletionTimestamp" in meta and not meta.get("finalizers"):
            self._of(kind).pop(key, None)
        else:
            self._of(kind)[key] = data
        return decode(kind, data)

    def delete(self, obj: Object) -> bool:
        """Delete an object; False when it is not there, or when another one has its name."""
        kind, key = type(obj), key_of(obj)
        live = self.json(kind, key)
        if live is None or (obj.metadata.uid and obj.metadata.uid != live["metadata"]["uid"]):
            return False
        live["metadata"].setdefault("deletionTimestamp", self._now())
        self.store(kind, live)
        return True

    def wrote(self, obj: Object) -> None:
        """Nothing: writes are put in as they are made."""

    def wrote_entry(self, kind: type[Object], answer: Entry) -> None:
        """Nothing, as `wrote`."""

    def deleted(self, obj: Object) -> None:
        """Nothing, as `wrote`."""

    def _of(self, kind: type[Object]) -> dict[Key, bytes]:
        return self._objects.setdefault(info_of(kind).gvk, {})

    def _now(self) -> str:
        return self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")


def _without_version(obj: dict[str, Any]) -> dict[str, Any]:
    meta = {name: value for name, value in obj["metadata"].items() if name != "resourceVersion"}
    return {**{name: part for name, part in obj.items() if name not in ("apiVersion", "kind")}, "metadata": meta}
