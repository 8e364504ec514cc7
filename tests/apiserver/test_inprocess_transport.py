"""Clients without sockets: the transport's guarantees, and the toolkit's own client on it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asking import CONFIG_PATH, server

import virtual
from kubewright.apiserver import Request, Response
from kubewright.apiserver.inprocess import InProcessTransport, in_process_client
from kubewright.client import Conflict, MergePatch, NotFound
from kubewright.client.transport import RequestTimeout, StreamIdle, TransportClosed
from kubewright.model import ObjectMeta
from kubewright.models.core.v1 import ConfigMap


def config_map(name: str = "a", **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data=data)


def test_the_client_creates_reads_changes_and_deletes() -> None:
    async def main() -> None:
        async with in_process_client(server()) as kube:
            made = await kube.create(config_map(a="b"))
            assert made.metadata.uid
            made.data["c"] = "d"
            changed = await kube.update(made)
            assert (await kube.get(ConfigMap, "a")).data == {"a": "b", "c": "d"}
            with pytest.raises(Conflict):
                await kube.update(made)
            assert changed.metadata.resource_version != made.metadata.resource_version
            await kube.patch(made, MergePatch({"data": {"a": None}}))
            assert [each.data for each in (await kube.list(ConfigMap)).items] == [{"c": "d"}]
            await kube.delete(made)
            with pytest.raises(NotFound):
                await kube.get(ConfigMap, "a")

    virtual.run(main())


def test_the_lines_of_a_stream_arrive_whole_and_in_order() -> None:
    async def main() -> None:
        api = server()
        transport = InProcessTransport(api)
        lines: list[bytes] = []
        heads: list[int] = []
        target = f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}&timeoutSeconds=5"
        reading = asyncio.ensure_future(
            transport.stream(
                "GET", target, on_line=lines.append, on_response=lambda response: heads.append(response.status)
            )
        )
        await virtual.settle()
        async with in_process_client(api) as kube:
            for name in "abc":
                await kube.create(config_map(name))
        answer = await reading
        assert (answer.status, heads, len(lines)) == (200, [200], 3)
        assert all(line.startswith(b'{"type":"ADDED"') and line.endswith(b"}}") for line in lines)

    virtual.run(main())


def test_a_refused_stream_is_an_answer_with_its_body() -> None:
    async def main() -> None:
        lines: list[bytes] = []
        answer = await InProcessTransport(server()).stream("GET", "/api/v1/nothing?watch=1", on_line=lines.append)
        assert (answer.status, lines) == (404, [])
        assert b'"kind":"Status"' in answer.body

    virtual.run(main())


class Silent:
    """A server that never answers."""

    async def handle(self, request: Request, /) -> Response:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


def test_every_call_ends_by_its_deadline() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        started_at = loop.time()
        with pytest.raises(RequestTimeout):
            await InProcessTransport(Silent()).request("GET", "/", timeout_seconds=3)
        assert loop.time() - started_at == pytest.approx(3)
        transport = InProcessTransport(server())
        with pytest.raises(StreamIdle):
            await transport.stream("GET", f"{CONFIG_PATH}?watch=1", on_line=lambda line: None, idle_seconds=7)

    virtual.run(main())


def test_close_ends_all_streams_and_refuses_what_comes_later() -> None:
    async def main() -> None:
        transport = InProcessTransport(server())
        calls: list[Any] = [
            asyncio.ensure_future(transport.stream("GET", f"{CONFIG_PATH}?watch=1", on_line=lambda line: None))
            for _ in range(3)
        ]
        await virtual.settle()
        await transport.close()
        for ended in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(ended, TransportClosed)
        with pytest.raises(TransportClosed):
            await transport.request("GET", CONFIG_PATH)
        await transport.close()

    virtual.run(main())


def test_a_line_that_is_not_wanted_closes_the_stream() -> None:
    async def main() -> None:
        api = server()
        async with in_process_client(api) as kube:
            await kube.create(config_map())

        def refuse(line: bytes) -> None:
            raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            await InProcessTransport(api).stream("GET", f"{CONFIG_PATH}?watch=1", on_line=refuse)

    virtual.run(main())
