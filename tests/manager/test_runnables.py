"""What runs beside the controllers: after what, for how long, and what becomes of the rest when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Operator, controller
from kubewright.manager import Runnable, Running
from kubewright.models.core.v1 import ConfigMap
from running import running, until
from webs import Web, web


@controller(Web, name="web", owns=[ConfigMap])
class Work:
    """Notes what happens in `notes`; a pass takes `seconds`."""

    def __init__(self, notes: list[str], seconds: float = 0.0) -> None:
        self.notes = notes
        self.seconds = seconds

    async def reconcile(self, web: Web, ctx: Context) -> None:
        self.notes.append("reconcile")
        await asyncio.sleep(self.seconds)
        self.notes.append("reconciled")


def noting(notes: list[str], name: str, *, ends_after: float = 0.0) -> Callable[[Running], Awaitable[None]]:
    async def run(running: Running) -> None:
        notes.append(f"{name} starts")
        try:
            await asyncio.sleep(10**6)
        except asyncio.CancelledError:
            await asyncio.sleep(ends_after)
            notes.append(f"{name} ends")
            raise

    return run


def api_with(*names: str) -> FakeApi:
    api = FakeApi(Web, ConfigMap)
    for name in names:
        api.put(web(name))
    return api


def test_runnables_start_when_all_is_synced_and_end_before_the_last_reconcile() -> None:
    async def main() -> None:
        notes: list[str] = []
        api = api_with("a")
        api.fault("list", "/configmaps", delay_seconds=5)
        others = [Runnable(noting(notes, "other"), needs_leadership=False), noting(notes, "leader")]
        start = asyncio.get_running_loop().time()
        async with running(api, Work(notes, seconds=1.0), runnables=others) as manager:
            assert asyncio.get_running_loop().time() - start >= 5
            await until(lambda: "reconcile" in notes)
            manager.stop()
            await asyncio.sleep(3)
        assert notes == ["other starts", "leader starts", "reconcile", "other ends", "reconciled", "leader ends"]

    virtual.run(main())


@pytest.mark.parametrize("needs_leadership", [False, True])
def test_a_runnable_that_fails_stops_the_manager_and_its_error_comes_out(needs_leadership: bool) -> None:
    async def main() -> None:
        notes: list[str] = []

        async def fail(running: Running) -> None:
            await asyncio.sleep(1)
            raise OSError("the bucket is gone")

        with pytest.raises(OSError, match="the bucket is gone"):
            async with running(
                api_with("a"), Work(notes), runnables=[Runnable(fail, needs_leadership=needs_leadership)]
            ):
                await asyncio.sleep(100)
        assert notes == ["reconcile", "reconciled"]

    virtual.run(main())


def test_a_runnable_that_returns_has_done_its_work() -> None:
    async def main() -> None:
        calls: list[Any] = []

        async def once(running: Running) -> None:
            listed = await running.cache.list(Web)
            calls.append([each.metadata.name for each in listed])
            await running.client.get(Web, "a")

        async with running(api_with("a"), Work([]), runnables=[once]) as manager:
            await asyncio.sleep(50)
            assert manager.elected.is_set()
        assert calls == [["a"]]

    virtual.run(main())


def test_what_does_not_end_takes_no_more_than_the_grace_from_all_together(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        notes: list[str] = []
        others = [Runnable(noting(notes, "slow", ends_after=100), name="slow", needs_leadership=False)]
        loop = asyncio.get_running_loop()
        async with running(api_with("a"), Work(notes, seconds=50), runnables=others, grace_seconds=10) as manager:
            await until(lambda: "reconcile" in notes)
            manager.stop()
            began = loop.time()
        assert loop.time() - began == pytest.approx(10, abs=0.5)

    virtual.run(main())
    assert "slow was cancelled and has not ended in 10.0 s" in caplog.text


def test_a_runnable_is_a_function_of_one_argument() -> None:
    with pytest.raises(TypeError, match="must be an async function of one argument"):
        Runnable(5)  # type: ignore[arg-type]
    assert Runnable(noting([], "a")).name == "run"


def test_two_operators_in_one_program_share_nothing() -> None:
    async def main() -> None:
        first, second = api_with("a"), api_with("b")
        notes: tuple[list[str], list[str]] = ([], [])
        async with (
            Operator("one", controllers=[Work(notes[0])], runnables=[noting(notes[0], "one")]).start(first.client()),
            Operator("one", controllers=[Work(notes[1])], runnables=[noting(notes[1], "two")]).start(second.client()),
        ):
            await until(lambda: len(notes[0]) == len(notes[1]) == 3)
        assert notes == (
            ["one starts", "reconcile", "reconciled", "one ends"],
            ["two starts", "reconcile", "reconciled", "two ends"],
        )
        assert asyncio.all_tasks() == {asyncio.current_task()}

    virtual.run(main())


def test_what_is_to_be_prepared_is_prepared_when_probes_are_answered_and_before_anything_is_listed() -> None:
    async def main() -> None:
        api = api_with("a")
        manager = Operator("test", controllers=[Work([])])._manager(api.client(), False)
        seen: list[object] = []

        async def prepare() -> None:
            seen.append([each.verb for each in api.requests])
            seen.append((await manager.servers.healthz.problems()) == {})
            seen.append(list(await manager.servers.readyz.problems()))

        manager._prepare = prepare
        task = asyncio.create_task(manager.run())
        await manager.ready.wait()
        manager.stop()
        await task
        assert seen == [[], True, ["caches"]]

    virtual.run(main())


def test_a_stop_while_it_is_prepared_ends_it_at_once() -> None:
    async def main() -> None:
        api = api_with("a")
        manager = Operator("test", controllers=[Work([])])._manager(api.client(), False)
        api.fault("*", "/version", delay_seconds=1000)
        task = asyncio.create_task(manager.run())
        await asyncio.sleep(1)
        manager.stop()
        async with asyncio.timeout(2):
            await task
        assert not manager.ready.is_set()

    virtual.run(main())


def test_checks_of_the_program_are_those_of_the_pages() -> None:
    async def main() -> None:
        is_well = False

        async def bucket() -> None:
            if not is_well:
                raise RuntimeError("no bucket")

        options: dict[str, Any] = {"health_checks": {"disk": lambda: None}, "ready_checks": {"bucket": bucket}}
        async with running(api_with("a"), Work([]), **options) as manager:
            assert await manager.servers.healthz.problems() == {}
            assert await manager.servers.readyz.problems() == {"bucket": "no bucket"}
            is_well = True
            assert await manager.servers.readyz.problems() == {}

    virtual.run(main())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"health_checks": {"ping": print}}, "check 'ping': the name is taken on /healthz"),
        ({"ready_checks": {"caches": print}}, "check 'caches': the name is taken on /readyz"),
        ({"ready_checks": {"a/b": print}}, "check 'a/b': must be letters, digits"),
    ],
)
def test_a_check_that_cannot_be_is_refused_when_the_operator_is_made(options: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        Operator("test", controllers=[Work([])], **options)


def test_a_cancelled_manager_gives_its_runnables_no_grace() -> None:
    async def main() -> None:
        notes: list[str] = []
        others = [Runnable(noting(notes, "slow", ends_after=100), name="slow", needs_leadership=False)]
        manager = Operator("test", controllers=[Work(notes)], runnables=others)._manager(api_with("a").client(), False)
        task = asyncio.create_task(manager.run())
        await until(lambda: "reconciled" in notes)
        began = asyncio.get_running_loop().time()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.get_running_loop().time() - began < 1

    virtual.run(main())


def test_what_the_leader_does_is_waited_for_however_long_its_end_takes() -> None:
    async def main() -> None:
        notes: list[str] = []
        leader = Runnable(noting(notes, "leader", ends_after=100), name="leader")
        async with running(api_with("a"), Work(notes), runnables=[leader], grace_seconds=10) as manager:
            await until(lambda: "reconciled" in notes)
            manager.stop()
        assert notes[-1] == "leader ends"

    virtual.run(main())
