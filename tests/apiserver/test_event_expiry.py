"""Events are gone an hour after their last write, by the server's clock."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import virtual
from kubewright.apiserver import ApiServer, Request, Response, Stream, new_server

EVENTS = "/api/v1/namespaces/default/events"


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


def event(name: str, count: int = 1) -> dict[str, Any]:
    about = {"kind": "ConfigMap", "name": "a", "namespace": "default"}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Event", "metadata": meta, "involvedObject": about, "count": count}


async def ask(server: ApiServer, method: str, target: str, body: Any = b"") -> Any:
    answer = await server.handle(Request.of(method, target, body=body))
    assert isinstance(answer, Response)
    return answer.json


async def names(server: ApiServer) -> list[str]:
    return [each["metadata"]["name"] for each in (await ask(server, "GET", EVENTS))["items"]]


def test_an_event_is_gone_an_hour_after_its_last_write() -> None:
    async def main() -> None:
        clock = Clock()
        server = new_server(now=clock)
        await ask(server, "POST", EVENTS, event("a"))
        await ask(server, "POST", EVENTS, event("b"))
        clock.at += timedelta(minutes=30)
        fork = server.fork()
        await ask(server, "PUT", f"{EVENTS}/b", event("b", 2))
        clock.at += timedelta(minutes=30)
        await server.settle()
        await fork.settle()
        assert await names(server) == ["b"]
        assert await names(fork) == []
        clock.at += timedelta(minutes=30)
        await server.settle()
        assert await names(server) == []

    asyncio.run(main())


def test_a_timer_removes_events_and_watches_see_them_go() -> None:
    async def main() -> None:
        loop, start = asyncio.get_running_loop(), datetime(2026, 1, 1, tzinfo=UTC)
        server = new_server(now=lambda: start + timedelta(seconds=loop.time()))
        await ask(server, "POST", EVENTS, event("a"))
        query = f"watch=true&timeoutSeconds=7200&resourceVersion={server.store.revision}"
        stream = await server.handle(Request.of("GET", f"{EVENTS}?{query}"))
        assert isinstance(stream, Stream)
        assert b'"DELETED"' in await anext(stream.chunks)
        assert loop.time() >= 3600
        stream.close()
        server.close()

    virtual.run(main())


def test_events_of_an_earlier_run_expire_too() -> None:
    async def main() -> None:
        clock = Clock()
        first = new_server(now=clock)
        await ask(first, "POST", EVENTS, event("a"))
        clock.at += timedelta(minutes=59)
        again = new_server(store=first.store.fork(), now=clock)
        await again.settle()
        assert await names(again) == ["a"]
        clock.at += timedelta(minutes=1)
        await again.settle()
        assert await names(again) == []

    asyncio.run(main())
