"""Faults: they meet the requests they are for, and do what they say."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

import virtual
from kubewright.apiserver import ApiServer, Request, Response, Stream, new_server
from kubewright.apiserver.faults import Fault, Faults
from kubewright.apiserver.inprocess import InProcessTransport
from kubewright.client.transport import ConnectionLost

MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def make() -> tuple[ApiServer, Faults]:
    server, faults = new_server(seed=1), Faults()
    server.use(faults)
    return server, faults


async def ask(server: ApiServer, method: str, target: str, body: Any = b"") -> Response:
    answer = await server.handle(Request.of(method, target, body=body))
    assert isinstance(answer, Response)
    return answer


async def watch(server: ApiServer, query: str = "") -> Stream:
    answer = await server.handle(Request.of("GET", f"{MAPS}?watch=true{query}"))
    assert isinstance(answer, Stream)
    return answer


async def events(stream: Stream, count: int) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    async for chunk in stream.chunks:
        for line in chunk.splitlines():
            event = orjson.loads(line)
            found.append((event["type"], event["object"]["metadata"]["name"]))
        if len(found) >= count:
            break
    return found


def test_the_nth_request_of_a_kind_and_no_other_is_refused() -> None:
    async def main() -> None:
        server, faults = make()
        fault = Fault(verb="create", resource="configmaps", first=2, times=2, status=409)
        faults.add(fault)
        codes = [(await ask(server, "POST", MAPS, config_map(name))).status for name in "abcd"]
        assert codes == [201, 409, 409, 201]
        assert faults.met[fault] == 2
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
        assert (await ask(server, "POST", "/api/v1/namespaces/default/secrets", secret)).status == 201

    virtual.run(main())


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (409, "Conflict"),
        (410, "Expired"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ],
)
def test_an_error_is_told_in_the_servers_words_and_nothing_is_carried_out(status: int, reason: str) -> None:
    async def main() -> None:
        server, faults = make()
        faults.add(Fault(status=status, retry_after_seconds=7))
        answer = await ask(server, "POST", MAPS, config_map("a"))
        assert (answer.status, answer.json["reason"]) == (status, reason)
        if status in (429, 503):
            assert dict(answer.headers)["retry-after"] == "7"
        assert (await ask(server, "GET", f"{MAPS}/a")).status == 404

    virtual.run(main())


@pytest.mark.parametrize(("when", "there"), [("before", 404), ("after", 200)])
def test_a_connection_is_closed_before_or_after_the_request_is_carried_out(when: Any, there: int) -> None:
    async def main() -> None:
        server, faults = make()
        faults.add(Fault(verb="create", hang_up=when))
        transport = InProcessTransport(server)
        headers = (("content-type", "application/json"),)
        with pytest.raises(ConnectionLost):
            await transport.request("POST", MAPS, headers=headers, body=orjson.dumps(config_map("a")))
        assert (await ask(server, "GET", f"{MAPS}/a")).status == there

    virtual.run(main())


def test_an_answer_is_delayed() -> None:
    async def main() -> None:
        server, faults = make()
        faults.add(Fault(verb="get", resource="namespaces", name="default", delay_seconds=30))
        loop = asyncio.get_running_loop()
        begun = loop.time()
        assert (await ask(server, "GET", "/api/v1/namespaces/default")).status == 200
        assert loop.time() - begun == pytest.approx(30)
        await ask(server, "GET", "/api/v1/namespaces/default")
        assert loop.time() - begun == pytest.approx(30)

    virtual.run(main())


def test_watches_end_when_they_are_cut_and_others_do_not() -> None:
    async def main() -> None:
        server, faults = make()
        stream = await watch(server)
        assert faults.cut_watches("secrets") == 0
        assert faults.cut_watches("configmaps") == 1
        assert [chunk async for chunk in stream.chunks] == []
        assert faults.cut_watches() == 0

    virtual.run(main())


def test_what_is_held_is_not_seen_by_watches_and_old_lists_until_it_is_released() -> None:
    async def main() -> None:
        server, faults = make()
        await ask(server, "POST", MAPS, config_map("a"))
        stream = await watch(server, f"&resourceVersion={server.store.revision}")
        faults.hold(server, "configmaps")
        await ask(server, "POST", MAPS, config_map("b"))
        reading = asyncio.create_task(events(stream, 1))
        await asyncio.sleep(60)
        assert not reading.done()

        async def names(query: str) -> list[str]:
            listed = (await ask(server, "GET", f"{MAPS}{query}")).json["items"]
            return [each["metadata"]["name"] for each in listed]

        assert "b" not in await names("?resourceVersion=0")
        assert "b" in await names("")
        assert (await ask(server, "GET", f"{MAPS}/b")).status == 200
        faults.release("configmaps")
        assert await reading == [("ADDED", "b")]
        assert "b" in await names("?resourceVersion=0")
        stream.close()

    virtual.run(main())


async def _seen(server: ApiServer, name: str = "") -> Any:
    """The values of a list, or of an object, from the cache."""
    path = f"{MAPS}/{name}" if name else MAPS
    answer = await ask(server, "GET", f"{path}?resourceVersion=0")
    if name:
        return answer.json["data"]["k"] if answer.status == 200 else answer.status
    return {each["metadata"]["name"]: each["data"]["k"] for each in answer.json["items"]}


async def _write(server: ApiServer, name: str, value: str) -> None:
    body = {**config_map(name), "data": {"k": value}}
    if (await ask(server, "PUT", f"{MAPS}/{name}", body)).status == 404:
        assert (await ask(server, "POST", MAPS, body)).status == 201


def test_reads_of_any_version_are_behind_by_changes() -> None:
    async def main() -> None:
        server, faults = make()
        for name, value in (("a", "1"), ("a", "2"), ("b", "1")):
            await _write(server, name, value)
        faults.lag(server, "configmaps", changes=2)
        assert await _seen(server) == {"a": "1"}
        assert (await _seen(server, "a"), await _seen(server, "b")) == ("1", 404)
        assert (await ask(server, "GET", f"{MAPS}/b")).status == 200
        await _write(server, "c", "1")
        assert await _seen(server) == {"a": "2"}
        faults.release("configmaps")
        assert await _seen(server) == {"a": "2", "b": "1", "c": "1"}

    virtual.run(main())


def test_reads_of_any_version_are_behind_by_seconds() -> None:
    async def main() -> None:
        clock = [datetime(2026, 1, 1, tzinfo=UTC)]
        server, faults = new_server(now=lambda: clock[0]), Faults()
        server.use(faults)
        await _write(server, "a", "1")
        faults.lag(server, seconds=10)
        await _write(server, "a", "2")
        assert await _seen(server, "a") == "1"
        clock[0] += timedelta(seconds=5)
        await _write(server, "a", "3")
        clock[0] += timedelta(seconds=5)
        assert await _seen(server, "a") == "2"
        clock[0] += timedelta(seconds=5)
        assert await _seen(server, "a") == "3"

    virtual.run(main())


def test_a_lag_says_how_far_it_is() -> None:
    server, faults = make()
    with pytest.raises(ValueError, match=r"Faults\.lag: changes=0, seconds=0\.0; give one that is more than 0"):
        faults.lag(server)


def test_a_held_watch_can_be_closed() -> None:
    async def main() -> None:
        server, faults = make()
        stream = await watch(server, f"&resourceVersion={server.store.revision}")
        faults.hold(server)
        await ask(server, "POST", MAPS, config_map("b"))
        reading = asyncio.create_task(events(stream, 1))
        await asyncio.sleep(1)
        stream.close()
        assert await reading == []

    virtual.run(main())


def test_history_that_is_compacted_is_gone_for_watches() -> None:
    async def main() -> None:
        server, faults = make()
        since = server.store.revision
        await ask(server, "POST", MAPS, config_map("a"))
        faults.compact(server)
        stream = await watch(server, f"&resourceVersion={since}")
        event = orjson.loads(await anext(stream.chunks))
        assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")

    virtual.run(main())


def test_a_full_disk_refuses_writes_and_answers_reads() -> None:
    async def main() -> None:
        server, faults = make()
        await ask(server, "POST", MAPS, config_map("a"))
        faults.fill_disk(server)
        answer = await ask(server, "POST", MAPS, config_map("b"))
        assert (answer.status, answer.json["message"]) == (500, "etcdserver: mvcc: database space exceeded")
        assert (await ask(server, "DELETE", f"{MAPS}/a")).status == 500
        assert (await ask(server, "GET", f"{MAPS}/a")).status == 200
        faults.free_disk(server)
        assert (await ask(server, "POST", MAPS, config_map("b"))).status == 201

    virtual.run(main())


@pytest.mark.parametrize(
    "wrong", [{}, {"status": 404}, {"status": 409, "first": 0}, {"status": 409, "times": -1}, {"delay_seconds": -1}]
)
def test_a_fault_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Fault"):
        Fault(**wrong)
