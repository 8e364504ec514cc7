"""Whoever adds the rights of an operator sees all that is missing, on one line."""

from __future__ import annotations

from kubewright.cache import Denied, ListWatchError, Rejected
from kubewright.client import Forbidden
from kubewright.manager.refusals import explain


def denied(resource: str, group: str, *, user: str = "bob", where: str = "at the cluster scope") -> ListWatchError:
    """What a `Collection` raises for a list that RBAC forbids."""
    message = f'{resource} is forbidden: User "{user}" cannot list resource "{resource}" in API group "{group}" {where}'
    problem = Denied(message)
    problem.__cause__ = Forbidden(403, "Forbidden", message)
    return problem


def test_all_missing_rights_of_a_user_become_one_rule_per_api_group() -> None:
    problems = {
        "services": denied("services", ""),
        "statefulsets.apps": denied("statefulsets", "apps"),
        "configmaps": denied("configmaps", ""),
    }
    assert explain(problems) == (
        "403 Forbidden: User bob cannot list configmaps, services, statefulsets.apps at the cluster scope; "
        'bind User bob to a ClusterRole with the rules {apiGroups: [""], resources: ["configmaps", "services"], '
        'verbs: ["list", "watch"]}, {apiGroups: ["apps"], resources: ["statefulsets"], verbs: ["list", "watch"]}'
    )


def test_a_refusal_in_a_namespace_asks_for_a_role_there() -> None:
    account = "system:serviceaccount:prod:web"
    problem = denied("pods", "", user=account, where='in the namespace "prod"')
    assert explain({"pods": problem}) == (
        "403 Forbidden: ServiceAccount prod/web cannot list pods in namespace prod; bind ServiceAccount prod/web to "
        'a Role in namespace prod with the rule {apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"]}'
    )


def test_what_is_no_matter_of_rights_is_told_in_the_words_of_the_server_once() -> None:
    problems = {"webs": Rejected("no list"), "apps": Rejected("no list"), "pods": denied("pods", "")}
    said = explain(problems)
    assert said.startswith("403 Forbidden: User bob cannot list pods")
    assert said.endswith("; apps, webs: cannot be watched: no list")


def test_a_403_that_is_not_of_rbac_is_told_as_it_is() -> None:
    problem = Denied("pods is forbidden: no Pods today")
    problem.__cause__ = Forbidden(403, "Forbidden", "pods is forbidden: no Pods today")
    assert explain({"pods": problem}) == "pods: cannot be watched: pods is forbidden: no Pods today"
