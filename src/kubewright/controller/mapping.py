"""Runs mappers: changes of watched objects in, names of objects to reconcile out. No change is lost on the way.

    delta --sync mapper------------------------------------> keys
          \\-async mapper, or one that raised-> WorkQueue --> mapper, again with back-off --> keys

The inner queue is the one of the controllers: the changes of one object are mapped one after the other, and are put
together while they wait: the state before the first and the one after the last, which is all that matters.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable

from kubewright.cache import Delta
from kubewright.cache.entry import Entry
from kubewright.model import Key, Object, decode, info_of, key_of
from kubewright.queue import WorkQueue

from .cause import Cause, merged
from .handlers import LOW_PRIORITY, Add, cause_of, is_low
from .lookup import Lookup
from .watching import Watch

__all__ = ["Mapping", "check_key"]


class Mapping:
    """One watch of one controller.

    Guarantees: G1 for each change the mapper has been called, and has returned, for the state before and the one after
    it, or for one of those that followed. G2 a mapper that raises, or waits, delays nothing but its own objects.
    """

    def __init__(self, watch: Watch, wakes: type[Object], add: Add, lookup: Lookup, logger: logging.Logger) -> None:
        self._watch = watch
        self._wakes = info_of(wakes)
        self._add = add
        self._lookup = lookup
        self._logger = logger
        self._kind_name = info_of(watch.kind).kind
        self._is_async = inspect.iscoroutinefunction(watch.mapper)
        self._queue: WorkQueue[Key, Cause] = WorkQueue(merge=merged)

    def handle(self, delta: Delta) -> None:
        """A change, as an informer tells it."""
        cause = cause_of(self._kind_name, delta, keeps_states=True)
        if cause.new is None:
            cause = Cause(cause.event, cause.kind, cause.namespace, cause.name, None, delta.entry)
        priority = LOW_PRIORITY if is_low(delta) else 0
        if self._is_async:
            self._queue.add(delta.key, cause, priority)
            return
        try:
            found: dict[Key, None] = {}
            for entry in _states(cause):
                woken = self._call(entry)
                if inspect.isawaitable(woken):
                    if inspect.iscoroutine(woken):
                        woken.close()
                    self._is_async = True  # a callable object, or a decorator around an `async def`
                    self._queue.add(delta.key, cause, priority)
                    return
                found.update(self._checked(woken))
        except Exception as error:
            self._failed(delta.key, cause, priority, error)
            return
        self._wake(found, cause, priority)

    async def run(self) -> None:
        """Map what waits, until cancelled or stopped."""
        while (item := await self._queue.get()) is not None:
            failed = False
            try:
                for cause in item.causes:
                    try:
                        found: dict[Key, None] = {}
                        for entry in _states(cause):
                            woken = self._call(entry)
                            found.update(self._checked(await woken if inspect.isawaitable(woken) else woken))
                    except Exception as error:
                        failed = True
                        self._failed(item.key, cause, item.priority, error)
                    else:
                        self._wake(found, cause, item.priority)
                if not failed:
                    self._queue.forget(item.key)
            finally:
                self._queue.done(item.key)

    def stop(self) -> None:
        self._queue.shut_down(drain=False)

    def _call(self, entry: Entry) -> object:
        return self._watch.mapper(decode(self._watch.kind, entry.data), self._lookup)

    def _checked(self, woken: object) -> dict[Key, None]:
        if woken is None:
            return {}
        if isinstance(woken, str | Key) or not isinstance(woken, Iterable):
            raise TypeError(f"mapper {self._watch.name}: returned {woken!r}; return a list of Keys")
        return {check_key(f"mapper {self._watch.name}", each, self._wakes.namespaced): None for each in woken}

    def _wake(self, found: Iterable[Key], cause: Cause, priority: int) -> None:
        for key in found:
            self._add(key, cause, priority)

    def _failed(self, key: Key, cause: Cause, priority: int, error: Exception) -> None:
        seconds = self._queue.add_rate_limited(key, cause, priority)
        self._logger.error(
            "mapper %s failed on %s %s; again in %g s", self._watch.name, self._kind_name, key, seconds, exc_info=error
        )


def check_key(what: str, found: object, namespaced: bool) -> Key:
    """What a mapper or a source said, as the name of an object.

    Raises:
        TypeError: it is none. ValueError: it has a namespace that its kind has not, or none where it has.
    """
    if isinstance(found, Object):
        key = key_of(found)
    elif isinstance(found, tuple) and len(found) == 2 and all(isinstance(part, str) for part in found):
        key = Key(*found)
    else:
        raise TypeError(f"{what}: said {found!r}, which is not the name of an object; say Key(namespace, name)")
    if not key.name or bool(key.namespace) != namespaced:
        rule = "has none of those: the kind is cluster-scoped" if not namespaced else "needs namespace and name"
        raise ValueError(f"{what}: said namespace={key.namespace!r}, name={key.name!r}; the key {rule}")
    return key


def _states(cause: Cause) -> list[Entry]:
    """The states that have to be mapped: the new one first."""
    return [entry for entry in (cause.new, cause.old) if entry is not None]
