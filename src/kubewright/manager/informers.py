"""The informers of one manager: one per kind, however many controllers and reads ask for it.

An informer starts when its kind is first asked for and runs until the manager stops. Typed and unstructured classes of
one kind share it: what the cache holds are bytes.

A kind that cannot be watched when it is first asked for is an error for who asks, at once where the server says no
(permission, kind not installed), after `sync_seconds` where it says nothing: an operator that waits silently for a
permission looks like one that works.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial

from kubewright.cache import Denied, Informer, InformerStopped, ListWatchError, NotInstalled, Rejected
from kubewright.cache.collection import Collection
from kubewright.cache.reader import CacheNotSynced
from kubewright.client import Client
from kubewright.client.paths import collection_path
from kubewright.model import GroupVersionKind, Object, info_of
from kubewright.observe.instruments import CacheMetrics

from .counted import CountedListWatch
from .refusals import explain

__all__ = ["Informers"]

logger = logging.getLogger(__name__)

_FATAL = (Denied, NotInstalled, Rejected)
_LOOK_SECONDS = 0.05


class Informers:
    """Informers by kind.

    Args:
        namespace: watch this namespace only; None for all. Cluster-scoped kinds are watched whole in either case.
        sync_seconds: how long the first list of a kind may take; controller-runtime's CacheSyncTimeout, 2 minutes.
        metrics: where to show what is in the cache; nowhere by default.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str | None = None,
        sync_seconds: float = 120.0,
        metrics: CacheMetrics | None = None,
    ) -> None:
        self._client = client
        self._metrics = metrics
        self._namespace = namespace
        self._sync_seconds = sync_seconds
        self._informers: dict[GroupVersionKind, Informer] = {}
        self._tasks: dict[GroupVersionKind, asyncio.Task[None]] = {}
        self._sources: dict[GroupVersionKind, CountedListWatch] = {}

    def running(self, kind: type[Object]) -> Informer | None:
        """The informer of a kind, if it was started."""
        return self._informers.get(info_of(kind).gvk)

    async def start(self, kind: type[Object], *, newest: bool = False) -> Informer:
        """The informer of a kind, running but perhaps not synced. `newest` as of `Informer`, if it is only now made."""
        info = info_of(kind)
        if not info.plural:
            info = await self._client.discovery.resolve(info.gvk)
        found = self._informers.get(info.gvk)
        if found is None:
            namespace = self._namespace if info.namespaced else None
            path = collection_path(info, namespace)
            source = self._sources[info.gvk] = CountedListWatch(Collection(self._client.http, path))
            found = Informer(
                source,
                name=info.resource_name,
                newest=newest,
                on_problem=partial(self._report, info.gvk),
            )
            source.follow(found, self._metrics)
            self._informers[info.gvk] = found
            self._tasks[info.gvk] = asyncio.create_task(found.run(), name=f"informer {info.resource_name}")
        return found

    async def synced(self, kind: type[Object], *, newest: bool = False) -> Informer:
        """The informer of a kind, with its first list.

        Args:
            newest: where this is the first to ask for the kind, begin with the newest state. For reads in the middle of
                the work, which must see what was written before them.

        Raises:
            CacheNotSynced: the server refuses, or does not answer in time.
        """
        informer = await self.start(kind, newest=newest)
        if informer.has_synced:
            return informer
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._sync_seconds
        while True:
            try:
                await informer.wait_synced(min(_LOOK_SECONDS, max(deadline - loop.time(), 0.001)))
            except TimeoutError:
                problem = informer.problem
                if isinstance(problem, _FATAL) or loop.time() >= deadline:
                    raise self._not_synced(informer, problem) from None
            except InformerStopped as error:
                raise CacheNotSynced(str(error)) from None
            else:
                return informer

    def _report(self, gvk: GroupVersionKind, problem: ListWatchError) -> None:
        informer = self._informers[gvk]
        # What refuses the first list is the error of who asks for it: not told twice.
        level = logging.WARNING if informer.has_synced or not isinstance(problem, _FATAL) else logging.DEBUG
        logger.log(level, "watch of %s: %s: %s; trying again", informer.name, informer.condition, problem)

    def _not_synced(self, informer: Informer, problem: ListWatchError | None) -> CacheNotSynced:
        if problem is None:
            return CacheNotSynced(
                f"{informer.name}: the first list did not come within {self._sync_seconds:g} s; "
                "is the API server overloaded?"
            )
        problems = {informer.name: problem}
        return CacheNotSynced(explain(problems), problems)

    def silent(self, seconds: float) -> Mapping[str, float]:
        """The kinds of which the server has sent nothing for longer than that, with the seconds: they may be stale."""
        silence = {self._informers[gvk].name: source.silence_seconds() for gvk, source in self._sources.items()}
        return {name: since for name, since in silence.items() if since > seconds}

    async def stop(self) -> None:
        """Stop all informers. Their stores stay readable."""
        for informer in self._informers.values():
            informer.stop()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
