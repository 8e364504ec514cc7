"""Watches: what is told, in which order, from which revision, and how they end. In virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from asking import CONFIG_PATH, MERGE, ask, config, events, open_watch, server
from hypothesis import given, settings
from hypothesis import strategies as st

import virtual
from kubewright.apiserver import ApiServer, Request, Store, Stream


async def put(to: ApiServer, name: str, value: str, labels: dict[str, str] | None = None) -> Any:
    body = config(name, data={"v": value}, labels=labels or {})
    answer = await ask(to, "PUT", f"{CONFIG_PATH}/{name}", body)
    if answer.status == 404:
        answer = await ask(to, "POST", CONFIG_PATH, body)
    return answer.body


def test_a_watch_without_a_revision_starts_with_what_is_there() -> None:
    async def main() -> None:
        api = server()
        await put(api, "a", "1")
        stream = await open_watch(api, f"{CONFIG_PATH}?watch=true")
        await put(api, "b", "2")
        found = await events(stream, 2)
        assert [(kind, each["metadata"]["name"]) for kind, each in found] == [("ADDED", "a"), ("ADDED", "b")]
        stream.close()

    virtual.run(main())


def test_initial_events_end_with_a_bookmark_that_says_so() -> None:
    async def main() -> None:
        api = server()
        await put(api, "a", "1")
        query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        stream = await open_watch(api, f"{CONFIG_PATH}?{query}")
        (_, first), (kind, mark) = await events(stream, 2)
        assert kind == "BOOKMARK"
        assert mark == {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {
                "resourceVersion": first["metadata"]["resourceVersion"],
                "annotations": {"k8s.io/initial-events-end": "true"},
            },
        }
        stream.close()

    virtual.run(main())


def test_bookmarks_come_each_minute_and_shortly_before_the_end() -> None:
    async def main() -> None:
        api = server()
        started_at = asyncio.get_running_loop().time()
        target = f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}&allowWatchBookmarks=1&timeoutSeconds=150"
        stream = await open_watch(api, target)
        at: list[float] = []
        async for _ in stream.chunks:
            at.append(asyncio.get_running_loop().time() - started_at)  # noqa: PERF401 - the times are the point
        assert [round(each) for each in at] == [60, 120, 148]
        assert round(asyncio.get_running_loop().time() - started_at) == 150

    virtual.run(main())


def test_a_change_at_the_very_time_of_a_bookmark_is_told_before_it() -> None:
    async def main() -> None:
        api, loop = server(), asyncio.get_running_loop()

        def write() -> None:
            made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late", "namespace": "default"}}
            api.store.create("/configmaps", "default/late", made)

        target = f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}&allowWatchBookmarks=1"
        # After the timer of the watch has run, and before what it has woken does.
        loop.call_at(loop.time() + 60 + 5e-10, write)
        stream = await open_watch(api, target)
        (first, late), (second, mark) = await events(stream, 2)
        assert (first, late["metadata"]["name"], second) == ("ADDED", "late", "BOOKMARK")
        assert mark["metadata"]["resourceVersion"] == late["metadata"]["resourceVersion"]
        stream.close()

    virtual.run(main())


def test_a_watch_that_does_not_say_ends_after_half_an_hour_to_an_hour() -> None:
    async def main() -> None:
        api = server()
        started_at = asyncio.get_running_loop().time()
        stream = await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}")
        assert [chunk async for chunk in stream.chunks] == []
        assert 1800 <= asyncio.get_running_loop().time() - started_at <= 3600

    virtual.run(main())


def test_a_selected_object_comes_and_goes_with_its_labels() -> None:
    async def main() -> None:
        api = server()
        stream = await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion=1&labelSelector=app%3Dweb")
        await put(api, "a", "1")
        await put(api, "a", "2", {"app": "web"})
        await put(api, "a", "3", {"app": "web"})
        last = await put(api, "a", "4", {"app": "db"})
        await put(api, "a", "5", {"app": "web"})
        await ask(api, "DELETE", f"{CONFIG_PATH}/a")
        found = await events(stream, 5)
        assert [(kind, each["data"]["v"]) for kind, each in found] == [
            ("ADDED", "2"),
            ("MODIFIED", "3"),
            ("DELETED", "3"),
            ("ADDED", "5"),
            ("DELETED", "5"),
        ]
        assert found[2][1]["metadata"]["resourceVersion"] == last["metadata"]["resourceVersion"]
        stream.close()

    virtual.run(main())


def test_a_revision_that_is_gone_is_told_inside_of_the_stream() -> None:
    async def main() -> None:
        api = server()
        await put(api, "a", "1")
        api.store.compact()
        stream = await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion=2")
        assert stream.status == 200
        ((kind, status),) = await events(stream, 5)
        assert (kind, status["code"], status["reason"]) == ("ERROR", 410, "Expired")
        assert status["message"] == f"too old resource version: 2 ({api.store.revision})"

    virtual.run(main())


def test_a_watcher_that_is_too_slow_is_cut_and_nobody_waits_for_it() -> None:
    async def main() -> None:
        api = server()
        api.store.history_limit = 5
        stream = await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}")
        for value in range(30):
            await put(api, "a", str(value))
        assert [chunk async for chunk in stream.chunks] == []

    virtual.run(main())


def test_a_watcher_of_a_quiet_namespace_is_not_cut_by_the_noise_of_others() -> None:
    async def main() -> None:
        api = server()
        api.store.history_limit = 5
        target = "/api/v1/namespaces/other/configmaps"
        stream = await open_watch(api, f"{target}?watch=1&resourceVersion={api.store.revision}")
        reading = asyncio.ensure_future(events(stream, 1))
        await virtual.settle()
        for value in range(30):
            await put(api, "a", str(value))
        await ask(api, "POST", target, config("b"))
        ((kind, found),) = await reading
        assert (kind, found["metadata"]["name"]) == ("ADDED", "b")
        stream.close()

    virtual.run(main())


def test_a_closed_watch_ends_whoever_reads_it_and_leaves_nothing_behind() -> None:
    async def main() -> None:
        api = server()
        stream = await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}")
        reading = asyncio.ensure_future(events(stream, 1))
        await virtual.settle()
        stream.close()
        assert await reading == []
        stream.close()

    virtual.run(main())


def test_a_cancelled_read_has_lost_nothing() -> None:
    async def main() -> None:
        api = server()
        stream = await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}")
        found: list[tuple[str, Any]] = []
        for value in range(3):
            try:
                async with asyncio.timeout(1):
                    found += await events(stream, 1)
            except TimeoutError:
                pass
            await put(api, "a", str(value))
        found += await events(stream, 3 - len(found))
        assert [each["data"]["v"] for _, each in found] == ["0", "1", "2"]
        stream.close()

    virtual.run(main())


def test_the_end_of_a_server_ends_its_watches() -> None:
    async def main() -> None:
        api = server()
        streams = [await open_watch(api, f"{CONFIG_PATH}?watch=1") for _ in range(3)]
        reading = [asyncio.ensure_future(events(each, 1)) for each in streams]
        await virtual.settle()
        api.close()
        assert await asyncio.gather(*reading) == [[], [], []]

    virtual.run(main())


def test_an_event_is_encoded_once_for_all_who_watch_it() -> None:
    async def main() -> None:
        api = server()
        streams = [await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion=1") for _ in range(3)]
        for value in range(3):
            await put(api, "a", str(value))
        for stream in streams:
            await events(stream, 3)
            stream.close()
        last = api.store.collection("/configmaps").log[-1]
        assert len(last.encoded) == 1

    virtual.run(main())


Step = tuple[str, str, str]
NAMES = ("a", "b", "c")
steps = st.lists(
    st.tuples(st.sampled_from(("put", "put", "delete", "finalizer")), st.sampled_from(NAMES), st.sampled_from("xy")),
    max_size=25,
)


async def step(to: ApiServer, what: str, name: str, value: str) -> None:
    path = f"{CONFIG_PATH}/{name}"
    if what == "put":
        await put(to, name, value, {"app": value})
    elif what == "delete":
        await ask(to, "DELETE", path)
    else:
        present = await ask(to, "GET", path)
        has = bool(present.status == 200 and present.body["metadata"].get("finalizers"))
        await ask(to, "PATCH", path, {"metadata": {"finalizers": None if has else ["example.com/x"]}}, MERGE)


async def listed(to: ApiServer, query: str) -> dict[str, Any]:
    answer = await ask(to, "GET", f"{CONFIG_PATH}?{query}")
    return {each["metadata"]["name"]: each for each in answer.body["items"]}


@settings(max_examples=30)
@given(steps, st.sampled_from(("", "labelSelector=app%3Dx", "fieldSelector=metadata.name%3Da")))
def test_a_watch_from_any_revision_makes_the_old_list_the_new_one(history: list[Step], selector: str) -> None:
    async def main() -> None:
        api = server()
        lists = [(api.store.revision, await listed(api, selector))]
        for each in history:
            await step(api, *each)
            lists.append((api.store.revision, await listed(api, selector)))
        for since, state in lists:
            stream = await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion={since}&timeoutSeconds=1&{selector}")
            before = since
            async for chunk in stream.chunks:
                for line in chunk.splitlines():
                    before = replay(state, line, before)
            for name in state:
                state[name].pop("apiVersion", None)
                state[name].pop("kind", None)
            assert state == await listed(api, selector)

    virtual.run(main())


def replay(state: dict[str, Any], line: bytes, before: int) -> int:
    event = orjson.loads(line)
    found = event["object"]
    name, revision = found["metadata"]["name"], int(found["metadata"]["resourceVersion"])
    assert revision > before, "events are in the order of their revisions, each once"
    assert (event["type"] == "ADDED") is (name not in state)
    if event["type"] == "DELETED":
        del state[name]
    else:
        state[name] = found
    return revision


def test_a_thousand_watchers_hear_of_one_write() -> None:
    async def main() -> None:
        api = server()
        target = f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}"
        streams: list[Stream] = [await open_watch(api, target) for _ in range(1000)]
        reading = [asyncio.ensure_future(events(each, 1)) for each in streams]
        await virtual.settle()
        await put(api, "a", "1")
        assert all(len(each) == 1 for each in await asyncio.gather(*reading))
        api.close()

    virtual.run(main())


def test_a_store_may_be_shared_by_value_and_its_watches_are_not() -> None:
    async def main() -> None:
        api = server()
        stream = await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}&timeoutSeconds=5")
        fork = api.fork()
        await put(fork, "a", "1")
        assert [chunk async for chunk in stream.chunks] == []
        assert isinstance(fork.store, Store)
        assert (await fork.handle(Request.of("GET", f"{CONFIG_PATH}/a"))).status == 200
        assert (await api.handle(Request.of("GET", f"{CONFIG_PATH}/a"))).status == 404

    virtual.run(main())
