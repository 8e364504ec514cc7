"""The watch for scripts: one sequence over many connections."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import pytest
from recording_http import PAGE_NOT_FOUND, RecordingHttp, Request, answer, failure
from web_model import Web

import virtual
from kubewright.client import watch as watch_module
from kubewright.client.client import Client
from kubewright.client.discovery import KindNotServed
from kubewright.client.errors import Forbidden, Gone, ServiceUnavailable
from kubewright.client.transport import ConnectFailed, ConnectionLost, StreamIdle, TLSError
from kubewright.client.watch import WatchEvent
from kubewright.model import DecodeError


def event(kind: str, name: str, version: int) -> dict[str, Any]:
    metadata = {"name": name, "resourceVersion": str(version)}
    return {"type": kind, "object": {"kind": "Web", "metadata": metadata, "spec": {"image": "x"}}}


def bookmark(version: int) -> dict[str, Any]:
    return {"type": "BOOKMARK", "object": {"kind": "Web", "metadata": {"resourceVersion": str(version)}}}


def error(code: int, reason: str) -> dict[str, Any]:
    return {"type": "ERROR", "object": {"kind": "Status", "code": code, "reason": reason, "message": "too old"}}


def lost() -> ConnectionLost:
    return ConnectionLost("server:443", "stream", "reset")


def refused() -> ConnectFailed:
    return ConnectFailed("server:443", "connect", "refused")


def listing(*names: str, version: int = 10) -> Any:
    items = [event("", name, number)["object"] for number, name in enumerate(names, 1)]
    return lambda _: answer({"metadata": {"resourceVersion": str(version)}, "items": items})


def server(*streams: Any, names: tuple[str, ...] = ()) -> RecordingHttp:
    return RecordingHttp(listing(*names), streams=list(streams))


def short(found: WatchEvent[Web]) -> str:
    return f"{'*' if found.initial else ''}{found.type[0]}{found.object.metadata.name}"


async def take(http: RecordingHttp, count: int, **options: Any) -> list[str]:
    seen: list[str] = []
    async with contextlib.aclosing(Client(http).watch(Web, **options)) as events:
        async for found in events:
            seen.append(short(found))
            if len(seen) == count:
                break
    assert http.open_streams == 0
    return seen


def versions(http: RecordingHttp) -> list[str]:
    return [r.query["resourceVersion"] for r in http.requests if r.query.get("watch")]


def test_it_begins_with_what_is_there_and_goes_on_with_what_changes() -> None:
    http = server([event("MODIFIED", "a", 11), event("DELETED", "b", 12)], names=("a", "b"))
    assert virtual.run(take(http, 4)) == ["*Aa", "*Ab", "Ma", "Db"]
    assert versions(http) == ["10"]


def test_the_request_is_that_of_a_watch_with_bookmarks() -> None:
    http = server([event("ADDED", "a", 11)])
    virtual.run(take(http, 1, namespace="prod", labels={"x": "y"}, resource_version="5"))
    [request] = http.requests
    assert request.path == "/apis/example.com/v1/namespaces/prod/webs"
    assert request.query == {
        "labelSelector": "x=y",
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "5",
        "timeoutSeconds": "300",
    }


def test_without_the_initial_objects_it_begins_with_the_next_change() -> None:
    http = server([event("ADDED", "c", 11)], names=("a",))
    assert virtual.run(take(http, 1, send_initial=False)) == ["Ac"]
    assert http.requests[0].query == {"limit": "1"}


def test_an_end_of_the_connection_is_normal_and_nothing_is_lost_or_repeated() -> None:
    http = server([event("ADDED", "a", 11), event("ADDED", "b", 12)], [event("ADDED", "c", 13)])
    assert virtual.run(take(http, 3)) == ["Aa", "Ab", "Ac"]
    assert versions(http) == ["10", "12"]


def test_a_bookmark_moves_the_version_and_nothing_else() -> None:
    http = server([bookmark(40)], [event("ADDED", "a", 41)])
    assert virtual.run(take(http, 1)) == ["Aa"]
    assert versions(http) == ["10", "40"]


@pytest.mark.parametrize("broken", [lost(), StreamIdle("server:443", "stream", "silent")])
def test_a_broken_connection_is_resumed_at_the_last_version(broken: Exception) -> None:
    http = server([event("ADDED", "a", 11), broken], [event("ADDED", "b", 12)])
    assert virtual.run(take(http, 2)) == ["Aa", "Ab"]
    assert versions(http) == ["10", "11"]


def test_an_empty_connection_is_followed_by_a_pause() -> None:
    async def main() -> float:
        http = server([], [], [], [event("ADDED", "a", 11)])
        await take(http, 1)
        return asyncio.get_running_loop().time()

    assert virtual.run(main()) == pytest.approx(virtual.START_AT + 3)


def test_a_server_that_is_away_for_a_while_is_waited_for() -> None:
    streams = [[refused()], [failure(503, "ServiceUnavailable")], [failure(429, "TooManyRequests")]]

    async def main() -> float:
        http = server(*streams, [event("ADDED", "a", 11)])
        assert await take(http, 1) == ["Aa"]
        return asyncio.get_running_loop().time() - virtual.START_AT

    assert 0.8 + 1.6 + 3.2 <= virtual.run(main()) <= 1.5 * (0.8 + 1.6 + 3.2)


def test_a_server_that_stays_away_is_given_up() -> None:
    async def main() -> float:
        with pytest.raises(ConnectFailed):
            await take(server(*[[refused()] for _ in range(20)]), 1)
        return asyncio.get_running_loop().time() - virtual.START_AT

    assert 100 < virtual.run(main()) < 300


def test_an_event_ends_the_count_of_failures() -> None:
    streams: list[list[Any]] = []
    for number in range(11, 16):
        streams += [[refused()] for _ in range(8)]
        streams.append([event("ADDED", "a", number), lost()])
    assert len(virtual.run(take(server(*streams), 5))) == 5


def test_connections_that_hold_and_bring_nothing_are_no_failures() -> None:
    silent = [[60.0, StreamIdle("server:443", "stream", "silent")] for _ in range(15)]
    assert virtual.run(take(server(*silent, [event("ADDED", "a", 11)]), 1)) == ["Aa"]


def test_a_version_that_is_forgotten_is_told_whether_as_status_or_as_event() -> None:
    for stream in ([failure(410, "Expired", "too old")], [event("ADDED", "a", 11), error(410, "Expired")]):
        with pytest.raises(Gone):
            virtual.run(take(server(stream), 9))


def test_an_error_event_that_may_pass_is_resumed() -> None:
    http = server([event("ADDED", "a", 11), error(500, "InternalError")], [event("ADDED", "b", 12)])
    assert virtual.run(take(http, 2)) == ["Aa", "Ab"]


@pytest.mark.parametrize(
    ("step", "raised"),
    [
        (failure(403, "Forbidden"), Forbidden),
        (TLSError("server:443", "tls", "unknown authority"), TLSError),
        (b"not json", DecodeError),
        ({"type": "ADDED", "object": {"spec": {"image": 5}}}, DecodeError),
    ],
)
def test_what_does_not_pass_is_told_at_once(step: Any, raised: type[Exception]) -> None:
    http = server([step])
    with pytest.raises(raised):
        virtual.run(take(http, 1))
    assert len(versions(http)) == 1


def test_a_kind_that_is_gone_is_told() -> None:
    http = server([PAGE_NOT_FOUND])
    with pytest.raises(KindNotServed):
        virtual.run(take(http, 1, resource_version="5"))


def test_it_ends_after_the_time_that_was_asked_for() -> None:
    async def main() -> None:
        http = server([event("ADDED", "a", 11)], [10.0, event("ADDED", "b", 12), 3600.0])
        seen = [short(found) async for found in Client(http).watch(Web, timeout_seconds=60)]
        assert seen == ["Aa", "Ab"]
        assert asyncio.get_running_loop().time() == pytest.approx(virtual.START_AT + 60)
        assert int(http.requests[1].query["timeoutSeconds"]) == 60
        assert http.open_streams == 0

    virtual.run(main())


def test_it_ends_in_time_also_while_it_waits_for_a_server_that_is_away() -> None:
    async def main() -> None:
        http = server(*[[failure(503, "ServiceUnavailable")] for _ in range(9)])
        assert [found async for found in Client(http).watch(Web, resource_version="1", timeout_seconds=2)] == []
        assert asyncio.get_running_loop().time() == pytest.approx(virtual.START_AT + 2)

    virtual.run(main())


def test_leaving_the_loop_closes_the_connection() -> None:
    async def main() -> None:
        http = server([event("ADDED", "a", 11), asyncio.Event()])
        async for _ in Client(http).watch(Web):
            break
        await virtual.settle()
        assert http.open_streams == 0

    virtual.run(main())


def test_cancelling_the_reader_closes_the_connection() -> None:
    async def main() -> None:
        http = server([asyncio.Event()])
        task = asyncio.ensure_future(take(http, 1))
        await virtual.settle()
        assert http.open_streams == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert http.open_streams == 0

    virtual.run(main())


def test_a_reader_that_is_too_slow_makes_it_hang_up_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "MAX_BUFFERED_BYTES", 2 * len(json.dumps(event("ADDED", "n10", 10))))

    async def main() -> None:
        def replay(request: Request) -> list[Any]:
            start = int(request.query["resourceVersion"])
            return [event("ADDED", f"n{version}", version) for version in range(start + 1, 31)]

        http = server(*[replay] * 20)
        seen = []
        async with contextlib.aclosing(Client(http).watch(Web, resource_version="10")) as events:
            async for found in events:
                await asyncio.sleep(1)
                seen.append(found.object.metadata.name)
                if len(seen) == 20:
                    break
        assert seen == [f"n{version}" for version in range(11, 31)]
        assert versions(http)[:3] == ["10", "13", "16"]

    virtual.run(main())


def test_every_failure_is_the_last_one_when_it_is_given_up() -> None:
    with pytest.raises(ServiceUnavailable):
        virtual.run(take(server(*[[failure(503, "ServiceUnavailable")] for _ in range(10)]), 1))
