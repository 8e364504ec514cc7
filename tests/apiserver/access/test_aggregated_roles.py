"""Aggregated ClusterRoles have the rules of those that they select, where controllers are."""

from __future__ import annotations

import asyncio
from typing import Any

from kubewright.apiserver import ApiServer, Request, Response, new_server

PATH = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
MERGE = {"content-type": "application/merge-patch+json"}
GET = {"apiGroups": ["example.com"], "resources": ["things"], "verbs": ["get"]}


async def ask(server: ApiServer, method: str, path: str, body: Any = b"") -> Any:
    headers = MERGE if method == "PATCH" else None
    answer = await server.handle(Request.of(method, path, body=body, headers=headers))
    assert isinstance(answer, Response)
    assert answer.status < 300, answer.body
    return answer.json


async def rules(server: ApiServer, name: str) -> list[Any]:
    await server.settle()
    return (await ask(server, "GET", f"{PATH}/{name}"))["rules"] or []


def test_a_role_that_is_selected_gives_its_rules() -> None:
    async def main() -> None:
        server = new_server(garbage=True)
        before = await rules(server, "admin")
        labels = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
        await ask(server, "POST", PATH, {"metadata": {"name": "things", "labels": labels}, "rules": [GET]})
        # `view` is selected by `edit`, which is selected by `admin`.
        for name in ("view", "edit", "admin"):
            assert GET in await rules(server, name)
        await ask(server, "PATCH", f"{PATH}/things", {"metadata": {"labels": None}})
        assert await rules(server, "admin") == before
        server.close()

    asyncio.run(main())


def test_rules_are_there_once_and_what_is_right_is_not_written() -> None:
    async def main() -> None:
        server = new_server(garbage=True)
        selector = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}, {"matchLabels": {"a": "b"}}]}
        await ask(
            server, "POST", PATH, {"metadata": {"name": "all", "labels": {"a": "b"}}, "aggregationRule": selector}
        )
        for name in ("one", "two"):
            await ask(server, "POST", PATH, {"metadata": {"name": name, "labels": {"a": "b"}}, "rules": [GET]})
        assert await rules(server, "all") == [GET]
        revision = server.store.revision
        await ask(server, "PATCH", f"{PATH}/one", {"metadata": {"annotations": {"c": "d"}}})
        assert await rules(server, "all") == [GET]
        assert server.store.revision == revision + 1
        server.close()

    asyncio.run(main())


def test_an_api_server_alone_fills_nothing_in() -> None:
    async def main() -> None:
        server = new_server()
        assert await rules(server, "admin") == []

    asyncio.run(main())


def test_a_fork_looks_after_its_own_roles() -> None:
    async def main() -> None:
        server = new_server(garbage=True)
        fork = server.fork()
        labels = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
        await ask(fork, "POST", PATH, {"metadata": {"name": "things", "labels": labels}, "rules": [GET]})
        assert GET in await rules(fork, "view")
        assert GET not in await rules(server, "view")

    asyncio.run(main())
