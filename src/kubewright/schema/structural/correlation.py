"""Which old value belongs to a new one, and whether it changed: what ratcheting rests on.

An update may keep a value that a newer schema forbids. A server drops the errors of a value that is equal to the one it
replaces, where it can say which that is: through fields, values of maps, and items of `x-kubernetes-list-type: map` by
their keys. An item of any other list has no past. Neither has a field that no schema names: an object that keeps
unknown fields is never equal to its past (`apiserver/pkg/cel/common/equality.go`).

A `Correlated` serves one validation by one thread; comparisons are made once, when they are first asked for.
"""

from __future__ import annotations

from typing import Any

from .node import Node
from .values import same

__all__ = ["Correlated"]


class Correlated:
    """A value, the one it replaces, and the schema of both."""

    __slots__ = ("_children", "_equal", "_old_items", "new", "node", "old")

    def __init__(self, new: Any, old: Any, node: Node) -> None:
        self.new, self.old, self.node = new, old, node
        self._equal: bool | None = None
        self._old_items: dict[Any, Any] | None = None
        self._children: dict[str | int, Correlated] = {}

    def field(self, name: str) -> Correlated | None:
        """A field or map value; None where it was or is not there, or no schema names it."""
        known = self._children.get(name)
        if known is not None:
            return known
        if not isinstance(self.old, dict) or not isinstance(self.new, dict):
            return None
        node = self.node.child(name)
        if node is None or name not in self.old or name not in self.new:
            return None
        made = self._children[name] = Correlated(self.new[name], self.old[name], node)
        return made

    def item(self, place: int) -> Correlated | None:
        """An item of a list of type map whose keys an old item had."""
        known = self._children.get(place)
        if known is not None:
            return known
        if not isinstance(self.old, list) or not isinstance(self.new, list) or place >= len(self.new):
            return None
        if self.node.list_type != "map":
            return None
        key = self._key(self.new[place])
        old = None if key is None else self._by_key().get(key)
        if old is None or self.node.items is None:
            return None
        made = self._children[place] = Correlated(self.new[place], old, self.node.items)
        return made

    def _by_key(self) -> dict[Any, Any]:
        if self._old_items is None:
            self._old_items = {}
            for item in self.old if self.node.types == ("array",) else ():
                key = self._key(item)
                if key is not None:
                    self._old_items.setdefault(key, item)
        return self._old_items

    def _key(self, item: Any) -> Any:
        if not isinstance(item, dict) or not self.node.keys:
            return None
        parts = []
        for name in self.node.keys:
            value = item.get(name)
            if value is None or isinstance(value, dict | list):
                return None
            if isinstance(value, float) and len(self.node.keys) > 1:
                value = f"{value:f}"  # a key of several parts has six digits after the point
                parts.append((float, value))
            else:
                parts.append((type(value), value))
        return tuple(parts)

    @property
    def is_unchanged(self) -> bool:
        """Whether old and new are equal, as a server compares them: items of a list of type map in any order."""
        if self._equal is None:
            self._equal = self._compare()
        return self._equal

    def _compare(self) -> bool:
        new, old = self.new, self.old
        if new is None or old is None:
            return new is old
        if isinstance(new, list) and isinstance(old, list):
            if len(new) != len(old):
                return False
            if self.node.list_type != "map" and new:
                return same(new, old)
            return all((item := self.item(place)) is not None and item.is_unchanged for place in range(len(new)))
        if isinstance(new, dict) and isinstance(old, dict):
            if len(new) != len(old):
                return False
            return all((field := self.field(name)) is not None and field.is_unchanged for name in new)
        return same(new, old)
