"""Checks of Roles, bindings and their cluster-wide forms."""

from __future__ import annotations

from typing import Final

from kubewright.schema.structural.fielderrors import invalid, not_supported, required
from kubewright.schema.structural.gotext import GoStruct
from kubewright.schema.structural.metarules import dns_subdomain, path_segment

from .labels import label_selector
from .texts import Errors, Object, check, immutable

__all__ = ["binding", "binding_update", "role"]

_GROUP: Final = "rbac.authorization.k8s.io"


def role(obj: Object, *, namespaced: bool) -> Errors:
    """Errors of a Role or ClusterRole."""
    errors: Errors = []
    missing: Errors = []
    for place, rule in enumerate(obj.get("rules") or ()):
        here = f"rules[{place}]"
        if not rule.get("verbs"):
            missing.append(required(f"{here}.verbs"))
        errors += _rule(here, rule, namespaced=namespaced)
    aggregation = obj.get("aggregationRule")
    if aggregation is not None:
        path, selectors = "aggregationRule.clusterRoleSelectors", aggregation.get("clusterRoleSelectors") or []
        if not selectors:
            said = "at least one clusterRoleSelector required if aggregationRule is non-nil"
            errors.append(required(path, said))
        for place, selector in enumerate(selectors):
            errors += label_selector(f"{path}[{place}]", selector)
    # What the types declare is checked after what is written by hand.
    return errors + missing


def _rule(path: str, rule: Object, *, namespaced: bool) -> Errors:
    urls, where = rule.get("nonResourceURLs") or [], f"{path}.nonResourceURLs"
    errors: Errors = []
    if urls:
        if namespaced:
            errors.append(invalid(where, urls, "namespaced rules cannot apply to non-resource URLs"))
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            said = "rules cannot apply to both regular resources and non-resource URLs"
            errors.append(invalid(where, urls, said))
        return errors
    if not rule.get("apiGroups"):
        errors.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        errors.append(required(f"{path}.resources", "resource rules must supply at least one resource"))
    return errors


def binding(obj: Object, *, namespaced: bool) -> Errors:
    """Errors of a RoleBinding or ClusterRoleBinding."""
    reference = obj.get("roleRef") or {}
    group, kind, name = (reference.get(each, "") for each in ("apiGroup", "kind", "name"))
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    errors: Errors = []
    missing: Errors = []
    if group != _GROUP:
        errors.append(not_supported("roleRef.apiGroup", group, (_GROUP,)))
    if kind not in kinds:
        errors.append(not_supported("roleRef.kind", kind, kinds))
    if name:
        errors += check("roleRef.name", name, path_segment)
    else:
        missing.append(required("roleRef.name"))
    for place, subject in enumerate(obj.get("subjects", ())):
        here = f"subjects[{place}]"
        if not subject.get("name"):
            missing.insert(0, required(f"{here}.name"))
        errors += _subject(here, subject, namespaced=namespaced)
    return errors + missing


def _subject(path: str, subject: Object, *, namespaced: bool) -> Errors:
    kind, name, group = (subject.get(each, "") for each in ("kind", "name", "apiGroup"))
    errors: Errors = []
    if kind == "ServiceAccount":
        if name:
            errors += check(f"{path}.name", name, dns_subdomain)
        if group:
            errors.append(not_supported(f"{path}.apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            errors.append(required(f"{path}.namespace"))
    elif kind in ("User", "Group"):
        if group != _GROUP:
            errors.append(not_supported(f"{path}.apiGroup", group, (_GROUP,)))
    else:
        errors.append(not_supported(f"{path}.kind", kind, ("ServiceAccount", "User", "Group")))
    return errors


def binding_update(new: Object, old: Object, *, namespaced: bool) -> Errors:
    """Errors of a changed binding: it may bind others, but not to another role."""
    after, before = (_shown(each.get("roleRef") or {}) for each in (new, old))
    return binding(new, namespaced=namespaced) + immutable("roleRef", after, before)


def _shown(reference: Object) -> GoStruct:
    names = (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
    return GoStruct({shown: reference.get(name, "") for shown, name in names})
