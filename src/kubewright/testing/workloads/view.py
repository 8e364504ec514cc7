"""What there is, as last seen: by events of watches, and by the answers to our own writes, whichever is newer.

Because own writes are seen at once, no controller needs client-go's expectations: it never acts twice on one state.
No I/O and no event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from .kinds import ALL, PODS, Kind, Obj, Ref, ref_of

__all__ = ["Changed", "View"]

_MOST_SEEN: Final = 100_000

Changed = Callable[[Kind, Obj | None, Obj | None], None]
"""Told of a change: the object before and after it, None where there is none."""


class View:
    """The objects of all kinds, with indexes: by namespace, by controller, Pods by node."""

    def __init__(self) -> None:
        self._of: dict[Kind, dict[Ref, Obj]] = {each: {} for each in ALL}
        self._in: dict[tuple[Kind, str], dict[Ref, Obj]] = {}
        self._owned: dict[tuple[Kind, str], dict[Ref, Obj]] = {}
        self._on: dict[str, dict[Ref, Obj]] = {}
        self._gone: dict[str, int] = {}
        self._seen: set[int] = set()
        self.listeners: list[Changed] = []

    def get(self, kind: Kind, namespace: str, name: str) -> Obj | None:
        return self._of[kind].get(Ref(namespace, name))

    def all(self, kind: Kind) -> list[Obj]:
        """All of a kind, by namespace and name."""
        return _sorted(self._of[kind])

    def within(self, kind: Kind, namespace: str) -> list[Obj]:
        """All of a kind in a namespace, by name."""
        return _sorted(self._in.get((kind, namespace), {}))

    def owned(self, kind: Kind, uid: str) -> list[Obj]:
        """All of a kind whose controller has this uid, by name."""
        return _sorted(self._owned.get((kind, uid), {}))

    def orphans(self, kind: Kind, namespace: str) -> list[Obj]:
        """All of a kind in a namespace that have no controller, by name."""
        return _sorted(self._owned.get((kind, f"/{namespace}"), {}))

    def pods_on(self, node: str) -> list[Obj]:
        """The Pods that are bound to a node; to none where it is ""."""
        return _sorted(self._on.get(node, {}))

    def version(self, kind: Kind, ref: Ref) -> str | None:
        """The resource version that was seen of an object."""
        obj = self._of[kind].get(ref)
        return None if obj is None else obj["metadata"]["resourceVersion"]

    def refs(self, kind: Kind) -> Iterator[Ref]:
        yield from self._of[kind]

    def put(self, kind: Kind, obj: Obj) -> None:
        """An object is there, in this version or a newer one."""
        meta = obj["metadata"]
        ref, number = ref_of(obj), int(meta["resourceVersion"])
        self.saw(number)
        if number <= self._gone.get(meta["uid"], 0):
            return
        old = self._of[kind].get(ref)
        if old is not None:
            if number <= int(old["metadata"]["resourceVersion"]):
                return
            if old["metadata"]["uid"] != meta["uid"]:
                self._take(kind, ref, old)
                self._tell(kind, old, None)
                old = None
            else:
                self._take(kind, ref, old)
        self._of[kind][ref] = obj
        for index in self._indexes(kind, obj):
            index[ref] = obj
        self._tell(kind, old, obj)

    def saw(self, version: int) -> None:
        """What happened at this version is known."""
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()  # nobody asks; who does later compares objects
        self._seen.add(version)

    def has_seen(self, after: int, until: int) -> bool:
        """Whether all is known that happened after one version and up to another; what was before is forgotten."""
        self._seen = {each for each in self._seen if each > after}
        return sum(each <= until for each in self._seen) == until - after

    def remove(self, kind: Kind, ref: Ref, uid: str, *, until: int = 0) -> None:
        """An object is gone. Nothing that is told of it up to version `until` brings it back."""
        old = self._of[kind].get(ref)
        if until:
            self._gone[uid] = until
        else:
            self._gone.pop(uid, None)
        if old is not None and old["metadata"]["uid"] == uid:
            self._take(kind, ref, old)
            self._tell(kind, old, None)

    def _take(self, kind: Kind, ref: Ref, obj: Obj) -> None:
        del self._of[kind][ref]
        for index in self._indexes(kind, obj):
            index.pop(ref, None)

    def _indexes(self, kind: Kind, obj: Obj) -> Iterator[dict[Ref, Obj]]:
        meta = obj["metadata"]
        namespace = meta.get("namespace") or ""
        if kind.namespaced:
            yield self._in.setdefault((kind, namespace), {})
        owner = f"/{namespace}"
        for each in meta.get("ownerReferences") or ():
            if each.get("controller"):
                owner = each["uid"]
        yield self._owned.setdefault((kind, owner), {})
        if kind == PODS:
            yield self._on.setdefault(obj["spec"].get("nodeName") or "", {})

    def _tell(self, kind: Kind, old: Obj | None, new: Obj | None) -> None:
        for each in self.listeners:
            each(kind, old, new)


def _sorted(found: dict[Ref, Obj]) -> list[Obj]:
    return [found[ref] for ref in sorted(found)]
