"""`authorizer` in expressions: who may do what, asked of whatever answers it. See `Authorizer`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Protocol

from .signatures import Library
from .types import object_type, type_of_type
from .values import TypeValue

__all__ = ["AUTHZ", "AUTHZ_SELECTORS", "Authorizer", "AuthorizerValue", "Decision", "PathRequest", "ResourceRequest"]

AUTHZ: Final = Library("kubernetes.authz")
AUTHZ_SELECTORS: Final = Library("kubernetes.authzSelectors")


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer: allowed or not, why, and the error if there was one."""

    allowed: bool
    reason: str = ""
    error: str = ""
    cel_type: ClassVar = "kubernetes.authorization.Decision"


@dataclass(frozen=True, slots=True)
class PathRequest:
    """A question about a path that is no resource, such as `/healthz`."""

    path: str
    verb: str
    service_account: str = ""


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """A question about a resource. `service_account` is `namespace:name`, or empty for the one who asks."""

    group: str
    resource: str
    verb: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""
    service_account: str = ""


class Authorizer(Protocol):
    """What answers the questions of an expression. Called synchronously; it may raise nothing."""

    def authorize(self, request: PathRequest | ResourceRequest, /) -> Decision: ...


@dataclass(frozen=True, slots=True)
class AuthorizerValue:
    """The variable `authorizer`."""

    authorizer: Authorizer
    service_account: str = ""
    cel_type: ClassVar = "kubernetes.authorization.Authorizer"


@dataclass(frozen=True, slots=True)
class PathCheck:
    asked: AuthorizerValue
    path: str
    cel_type: ClassVar = "kubernetes.authorization.PathCheck"

    def check(self, verb: str) -> Decision:
        return self.asked.authorizer.authorize(PathRequest(self.path, verb, self.asked.service_account))


@dataclass(frozen=True, slots=True)
class GroupCheck:
    asked: AuthorizerValue
    group: str
    cel_type: ClassVar = "kubernetes.authorization.GroupCheck"


@dataclass(frozen=True, slots=True)
class ResourceCheck:
    asked: AuthorizerValue
    request: ResourceRequest
    cel_type: ClassVar = "kubernetes.authorization.ResourceCheck"

    def check(self, verb: str) -> Decision:
        request = replace(self.request, verb=verb, service_account=self.asked.service_account)
        return self.asked.authorizer.authorize(request)


def _with(name: str, check: ResourceCheck, value: str) -> ResourceCheck:
    return ResourceCheck(check.asked, replace(check.request, **{name: value}))


_NAMES: Final = ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
_AUTHORIZER, _PATH, _GROUP, _RESOURCE, _DECISION = (f"kubernetes.authorization.{name}" for name in _NAMES)
for _name in (_AUTHORIZER, _PATH, _GROUP, _RESOURCE, _DECISION):
    AUTHZ.constants[_name] = (type_of_type(object_type(_name)), TypeValue(_name))

AUTHZ.add_all(
    (
        ("authorizer_path", f".path ({_AUTHORIZER}, string) -> {_PATH}", PathCheck),
        ("authorizer_group", f".group ({_AUTHORIZER}, string) -> {_GROUP}", GroupCheck),
        (
            "authorizer_serviceaccount",
            f".serviceAccount ({_AUTHORIZER}, string, string) -> {_AUTHORIZER}",
            lambda asked, namespace, name: AuthorizerValue(asked.authorizer, f"{namespace}:{name}"),
        ),
        (
            "groupcheck_resource",
            f".resource ({_GROUP}, string) -> {_RESOURCE}",
            lambda check, name: ResourceCheck(check.asked, ResourceRequest(check.group, name, "")),
        ),
        (
            "resourcecheck_subresource",
            f".subresource ({_RESOURCE}, string) -> {_RESOURCE}",
            lambda check, name: _with("subresource", check, name),
        ),
        (
            "resourcecheck_namespace",
            f".namespace ({_RESOURCE}, string) -> {_RESOURCE}",
            lambda check, name: _with("namespace", check, name),
        ),
        (
            "resourcecheck_name",
            f".name ({_RESOURCE}, string) -> {_RESOURCE}",
            lambda check, name: _with("name", check, name),
        ),
        ("pathcheck_check", f".check ({_PATH}, string) -> {_DECISION}", PathCheck.check),
        ("resourcecheck_check", f".check ({_RESOURCE}, string) -> {_DECISION}", ResourceCheck.check),
        ("decision_errored", f".errored ({_DECISION}) -> bool", lambda decision: bool(decision.error)),
        ("decision_error", f".error ({_DECISION}) -> string", lambda decision: decision.error),
        ("decision_allowed", f".allowed ({_DECISION}) -> bool", lambda decision: decision.allowed),
        ("decision_reason", f".reason ({_DECISION}) -> string", lambda decision: decision.reason),
    )
)
AUTHZ_SELECTORS.add_all(
    (
        (
            "authorizer_fieldselector",
            f".fieldSelector ({_RESOURCE}, string) -> {_RESOURCE}",
            lambda check, text: _with("field_selector", check, text),
        ),
        (
            "authorizer_labelselector",
            f".labelSelector ({_RESOURCE}, string) -> {_RESOURCE}",
            lambda check, text: _with("label_selector", check, text),
        ),
    )
)
