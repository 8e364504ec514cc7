"""Which resource a path means, and which verb a method is there.

| path | of |
|---|---|
| `/api/v1/...`, `/apis/GROUP/VERSION/...` | a group version |
| `.../RESOURCE`, `.../namespaces/NS/RESOURCE` | a collection: list, watch, create, deletecollection |
| `.../RESOURCE/NAME`, `.../namespaces/NS/RESOURCE/NAME` | one object: get, update, patch, delete |
| `.../RESOURCE/NAME/SUBRESOURCE` | a part of it |
| `.../watch/...` | a watch (deprecated form) |

Everything else is no resource path. Knows no resource types: whether a resource is served is the catalog's business.
The rules are `apiserver/pkg/endpoints/request/requestinfo.go`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["Route", "route"]

_NAMESPACE_SUBRESOURCES: Final = frozenset({"status", "finalize"})
_VERBS: Final = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Route(NamedTuple):
    """Where a path leads. Empty texts for what it does not say. `is_watch` for the deprecated watch paths; `rest` is
    what follows a subresource."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    is_watch: bool = False
    rest: tuple[str, ...] = ()

    @property
    def resource(self) -> str:
        """The plural with its group, as messages have it: `pods`, `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def verb(self, method: str, *, watch: bool) -> str:
        """What a method does here; empty for one that nothing does. `watch`: the query asks to."""
        verb = _VERBS.get(method, "")
        if self.is_watch and verb == "get":
            return "watch"
        if verb == "get" and not self.name:
            return "watch" if watch else "list"
        if verb == "delete" and not self.name:
            return "deletecollection"
        return verb


def route(path: str) -> Route | None:
    """The route of a decoded path; None when it is no resource path."""
    trimmed = path.strip("/")
    parts = trimmed.split("/") if trimmed else []
    if len(parts) >= 3 and parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    is_watch = rest[0] == "watch"
    if is_watch:
        rest = rest[1:]
        if not rest:
            return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    return Route(group, version, rest[0], namespace, name, subresource, is_watch, tuple(rest[3:]))
