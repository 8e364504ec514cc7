"""What CEL expressions of admission read of a request.

`authorizer` is asked of the server's own access control, where there is some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubewright.schema.cel.admission import (
    AdmissionInputs,
    AdmissionRequest,
    GroupVersionKind,
    GroupVersionResource,
    UserInfo,
)
from kubewright.schema.cel.k8s_authz import Decision, PathRequest, ResourceRequest

from ..access import attributes as access
from ..catalog import ResourceType
from ..registry.backend import Attributes, ObjectKind
from ..request import User

__all__ = ["inputs_of"]


class _Asking:
    """`authorizer` of an expression: what the server's own one says of who asks, or of a service account.

    Without access control administrators may everything, and others nothing.
    """

    def __init__(self, user: User, authorizer: access.Authorizer | None) -> None:
        self._user, self._authorizer = user, authorizer

    def authorize(self, request: PathRequest | ResourceRequest, /) -> Decision:
        user = self._user
        if request.service_account:
            namespace, _, name = request.service_account.partition(":")
            user = access.service_account(namespace, name)
        if self._authorizer is None:
            return Decision(access.PRIVILEGED in user.groups)
        if isinstance(request, PathRequest):
            asked = access.AuthorizationAttributes(user, request.verb, path=request.path, is_resource=False)
        else:
            asked = access.AuthorizationAttributes(
                user,
                request.verb,
                request.group,
                request.resource,
                request.subresource,
                request.namespace,
                request.name,
            )
        found = self._authorizer.authorize(asked)
        return Decision(found.allowed, found.reason)


def inputs_of(
    attributes: Attributes,
    seen: ResourceType,
    kind: ObjectKind,
    obj: dict[str, Any] | None,
    old: dict[str, Any] | None,
    authorizer: access.Authorizer | None,
    *,
    params: Mapping[str, Any] | None = None,
    namespace: Mapping[str, Any] | None = None,
) -> AdmissionInputs:
    """The variables of an evaluation; arguments as of `Hook.call`."""
    asked, own, user = attributes.kind, attributes.object_kind, attributes.user
    request = AdmissionRequest(
        GroupVersionKind(*kind),
        GroupVersionResource(seen.group, seen.version, seen.plural),
        attributes.operation,
        attributes.name,
        attributes.namespace,
        attributes.subresource,
        GroupVersionKind(*own),
        GroupVersionResource(asked.group, asked.version, asked.plural),
        attributes.subresource,
        UserInfo(user.name, user.uid, user.groups, user.extra),
        attributes.is_dry_run,
        attributes.options or None,
    )
    return AdmissionInputs(request, obj, old, params, namespace, _Asking(user, authorizer))
