"""What an informer holds, read at once: the part of all reads that neither waits nor costs a request.

Owns the rules that every read of the cache keeps, whoever asks (`Reader` after waiting, the `Lookup` of mappers at
once): our own writes stand over what the watch has shown, what the cache was told not to hold is an error and never
absent, and an object that is none of its class is told once and left out of lists. Refuses to know how a kind comes
to be watched.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from kubewright.model import DecodeError, Key, Object, decode, info_of

from .entry import Entry
from .index import Index
from .informer import Informer
from .query import Query, Wanted
from .scope import OutsideCache

__all__ = ["Decoded", "by_index", "held", "held_of"]

T = TypeVar("T", bound=Object)

_REPORTED = 4096


def held(informer: Informer, key: Key) -> Entry | None:
    """The newest state of an object that the watch or a write of ours has shown; None when it is not there.

    Raises:
        OutsideCache: the cache was told not to hold it.
    """
    scope = informer.scope_of(key.namespace)
    if scope is None:
        raise _unknown(informer, f"unable to get: {key}")
    if scope.fields and (shut := scope.shuts_out(key.namespace, key.name)):
        raise _unselected(informer, key, f"the cache holds what {scope.field_selector} selects, and {shut} is false")
    entry = informer.written.newest(key)
    if entry is None and informer.written.is_outside(key):
        what = scope.label_selector or scope.field_selector
        raise _unselected(informer, key, f"as it was written, it is not among what the cache holds ({what})")
    return entry


def held_of(informer: Informer, query: Query) -> Sequence[Entry]:
    """The newest states of what a query asks for, at one moment, in no particular order.

    Raises:
        OutsideCache: the cache was told not to hold that namespace.
    """
    if query.namespace is not None and informer.scope_of(query.namespace) is None:
        raise _unknown(informer, f"unable to list: {query.namespace}")
    return query.of(informer)


def by_index(kind: type[Object], index: Index[Any], value: str) -> Wanted:
    """What finds objects of a kind by an index.

    Raises:
        ValueError: it is an index of another kind.
    """
    of, asked = info_of(index.kind), info_of(kind)
    if (of.group, of.kind) != (asked.group, asked.kind):
        raise ValueError(f"index {index.name}: is one of {of.kind}, not of {asked.kind}; use one made with that class")
    return Wanted(index.name, index.of_entry, value)


class Decoded:
    """Makes objects of entries, and says once of each state that it is none of its class."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._reported: dict[tuple[str, str], None] = {}

    def of(self, kind: type[T], entries: Iterable[Entry]) -> list[T]:
        """The objects, without those that are none."""
        found = []
        for entry in entries:
            try:
                found.append(decode(kind, entry.data))
            except DecodeError as error:
                self._report(kind, entry, error)
        return found

    def _report(self, kind: type[Object], entry: Entry, error: DecodeError) -> None:
        handle = (entry.uid, entry.resource_version)
        if handle in self._reported:
            return
        if len(self._reported) >= _REPORTED:
            self._reported.clear()
        self._reported[handle] = None
        self._logger.error("%s %s left out of lists: %s", info_of(kind).kind, entry.key, error)


def _unknown(informer: Informer, what: str) -> OutsideCache:
    names = ", ".join(sorted(each.namespace for each in informer.scopes)) or "none"
    rule = f"unknown namespace for the cache, which has {names}"
    return OutsideCache(informer.name, what, rule, "add it to CacheOptions(namespaces=...), or read with ctx.client")


def _unselected(informer: Informer, key: Key, rule: str) -> OutsideCache:
    cure = "widen the selector in CacheOptions, or read it with ctx.client"
    return OutsideCache(informer.name, f"unable to get: {key}", rule, cure)
