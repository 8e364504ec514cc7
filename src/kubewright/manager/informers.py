"""The informers of one manager: one per kind, however many controllers and reads ask for it.

An informer starts when its kind is first asked for and runs until the manager stops. Typed and unstructured classes of
one kind share it: what the cache holds are bytes. What is held of a kind, `CacheOptions` say.

A kind that cannot be watched when it is first asked for is an error for who asks, at once where the server says no
(permission, kind not installed), after `sync_seconds` where it says nothing: an operator that waits silently for a
permission looks like one that works. A kind that was declared `when_installed` is the exception.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial

from msgspec import Struct, field

from kubewright.cache import (
    CacheOptions,
    Denied,
    Informer,
    InformerStopped,
    ListWatchError,
    NamespaceCache,
    NotInstalled,
    Rejected,
)
from kubewright.cache.collection import Collection
from kubewright.cache.options import KindPlan
from kubewright.cache.packing import Packer
from kubewright.cache.reader import CacheNotSynced
from kubewright.cache.scope import Scope
from kubewright.cache.transform import intake_of
from kubewright.client import Client
from kubewright.client.paths import collection_path
from kubewright.model import GroupVersionKind, Object, ResourceInfo, info_of
from kubewright.observe.instruments import CacheMetrics, Watched

from .counted import CountedListWatch, counts_of
from .late import LateCollection
from .refusals import explain

__all__ = ["Informers"]

logger = logging.getLogger(__name__)

_FATAL = (Denied, NotInstalled, Rejected)


class _Kind(Struct):
    """One kind that is watched."""

    info: ResourceInfo
    plan: KindPlan
    informer: Informer
    packer: Packer | None
    counts: Watched | None = None
    sources: dict[str, CountedListWatch] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None

    def silence_seconds(self) -> float:
        """How long ago the server last sent anything about it: of the scope that is silent longest."""
        return max(source.silence_seconds() for source in self.sources.values())


class Informers:
    """Informers by kind.

    Args:
        options: what they hold.
        sync_seconds: how long the first list of a kind may take; controller-runtime's CacheSyncTimeout, 2 minutes.
        metrics: where to show what is in the cache; nowhere by default.
    """

    def __init__(
        self,
        client: Client,
        *,
        options: CacheOptions | None = None,
        sync_seconds: float = 120.0,
        metrics: CacheMetrics | None = None,
    ) -> None:
        self._client = client
        self._metrics = metrics
        self._options = options or CacheOptions()
        self._sync_seconds = sync_seconds
        self._kinds: dict[GroupVersionKind, _Kind] = {}
        self._is_live: dict[GroupVersionKind, bool] = {}

    # -- kinds -----------------------------------------------------------------------------------------------------

    def running(self, kind: type[Object]) -> Informer | None:
        """The informer of a kind, if it was started."""
        known = self._kinds.get(info_of(kind).gvk)
        return known.informer if known is not None else None

    def live(self, kind: type[Object]) -> Client | None:
        """The client to read a kind with, if it is not to be read from the cache."""
        gvk = info_of(kind).gvk
        is_live = self._is_live.get(gvk)
        if is_live is None:  # asked for with each read
            is_live = self._is_live[gvk] = self._options.of_kind(info_of(kind)).live
        return self._client if is_live else None

    async def start(self, kind: type[Object], *, newest: bool = False) -> Informer:
        """The informer of a kind, running but perhaps not synced. `newest` as of `Informer`, if it is only now made."""
        info = info_of(kind)
        known = self._kinds.get(info.gvk)
        if known is None and not info.plural and not self._options.of_kind(info).when_installed:
            info = await self._client.discovery.resolve(info.gvk)
            known = self._kinds.get(info.gvk)
        if known is None:
            known = self._begin(info, newest)
        return known.informer

    async def synced(self, kind: type[Object], *, newest: bool = False) -> Informer:
        """The informer of a kind, with its first list.

        Args:
            newest: where this is the first to ask for the kind, begin with the newest state. For reads in the middle of
                the work, which must see what was written before them.

        Raises:
            CacheNotSynced: the server refuses, or does not answer in time.
        """
        informer = await self.start(kind, newest=newest)
        if not informer.has_synced or informer.is_absent:
            await self._first_list(informer)
        return informer

    async def for_reading(self, kind: type[Object]) -> Informer:
        """As `synced`, for a read in the middle of the work.

        Raises:
            CacheNotSynced: also where the options say that reads start no watches, and the kind is not watched.
        """
        if not self._options.reads_start_watches and self.running(kind) is None:
            name = info_of(kind).resource_name
            raise CacheNotSynced(
                f"{name}: is not watched, and reads start no watches (CacheOptions.reads_start_watches=False); "
                "let a controller own or watch it, or declare it live: by_kind={...: KindCache(live=True)}"
            )
        return await self.synced(kind, newest=True)

    async def settled(self, kind: type[Object]) -> Informer:
        """As `synced`; a kind that is declared `when_installed`, and is not, is enough: it will be looked for.

        A kind that was there and went is looked for too.

        Raises:
            CacheNotSynced: the server refuses, or does not answer in time.
        """
        informer = await self.start(kind)
        if not informer.has_synced:
            await self._first_list(informer, but_absent=self._options.of_kind(info_of(kind)).when_installed)
        return informer

    async def _first_list(self, informer: Informer, *, but_absent: bool = False) -> None:
        try:
            await informer.wait_synced(self._sync_seconds, unless=_FATAL)
        except (TimeoutError, ListWatchError):
            problem = informer.problem
            if not (but_absent and isinstance(problem, NotInstalled)):
                raise self._not_synced(informer, problem) from None
        except InformerStopped as error:
            raise CacheNotSynced(str(error)) from None

    def _begin(self, info: ResourceInfo, newest: bool) -> _Kind:
        plan = self._options.of_kind(info)
        name = info.resource_name if info.plural else f"{info.kind}.{info.group}"
        informer = Informer(
            name=name,
            page_size=plan.page_size,
            stream_initial=plan.stream_initial,
            newest=newest,
            on_problem=partial(self._report, info.gvk),
        )
        kind = self._kinds[info.gvk] = _Kind(info, plan, informer, Packer() if plan.compress else None)
        if self._metrics is not None:
            kind.counts = counts_of(informer, self._metrics, kind.silence_seconds)
        for scope in plan.scopes:
            self._follow(kind, scope)
        kind.task = asyncio.create_task(informer.run(), name=f"informer {name}")
        kind.task.add_done_callback(partial(_tell_mistake, name))
        return kind

    def _follow(self, kind: _Kind, scope: Scope) -> None:
        collection: Collection | LateCollection
        if kind.info.plural:
            collection = self._collection(kind.info, scope)
        else:
            collection = LateCollection(partial(self._look_for, kind.info.gvk, scope))
        source = kind.sources[scope.namespace] = CountedListWatch(collection, kind.informer, kind.counts)
        intake = intake_of(scope.transform)
        if kind.packer is not None:
            intake = kind.packer.after(intake)
        kind.informer.add_source(source, scope, intake=intake)

    def _collection(self, info: ResourceInfo, scope: Scope) -> Collection:
        path = collection_path(info, scope.namespace or None)
        return Collection(self._client.http, path, labels=scope.label_selector, fields=scope.field_selector)

    async def _look_for(self, gvk: GroupVersionKind, scope: Scope) -> Collection:
        info = await self._client.discovery.resolve(gvk)
        if scope.namespace and not info.namespaced:
            raise Rejected(
                f"{info.resource_name} is cluster-scoped, and the cache holds namespaces only; "
                "say so: by_kind={...: KindCache(namespaces=[])}"
            )
        return self._collection(info, scope)

    # -- namespaces ------------------------------------------------------------------------------------------------

    async def add_namespace(self, namespace: str, said: NamespaceCache | None = None) -> None:
        """Hold one more namespace, of all kinds that are held in those of the options. Returns when it is there.

        Raises:
            ValueError: it is held already, by its name or with all others.
            CacheNotSynced: one of the kinds cannot be watched there; then nothing has changed.
        """
        held = self._named("add", namespace)
        if namespace in held:
            raise ValueError(f"namespace {namespace!r}: is in the cache already")
        before = self._options
        self._options = before.with_namespaces({**held, namespace: said or NamespaceCache()})
        kinds = [kind for kind in self._kinds.values() if before.follows_namespaces(kind.info)]
        for kind in kinds:
            kind.plan = self._options.of_kind(kind.info)
            self._follow(kind, next(scope for scope in kind.plan.scopes if scope.namespace == namespace))
        try:
            for kind in kinds:
                await self._namespace_of(kind, namespace)
        except BaseException:
            self._options = before
            for kind in kinds:
                self._leave(kind, namespace)
            raise

    async def remove_namespace(self, namespace: str) -> None:
        """Hold a namespace no longer. Handlers are told that its objects are gone: from here, they are.

        Raises:
            ValueError: it is not one of the options', or the last one.
        """
        held = self._named("remove", namespace)
        if namespace not in held or len(held) == 1:
            names = ", ".join(held)
            raise ValueError(f"namespace {namespace!r}: the cache has {names}; remove one of several")
        del held[namespace]
        before = self._options
        self._options = before.with_namespaces(held)
        for kind in self._kinds.values():
            if before.follows_namespaces(kind.info):
                self._leave(kind, namespace)

    def _named(self, verb: str, namespace: str) -> dict[str, NamespaceCache]:
        held = self._options.by_namespace
        if not held or "" in held:
            raise ValueError(f"namespace {namespace!r}: cannot {verb} it: the cache holds all namespaces")
        return held

    async def _namespace_of(self, kind: _Kind, namespace: str) -> None:
        informer, absent = kind.informer, kind.plan.when_installed
        try:
            await informer.wait_synced(self._sync_seconds, namespace=namespace, unless=_FATAL)
        except (TimeoutError, ListWatchError):
            problem = informer.problem_in(namespace)
            if not (absent and isinstance(problem, NotInstalled)):
                raise self._not_synced(informer, problem) from None
        except InformerStopped as error:
            raise CacheNotSynced(str(error)) from None

    def _leave(self, kind: _Kind, namespace: str) -> None:
        kind.plan = self._options.of_kind(kind.info)
        if kind.sources.pop(namespace, None) is not None:
            kind.informer.remove_source(namespace)

    # -- what is wrong ---------------------------------------------------------------------------------------------

    def _report(self, gvk: GroupVersionKind, problem: ListWatchError) -> None:
        kind = self._kinds[gvk]
        informer = kind.informer
        if kind.plan.when_installed and isinstance(problem, NotInstalled) and not informer.has_synced:
            logger.info("watch of %s: is not installed yet; it is watched as soon as it is", informer.name)
            return
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
        silence = {kind.informer.name: kind.silence_seconds() for kind in self._kinds.values()}
        return {name: since for name, since in silence.items() if since > seconds}

    async def stop(self) -> None:
        """Stop all informers. Their stores stay readable."""
        for kind in self._kinds.values():
            kind.informer.stop()
        await asyncio.gather(*(kind.task for kind in self._kinds.values() if kind.task), return_exceptions=True)


def _tell_mistake(name: str, task: asyncio.Task[None]) -> None:
    """No failure of the server ends an informer; if something does, it is not to go unseen until the manager stops."""
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.critical("watch of %s: has ended by a mistake in this program", name, exc_info=error)
