"""What a request takes beyond the right to its own verb, and that nobody gets around it."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from kubewright.apiserver import ApiServer, Request, Response, User, new_server
from kubewright.apiserver.access import RulesUsed, privileged

GROUP = "rbac.authorization.k8s.io"
JANE = User("jane", ("system:authenticated",))
CONFIGS = "/api/v1/namespaces/default/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
SECRETS = "/api/v1/namespaces/default/secrets"
APPLY = {"content-type": "application/apply-patch+yaml"}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}}


def rule(group: str, resource: str, *verbs: str, **more: Any) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs), **more}


async def ask(server: ApiServer, user: User, method: str, target: str, body: Any = b"") -> Response:
    answer = await server.handle(Request.of(method, target, body=body, user=user))
    assert isinstance(answer, Response)
    return answer


async def served(*rules: dict[str, Any]) -> ApiServer:
    """A server where Jane has these rules."""
    server = new_server(seed=1)
    role = {"metadata": {"name": "jane"}, "rules": list(rules)}
    binding = {
        "metadata": {"name": "jane"},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "jane"},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": "jane"}],
    }
    for plural, body in (("clusterroles", role), ("clusterrolebindings", binding)):
        answer = await server.handle(Request.of("POST", f"/apis/{GROUP}/v1/{plural}", body=body))
        assert answer.status == 201
    return server


async def applied(server: ApiServer, user: User, body: dict[str, Any], query: str = "") -> Response:
    request = Request.of("PATCH", f"{CONFIGS}/a?fieldManager=me{query}", headers=APPLY, body=orjson.dumps(body))
    request.user = user
    answer = await server.handle(request)
    assert isinstance(answer, Response)
    return answer


@pytest.mark.parametrize("query", ["", "&dryRun=All"])
def test_an_apply_that_makes_an_object_takes_the_right_to_create_it(query: str) -> None:
    async def main() -> None:
        server = await served(rule("", "configmaps", "patch"))
        answer = await applied(server, JANE, CONFIG, query)
        assert (answer.status, answer.json["message"]) == (
            403,
            'configmaps "a" is forbidden: User "jane" cannot create resource "configmaps" in API group "" '
            'in the namespace "default"',
        )
        assert (await applied(server, privileged(JANE), CONFIG)).status == 201
        assert (await applied(server, JANE, {**CONFIG, "data": {"a": "2"}}, query)).status == 200
        server = await served(rule("", "configmaps", "patch", "create"))
        assert (await applied(server, JANE, CONFIG, query)).status == 201

    asyncio.run(main())


def test_an_update_that_makes_an_object_takes_the_right_to_create_it() -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a", "namespace": "default"}}

    async def main() -> list[int]:
        found: list[int] = []
        for verbs in (["update"], ["update", "create"]):
            server = await served(rule("coordination.k8s.io", "leases", *verbs))
            found.append((await ask(server, JANE, "PUT", f"{LEASES}/a", lease)).status)
        return found

    assert asyncio.run(main()) == [403, 201]


def test_recorded_rules_have_the_right_to_create_what_was_applied() -> None:
    async def main() -> list[list[str]]:
        server = await served()
        found = []
        for _ in range(2):
            used = RulesUsed()
            server.use(used)
            assert (await applied(server, privileged(JANE), CONFIG)).status in (200, 201)
            found.append(used.rules(JANE)[0].verbs)
        return found

    assert asyncio.run(main()) == [["create", "patch"], ["patch"]]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("fieldSelector=metadata.name%3Da", 200),
        ("fieldSelector=metadata.name%3Da&fieldSelector=", 200),
        ("fieldSelector=&fieldSelector=metadata.name%3Da", 403),
        ("fieldSelector=metadata.name%3Db&fieldSelector=metadata.name%3Da", 403),
        ("fieldSelector=type%3Dx&fieldSelector=metadata.name%3Da", 403),
    ],
)
def test_the_object_that_a_list_is_about_is_the_one_that_it_lists(query: str, status: int) -> None:
    async def main() -> Response:
        server = await served(rule("", "secrets", "list", resourceNames=["a"]))
        for name in ("a", "b"):
            await server.handle(Request.of("POST", SECRETS, body={"metadata": {"name": name}}))
        return await ask(server, JANE, "GET", f"{SECRETS}?{query}")

    answer = asyncio.run(main())
    assert answer.status == status
    assert [each["metadata"]["name"] for each in answer.json.get("items", ())] == (["a"] if status == 200 else [])
