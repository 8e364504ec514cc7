"""Lists and watches of a real API server: pages, selectors, and every change once."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from typing import Any

import pytest
from real_webs import Run, Web, web
from web_model import ConfigMap, config_map

from kubewright.client import Client, ClientConfig, Gone, MergePatch

pytestmark = pytest.mark.control_plane


def test_pages(web_run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        names = [f"w{number:02}" for number in range(25)]
        await asyncio.gather(*(client.create(web(name)) for name in names))
        page = await client.list(Web, namespace=namespace, limit=10)
        assert (len(page), page.remaining_item_count) == (10, 15)
        await client.create(web("w99"))
        rest = await client.list(Web, namespace=namespace, continue_=page.continue_)
        # The snapshot is that of the first page.
        assert [obj.metadata.name for obj in (*page, *rest)] == names
        seen = [obj.metadata.name async for obj in client.iterate(Web, namespace=namespace, page_size=4)]
        assert seen == [*names, "w99"]
        assert len(await client.list(Web, namespace=namespace)) == 26
        assert {obj.metadata.namespace for obj in await client.list(Web)} >= {namespace}

    web_run(body)


def test_selectors(run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        for name, tier in (("a", "front"), ("b", "back"), ("c", "mid")):
            await client.create(config_map(name, labels={"tier": tier}))

        async def names(**options: Any) -> list[str]:
            return [obj.metadata.name for obj in await client.list(ConfigMap, namespace=namespace, **options)]

        assert await names(labels={"tier": "front"}) == ["a"]
        assert await names(labels="tier in (front,back)") == ["a", "b"]
        assert [n for n in await names(labels="tier!=front") if n in "abc"] == ["b", "c"]
        assert await names(fields={"metadata.name": "b"}) == ["b"]
        assert await names(labels="tier", resource_version="0") == ["a", "b", "c"]

    run(body)


def test_a_watch_sees_what_is_there_and_each_change(web_run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        await client.create(web("old"))
        seen: list[tuple[str, str, bool]] = []

        async def write() -> None:
            made = await client.create(web("new"))
            await client.patch(made, MergePatch({"spec": {"replicas": 2}}))
            await client.delete(made)

        writer: asyncio.Task[None] | None = None
        async with contextlib.aclosing(client.watch(Web, namespace=namespace)) as events:
            async for event in events:
                seen.append((event.type, event.object.metadata.name, event.initial))
                if writer is None:
                    writer = asyncio.ensure_future(write())
                if event.type == "DELETED":
                    break
        assert writer is not None
        await writer
        assert seen == [
            ("ADDED", "old", True),
            ("ADDED", "new", False),
            ("MODIFIED", "new", False),
            ("DELETED", "new", False),
        ]

    web_run(body)


def test_a_watch_goes_on_over_the_ends_of_its_connections(
    web_run: Run, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kubewright.client import watch as watch_module

    monkeypatch.setattr(watch_module, "_SERVER_SECONDS", 1)

    async def body(client: Client) -> None:
        async def write() -> None:
            for number in range(30):
                await client.create(web(f"w{number:02}"))
                await asyncio.sleep(0.1)

        names = []
        async with contextlib.aclosing(client.watch(Web, namespace=namespace, send_initial=False)) as events:
            # The watch has its start only once the first event is asked for.
            first = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0.3)
            writer = asyncio.ensure_future(write())
            names.append((await first).object.metadata.name)
            async for event in events:
                names.append(event.object.metadata.name)
                if len(names) == 30:
                    break
        await writer
        assert names == [f"w{number:02}" for number in range(30)]

    web_run(body)


def test_a_watch_from_a_forgotten_version_is_told(web_run: Run) -> None:
    async def body(client: Client) -> None:
        with pytest.raises(Gone, match="too old resource version"):
            async for _ in client.watch(Web, resource_version="1"):
                pass

    web_run(body)


@pytest.mark.slow
def test_pages_that_expire(private_control_plane: Any) -> None:
    # The compactor drops what is older than the time before last that it ran.
    server = private_control_plane(api_server_args=["--etcd-compaction-interval=1s"])

    async def main() -> None:
        async with Client.connect(ClientConfig.load(server.access.kubeconfig_path)) as client:
            for name in "abcd":
                await client.create(config_map(name, labels={"x": "y"}))
            page = await client.list(ConfigMap, labels={"x": "y"}, limit=1)
            slow = client.iterate(ConfigMap, labels={"x": "y"}, page_size=2)
            names = [(await anext(slow)).metadata.name]

            async def go_on() -> None:
                while True:
                    await client.patch(ConfigMap, MergePatch({"data": {"n": uuid.uuid4().hex}}), "b")
                    await client.list(ConfigMap, labels={"x": "y"}, limit=1, continue_=page.continue_)
                    await asyncio.sleep(0.2)

            with pytest.raises(Gone) as gone:
                await asyncio.wait_for(go_on(), 30)
            assert gone.value.continue_
            await client.delete(ConfigMap, "c")
            names += [obj.metadata.name async for obj in slow]
            assert names == ["a", "b", "d"]

    asyncio.run(main())


def test_a_watch_ends_in_time(run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        seen = [event async for event in client.watch(ConfigMap, namespace=namespace, timeout_seconds=0.5)]
        assert all(event.initial for event in seen)

    run(body)
