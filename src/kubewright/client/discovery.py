"""What kinds a server serves, asked for when a kind is known by its name only.

Owns the two forms in which a server tells (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api):
aggregated, where one document at `/api` or `/apis` holds everything, and the older one document per group version. It
keeps what it was told, and turns a kind that is not there into `KindNotServed`.

| asked for                | done                                                                                      |
|--------------------------|-------------------------------------------------------------------------------------------|
| a known kind             | nothing: it holds until `forget`, which the client calls when the path answers 404        |
| an unknown kind          | the document is read again, by one task for all that wait                                 |
| the same within a second | `KindNotServed` from memory: a loop that waits for a CRD costs one request per second     |

Nulls stand where an API group's server is away or Go had an empty slice; they are read as empty. A group version that
the server marks stale is told apart from one that is not there.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import msgspec

from ..model import GroupVersionKind, ResourceInfo, ScaleInfo
from .errors import ApiError, NotFound
from .transport import Headers, Response

__all__ = ["Discovery", "KindNotServed"]

NEGATIVE_SECONDS = 1.0
"""How long the absence of a kind is believed."""

_ACCEPT: Headers = (
    (
        "accept",
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
        "application/json",
    ),
)
_PLAIN: Headers = (("accept", "application/json"),)


class KindNotServed(ApiError, code=404, reason="NotFound"):
    """The server has no such kind. Not a `NotFound`: that one says that an object does not exist.

    Attributes: `gvk`, and `near`, the kinds that are served and look like it, best first.
    """

    def __init__(self, gvk: GroupVersionKind, near: tuple[GroupVersionKind, ...] = (), cure: str = "") -> None:
        super().__init__(message=f"the server does not serve {gvk.kind} in {gvk.api_version}")
        self.args = (gvk, near, cure)
        self.gvk, self.near, self._cure = gvk, near, cure

    @property
    def cure(self) -> str:
        return self._cure

    def __str__(self) -> str:
        text = self.message
        if self.near:
            text += ", but " + ", ".join(f"{near.kind} in {near.api_version}" for near in self.near)
        return f"{text}; {self.cure}" if self.cure else text


class Requests(Protocol):
    """The part of the HTTP client that discovery needs."""

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response: ...


class _Subresource(msgspec.Struct):
    subresource: str = ""


class _Kind(msgspec.Struct):
    kind: str = ""


class _Resource(msgspec.Struct, rename="camel"):
    resource: str = ""
    response_kind: _Kind | None = None
    scope: str = ""
    singular_resource: str | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None
    subresources: list[_Subresource] | None = None


class _Version(msgspec.Struct):
    version: str = ""
    resources: list[_Resource] | None = None
    freshness: str | None = None


class _Name(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Name | None = None
    versions: list[_Version] | None = None


class _GroupVersion(msgspec.Struct, rename="camel"):
    group_version: str = ""


class _LegacyGroup(msgspec.Struct):
    versions: list[_GroupVersion] | None = None


class _LegacyResource(msgspec.Struct, rename="camel"):
    name: str = ""
    singular_name: str | None = None
    namespaced: bool = False
    kind: str = ""
    short_names: list[str] | None = None
    categories: list[str] | None = None


class _Document(msgspec.Struct):
    """Any of the four documents; `kind` says which."""

    kind: str = ""
    items: list[_Group] | None = None
    groups: list[_LegacyGroup] | None = None
    versions: list[str] | None = None
    resources: list[_LegacyResource] | None = None


_DECODER = msgspec.json.Decoder(_Document)


class _Root:
    """What `/api` or `/apis` said: kinds by group version, None where they are still to be asked for."""

    def __init__(self) -> None:
        self.read_at: float | None = None
        self.kinds: dict[str, dict[str, ResourceInfo] | None] = {}
        self.stale: set[str] = set()
        self.lock = asyncio.Lock()


class Discovery:
    """Kinds by name.

    Expected flow: `resolve` from any number of tasks of one event loop.

    Guarantees: G1 a kind that was found costs no request. G2 tasks that miss at the same time cause one request, not
    one each. G3 a kind that is not served causes at most one round of requests in `NEGATIVE_SECONDS`.

    Cancellation: a cancelled `resolve` has changed nothing; those who wait with it go on.

    Caveats: a kind whose scope or plural changes is noticed after `forget` only.
    """

    def __init__(self, http: Requests, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._http = http
        self._clock = clock
        self._roots = {"/api": _Root(), "/apis": _Root()}

    async def resolve(self, gvk: GroupVersionKind) -> ResourceInfo:
        """The plural, the scope and the subresources of a kind.

        Raises:
            KindNotServed: it is not there.
            ApiError, TransportError: the server did not tell.
        """
        root = self._root_of(gvk)
        asked_at = self._clock()
        info = (root.kinds.get(gvk.api_version) or {}).get(gvk.kind)
        if info is not None:
            return info
        async with root.lock:
            # Whoever waited here may find what it needs: what was read meanwhile is younger than its question.
            fresh_at = asked_at - NEGATIVE_SECONDS
            if root.read_at is None or root.read_at <= fresh_at:
                await self._read(root, "/api" if root is self._roots["/api"] else "/apis")
            kinds = root.kinds.get(gvk.api_version)
            if gvk.api_version in root.kinds and kinds is None:
                kinds = await self._read_version(root, gvk)
            info = (kinds or {}).get(gvk.kind)
        if info is None:
            raise self.not_served(gvk)
        return info

    def not_served(self, gvk: GroupVersionKind) -> KindNotServed:
        """The error for a kind, with what was last read for its closest matches."""
        root = self._root_of(gvk)
        if gvk.api_version in root.stale:
            return KindNotServed(gvk, (), f"the API service of {gvk.api_version} is away: kubectl get apiservices")
        known = [
            info.gvk
            for each in self._roots.values()
            for kinds in each.kinds.values()
            for info in (kinds or {}).values()
        ]
        if "." in gvk.group and not gvk.group.endswith(".k8s.io"):
            cure = "install its CustomResourceDefinition (install_crds, or kubectl apply -f)"
        else:
            cure = "compare the version with what kubectl api-resources shows"
        return KindNotServed(gvk, _nearest(gvk, known), cure)

    def through(self, http: Requests) -> Discovery:
        """The same, asking by another way: what one has found, the other knows."""
        other = copy.copy(self)
        other._http = http
        return other

    def forget(self, gvk: GroupVersionKind | None = None) -> None:
        """Ask the server again at the next `resolve`: for the kind's part of the API, or for all of it."""
        for root in self._roots.values() if gvk is None else (self._root_of(gvk),):
            root.read_at = None
            root.kinds = {}

    def _root_of(self, gvk: GroupVersionKind) -> _Root:
        return self._roots["/apis" if gvk.group else "/api"]

    async def _read(self, root: _Root, path: str) -> None:
        document = await self._get(path, _ACCEPT)
        kinds: dict[str, dict[str, ResourceInfo] | None] = {}
        stale: set[str] = set()
        if document.kind == "APIGroupDiscoveryList":
            for group in document.items or []:
                name = group.metadata.name if group.metadata else ""
                for version in group.versions or []:
                    api_version = f"{name}/{version.version}" if name else version.version
                    kinds[api_version] = _aggregated(name, version)
                    if version.freshness == "Stale":
                        stale.add(api_version)
        else:
            names = document.versions or [
                v.group_version for group in document.groups or [] for v in group.versions or []
            ]
            kinds = dict.fromkeys(names)
        root.kinds, root.stale, root.read_at = kinds, stale, self._clock()

    async def _read_version(self, root: _Root, gvk: GroupVersionKind) -> dict[str, ResourceInfo]:
        path = f"/apis/{gvk.api_version}" if gvk.group else f"/api/{gvk.version}"
        try:
            document = await self._get(path, _PLAIN)
            kinds = _legacy(gvk.group, gvk.version, document.resources or [])
        except NotFound:
            kinds = {}
        root.kinds[gvk.api_version] = kinds
        return kinds

    async def _get(self, path: str, accept: Headers) -> _Document:
        response = await self._http.request("GET", path, headers=accept)
        return _DECODER.decode(response.body)


def _aggregated(group: str, version: _Version) -> dict[str, ResourceInfo]:
    kinds = {}
    for each in version.resources or []:
        if each.response_kind is None or not each.response_kind.kind:
            continue
        below = {sub.subresource for sub in each.subresources or []}
        kinds[each.response_kind.kind] = _info(
            group, version.version, each.response_kind.kind, each.resource, each.scope == "Namespaced", below, each
        )
    return kinds


def _legacy(group: str, version: str, resources: list[_LegacyResource]) -> dict[str, ResourceInfo]:
    below: dict[str, set[str]] = {}
    for each in resources:
        plural, slash, subresource = each.name.partition("/")
        if slash:
            below.setdefault(plural, set()).add(subresource)
    return {
        each.kind: _info(group, version, each.kind, each.name, each.namespaced, below.get(each.name, set()), each)
        for each in resources
        if "/" not in each.name and each.kind
    }


def _info(
    group: str,
    version: str,
    kind: str,
    plural: str,
    namespaced: bool,
    below: set[str],
    said: _Resource | _LegacyResource,
) -> ResourceInfo:
    singular = said.singular_resource if isinstance(said, _Resource) else said.singular_name
    return ResourceInfo(
        group=group,
        version=version,
        kind=kind,
        plural=plural,
        namespaced=namespaced,
        singular=singular or kind.lower(),
        list_kind=f"{kind}List",
        short_names=tuple(said.short_names or ()),
        categories=tuple(said.categories or ()),
        status="status" in below,
        scale=ScaleInfo() if "scale" in below else None,
    )


def _nearest(gvk: GroupVersionKind, known: Iterable[GroupVersionKind]) -> tuple[GroupVersionKind, ...]:
    """Same kind in the same group first, then same kind elsewhere, then kinds that are spelled alike; at most three."""
    by_kind: dict[str, list[GroupVersionKind]] = {}
    for each in known:
        by_kind.setdefault(each.kind, []).append(each)
    import difflib  # only where something is wrong

    same = sorted(by_kind.get(gvk.kind, []), key=lambda each: (each.group != gvk.group, each))
    lower: Mapping[str, Any] = {kind.lower(): kind for kind in by_kind if kind != gvk.kind}
    alike = [
        each
        for word in difflib.get_close_matches(gvk.kind.lower(), lower, 3, 0.75)
        for each in sorted(by_kind[lower[word]], key=lambda each: (each.group != gvk.group, each))
    ]
    return tuple([*same, *alike][:3])
