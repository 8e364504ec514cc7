"""What an operator's cache holds, and how: the settings, and the scopes that follow from them for one kind.

Owns the order in which a setting is looked for, which is controller-runtime's (`cache.Options`): what is said for a
namespace of the kind, for the kind, for the namespace, for everything. Pure; nothing here watches.

    said in                                             counts for
    CacheOptions.by_kind[K].namespaces[n].labels        K in n
    CacheOptions.by_kind[K].labels                      K, where the line above says nothing
    CacheOptions.namespaces[n].labels                   any kind in n, where the lines above say nothing
    CacheOptions.labels                                 what is left

Nothing said is None. An empty selector (`labels=""`) is said, and selects everything. `by_kind[K].namespaces` that are
empty mean all namespaces; None means those of `CacheOptions.namespaces` with what is said there, which then counts as
if it was said in the first line. The namespace `""` beside others covers every namespace but those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from kubewright.model import Object, ResourceInfo, info_of
from kubewright.model.fieldselector import FieldSelector
from kubewright.model.names import subdomain_problem
from kubewright.model.selector import LabelSelector, Selector

from .packing import require_zstd
from .scope import Scope
from .transform import Transform

__all__ = ["CacheOptions", "KindCache", "KindPlan", "NamespaceCache"]

Labels = str | Mapping[str, str] | LabelSelector | Selector
Fields = str | Mapping[str, str] | FieldSelector


class NamespaceCache(Struct, frozen=True, kw_only=True):
    """What is held of one namespace; None: as said elsewhere.

    Attributes: see `CacheOptions`.
    """

    labels: Labels | None = None
    fields: Fields | None = None
    transform: Transform | None = None
    resync_seconds: float | None = None

    def __post_init__(self) -> None:
        _check(self)


Namespaces = Sequence[str] | Mapping[str, NamespaceCache]


class KindCache(Struct, frozen=True, kw_only=True):
    """What is held of one kind; None: as said elsewhere.

    Attributes:
        namespaces: the only ones; empty: all of them.
        live: `ctx.get`, `find` and `list` ask the API server each time, and start no watch. What a controller
            reconciles, owns or watches is watched nevertheless.
        when_installed: the kind may be missing at the start, or go later: it is waited for (and looked for every 10 s
            at least) while everything else works. Without it a missing kind is an error at the start.
        labels, fields, transform, resync_seconds, page_size, compress: see `CacheOptions`.
    """

    namespaces: Namespaces | None = None
    labels: Labels | None = None
    fields: Fields | None = None
    transform: Transform | None = None
    resync_seconds: float | None = None
    page_size: int | None = None
    compress: bool | None = None
    live: bool = False
    when_installed: bool = False

    def __post_init__(self) -> None:
        _check(self)


class CacheOptions(Struct, frozen=True, kw_only=True):
    """What the cache holds of all kinds.

    Attributes:
        namespaces: the only ones, by name or with settings of their own; None or empty: all. Cluster-scoped kinds are
            held whole in any case.
        labels, fields: selectors; the server sends only what they match.
        transform: what is kept of each object: `keep(...)`, `drop(...)`, or a function. managedFields are never kept.
        resync_seconds: how often handlers are told all objects again, stretched by up to 10 %; 0: never. 10 hours, as
            in controller-runtime.
        page_size: objects per page of a list.
        stream_initial: get the initial state as a watch (WatchList), which costs the server less memory.
        compress: keep objects compressed (zstd with a dictionary trained from the first of each kind); a fifth of the
            memory, for some 10 microseconds at each event and each read. Needs the extra `compression`.
        reads_start_watches: a kind that is read and not watched is watched from then on; False: such a read is an
            error (`CacheNotSynced`), so that a forgotten kind costs nobody a watch of the whole cluster.
        by_kind: exceptions, by class.

    Raises:
        ValueError: a value is none of those; the message names it.
        NoCompression: `compress`, here or of a kind, and there is no zstd.
    """

    namespaces: Namespaces | None = None
    labels: Labels | None = None
    fields: Fields | None = None
    transform: Transform | None = None
    resync_seconds: float | None = 36_000.0
    page_size: int = 500
    stream_initial: bool = False
    compress: bool = False
    reads_start_watches: bool = True
    by_kind: Mapping[type[Object], KindCache] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(self)
        for kind, said in self.by_kind.items():
            info = info_of(kind)
            if info.plural and not info.namespaced and said.namespaces is not None:
                raise ValueError(
                    f"by_kind[{info.kind}].namespaces: {info.kind} is cluster-scoped; leave namespaces out"
                )

    def of_kind(self, info: ResourceInfo) -> KindPlan:
        """How a kind is held."""
        said = self._said(info)
        pages = self.page_size if said.page_size is None else said.page_size
        return KindPlan(
            scopes=self._scopes(info, said),
            page_size=pages,
            stream_initial=self.stream_initial,
            compress=self.compress if said.compress is None else said.compress,
            live=said.live,
            when_installed=said.when_installed,
        )

    def follows_namespaces(self, info: ResourceInfo) -> bool:
        """Whether a kind is held in `namespaces`, and not in some of its own."""
        return info.namespaced and self._said(info).namespaces is None

    @property
    def by_namespace(self) -> dict[str, NamespaceCache]:
        """`namespaces` with what is said of each; empty for all."""
        return _by_name(self.namespaces)

    def with_namespaces(self, namespaces: Namespaces) -> CacheOptions:
        """The same, for those namespaces. What was said of one of them still holds."""
        before = _by_name(self.namespaces)
        return replace(self, namespaces={n: before.get(n, each) for n, each in _by_name(namespaces).items()})

    def _said(self, info: ResourceInfo) -> KindCache:
        for kind, said in self.by_kind.items():
            if info_of(kind).gvk.group_kind == info.gvk.group_kind:
                return said
        return _NOTHING

    def _scopes(self, info: ResourceInfo, said: KindCache) -> tuple[Scope, ...]:
        defaults = _by_name(self.namespaces)
        names = defaults if said.namespaces is None else _by_name(said.namespaces)
        if not info.namespaced or not names:
            return (_scope("", frozenset(), (said, self)),)
        others = frozenset(names) - {""}
        return tuple(
            _scope(name, frozenset() if name else others, (of_namespace, said, defaults.get(name), self))
            for name, of_namespace in names.items()
        )


class KindPlan(Struct, frozen=True):
    """How one kind is held: what is left of the options when they are looked at for it."""

    scopes: tuple[Scope, ...]
    page_size: int
    stream_initial: bool
    compress: bool
    live: bool
    when_installed: bool


def _scope(namespace: str, excluded: frozenset[str], said: Sequence[Any]) -> Scope:
    def first(name: str) -> Any:
        return next((value for each in said if (value := getattr(each, name, None)) is not None), None)

    labels, fields = first("labels"), first("fields")
    return Scope(
        namespace=namespace,
        excluded=excluded,
        labels=None if labels is None else Selector.of(labels),
        fields=None if fields is None else FieldSelector.of(fields),
        transform=first("transform"),
        resync_seconds=first("resync_seconds") or None,
    )


def _by_name(namespaces: Namespaces | None) -> dict[str, NamespaceCache]:
    if isinstance(namespaces, Mapping):
        return dict(namespaces)
    return dict.fromkeys(namespaces or (), _NO_NAMESPACE)


def _check(said: NamespaceCache | KindCache | CacheOptions) -> None:
    if said.labels is not None:
        Selector.of(said.labels)
    if said.fields is not None:
        FieldSelector.of(said.fields)
    if said.resync_seconds is not None and said.resync_seconds < 0:
        raise ValueError(f"resync_seconds: {said.resync_seconds:g} is negative; give a time, or 0 for never")
    if isinstance(said, NamespaceCache):
        return
    if said.page_size is not None and said.page_size < 1:
        raise ValueError(f"page_size: {said.page_size} is less than 1; the default is 500")
    if said.compress:
        require_zstd()
    listed: object = said.namespaces
    if isinstance(listed, str):
        raise ValueError(f"namespaces: {listed!r} is one text; write namespaces=[{listed!r}]")
    for name in said.namespaces or ():
        if name and (problem := subdomain_problem(name)):
            raise ValueError(f"namespaces: {name!r} {problem}")


_NOTHING = KindCache()
_NO_NAMESPACE = NamespaceCache()
