"""What a mapper and a source look up: the cache, read without waiting.

A mapper is called where the change arrives and says at once whom it concerns, so that its reads neither wait nor cost a
request. That goes for kinds that are watched: the controller's own, what it owns and watches, and what the watch says
with `reads=`. Objects are fresh, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from kubewright.cache import Informer
from kubewright.model import Key, Object, decode, info_of
from kubewright.model.selector import Selector

if TYPE_CHECKING:
    from kubewright.cache.index import Index

__all__ = ["Lookup", "NotWatched"]

T = TypeVar("T", bound=Object)


class NotWatched(LookupError):
    """A mapper looked for a kind that its controller does not watch."""


class Lookup:
    """Reads of the cache that do not wait.

    Args:
        running: the informer of a kind, if there is one.
    """

    def __init__(self, running: Callable[[type[Object]], Informer | None]) -> None:
        self._running = running

    def find(self, kind: type[T], name: str, *, namespace: str = "") -> T | None:
        """An object, or None; `namespace` is empty for a cluster-scoped kind."""
        entry = self._informer(kind).store.get((namespace, name))
        return None if entry is None else decode(kind, entry.data)

    def list(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        labels: str | Mapping[str, str] | None = None,
    ) -> Sequence[T]:
        """The objects of a namespace, or of all, that a selector or labels match; in no particular order.

        Raises:
            ValueError: `labels` is not a selector.
        """
        matches = None if labels is None else Selector.of(labels).matches
        return [decode(kind, entry.data) for entry in self._informer(kind).store.list(namespace, matches)]

    def keys(
        self,
        kind: type[Object],
        index: Index[T] | None = None,
        value: str = "",
        *,
        namespace: str | None = None,
        labels: str | Mapping[str, str] | None = None,
    ) -> Sequence[Key]:
        """The names of objects: of all, or of those for which an index has a value. Nothing is decoded.

        Raises:
            ValueError: `labels` is not a selector, or is given beside an index.
        """
        store = self._informer(kind).store
        if index is None:
            matches = None if labels is None else Selector.of(labels).matches
            return [entry.key for entry in store.list(namespace, matches)]
        if labels is not None:
            raise ValueError("keys(index=..., labels=...): say one of them; an index knows its values and no labels")
        store.add_index(index.name, index.of_entry)
        return store.index_keys(index.name, value, namespace)

    def _informer(self, kind: type[Object]) -> Informer:
        informer = self._running(kind)
        if informer is None:
            raise NotWatched(
                f"{info_of(kind).kind} is not watched by this controller; say so with owns=, watches= or reads="
            )
        return informer
