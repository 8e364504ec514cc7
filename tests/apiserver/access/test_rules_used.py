"""From what was done to the rules that it takes, and back."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubewright.apiserver import ADMIN, Request, User, new_server
from kubewright.apiserver.access import AuthorizationAttributes, RulesUsed, privileged, service_account
from kubewright.apiserver.access.rules import Rule
from kubewright.models.rbac.v1 import PolicyRule

OPERATOR = service_account("shop", "operator")

_RESOURCES = (("", "pods"), ("", "configmaps"), ("apps", "deployments"), ("events.k8s.io", "events"), ("", "events"))
_VERBS = ("get", "list", "create", "impersonate")

_resource_uses = st.builds(
    lambda verb, resource, part, name, namespace: AuthorizationAttributes(
        OPERATOR, verb, *resource, part, namespace, name
    ),
    st.sampled_from(_VERBS),
    st.sampled_from(_RESOURCES),
    st.sampled_from(("", "status")),
    st.sampled_from(("", "a", "b")),
    st.sampled_from(("", "shop")),
)
_path_uses = st.builds(
    lambda verb, path: AuthorizationAttributes(OPERATOR, verb, path=path, is_resource=False),
    st.sampled_from(("get", "post")),
    st.sampled_from(("/metrics", "/metrics/a", "/logs")),
)
_uses = st.lists(st.one_of(_resource_uses, _path_uses), max_size=12)
_EVERY = [
    AuthorizationAttributes(OPERATOR, verb, *resource, part, "", name)
    for verb in _VERBS
    for resource in _RESOURCES
    for part in ("", "status")
    for name in ("", "a", "b")
] + [
    AuthorizationAttributes(OPERATOR, verb, path=path, is_resource=False)
    for verb in ("get", "post")
    for path in ("/metrics", "/metrics/a", "/logs")
]


def noted(uses: list[AuthorizationAttributes]) -> RulesUsed:
    used = RulesUsed()
    for each in uses:
        used.note(each)
    return used


def plain(rule: PolicyRule) -> dict[str, Any]:
    return {
        "apiGroups": rule.api_groups,
        "resources": rule.resources,
        "resourceNames": rule.resource_names,
        "nonResourceURLs": rule.non_resource_urls,
        "verbs": rule.verbs,
    }


def key(asked: AuthorizationAttributes) -> tuple[str, ...]:
    return (asked.verb, asked.group, asked.resource, asked.subresource, asked.path)


@given(_uses)
def test_recorded_rules_allow_what_was_done_and_nothing_else(uses: list[AuthorizationAttributes]) -> None:
    rules = [Rule(plain(each)) for each in noted(uses).rules(OPERATOR)]
    done = {key(each) for each in uses}
    for each in _EVERY:
        assert any(rule.allows(each) for rule in rules) is (key(each) in done), each


@given(_uses)
def test_recorded_rules_name_objects_where_all_requests_did(uses: list[AuthorizationAttributes]) -> None:
    rules = [Rule(plain(each)) for each in noted(uses).rules(OPERATOR, names=True)]
    done = {(*key(each), each.name) for each in uses}
    for each in _EVERY:
        wanted = (*key(each), each.name) in done or (*key(each), "") in done
        assert any(rule.allows(each) for rule in rules) is wanted, each


@given(_uses, _uses)
def test_a_comparison_says_what_is_missing_and_what_is_unused(
    uses: list[AuthorizationAttributes], others: list[AuthorizationAttributes]
) -> None:
    used, given_rules = noted(uses), noted(others).rules(OPERATOR)
    found = used.compare(OPERATOR, given_rules)
    done, allowed = {key(each) for each in uses}, {key(each) for each in others}
    missing, unused = ([Rule(plain(each)) for each in rules] for rules in found)
    for each in _EVERY:
        assert any(rule.allows(each) for rule in missing) is (key(each) in done - allowed)
        assert any(rule.allows(each) for rule in unused) is (key(each) in allowed - done)
    assert used.compare(OPERATOR, used.rules(OPERATOR, names=True)).is_exact


def test_rules_are_tidy() -> None:
    uses = [
        AuthorizationAttributes(OPERATOR, verb, group, resource, "", "shop", "x")
        for group, resource, verbs in (
            ("", "events", ("patch", "create")),
            ("events.k8s.io", "events", ("create", "patch")),
            ("apps", "statefulsets", ("watch", "list", "get")),
            ("apps", "deployments", ("get", "watch", "list")),
        )
        for verb in verbs
    ]
    assert noted(uses).rules("system:serviceaccount:shop:operator") == [
        PolicyRule(api_groups=["", "events.k8s.io"], resources=["events"], verbs=["create", "patch"]),
        PolicyRule(api_groups=["apps"], resources=["deployments", "statefulsets"], verbs=["get", "list", "watch"]),
    ]


def test_what_a_server_is_asked_is_noted_by_user_and_namespace() -> None:
    async def main() -> RulesUsed:
        server, used = new_server(), RulesUsed()
        server.use(used)
        for method, path, user in (
            ("GET", "/api/v1/namespaces/shop/configmaps?watch=1&timeoutSeconds=1", privileged(OPERATOR)),
            ("GET", "/api/v1/namespaces/shop/configmaps/x", privileged(OPERATOR)),
            ("GET", "/apis/apps/v1/deployments", privileged(OPERATOR)),
            ("GET", "/api", privileged(OPERATOR)),
            ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", privileged(OPERATOR)),
            ("GET", "/api/v1/nodes", User("jane", ("system:authenticated",))),
            ("GET", "/api/v1/nodes", ADMIN),
        ):
            answer = await server.handle(Request.of(method, path, user=user))
            if hasattr(answer, "close"):
                answer.close()
        server.close()
        return used

    used = asyncio.run(main())
    assert used.users == [ADMIN.name, OPERATOR.name]
    assert used.rules(OPERATOR, namespace="shop") == [
        PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["get", "watch"])
    ]
    assert used.rules(OPERATOR, namespace="") == [
        PolicyRule(api_groups=["apps"], resources=["deployments"], verbs=["list"])
    ]


def test_a_wildcard_is_used_as_soon_as_one_request_needs_it() -> None:
    used = noted([AuthorizationAttributes(OPERATOR, "get", "", "pods", "", "shop", "x")])
    assert used.compare(OPERATOR, [PolicyRule(api_groups=["*"], resources=["*"], verbs=["*"])]).is_exact
    named = PolicyRule(api_groups=[""], resources=["pods"], resource_names=["x", "y"], verbs=["get"])
    assert used.compare(OPERATOR, [named]).unused == [
        PolicyRule(api_groups=[""], resources=["pods"], resource_names=["y"], verbs=["get"])
    ]
