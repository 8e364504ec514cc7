"""Nobody reads by an admission policy what one may not read: what writes of policies take beyond the write.

| write of | is allowed to who |
|---|---|
| a policy with a new `paramKind` | may get all objects of that kind |
| a binding with a new `paramRef`, or another policy | may get that object, or list where it selects |

Where nobody knows the kind, it takes the right to all kinds. Members of `system:masters` may all of it. What is wrong
with the object itself is told first. Rules: `kubernetes/pkg/registry/admissionregistration/*/authz.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubewright.schema.structural.fielderrors import forbidden
from kubewright.schema.structural.values import copied

from ..errors import invalid_object
from ..registry.call import Call, resource_key
from ..request import User
from .attributes import PRIVILEGED, AuthorizationAttributes

__all__ = ["guard_param_kind", "guard_param_ref"]

Object = dict[str, Any]

_ANY: Final = "*"
_POLICIES: Final = {
    "mutatingadmissionpolicybindings": "mutatingadmissionpolicies",
    "validatingadmissionpolicybindings": "validatingadmissionpolicies",
}


def guard_param_kind(call: Call, new: Object, old: Object | None) -> None:
    """Look at a policy that is to be written over `old` (None: a new one). Raises StatusError: 422."""
    kind = _spec(new).get("paramKind")
    if not kind or kind == _spec(old).get("paramKind") or _may_all(call):
        return
    group, version, resource = _resource(call, kind)
    user = call.request.user
    asked = AuthorizationAttributes(user, "get", group, resource, "", _ANY, _ANY, version)
    said = f"(kind={kind.get('kind', '')}, apiVersion={kind.get('apiVersion', '')})"
    why = f'user {_shown(user)} must have "get" permission on all objects of the referenced paramKind {said}'
    _confirm(call, asked, new, old, "spec.paramKind", why)


def guard_param_ref(call: Call, new: Object, old: Object | None) -> None:
    """The same for a binding. Raises StatusError: 422."""
    spec, before = _spec(new), _spec(old)
    reference = spec.get("paramRef")
    is_known = reference == before.get("paramRef") and spec.get("policyName") == before.get("policyName")
    if not reference or is_known or _may_all(call):
        return
    user, policies, policy = call.request.user, _POLICIES[call.kind.plural], spec.get("policyName") or ""
    verb = "get" if reference.get("name") else "list"
    found = call.backend.store.get(resource_key(call.kind.group, policies), str(policy))
    kind = _spec(found.object).get("paramKind") if found is not None else None
    group, version, resource = _resource(call, kind) if kind else (_ANY, _ANY, _ANY)
    asked = AuthorizationAttributes(
        user, verb, group, resource, "", reference.get("namespace") or "", reference.get("name") or "", version
    )
    who, all_of_it = f"user {_shown(user)}", "permission for all groups, versions and resources"
    unknown = f'to determine minimum required permissions and {who} does not have "{verb}" {all_of_it}'
    if found is None:
        why = f"unable to get policy {policy} {unknown}"
    elif kind and resource == _ANY:
        why = f"unable to resolve paramKind &{{{kind.get('apiVersion', '')} {kind.get('kind', '')}}} {unknown}"
    elif policies.startswith("mutating"):
        # The two are in the wrong order in the real server's text.
        why = f'user {verb} does not have "{_shown(user)}" permission on the object referenced by paramRef'
    else:
        why = f'{who} does not have "{verb}" permission on the object referenced by paramRef'
    _confirm(call, asked, new, old, "spec.paramRef", why)


def _spec(obj: Object | None) -> Mapping[str, Any]:
    return (obj or {}).get("spec") or {}


def _may_all(call: Call) -> bool:
    """Whether nothing is to be asked; of a status nothing else is written."""
    is_privileged = PRIVILEGED in call.request.user.groups
    return call.subresource is not None or call.backend.authorizer is None or is_privileged


def _resource(call: Call, kind: Mapping[str, Any]) -> tuple[str, str, str]:
    """Group, version and resource of a kind; all resources where there is none of that kind."""
    api_version = str(kind.get("apiVersion") or "")
    group, _, version = api_version.rpartition("/")
    served = call.backend.catalog.of_kind(api_version, str(kind.get("kind") or ""))
    return group, version, _ANY if served is None else served.plural


def _confirm(call: Call, asked: AuthorizationAttributes, new: Object, old: Object | None, path: str, why: str) -> None:
    """Raises StatusError: it is not allowed, and nothing else is wrong."""
    authorizer = call.backend.authorizer
    if authorizer is None or authorizer.authorize(asked).allowed:
        return
    obj, context = copied(new), call.context()
    errors = (
        call.strategy.validate_create(obj, context) if old is None else call.strategy.validate_update(obj, old, context)
    )
    if not errors:
        raise invalid_object(call.kind, new, [forbidden(path, why)])


def _shown(user: User) -> str:
    """A user as `%v` prints it."""
    extra = " ".join(f"{name}:[{' '.join(user.extra[name])}]" for name in sorted(user.extra))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"
