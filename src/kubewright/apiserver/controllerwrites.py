"""The writes of a controller that lives beside a server: as those of a client, so that finalizers, grace and the rules
of kinds hold for them too, through a server without filters.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from .catalog import Catalog, ResourceType
from .registry.backend import Backend
from .registry.call import resource_key
from .request import Request, Response
from .server import ApiServer
from .store import Entry

__all__ = ["ControllerWrites", "Place"]

Place = tuple[str, str]
"""Of an object: its resource and its key."""

_MERGE: Final = "application/merge-patch+json"
_AGENT: Final = "kube-controller-manager/1"
"""As whom it writes; owners of fields are named after it."""


class ControllerWrites:
    """Deletes, patches and posts. Each says whether it is done: carried out, or the object is gone."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._server = ApiServer(backend=backend)
        self._types: tuple[Catalog | None, dict[str, ResourceType]] = (None, {})

    def close(self) -> None:
        self._server.close()

    async def delete(self, place: Place, entry: Entry, policy: str) -> bool:
        """Delete this very object, and its dependents by `policy`."""
        body = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": policy,
            "preconditions": {"uid": entry.object["metadata"]["uid"]},
        }
        return await self._at_path("DELETE", place, body)

    async def patch(self, place: Place, entry: Entry, change: dict[str, Any]) -> bool:
        """Merge a change into an object."""
        return await self._at_path("PATCH", place, change, _MERGE)

    async def ask(self, method: str, path: str, body: Any, content_type: str = "application/json") -> bool:
        """Any request."""
        headers = {"content-type": content_type, "user-agent": _AGENT}
        answer = await self._server.handle(Request(method, path, (), headers, orjson.dumps(body)))
        return isinstance(answer, Response) and (answer.status < 300 or answer.status == 404)

    def type_of(self, resource: str) -> ResourceType | None:
        """The type whose objects a resource keeps, as they are kept."""
        catalog = self._backend.catalog
        if self._types[0] is not catalog:
            found = {resource_key(each.group, each.plural): each for each in catalog.types if each.is_stored_version}
            self._types = (catalog, found)
        return self._types[1].get(resource)

    async def _at_path(self, method: str, place: Place, body: Any, content_type: str = "application/json") -> bool:
        kind = self.type_of(place[0])
        if kind is None:
            return True
        root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        namespace, _, name = place[1].rpartition("/")
        scope = f"/namespaces/{namespace}" if namespace else ""
        return await self.ask(method, f"{root}{scope}/{kind.plural}/{name}", body, content_type)
