"""Garbage and namespaces: what goes with what, and what stays."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from hooking import Hooks, configuration, rule, webhook

import virtual
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


def test_who_does_not_block_goes_before_an_owner_that_is_held_by_another_finalizer() -> None:
    async def main(server: ApiServer) -> None:
        owner = await make(server, "owner", finalizers=["example.com/a"])
        await make(server, "free", owner)
        await delete(server, "owner", "Foreground")
        assert await names(server) == ["owner"]

    run(main)


def test_a_second_deletion_in_the_foreground_takes_the_dependents_too() -> None:
    async def main(server: ApiServer) -> None:
        owner = await make(server, "owner", finalizers=["example.com/a"])
        await make(server, "free", owner)
        await delete(server, "owner")
        assert await names(server) == ["free", "owner"]
        await delete(server, "owner", "Foreground")
        assert await names(server) == ["owner"]

    run(main)


def test_who_comes_to_an_owner_that_is_going_stays_until_that_is_gone() -> None:
    async def main(server: ApiServer) -> None:
        owner = await make(server, "owner")
        await make(server, "held", owner, blocks=True, finalizers=["example.com/a"])
        await delete(server, "owner", "Foreground")
        await make(server, "late", owner)
        assert await names(server) == ["held", "late", "owner"]
        await ask(server, "PATCH", f"{MAPS}/held", {"metadata": {"finalizers": []}}, MERGE)
        await server.settle()
        assert await names(server) == []

    run(main)


def test_another_word_about_an_owner_that_it_has_is_not_looked_at() -> None:
    async def main(server: ApiServer) -> None:
        owner = await make(server, "owner")
        await make(server, "free", owner)
        wrong = {"apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": owner["metadata"]["uid"]}
        await ask(server, "PATCH", f"{MAPS}/free", {"metadata": {"ownerReferences": [wrong]}}, MERGE)
        await server.settle()
        assert await names(server) == ["free", "owner"]
        await make(server, "new", owner)
        lost = {**wrong, "uid": "22222222-1111-1111-1111-111111111111"}
        await ask(server, "PATCH", f"{MAPS}/new", {"metadata": {"ownerReferences": [lost]}}, MERGE)
        await server.settle()
        assert await names(server) == ["free", "owner"]

    run(main)


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


def test_who_waits_for_itself_waits_without_work_until_somebody_helps() -> None:
    async def main(server: ApiServer) -> None:
        for circle in (["a"], ["b", "c"]):
            made = {name: await make(server, name) for name in circle}
            for name, owner in zip(circle, [*circle[1:], circle[0]], strict=True):
                reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "blockOwnerDeletion": True}
                reference["uid"] = made[owner]["metadata"]["uid"]
                await ask(server, "PATCH", f"{MAPS}/{name}", {"metadata": {"ownerReferences": [reference]}}, MERGE)
            for name in circle:
                await ask(server, "DELETE", f"{MAPS}/{name}?propagationPolicy=Foreground")
        await server.settle()
        assert await names(server) == ["a", "b", "c"]
        for name in ("a", "b"):
            await ask(server, "PATCH", f"{MAPS}/{name}", {"metadata": {"ownerReferences": None}}, MERGE)
        await server.settle()
        assert await names(server) == []

    run(main)


def test_what_a_webhook_keeps_goes_when_it_no_longer_does() -> None:
    async def main() -> None:
        hooks = Hooks(garbage=True)
        hooks.on("keep", {"allowed": False})
        server = hooks.server
        await make(server, "dependent", await make(server, "owner"))
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "going"}}
        await ask(server, "POST", "/api/v1/namespaces", space)
        await ask(server, "POST", "/api/v1/namespaces/going/configmaps", {"metadata": {"name": "a"}})
        path, body = configuration("validating", "keep", webhook("keep", [rule("configmaps", "DELETE")]))
        await ask(server, "DELETE", f"{MAPS}/owner")
        await ask(server, "POST", path, body)
        await ask(server, "DELETE", "/api/v1/namespaces/going")
        await server.settle()
        assert await names(server) == ["dependent"]
        before = len(hooks.asked)
        await asyncio.sleep(300)
        assert 10 < len(hooks.asked) - before < 40
        await ask(server, "DELETE", f"{path}/keep")
        await asyncio.sleep(60)
        assert await names(server) == []
        assert (await ask(server, "GET", "/api/v1/namespaces/going")).status == 404
        server.close()

    virtual.run(main())


def test_dependents_go_in_the_same_order_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", _ORDERED],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            check=True,
            capture_output=True,
            timeout=60,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(found) == 1


_ORDERED = """
import asyncio
from kubewright.apiserver import Request, new_server

MAPS = "/api/v1/namespaces/default/configmaps"

async def main():
    server = new_server(seed=1, garbage=True)
    async def make(name, **more):
        answer = await server.handle(Request.of("POST", MAPS, body={"metadata": {"name": name, **more}}))
        return answer.json["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": await make("owner")}
    for name in "abcdefgh":
        await make(name, ownerReferences=[owner])
    await server.settle()
    await server.handle(Request.of("DELETE", f"{MAPS}/owner"))
    await server.settle()
    print(*[each.entry.key for each in server.store.collection("/configmaps").log if each.type == "DELETED"])

asyncio.run(main())
"""
