"""Garbage and namespaces: what goes with what, and what stays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from kubewright.apiserver import ApiServer, Request, Response, new_server

MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"


async def ask(
    server: ApiServer, method: str, target: str, body: Any = None, content_type: str = "application/json"
) -> Any:
    headers = {"content-type": content_type}
    sent = b"" if body is None else orjson.dumps(body)
    answer = await server.handle(Request.of(method, target, headers=headers, body=sent))
    assert isinstance(answer, Response)
    return answer


async def make(server: ApiServer, name: str, *owners: Any, blocks: bool = False, **meta: Any) -> dict[str, Any]:
    references = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": each["metadata"]["name"],
            "uid": each["metadata"]["uid"],
            **({"blockOwnerDeletion": True} if blocks else {}),
        }
        for each in owners
    ]
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": references, **meta}}
    made = await ask(server, "POST", MAPS, body)
    assert made.status == 201
    await server.settle()
    found: dict[str, Any] = made.json
    return found


async def delete(server: ApiServer, name: str, policy: str = "Background") -> None:
    target = f"{MAPS}/{name}?propagationPolicy={policy}"
    assert (await ask(server, "DELETE", target)).status == 200
    await server.settle()


async def names(server: ApiServer) -> list[str]:
    found = (await ask(server, "GET", MAPS)).json["items"]
    return [each["metadata"]["name"] for each in found]


def run(main: Callable[[ApiServer], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await main(new_server(seed=1, garbage=True))

    asyncio.run(bounded())


def test_dependents_go_with_their_last_owner_and_so_on() -> None:
    async def main(server: ApiServer) -> None:
        one, other = await make(server, "one"), await make(server, "other")
        both = await make(server, "both", one, other)
        await make(server, "below", both)
        await delete(server, "one")
        assert await names(server) == ["below", "both", "other"]
        left = (await ask(server, "GET", f"{MAPS}/both")).json["metadata"]["ownerReferences"]
        assert [each["name"] for each in left] == ["other"]
        await delete(server, "other")
        assert await names(server) == []

    run(main)


def test_a_dependent_of_nobody_is_deleted_as_soon_as_it_is_there() -> None:
    async def main(server: ApiServer) -> None:
        gone = await make(server, "gone")
        await delete(server, "gone")
        await make(server, "gone")
        await make(server, "late", gone)
        assert await names(server) == ["gone"]

    run(main)


def test_orphans_stay_without_their_owner() -> None:
    async def main(server: ApiServer) -> None:
        owner = await make(server, "owner")
        await make(server, "child", owner)
        await delete(server, "owner", "Orphan")
        assert await names(server) == ["child"]
        assert "ownerReferences" not in (await ask(server, "GET", f"{MAPS}/child")).json["metadata"]

    run(main)


def test_in_the_foreground_an_owner_waits_for_those_that_block_it() -> None:
    async def main(server: ApiServer) -> None:
        owner = await make(server, "owner")
        await make(server, "child", owner, blocks=True, finalizers=["example.com/held"])
        await make(server, "free", owner)
        await delete(server, "owner", "Foreground")
        assert await names(server) == ["child", "owner"]
        body = {"metadata": {"finalizers": None}}
        assert (await ask(server, "PATCH", f"{MAPS}/child", body, MERGE)).status == 200
        await server.settle()
        assert await names(server) == []

    run(main)


def test_an_owner_of_a_kind_that_is_not_served_is_left_alone() -> None:
    async def main(server: ApiServer) -> None:
        reference = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "u"}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "ownerReferences": [reference]}}
        await ask(server, "POST", MAPS, body)
        await server.settle()
        assert await names(server) == ["a"]

    run(main)


def test_a_namespace_goes_with_all_that_is_in_it() -> None:
    async def main(server: ApiServer) -> None:
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
        await ask(server, "POST", "/api/v1/namespaces", body)
        held = {"name": "a", "finalizers": ["example.com/held"]}
        maps = "/api/v1/namespaces/n/configmaps"
        await ask(server, "POST", maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": held})
        await ask(server, "POST", maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}})
        await ask(server, "DELETE", "/api/v1/namespaces/n")
        await server.settle()
        assert (await ask(server, "GET", "/api/v1/namespaces/n")).json["status"]["phase"] == "Terminating"
        assert [each["metadata"]["name"] for each in (await ask(server, "GET", maps)).json["items"]] == ["a"]
        await ask(server, "PATCH", f"{maps}/a", {"metadata": {"finalizers": None}}, MERGE)
        await server.settle()
        assert (await ask(server, "GET", "/api/v1/namespaces/n")).status == 404

    run(main)


def test_a_fork_clears_away_its_own_and_an_old_store_what_was_due() -> None:
    async def main(server: ApiServer) -> None:
        owner = await make(server, "owner")
        await make(server, "child", owner)
        fork = server.fork()
        await delete(fork, "owner")
        assert await names(fork) == []
        assert await names(server) == ["child", "owner"]

        alone = new_server(seed=2)
        owner = (
            await ask(alone, "POST", MAPS, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "o"}})
        ).json
        await make(alone, "c", owner)
        await delete(alone, "o")
        assert await names(alone) == ["c"]
        later = new_server(store=alone.store.fork(), garbage=True)
        await later.settle()
        assert await names(later) == []

    run(main)


def test_without_controllers_an_api_server_clears_nothing_away() -> None:
    async def main(server: ApiServer) -> None:
        alone = new_server(seed=1)
        owner = await make(alone, "owner")
        await make(alone, "child", owner)
        await delete(alone, "owner")
        assert await names(alone) == ["child"]

    run(main)


def test_a_fork_knows_dependents_and_neither_sees_those_of_the_other() -> None:
    async def main(server: ApiServer) -> None:
        owner = await make(server, "owner")
        await make(server, "shared", owner)
        fork = server.fork()
        try:
            await make(fork, "of-the-fork", owner)
            await make(server, "of-the-first", owner)
            await delete(fork, "owner")
            assert await names(fork) == []
            assert await names(server) == ["of-the-first", "owner", "shared"]
            await delete(server, "owner")
            assert await names(server) == []
        finally:
            fork.close()

    run(main)
