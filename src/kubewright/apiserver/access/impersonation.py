"""Acting as somebody else: the `Impersonate-*` headers of a request, and who may use them.

| mode | for | the verbs that have to be allowed |
|---|---|---|
| associated-node | the node of a Pod, by a token bound to it | `impersonate-on:MODE:VERB` on what is asked for, |
| arbitrary-node | any node | and `impersonate:MODE` on each part of the wanted user |
| serviceaccount | a service account | |
| user-info | everybody else | |
| legacy | everybody | `impersonate` on each part of the wanted user |

They are tried in this order, the one that last worked for somebody first. What the first of them that was refused says
is the answer. Nodes and service accounts have the groups of their kind, and nothing else can be asked for with them in
their modes. Each request is asked about anew; the real server remembers for ten seconds what it has allowed. Rules:
`apiserver/pkg/endpoints/filters/impersonation`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote

from msgspec.structs import replace

from kubewright.schema.structural.fielderrors import summary
from kubewright.schema.structural.gotext import quoted
from kubewright.schema.structural.metarules import dns_label, dns_subdomain

from ..errors import StatusError, bad_request
from ..request import User
from .attributes import PRIVILEGED, AuthorizationAttributes, Authorizer
from .authorization import refused

__all__ = ["impersonated", "split_account", "wanted_user"]

_EXTRA: Final = "impersonate-extra-"
_AUTHENTICATED: Final = "system:authenticated"
_UNAUTHENTICATED: Final = "system:unauthenticated"
_ANONYMOUS: Final = "system:anonymous"
_AUTHENTICATION: Final = "authentication.k8s.io"
_NODE: Final = "system:node:"
_ACCOUNT: Final = "system:serviceaccount:"
_PATH: Final = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
_MANY: Final = 4
"""From so many parts on, one check for all of them is tried first."""


def wanted_user(headers: Mapping[str, str]) -> User | None:
    """The user that headers ask to be, as they say it; None where they do not ask.

    Raises:
        StatusError: 400, there are groups or the like, and no user.
    """
    name, uid = headers.get("impersonate-user", ""), headers.get("impersonate-uid", "")
    said = headers.get("impersonate-group")
    groups = () if said is None else tuple(said.split(", "))
    extra: dict[str, tuple[str, ...]] = {}
    for header, value in headers.items():
        if header.startswith(_EXTRA):
            extra[unquote(header.removeprefix(_EXTRA))] = tuple(value.split(", "))
    if name:
        return User(name, groups, uid, extra)
    if uid or groups or extra:
        raise bad_request(f"requested {_in_go(uid, groups, extra)} without impersonating a user name")
    return None


def _in_go(uid: str, groups: tuple[str, ...], extra: Mapping[str, tuple[str, ...]]) -> str:
    """A user as `%#v` prints it."""
    shown = _texts(groups) if groups else "[]string(nil)"
    more = ", ".join(f"{quoted(name)}:{_texts(extra[name])}" for name in sorted(extra))
    map_ = "map[string][]string"
    return (
        f'&user.DefaultInfo{{Name:"", UID:{quoted(uid)}, Groups:{shown}, '
        f"Extra:{f'{map_}{{{more}}}' if extra else f'{map_}(nil)'}}}"
    )


def _texts(values: tuple[str, ...]) -> str:
    return f"[]string{{{', '.join(map(quoted, values))}}}"


def impersonated(
    asked: AuthorizationAttributes, wanted: User, authorizer: Authorizer, last: dict[str, int]
) -> tuple[User, str]:
    """The user that a request acts as, with groups filled in, and the verb that allowed it (empty: `impersonate`).

    Args:
        asked: what the request is for; its user is who really asks.
        last: the mode that last worked, by name of who asks; kept up to date.

    Raises:
        StatusError: 403, it is not allowed.
    """
    name = asked.user.name
    order = list(range(len(_MODES)))
    if (worked := last.get(name)) is not None:
        order.remove(worked)
        order.insert(0, worked)
    first: StatusError | None = None
    for place in order:
        mode, applies = _MODES[place]
        if not applies(asked.user, wanted):
            continue
        try:
            user = _Check(mode, asked, authorizer).user(wanted)
        except StatusError as error:
            first = first or error
            continue
        last[name] = place
        return user, f"impersonate:{mode}" if mode else ""
    assert first is not None, "the last mode is for everybody"
    raise first


def split_account(name: str) -> tuple[str, str] | None:
    """Namespace and name of a service account, from the name of its user; None for another user."""
    namespace, _, account = name.removeprefix(_ACCOUNT).partition(":")
    if not name.startswith(_ACCOUNT) or dns_label(namespace) or dns_subdomain(account):
        return None
    return namespace, account


def _node(name: str) -> str:
    """The node whose user this is; empty for another user."""
    node = name.removeprefix(_NODE)
    return node if name.startswith(_NODE) and not dns_subdomain(node) else ""


def _has_only_a_name(user: User) -> bool:
    return not (user.uid or user.groups or user.extra)


def _is_own_node(asker: User, wanted: User) -> bool:
    node = _node(wanted.name)
    own = asker.extra.get("authentication.kubernetes.io/node-name", ())
    return bool(node) and _has_only_a_name(wanted) and split_account(asker.name) is not None and own == (node,)


_MODES: Final[tuple[tuple[str, Callable[[User, User], bool]], ...]] = (
    ("associated-node", _is_own_node),
    ("arbitrary-node", lambda asker, wanted: bool(_node(wanted.name)) and _has_only_a_name(wanted)),
    ("serviceaccount", lambda asker, wanted: split_account(wanted.name) is not None and _has_only_a_name(wanted)),
    ("user-info", lambda asker, wanted: not _node(wanted.name) and split_account(wanted.name) is None),
    ("", lambda asker, wanted: True),
)
"""Modes in the order in which they are tried, with whom they are for; the last is the legacy one."""


class _Check:
    """Whether somebody may act as somebody else, in one mode."""

    def __init__(self, mode: str, asked: AuthorizationAttributes, authorizer: Authorizer) -> None:
        self._mode, self._asked, self._authorizer = mode, asked, authorizer
        self._verb = f"impersonate:{mode}" if mode else "impersonate"
        self._group = _AUTHENTICATION if mode else ""

    def user(self, wanted: User) -> User:
        """The user with its groups. Raises StatusError."""
        if self._mode:
            self._ask(replace(self._asked, verb=f"impersonate-on:{self._mode}:{self._asked.verb}"))
        groups = self._check_name(wanted)
        if wanted.uid:
            self._ask(self._part("uids", wanted.uid, group=_AUTHENTICATION))
        self._check_groups(wanted.groups)
        self._check_extra(wanted.extra)
        if wanted.name == _ANONYMOUS:
            if _UNAUTHENTICATED not in groups:
                groups = (*groups, _UNAUTHENTICATED)
        elif _UNAUTHENTICATED not in groups and _AUTHENTICATED not in groups:
            groups = (*groups, _AUTHENTICATED)
        return replace(wanted, groups=groups)

    def _ask(self, attributes: AuthorizationAttributes) -> None:
        decision = self._authorizer.authorize(attributes)
        if not decision.allowed:
            raise refused(attributes, decision.reason)

    def _may(self, attributes: AuthorizationAttributes) -> bool:
        return self._authorizer.authorize(attributes).allowed

    def _part(self, resource: str, name: str, *, group: str | None = None) -> AuthorizationAttributes:
        return AuthorizationAttributes(
            self._asked.user, self._verb, self._group if group is None else group, resource, name=name, version="v1"
        )

    def _check_name(self, wanted: User) -> tuple[str, ...]:
        """The groups of the user. Raises StatusError."""
        part, groups = self._part("users", wanted.name), wanted.groups
        node, account = _node(wanted.name), split_account(wanted.name)
        if node and self._mode:
            # A check that holds for all nodes, where who asks is bound to one.
            own = self._mode == "associated-node"
            part, groups = replace(part, resource="nodes", name="*" if own else node), ("system:nodes",)
        elif account is not None:
            part = replace(part, resource="serviceaccounts", namespace=account[0], name=account[1])
            groups = groups or ("system:serviceaccounts", f"system:serviceaccounts:{account[0]}")
        self._ask(part)
        return groups

    def _check_groups(self, groups: tuple[str, ...]) -> None:
        if not groups:
            return
        part = self._part("groups", "")
        if self._mode:
            if "" in groups:
                raise refused(part, "impersonating the empty string group is not allowed")
            if PRIVILEGED in groups:
                said = "impersonating the system:masters group is not allowed"
                raise refused(replace(part, name=PRIVILEGED), said)
            if len(groups) >= _MANY and self._may(replace(part, name="*")):
                return
        for each in groups:
            self._ask(replace(part, name=each))

    def _check_extra(self, extra: Mapping[str, tuple[str, ...]]) -> None:
        if not extra:
            return
        part = self._part("userextras", "", group=_AUTHENTICATION)
        if self._mode:
            if why := _extra_problem(extra):
                raise refused(part, why)
            is_much = len(extra) >= _MANY or sum(map(len, extra.values())) >= _MANY
            if is_much and self._may(replace(part, subresource="*", name="*")):
                return
        for key, values in extra.items():
            for value in values:
                self._ask(replace(part, subresource=key, name=value))


def _extra_problem(extra: Mapping[str, tuple[str, ...]]) -> str:
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        if why := _path_problem(key):
            return f"impersonating an invalid key in extra is not allowed: {why}"
        if key != key.lower():
            return f"impersonating a non-lowercase key in extra is not allowed: {quoted(key)}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def _path_problem(key: str) -> str:
    """Why a key is no domain with a path (`example.com/a`)."""
    host, _, path = key.partition("/")
    if not host or not path:
        return f'extra.key: Invalid value: {quoted(key)}: must be a domain-prefixed path (such as "acme.io/foo")'
    said = [f"extra.key: Invalid value: {quoted(host)}: {each}" for each in dns_subdomain(host)]
    if _PATH.fullmatch(path) is None:
        said.append(
            f"extra.key: Invalid value: {quoted(path)}: Invalid path (regex used for validation is '{_PATH.pattern}')"
        )
    return summary(said)
