"""What an admission expression reads: the request, the objects, and what stands around them; as values of CEL.

A field that the server leaves out of its JSON when it is empty is not there for an expression either: `has()` is false
and reading it is an error. Rule: admission/v1 types.go, apiserver/pkg/admission/plugin/cel/condition.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..k8s_authz import Authorizer

__all__ = [
    "AdmissionInputs", "AdmissionRequest", "GroupVersionKind", "GroupVersionResource", "UserInfo", "namespace_value",
    "request_value",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class GroupVersionKind:
    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Kind={self.kind}"


@dataclass(frozen=True, slots=True)
class GroupVersionResource:
    group: str
    version: str
    resource: str


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Who asks. Everything may be empty."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """What is asked for.

    Attributes:
        kind, resource, sub_resource: as the policy or webhook matched them.
        request_kind, request_resource, request_sub_resource: as they were asked for; as matched unless given.
        operation: CREATE, UPDATE, DELETE or CONNECT.
        options: those of the operation, as JSON data.
    """

    kind: GroupVersionKind
    resource: GroupVersionResource
    operation: str
    name: str = ""
    namespace: str = ""
    sub_resource: str = ""
    request_kind: GroupVersionKind | None = None
    request_resource: GroupVersionResource | None = None
    request_sub_resource: str | None = None
    user: UserInfo = UserInfo()
    dry_run: bool = False
    options: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AdmissionInputs:
    """All that the expressions of one evaluation read; JSON data, which is not changed.

    Attributes:
        object: None when something is deleted.
        old_object: None when something is created.
        params: the object of `paramKind`, if the policy has one and it was found.
        namespace_object: of the object; None of what has no namespace.
        authorizer: what answers `authorizer`; None where expressions have none.
    """

    request: AdmissionRequest
    object: Any = None
    old_object: Any = None
    params: Any = None
    namespace_object: Mapping[str, Any] | None = None
    authorizer: Authorizer | None = None


def request_value(request: AdmissionRequest) -> dict[str, Any]:
    """The variable `request`."""
    kind = request.request_kind or request.kind
    resource = request.request_resource or request.resource
    sub_resource = request.sub_resource if request.request_sub_resource is None else request.request_sub_resource
    user = {
        "username": request.user.username,
        "uid": request.user.uid,
        "groups": list(request.user.groups),
        "extra": {name: list(values) for name, values in request.user.extra.items()},
    }
    given = {
        "subResource": request.sub_resource,
        "requestSubResource": sub_resource,
        "name": request.name,
        "namespace": request.namespace,
    }
    found: dict[str, Any] = {
        "kind": _kind(request.kind),
        "resource": _resource(request.resource),
        "requestKind": _kind(kind),
        "requestResource": _resource(resource),
        "operation": request.operation,
        "userInfo": {name: value for name, value in user.items() if value},
        "dryRun": request.dry_run,
        **{name: value for name, value in given.items() if value},
    }
    if request.options is not None:
        found["options"] = request.options
    return found


def _kind(kind: GroupVersionKind) -> dict[str, str]:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _resource(resource: GroupVersionResource) -> dict[str, str]:
    return {"group": resource.group, "version": resource.version, "resource": resource.resource}


_META: Final = frozenset(
    {"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"}
    | {"deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers"}
)


def namespace_value(namespace: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The variable `namespaceObject`: what a policy may see of it. Instants are texts, though declared otherwise."""
    if namespace is None:
        return None
    meta = {name: value for name, value in (namespace.get("metadata") or {}).items() if name in _META}
    return {"metadata": meta, "spec": namespace.get("spec") or {}, "status": namespace.get("status") or {}}
