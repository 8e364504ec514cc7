"""What every verb does: find the path, send the request, tell a missing object from a missing kind.

Owns the way from the arguments of a call to a path, and the one translation of an error: the server answers 404 both
for an object that does not exist and for a kind that it has never heard of. The first is `NotFound` and part of any
controller's day; the second becomes `KindNotServed`, for nobody should take a CRD that is not installed for an object
that has been deleted. It knows no verb; `Reads` and `Writes` stand on it.
"""

from __future__ import annotations

from typing import TypeAlias

from ..model import Key, Object, ResourceInfo, info_of
from .discovery import Discovery, KindNotServed
from .errors import ApiError, ResourceTypeNotFound
from .http import HttpClient
from .options import Defaults, write_query
from .paths import InvalidRequest, PathCache, namespace_of, segment
from .transport import Headers, TransportError

__all__ = ["ACCEPT", "JSON", "Calls", "Target"]

Target: TypeAlias = "Object | type[Object]"
"""An object, or its class together with a name."""

ACCEPT: Headers = (("accept", "application/json"),)
JSON: Headers = (("accept", "application/json"), ("content-type", "application/json"))


class Calls:
    """The state of a client: its connections, its defaults, and what it remembers of the server."""

    __slots__ = ("_defaults", "_discovery", "_http", "_namespace", "_owns_http", "_paths", "_write_query")

    def __init__(
        self,
        http: HttpClient,
        namespace: str,
        defaults: Defaults,
        discovery: Discovery | None = None,
        paths: PathCache | None = None,
    ) -> None:
        self._http = http
        self._namespace = namespace
        self._defaults = defaults
        self._write_query = write_query(defaults)
        self._discovery = discovery or Discovery(http)
        self._paths = paths or PathCache()
        self._owns_http = discovery is None

    async def _info(self, cls: type[Object]) -> ResourceInfo:
        """The kind of a class with its plural, from the server where the class does not say it."""
        info = info_of(cls)
        return info if info.plural else await self._discovery.resolve(info.gvk)

    async def _collection(self, cls: type[Object], namespace: str | None) -> str:
        """The path of a collection; `namespace` None stands for all of them."""
        return self._paths.collection(cls, await self._info(cls), namespace)

    async def _object(
        self, target: Target, name: str | Key | None, namespace: str | None, of: Target | None, subresource: str | None
    ) -> tuple[type[Object], str]:
        """The class whose collection an object is in, and the object's path or that of a subresource.

        Name and namespace are those of the call, else of `target`, else of `of`. Raises InvalidRequest.
        """
        cls, own_name, own_namespace = _said_by(target)
        if of is not None:
            cls, of_name, of_namespace = _said_by(of)
            own_name = _agree("name", of_name, own_name)
            own_namespace = _agree("namespace", of_namespace, own_namespace)
        if name is not None:
            if isinstance(name, Key):
                own_namespace = _agree("namespace", name.namespace, own_namespace)
                name = name.name
            own_name = _agree("name", name, own_name)
        info = info_of(cls)
        if not info.plural:
            info = await self._discovery.resolve(info.gvk)
        where = namespace_of(info, namespace, own_namespace, self._namespace)
        path = f"{self._paths.collection(cls, info, where)}/{segment(own_name, 'metadata.name')}"
        if subresource is None:
            return cls, path
        if subresource == "status" and not info.status:
            cure = "give the class a status type, or use the verb without subresource"
            raise InvalidRequest("subresource", subresource, f"is not one that {info.kind} has", cure)
        return cls, f"{path}/{segment(subresource, 'subresource')}"

    async def _send(self, method: str, target: str, headers: Headers, body: bytes | None, cls: type[Object]) -> bytes:
        """The body of the answer. Raises ApiError, KindNotServed, TransportError."""
        try:
            return (await self._http.request(method, target, headers=headers, body=body)).body
        except ResourceTypeNotFound as error:
            raise await self._kind_not_served(cls, error) from error

    async def _kind_not_served(self, cls: type[Object], error: ResourceTypeNotFound) -> KindNotServed:
        """What a 404 without the name of an object says of the kind. Asks the server's discovery, if that answers."""
        info = info_of(cls)
        self._paths.forget(cls)
        if not info.plural:
            self._discovery.forget(info.gvk)
        try:
            served = await self._discovery.resolve(info.gvk)
        except KindNotServed as missing:
            return missing
        except (ApiError, TransportError):
            return self._discovery.not_served(info.gvk)
        if info.plural and (served.plural, served.namespaced) != (info.plural, info.namespaced):
            scope = "namespaced" if served.namespaced else "cluster-scoped"
            cure = f"it is {scope} there, with the plural {served.plural!r}: say so in @resource of {cls.__name__}"
        else:
            cure = f"it will in a moment, or it has no such subresource (the answer was: {error})"
        return KindNotServed(info.gvk, (), cure)


def _agree(field: str, given: str, own: str) -> str:
    if given and own and given != own:
        raise InvalidRequest(field, given, f"is not the object's own, {own!r}", "give one of the two")
    return given or own


def _said_by(target: Target) -> tuple[type[Object], str, str]:
    if isinstance(target, Object):
        metadata = target.metadata
        return type(target), metadata.name, metadata.namespace
    if not isinstance(target, type):
        raise InvalidRequest("target", target, "is no object of a kind", "give an object, or its class and a name")
    return target, "", ""
