"""What an authorizer is asked, and what it answers: `AuthorizationAttributes`, `Decision`, `Authorizer`. Pure.

Whoever has to know whether somebody may do something asks an `Authorizer`: the filter in front of the server, access
reviews, escalation checks, expressions of admission policies. Rules: `apiserver/pkg/authorization/authorizer`,
`apiserver/pkg/endpoints/request/requestinfo.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, Protocol

from msgspec import Struct

from kubewright.model.fieldselector import FieldSelector
from kubewright.schema.structural.metarules import path_segment

from ..options import wants_watch
from ..request import Request, User
from ..routes import route

__all__ = [
    "ALLOWED",
    "DENIED",
    "NO_OPINION",
    "PRIVILEGED",
    "AuthorizationAttributes",
    "Authorizer",
    "Decision",
    "attributes_of",
    "privileged",
    "service_account",
]

PRIVILEGED: Final = "system:masters"
"""The group whose members may everything, whatever roles say."""

ALLOWED: Final = "allowed"
DENIED: Final = "denied"
NO_OPINION: Final = "no opinion"

_ACCOUNT: Final = "system:serviceaccount:"


class AuthorizationAttributes(Struct, frozen=True):
    """A question: may `user` do `verb`?

    With `is_resource` the rest says to what: `group`, `resource`, `subresource`, `namespace` (empty for the cluster
    scope), `name` (empty for a collection); otherwise `path` does, of a URL that is no resource.
    """

    user: User
    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    version: str = "*"
    path: str = ""
    is_resource: bool = True


class Decision(NamedTuple):
    """An answer. Who has no opinion does not allow; `reason` says why, empty where there is nothing to say."""

    verdict: Literal["allowed", "denied", "no opinion"]
    reason: str = ""

    @property
    def allowed(self) -> bool:
        return self.verdict == ALLOWED


class Authorizer(Protocol):
    """Who knows who may do what. Asked synchronously; raises nothing."""

    def authorize(self, attributes: AuthorizationAttributes, /) -> Decision: ...


def service_account(namespace: str, name: str, uid: str = "") -> User:
    """The user that a service account is, with its groups, as its tokens make it."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return User(f"{_ACCOUNT}{namespace}:{name}", groups, uid)


def privileged(user: User) -> User:
    """The same user as one who may everything: for a first run that shows which rights are needed."""
    return user if PRIVILEGED in user.groups else User(user.name, (*user.groups, PRIVILEGED), user.uid, user.extra)


def attributes_of(request: Request) -> AuthorizationAttributes:
    """What a request asks for."""
    where = route(request.path)
    if where is None:
        return AuthorizationAttributes(request.user, request.method.lower(), path=request.path, is_resource=False)
    verb = where.verb(request.method, watch=wants_watch(request.query))
    name = where.name
    if not name and verb in ("list", "watch"):
        name = _only_name(request.query)
    return AuthorizationAttributes(
        request.user,
        verb,
        where.group,
        where.plural,
        where.subresource,
        where.namespace,
        name,
        where.version,
    )


def _only_name(query: Sequence[tuple[str, str]]) -> str:
    """The one object that a list or watch is about, by its field selector; empty if there is none.

    Of a selector that is there twice the first one counts, as it does for what is listed, an empty one too.
    """
    text = next((value for key, value in query if key == "fieldSelector"), "")
    try:
        requirements = FieldSelector.parse(text).requirements if text else ()
    except ValueError:
        return ""
    for each in requirements:
        if each.field == "metadata.name" and each.operator == "=" and not path_segment(each.value):
            return each.value
    return ""
