"""The life of an operator: nothing before everything is known, nothing after the end, and refusals in one line."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.controller import bind
from kubewright.manager import CacheNotSynced, Manager
from kubewright.models.core.v1 import ConfigMap, Secret
from running import running, until
from webs import Web, config, web


@controller(Web, owns=[ConfigMap])
class Noted:
    """Notes when it begins and ends; takes `seconds`."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.began: list[float] = []
        self.ended: list[float] = []
        self.cancelled = 0

    async def reconcile(self, web: Web, ctx: Context) -> None:
        loop = asyncio.get_running_loop()
        self.began.append(loop.time())
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        web.status.seen = "done"
        self.ended.append(loop.time())


def server(*names: str, **options: Any) -> FakeApi:
    api = FakeApi(Web, ConfigMap, Secret, **options)
    for name in names or ("a",):
        api.put(web(name))
    return api


# Start


def test_no_reconcile_begins_before_every_source_of_every_controller_is_known() -> None:
    async def main() -> None:
        api = server()
        api.fault("list", "/secrets", delay_seconds=30)
        first = Noted()

        @controller(Web, name="second", owns=[Secret])
        async def second(web: Web, ctx: Context) -> None:
            pass

        async with running(api, first, second):
            await asyncio.sleep(1)
        assert first.began[0] == pytest.approx(virtual.START_AT + 30, abs=0.1)

    virtual.run(main())


def test_a_kind_is_listed_and_watched_once_however_many_ask_for_it() -> None:
    async def main() -> None:
        api = server()

        @controller(Web, name="second", owns=[ConfigMap])
        async def second(web: Web, ctx: Context) -> None:
            await ctx.list(ConfigMap)

        async with running(api, Noted(), second):
            await asyncio.sleep(1)
        asked = [str(each) for each in api.requests if each.verb in ("list", "watch")]
        assert sorted(asked) == [
            "list /api/v1/configmaps",
            "list /apis/example.com/v1/webs",
            "watch /api/v1/configmaps",
            "watch /apis/example.com/v1/webs",
        ]

    virtual.run(main())


def test_an_operator_of_one_namespace_asks_for_no_more_than_that() -> None:
    async def main() -> None:
        api = server()
        api.put(web("b", namespace="prod"))
        noted = Noted()
        async with running(api, noted, namespace="prod"):
            await asyncio.sleep(1)
            assert [found.status.seen for found in api.all(Web).values()] == ["", "done"]
        lists = [each.path for each in api.requests if each.verb == "list"]
        assert sorted(lists) == ["/api/v1/namespaces/prod/configmaps", "/apis/example.com/v1/namespaces/prod/webs"]

    virtual.run(main())


@pytest.mark.parametrize(("status", "reason"), [(403, "Forbidden"), (401, "Unauthorized"), (404, "NotFound")])
def test_a_kind_that_cannot_be_watched_is_an_error_at_once(status: int, reason: str) -> None:
    async def main() -> None:
        api = server()
        api.fault("list", "/configmaps", status=status, reason=reason, times=1000)
        noted = Noted()
        with pytest.raises(CacheNotSynced, match="configmaps"):
            async with running(api, noted):
                raise AssertionError("begun")
        assert asyncio.get_running_loop().time() < virtual.START_AT + 5
        assert noted.began == []
        assert api.open_watches == 0

    virtual.run(main())


def test_all_kinds_that_cannot_be_watched_are_named_together() -> None:
    async def main() -> None:
        api = server()
        api.fault("list", "", status=403, reason="Forbidden", times=1000)
        with pytest.raises(CacheNotSynced) as caught:
            async with running(api, Noted()):
                raise AssertionError("begun")
        assert set(caught.value.problems) == {"configmaps", "webs.example.com"}

    virtual.run(main())


def test_a_server_that_does_not_answer_the_first_list_is_waited_for_as_long_as_was_said() -> None:
    async def main() -> None:
        api = server()
        api.fault("list", "/configmaps", status=500, reason="InternalError", times=1000)
        manager = Manager(api.client(), [bind(Noted())], sync_seconds=50)
        with pytest.raises(CacheNotSynced, match="configmaps"):
            await manager.run()
        assert asyncio.get_running_loop().time() == pytest.approx(virtual.START_AT + 50, abs=1.5)

    virtual.run(main())


def test_a_kind_that_is_read_without_the_right_to_fails_the_pass_and_not_the_operator() -> None:
    seen: list[int] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        seen.append(len(await ctx.list(Secret)))

    async def main() -> None:
        api = server()
        refusal = api.fault("list", "/secrets", status=403, reason="Forbidden", times=1000)
        async with running(api, reconcile):
            await asyncio.sleep(60)
            assert seen == []
            refusal.times = 0
            await until(lambda: seen, seconds=600)

    virtual.run(main())


# Stop


def stop_after(seconds: float, noted: Noted, **options: Any) -> tuple[FakeApi, float]:
    """Stop an operator while it reconciles; how long that took."""

    async def main() -> tuple[FakeApi, float]:
        api = server("a", "b", "c")
        loop = asyncio.get_running_loop()
        async with running(api, noted, **options):
            await asyncio.sleep(seconds)
            stopped_at = loop.time()
        took = loop.time() - stopped_at
        assert len(asyncio.all_tasks()) == 1
        assert api.open_watches == 0
        return api, took

    return virtual.run(main())


def test_a_stopped_operator_lets_what_runs_end_and_begins_nothing_more() -> None:
    noted = Noted(10)
    api, took = stop_after(1, noted)
    assert took == pytest.approx(9, abs=0.1)
    assert (len(noted.began), len(noted.ended), noted.cancelled) == (1, 1, 0)
    assert [found.status.seen for found in api.all(Web).values()] == ["done", "", ""]


def test_what_does_not_end_within_the_grace_is_cancelled_and_writes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    noted = Noted(3600)
    api, took = stop_after(1, noted, grace_seconds=5)
    assert took == pytest.approx(5, abs=0.1)
    assert (len(noted.began), len(noted.ended), noted.cancelled) == (1, 0, 1)
    assert api.writes == []
    assert "after a grace of 5 s" in caplog.text


def test_an_operator_with_nothing_to_do_stops_at_once() -> None:
    _, took = stop_after(60, Noted())
    assert took == pytest.approx(0, abs=0.1)


def test_retries_that_wait_for_their_time_do_not_hold_up_the_end() -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        raise RuntimeError("no")

    async def main() -> None:
        api = server()
        loop = asyncio.get_running_loop()
        async with running(api, reconcile):
            await asyncio.sleep(300)
            stopped_at = loop.time()
        assert loop.time() - stopped_at < 0.1

    virtual.run(main())


@pytest.mark.parametrize("end", [Manager.stop, lambda manager: tasks[0].cancel()])
def test_an_operator_that_is_ended_while_it_starts_begins_nothing(end: Callable[[Manager], object]) -> None:
    async def main() -> None:
        api = server()
        api.fault("list", "/configmaps", delay_seconds=30)
        noted = Noted()
        manager = Manager(api.client(), [bind(noted)])
        tasks[:] = [asyncio.create_task(manager.run())]
        await asyncio.sleep(5)
        end(manager)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert asyncio.get_running_loop().time() < virtual.START_AT + 6
        assert noted.began == []
        assert len(asyncio.all_tasks()) == 1
        assert api.open_watches == 0

    virtual.run(main())


tasks: list[asyncio.Task[None]] = []


def test_a_cancelled_operator_ends_without_grace_and_leaves_nothing_behind() -> None:
    async def main() -> None:
        api = server()
        noted = Noted(3600)
        manager = Manager(api.client(), [bind(noted)])
        running = asyncio.create_task(manager.run())
        await asyncio.sleep(5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert noted.cancelled == 1
        assert asyncio.get_running_loop().time() < virtual.START_AT + 6
        assert len(asyncio.all_tasks()) == 1
        assert api.open_watches == 0

    virtual.run(main())


# Several


def test_two_controllers_of_one_name_are_refused() -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="two controllers are named 'web'"):
            Manager(server().client(), [bind(Noted()), bind(Noted())])

    virtual.run(main())


def test_two_operators_in_one_process_do_not_know_of_each_other() -> None:
    async def main() -> None:
        api = server()
        one, other = Noted(), Noted()
        async with running(api, one):
            async with running(api, other, grace_seconds=1):
                await asyncio.sleep(5)
                api.put(web("b"))
                await asyncio.sleep(5)
            begun = len(one.began), len(other.began)
            api.put(web("c"))
            await asyncio.sleep(5)
        assert len(other.began) == begun[1]
        assert len(one.began) > begun[0]
        assert {found.status.seen for found in api.all(Web).values()} == {"done"}

    virtual.run(main())


# Trouble


def test_a_server_that_is_away_for_a_while_is_no_more_than_a_delay(caplog: pytest.LogCaptureFixture) -> None:
    @controller(Web, owns=[ConfigMap])
    async def reconcile(web: Web, ctx: Context) -> None:
        made = await ctx.apply(config(web.metadata.name, replicas=str(web.spec.replicas)))
        web.status.seen = made.data["replicas"]

    async def main() -> None:
        api = server("a", "b")
        async with running(api, reconcile):
            await asyncio.sleep(5)
            away = api.fault("*", "", lost="request", times=10_000)
            api.cut()
            api.change(Web, "a", {"spec": {"replicas": 5}})
            api.remove(ConfigMap, "b")
            api.expire()
            await asyncio.sleep(300)
            away.times = 0
            await asyncio.sleep(120)
            found = api.get(Web, "a")
            assert found is not None
            assert found.status.seen == "5"
            assert api.get(ConfigMap, "b") is not None

    virtual.run(main())
    assert not [record for record in caplog.records if record.exc_info]


def test_a_server_that_asks_to_wait_is_waited_for() -> None:
    async def main() -> None:
        api = server()
        api.fault("patch", "/status", status=429, reason="TooManyRequests", retry_after=3, times=2)
        async with running(api, Noted()):
            await asyncio.sleep(10)
            found = api.get(Web, "a")
            assert found is not None
            assert found.status.seen == "done"
        assert len(api.writes) == 3

    virtual.run(main())


def test_the_log_says_what_runs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def main() -> None:
        async with running(server(), Noted()):
            pass

    virtual.run(main())
    assert "running: web" in caplog.text
