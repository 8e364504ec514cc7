"""Why kinds cannot be watched, on one line however many they are.

An operator that may not list one of its kinds mostly may not list several: then each is refused at the same moment, and
whoever adds the rights wants to see all that is missing, not one kind per start. So refusals are put together: those
of RBAC by who was refused, the others by what was said. It is text from values; when to give up is `informers`'.

A rule has both verbs, although the server has refused only the first of them: a kind that may be listed and not watched
is no use to anybody.
"""

from __future__ import annotations

from collections.abc import Mapping

from kubewright.cache import ListWatchError
from kubewright.client import Forbidden
from kubewright.client.rbac import RbacRule

__all__ = ["explain"]


def explain(problems: Mapping[str, ListWatchError]) -> str:
    """One line for all kinds, with the cure. `problems`: by resource (`statefulsets.apps`), what the server said."""
    missing: dict[tuple[str, str], dict[str, RbacRule]] = {}
    others: dict[str, list[str]] = {}
    for resource in sorted(problems):
        rule = _rule(problems[resource])
        if rule is not None:
            missing.setdefault((rule.user, rule.namespace), {})[resource] = rule
        else:
            others.setdefault(str(problems[resource]), []).append(resource)
    parts = [_missing(rules) for rules in missing.values()]
    parts += [f"{', '.join(resources)}: cannot be watched: {said}" for said, resources in others.items()]
    return "; ".join(parts)


def _rule(problem: ListWatchError) -> RbacRule | None:
    refused = problem.__cause__
    rule = refused.rule if isinstance(refused, Forbidden) else None
    return rule if rule is not None and rule.resource else None


def _missing(rules: Mapping[str, RbacRule]) -> str:
    one = next(iter(rules.values()))
    by_group: dict[str, list[str]] = {}
    for rule in rules.values():
        by_group.setdefault(rule.api_group, []).append(f'"{rule.resource}"')
    texts = [
        f'{{apiGroups: ["{group}"], resources: [{", ".join(names)}], verbs: ["list", "watch"]}}'
        for group, names in by_group.items()
    ]
    where = f"in namespace {one.namespace}" if one.namespace else "at the cluster scope"
    role = f"a Role in namespace {one.namespace}" if one.namespace else "a ClusterRole"
    return (
        f"403 Forbidden: {one.subject} cannot {one.verb} {', '.join(rules)} {where}; "
        f"bind {one.subject} to {role} with the rule{'s' if len(texts) > 1 else ''} {', '.join(texts)}"
    )
