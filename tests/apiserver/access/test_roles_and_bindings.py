"""Who may what, by roles and bindings: rules, what they cover, and that the present ones count."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.apiserver import Request, User, new_server
from kubewright.apiserver.access import AuthorizationAttributes, service_account
from kubewright.apiserver.access.attributes import attributes_of
from kubewright.apiserver.access.rbac import RoleAuthorizer
from kubewright.apiserver.access.reconciling import reconciled
from kubewright.apiserver.access.rules import Rule, atoms, missing, shown
from kubewright.apiserver.registry.call import resource_key
from kubewright.apiserver.store import Store

GROUP = "rbac.authorization.k8s.io"
JANE = User("jane", ("team", "system:authenticated"))


def rule(verbs: str, resources: str = "", groups: str = "", **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"verbs": verbs.split(), **more}
    if resources:
        made["resources"] = resources.split()
        made["apiGroups"] = ["" if each == "core" else each for each in (groups or "core").split()]
    return made


def asked(verb: str, resource: str, name: str = "", **more: Any) -> AuthorizationAttributes:
    resource, _, part = resource.partition("/")
    return AuthorizationAttributes(JANE, verb, resource=resource, subresource=part, name=name, **more)


def path(path: str, verb: str = "get") -> AuthorizationAttributes:
    return AuthorizationAttributes(JANE, verb, path=path, is_resource=False)


@pytest.mark.parametrize(
    ("given", "wanted", "allows"),
    [
        (rule("get", "pods"), asked("get", "pods"), True),
        (rule("get", "pods"), asked("list", "pods"), False),
        (rule("*", "*", "*"), asked("list", "pods/log", group="apps"), True),
        (rule("get", "pods"), asked("get", "pods/log"), False),
        (rule("get", "pods/log"), asked("get", "pods/log"), True),
        (rule("get", "*/log"), asked("get", "pods/log"), True),
        (rule("get", "pods/*"), asked("get", "pods/log"), False),
        (rule("get", "pods", "apps"), asked("get", "pods"), False),
        (rule("get", "pods", resourceNames=["a"]), asked("get", "pods", "a"), True),
        (rule("get", "pods", resourceNames=["a"]), asked("get", "pods"), False),
        (rule("get", nonResourceURLs=["/a/*"]), path("/a/b/c"), True),
        (rule("get", nonResourceURLs=["/a/*"]), path("/a"), False),
        (rule("get", nonResourceURLs=["*"]), path("/a", "post"), False),
        (rule("*", "*", "*"), path("/a"), False),
    ],
)
def test_a_rule_allows_what_it_names(given: dict[str, Any], wanted: AuthorizationAttributes, allows: bool) -> None:
    assert Rule(given).allows(wanted) is allows


def test_what_is_missing_is_told_by_resource() -> None:
    held = [Rule(rule("get list", "pods", "core apps")), Rule(rule("*", "*/scale", "*"))]
    wanted = [rule("get delete patch", "pods secrets"), rule("update", "deployments/scale", "apps")]
    assert [shown(each) for each in missing(held, wanted)] == [
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "patch"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete" "patch"]}',
    ]
    assert len(list(atoms(wanted))) == 7


def binding(store: Store, name: str, *subjects: dict[str, str], namespace: str = "", role: str = "reader") -> None:
    plural = "rolebindings" if namespace else "clusterrolebindings"
    obj: dict[str, Any] = {"metadata": {"name": name}, "subjects": list(subjects)}
    obj["roleRef"] = {"kind": "ClusterRole", "name": role}
    store.create(resource_key(GROUP, plural), f"{namespace}/{name}" if namespace else name, obj)


def reader(store: Store) -> None:
    rules = [rule("get", "configmaps")]
    store.create(resource_key(GROUP, "clusterroles"), "reader", {"metadata": {"name": "reader"}, "rules": rules})


def test_the_present_bindings_count() -> None:
    store = Store()
    authorizer = RoleAuthorizer(store)
    question = asked("get", "configmaps", namespace="a")
    assert not authorizer.authorize(question).allowed
    binding(store, "x", {"kind": "User", "name": "jane"}, namespace="a")
    decision = authorizer.authorize(question)
    assert (decision.verdict, decision.reason) == (
        "no opinion",
        'rbac: RBAC: clusterrole.rbac.authorization.k8s.io "reader" not found',
    )
    reader(store)
    decision = authorizer.authorize(question)
    assert decision.allowed
    assert decision.reason == 'RBAC: allowed by RoleBinding "x/a" of ClusterRole "reader" to User "jane"'
    assert not authorizer.authorize(asked("get", "configmaps", namespace="b")).allowed
    entry = store.get(resource_key(GROUP, "rolebindings"), "a/x")
    assert entry is not None
    store.delete(resource_key(GROUP, "rolebindings"), "a/x", entry)
    assert not authorizer.authorize(question).allowed


def test_a_service_account_is_bound_by_its_name_and_its_groups() -> None:
    store = Store()
    reader(store)
    binding(store, "x", {"kind": "ServiceAccount", "name": "one"}, namespace="a")
    binding(store, "y", {"kind": "Group", "name": "system:serviceaccounts:b"}, namespace="a")
    authorizer = RoleAuthorizer(store)

    def allowed(user: User) -> bool:
        return authorizer.authorize(AuthorizationAttributes(user, "get", "", "configmaps", "", "a")).allowed

    found = [allowed(service_account(*each)) for each in (("a", "one"), ("a", "two"), ("b", "two"), ("c", "one"))]
    assert found == [True, False, True, False]


@pytest.mark.parametrize(
    ("target", "verb", "name"),
    [
        ("/api/v1/pods?fieldSelector=metadata.name%3Da", "list", "a"),
        ("/api/v1/pods?fieldSelector=metadata.name%3Da&watch=1", "watch", "a"),
        ("/api/v1/pods?fieldSelector=metadata.name!%3Da", "list", ""),
        ("/api/v1/pods?fieldSelector=nonsense", "list", ""),
        ("/api/v1/pods?fieldSelector=&fieldSelector=metadata.name%3Da", "list", ""),
        ("/api/v1/pods?fieldSelector=metadata.name%3Da&fieldSelector=metadata.name%3Db", "list", "a"),
        ("/api/v1/namespaces/a/pods/b", "get", "b"),
    ],
)
def test_a_list_of_one_object_is_about_that_object(target: str, verb: str, name: str) -> None:
    found = attributes_of(Request.of("GET", target))
    assert (found.verb, found.name) == (verb, name)


def test_the_roles_of_a_new_cluster_are_there_before_anybody_looks() -> None:
    server = new_server(seed=1)
    roles = server.store.collection(resource_key(GROUP, "clusterroles"))
    made = [entry.revision for entry in roles.live.values()]
    assert len(made) == 73
    assert max(made) < server.store.revision
    assert [entry.revision for entry in roles.page(limit=2).entries] == made[:2]


def test_forks_share_the_roles_of_a_new_cluster_and_not_what_is_written() -> None:
    server = new_server()
    one, other = server.fork(), server.fork()
    kind = resource_key(GROUP, "clusterroles")
    first = one.store.get(kind, "view")
    assert first is other.store.get(kind, "view") is server.store.get(kind, "view")
    assert first is not None
    one.store.delete(kind, "view", first)
    assert one.store.get(kind, "view") is None
    assert other.store.get(kind, "view") is first


def test_a_store_that_forgets_has_the_roles_and_not_their_creation() -> None:
    server = new_server()
    server.store.compact()
    roles = server.store.collection(resource_key(GROUP, "clusterroles"))
    assert (len(roles.live), len(roles.log)) == (73, 0)


def test_a_store_that_is_used_again_gets_the_roles_that_it_lacks() -> None:
    store = new_server().store
    kind = resource_key(GROUP, "clusterroles")
    entry = store.get(kind, "view")
    assert entry is not None
    store.delete(kind, "view", entry)
    again = new_server(store=store)
    assert again.store.get(kind, "view") is not None
    assert len(again.store.collection(kind).live) == 73


VIEWER = {"metadata": {"name": "x", "labels": {"a": "b"}}, "rules": [rule("get list", "pods secrets")]}


@pytest.mark.parametrize(
    ("found", "wanted", "made"),
    [
        ({}, {}, None),
        ({"rules": [rule("get list delete", "pods secrets")]}, {}, None),
        ({"rules": []}, {"rules": [rule("get", "pods")]}, {"rules": [rule("get", "pods")]}),
        (
            {"rules": [rule("get list", "pods")]},
            {},
            {"rules": [rule("get list", "pods"), rule("get list", "secrets")]},
        ),
        ({"aggregationRule": {"clusterRoleSelectors": []}}, {}, {"aggregationRule": None}),
        (
            {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"own": "x"}}]}},
            {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}, "rules": []},
            {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"own": "x"}}, {"matchLabels": {"a": "b"}}]}},
        ),
        (
            {"metadata": {"name": "x", "labels": {"a": "own", "c": "d"}}},
            {"metadata": {"name": "x", "labels": {"a": "b", "e": "f"}}},
            {"metadata": {"name": "x", "labels": {"a": "own", "c": "d", "e": "f"}}},
        ),
        (
            {
                "metadata": {"name": "x", "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}},
                "rules": [],
            },
            {},
            None,
        ),
    ],
)
def test_a_role_of_a_new_cluster_gets_back_what_it_lacks_and_keeps_what_was_added(
    found: dict[str, Any], wanted: dict[str, Any], made: dict[str, Any] | None
) -> None:
    expected = None if made is None else {name: each for name, each in {**VIEWER, **found, **made}.items() if each}
    assert reconciled({**VIEWER, **found}, {**VIEWER, **wanted}) == expected


def test_a_binding_of_a_new_cluster_gets_its_subjects_and_its_role_back() -> None:
    store = new_server().store
    kind = resource_key(GROUP, "clusterrolebindings")
    for name, change in (
        ("system:basic-user", {"subjects": [{"kind": "User", "name": "jane", "apiGroup": GROUP}]}),
        ("system:discovery", {"roleRef": {"kind": "ClusterRole", "name": "view", "apiGroup": GROUP}}),
    ):
        entry = store.get(kind, name)
        assert entry is not None
        store.update(kind, name, {**entry.object, "metadata": dict(entry.object["metadata"]), **change}, entry)
    again = new_server(store=store)
    user, role = again.store.get(kind, "system:basic-user"), again.store.get(kind, "system:discovery")
    assert user is not None
    assert role is not None
    assert [each["name"] for each in user.object["subjects"]] == ["jane", "system:authenticated"]
    assert role.object["roleRef"]["name"] == "system:discovery"
    revision = again.store.revision
    assert new_server(store=again.store).store.revision == revision


def test_what_is_kept_of_answers_does_not_grow_with_what_is_asked() -> None:
    server = new_server(seed=1)
    authorizer = server.backend.authorizer
    assert isinstance(authorizer, RoleAuthorizer)

    def kept() -> int:
        own = (authorizer.__dict__[name] for name in ("_rules", "_subjects", "_decisions"))
        return sum(map(len, own))

    for number in range(5_000):
        user = User(f"user-{number}", ("system:authenticated",))
        asked = AuthorizationAttributes(user, "get", resource="pods", namespace=f"namespace-{number}")
        assert not authorizer.authorize(asked).allowed
    assert kept() <= 3_000
