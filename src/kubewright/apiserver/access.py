"""Who may: for now the members of `system:masters` all, and everybody what says nothing of the cluster.

A filter in front of the server. Role-based access control takes its place in this seam; until then it is honest: other
identities are refused, with the words of the real server, instead of let through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .errors import StatusError
from .request import Request
from .routes import route

if TYPE_CHECKING:
    from .server import Answer, ApiServer, Next

__all__ = ["admins_only"]

_ADMINS: Final = "system:masters"
_PUBLIC: Final = frozenset({"/healthz", "/livez", "/readyz", "/version"})


async def admins_only(server: ApiServer, request: Request, following: Next) -> Answer:
    """Let administrators through, and questions for health and version. Raises StatusError: 403."""
    if _ADMINS in request.user.groups or request.path.rstrip("/") in _PUBLIC:
        return await following(request)
    user = request.user.name
    where = route(request.path)
    if where is None:
        verb = request.method.lower()
        raise StatusError(403, "Forbidden", f'forbidden: User "{user}" cannot {verb} path "{request.path}"', {})
    wants_watch = request.parameter("watch") in ("true", "1")
    verb = where.verb(request.method, watch=wants_watch)
    scope = f'in the namespace "{where.namespace}"' if where.namespace else "at the cluster scope"
    resource = f"{where.plural}/{where.subresource}" if where.subresource else where.plural
    named = f"{where.plural}.{where.group}" if where.group else where.plural
    shown = f'{named} "{where.name}"' if where.name else named
    message = (
        f'{shown} is forbidden: User "{user}" cannot {verb} resource "{resource}" in API group "{where.group}" {scope}'
    )
    details = {"name": where.name, "group": where.group, "kind": where.plural}
    raise StatusError(403, "Forbidden", message, {name: each for name, each in details.items() if each})
