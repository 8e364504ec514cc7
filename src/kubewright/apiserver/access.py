"""Who may: for now the members of `system:masters` all, and everybody what they may on every cluster from its start.

| | |
|---|---|
| everybody | health and version |
| whoever is known | discovery, OpenAPI, and to ask who one is |

A filter in front of the server. Role-based access control takes its place in this seam; until then it is honest: other
identities are refused, with the words of the real server, instead of let through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .errors import StatusError
from .options import wants_watch
from .request import Request
from .routes import Route, route

if TYPE_CHECKING:
    from .server import Answer, ApiServer, Next

__all__ = ["admins_only"]

_ADMINS: Final = "system:masters"
_KNOWN: Final = "system:authenticated"
_PUBLIC: Final = frozenset({"/healthz", "/livez", "/readyz", "/version"})
"""As the role system:public-info-viewer."""
_DISCOVERY: Final = ("/api", "/apis", "/openapi")
"""As the role system:discovery."""


async def admins_only(server: ApiServer, request: Request, following: Next) -> Answer:
    """Let administrators through, and what others may too. Raises StatusError: 403."""
    where = route(request.path)
    if _ADMINS in request.user.groups or request.path.rstrip("/") in _PUBLIC:
        return await following(request)
    if _KNOWN in request.user.groups and _is_for_all_known(request, where):
        return await following(request)
    user = request.user.name
    if where is None:
        verb = request.method.lower()
        raise StatusError(403, "Forbidden", f'forbidden: User "{user}" cannot {verb} path "{request.path}"', {})
    verb = where.verb(request.method, watch=wants_watch(request.query))
    scope = f'in the namespace "{where.namespace}"' if where.namespace else "at the cluster scope"
    resource = f"{where.plural}/{where.subresource}" if where.subresource else where.plural
    shown = f'{where.resource} "{where.name}"' if where.name else where.resource
    message = (
        f'{shown} is forbidden: User "{user}" cannot {verb} resource "{resource}" in API group "{where.group}" {scope}'
    )
    details = {"name": where.name, "group": where.group, "kind": where.plural}
    raise StatusError(403, "Forbidden", message, {name: each for name, each in details.items() if each})


def _is_for_all_known(request: Request, where: Route | None) -> bool:
    if where is None:
        path = request.path
        return request.method == "GET" and any(path == each or path.startswith(f"{each}/") for each in _DISCOVERY)
    return request.method == "POST" and (where.group, where.plural) == ("authentication.k8s.io", "selfsubjectreviews")
