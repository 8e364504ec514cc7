"""What a mapper and a source look up: the cache, read without waiting.

A mapper is called where the change arrives and says at once whom it concerns, so that its reads neither wait nor cost a
request. That goes for kinds that are watched: the controller's own, what it owns and watches, and what the watch says
with `reads=`. All else is as in a reconcile: objects are fresh, what the operator itself has written is there before
the watch shows it, and what the cache was told not to hold is an error. Where a reconcile would wait, for a namespace
that was added a moment ago, a mapper is told so, and is asked again later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from kubewright.cache import Informer
from kubewright.cache.held import Decoded, by_index, held, held_of
from kubewright.cache.query import Query
from kubewright.cache.reader import CacheNotSynced
from kubewright.model import Key, Object, decode, info_of

if TYPE_CHECKING:
    from kubewright.cache.index import Index

__all__ = ["Lookup", "NotWatched"]

logger = logging.getLogger(__name__)

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
        self._decoded = Decoded(logger)

    def find(self, kind: type[T], name: str, *, namespace: str = "") -> T | None:
        """An object, or None; `namespace` is empty for a cluster-scoped kind.

        Raises:
            NotWatched, CacheNotSynced. OutsideCache: the cache was told not to hold it.
            DecodeError: it is none of its class.
        """
        entry = held(self._informer(kind, namespace), Key(namespace, name))
        return None if entry is None else decode(kind, entry.data)

    def list(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        labels: str | Mapping[str, str] | None = None,
        fields: str | Mapping[str, str] | None = None,
    ) -> Sequence[T]:
        """The objects of a namespace, or of all, that selectors match; in no particular order.

        Raises:
            ValueError: `labels` or `fields` is not a selector.
            NotWatched, CacheNotSynced, OutsideCache: as `find`.
        """
        query = Query(namespace, labels, fields)
        return self._decoded.of(kind, held_of(self._informer(kind, query.namespace), query))

    def keys(
        self,
        kind: type[Object],
        index: Index[T] | None = None,
        value: str = "",
        *,
        namespace: str | None = None,
        labels: str | Mapping[str, str] | None = None,
        fields: str | Mapping[str, str] | None = None,
    ) -> Sequence[Key]:
        """The names of objects: of all, of those for which an index has a value, that selectors match. Nothing is
        decoded.

        Raises:
            ValueError: `labels` or `fields` is not a selector, or the index is one of another kind.
            NotWatched, CacheNotSynced, OutsideCache: as `find`.
        """
        query = Query(namespace, labels, fields, [] if index is None else [by_index(kind, index, value)])
        return [entry.key for entry in held_of(self._informer(kind, query.namespace), query)]

    def _informer(self, kind: type[Object], namespace: str | None) -> Informer:
        informer = self._running(kind)
        if informer is None:
            raise NotWatched(
                f"{info_of(kind).kind} is not watched by this controller; say so with owns=, watches= or reads="
            )
        # Handlers are told the first list when it has been stored, and before it counts as told.
        reached = informer.observed_version if namespace is None else informer.observed(namespace)
        covered = namespace is None or informer.scope_of(namespace) is not None
        if covered and not reached and not informer.has_synced_in(namespace):
            where = f" of {namespace}" if namespace else ""
            raise CacheNotSynced(f"{informer.name}: the first list{where} has not come yet; this is asked again")
        return informer
