"""The filter that lets through what is allowed. In front of the server; members of `system:masters` cost it one look.

Who asks to act as somebody else becomes that one first, if it is allowed (`impersonation`).

A refusal has the words of the real server: `apiserver/pkg/endpoints/handlers/responsewriters/errors.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubewright.schema.structural.gotext import quoted

from ..errors import StatusError
from ..request import Request
from .attributes import PRIVILEGED, AuthorizationAttributes, Authorizer, attributes_of

if TYPE_CHECKING:
    from ..server import Answer, ApiServer, Next

__all__ = ["control_access", "refused"]


_IMPERSONATE: Final = "impersonate-"


async def control_access(server: ApiServer, request: Request, following: Next) -> Answer:
    """Let a request through that is allowed, as whom it asks to act. Raises StatusError: 403."""
    authorizer = server.backend.authorizer
    if authorizer is None:
        return await following(request)
    for name in request.headers:
        if name.startswith(_IMPERSONATE):
            request = _acting(server, request, authorizer)
            break
    if PRIVILEGED in request.user.groups:
        return await following(request)
    attributes = attributes_of(request)
    decision = authorizer.authorize(attributes)
    if decision.allowed:
        return await following(request)
    raise refused(attributes, decision.reason)


def _acting(server: ApiServer, request: Request, authorizer: Authorizer) -> Request:
    """The request of the user that it asks to act as. Raises StatusError: 400, 403."""
    from .impersonation import impersonated, wanted_user  # few do it

    wanted = wanted_user(request.headers)
    if wanted is None:
        return request
    user, constraint = impersonated(attributes_of(request), wanted, authorizer, server.backend.impersonations)
    request.impersonated, request.constraint = user, constraint
    return replace(request, user=user)


def refused(asked: AuthorizationAttributes, reason: str = "") -> StatusError:
    """A 403 that says who may not do what, and why if there is a reason."""
    said = _said(asked).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if reason:
        said = f"{said}: {reason}"
    details = {"name": asked.name, "group": asked.group, "kind": asked.resource}
    if not asked.resource:
        return StatusError(403, "Forbidden", f"forbidden: {said}", details)
    shown = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    if asked.name:
        shown = f"{shown} {quoted(asked.name)}"
    return StatusError(403, "Forbidden", f"{shown} is forbidden: {said}", details)


def _said(asked: AuthorizationAttributes) -> str:
    who = f"User {quoted(asked.user.name)} cannot {asked.verb}"
    if not asked.is_resource:
        return f"{who} path {quoted(asked.path)}"
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    where = f"in the namespace {quoted(asked.namespace)}" if asked.namespace else "at the cluster scope"
    return f"{who} resource {quoted(resource)} in API group {quoted(asked.group)} {where}"
