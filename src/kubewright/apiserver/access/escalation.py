"""Nobody gives away what one does not have: what writes of roles and bindings have to be allowed beyond the write.

| write of | is allowed to who |
|---|---|
| a role | has all its rules already, or may `escalate` it |
| an aggregated role | may everything, or may `escalate` it |
| a binding | has all rules of its role already, or may `bind` that role |
| any of them, of what garbage collection changes only | may do the write |

Members of `system:masters` may all of it. Rules: `kubernetes/pkg/registry/rbac/*/policybased`,
`kubernetes/pkg/registry/rbac/{escalation_check,helpers}.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from kubewright.schema.structural.gotext import quoted

from ..errors import StatusError, forbidden, not_found, resource_name, unexplained
from ..registry.call import Call
from .attributes import PRIVILEGED, AuthorizationAttributes
from .rbac import RoleAuthorizer
from .rules import missing, shown

__all__ = ["guard_binding", "guard_role"]

Object = dict[str, Any]

_EVERYTHING: Final = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
_COLLECTED: Final = ("ownerReferences", "finalizers", "managedFields", "selfLink")
"""The metadata that garbage collection changes."""


def guard_role(call: Call, new: Object, old: Object | None) -> None:
    """Look at a Role or ClusterRole that is to be written over `old` (None: a new one). Raises StatusError: 403."""
    authorizer = _authorizer(call)
    if authorizer is None or _is_collected_only(new, old):
        return
    where = call.route
    escalate = AuthorizationAttributes(
        call.request.user, "escalate", where.group, where.plural, "", where.namespace, where.name
    )
    if authorizer.authorize(escalate).allowed:
        return
    _confirm(call, authorizer, new, new.get("rules") or ())
    if _is_aggregated(new) or (old is not None and _is_aggregated(old)):
        try:
            _confirm(call, authorizer, new, _EVERYTHING)
        except StatusError:
            raise forbidden(
                call.kind, _name(new), "must have cluster-admin privileges to use the aggregationRule"
            ) from None


def guard_binding(call: Call, new: Object, old: Object | None) -> None:
    """The same for a RoleBinding or ClusterRoleBinding. Raises StatusError: 403; 404, its role is not there; 500."""
    authorizer = _authorizer(call)
    if authorizer is None or _is_collected_only(new, old):
        return
    reference = new.get("roleRef") or {}
    kind, name, namespace = reference.get("kind", ""), reference.get("name", ""), call.namespace
    if kind not in ("Role", "ClusterRole"):
        raise unexplained(f"unsupported role reference kind: {quoted(kind)}")
    group = reference.get("apiGroup", "")
    bind = AuthorizationAttributes(call.request.user, "bind", group, f"{kind.lower()}s", "", namespace, name)
    if authorizer.authorize(bind).allowed:
        return
    rules = authorizer.rules_of_role(kind, name, namespace)
    if rules is None:
        raise not_found(call.kind, name)
    _confirm(call, authorizer, new, rules)


def _authorizer(call: Call) -> RoleAuthorizer | None:
    """Who to ask; None where all is allowed."""
    authorizer = call.backend.authorizer
    if PRIVILEGED in call.request.user.groups or not isinstance(authorizer, RoleAuthorizer):
        return None
    return authorizer


def _confirm(call: Call, authorizer: RoleAuthorizer, obj: Object, rules: Iterable[Mapping[str, Any]]) -> None:
    """Raises StatusError: the user does not have all these rules."""
    user = call.request.user
    held = authorizer.rules_of(user, call.namespace)
    left = missing([each.rule for each in held.held], rules)
    if not left:
        return
    groups = " ".join(map(quoted, user.groups))
    said = "\n".join(sorted({shown(each) for each in left}))
    who = f"user {quoted(user.name)} (groups=[{groups}])"
    why = f"{who} is attempting to grant RBAC permissions not currently held:\n{said}"
    if held.absent:
        why = f"{why}; resolution errors: [{held.problem_of(resource_name(call.kind))}]"
    raise forbidden(call.kind, _name(obj), why)


def _name(obj: Object) -> str:
    return str(obj["metadata"].get("name", ""))


def _is_aggregated(role: Object) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _is_collected_only(new: Object, old: Object | None) -> bool:
    if old is None:
        return False
    return _without_collected(new) == _without_collected(old)


def _without_collected(obj: Object) -> Object:
    return {**obj, "metadata": {name: each for name, each in obj["metadata"].items() if name not in _COLLECTED}}
