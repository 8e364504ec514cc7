"""What a controller itself has written of its object wakes it no more; what anybody else has, always."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from random import Random

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Retry, Terminal, controller
from kubewright.models.core.v1 import ConfigMap
from running import running
from webs import Web, config, web


def passes(**options: object) -> tuple[int, FakeApi]:
    count = 0

    @controller(Web, **options)  # type: ignore[call-overload]
    async def reconcile(web: Web, ctx: Context) -> None:
        nonlocal count
        count += 1
        web.status.ready = web.spec.replicas

    async def main() -> FakeApi:
        api = FakeApi(Web)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(10)
        return api

    api = virtual.run(main())
    return count, api


def test_the_status_that_a_reconcile_writes_does_not_wake_it() -> None:
    count, api = passes()
    found = api.get(Web, "a")
    assert found is not None
    assert found.status.ready == 1
    assert count == 1


def test_with_wakes_itself_it_does() -> None:
    count, _ = passes(wakes_itself=True)
    assert count == 2


def test_a_finalizer_that_was_stored_does_not_wake_it_either() -> None:
    async def clean(web: Web, ctx: Context) -> None: ...

    count, api = passes(finalize=clean)
    found = api.get(Web, "a")
    assert found is not None
    assert found.metadata.finalizers == ["example.com/web"]
    assert count == 1


def test_a_status_that_another_writes_wakes_it() -> None:
    seen: list[str] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        seen.append(web.status.seen)
        web.status.ready = web.spec.replicas

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(1)
            api.change(Web, "a", {"status": {"seen": "by others"}}, at="status")
            await asyncio.sleep(1)

    virtual.run(main())
    assert seen == ["", "by others"]


def test_another_controller_of_the_kind_is_woken_by_it() -> None:
    seen: list[int] = []

    @controller(Web, name="writer")
    async def writer(web: Web, ctx: Context) -> None:
        web.status.ready = web.spec.replicas

    @controller(Web, name="reader")
    async def reader(web: Web, ctx: Context) -> None:
        seen.append(web.status.ready)

    async def main() -> None:
        api = FakeApi(Web)
        async with running(api, writer, reader):
            api.put(web())
            await asyncio.sleep(1)

    virtual.run(main())
    assert seen[-1] == 1


def test_a_status_that_the_server_changes_on_the_way_wakes_it() -> None:
    """A webhook, or a default: then what is stored was never reconciled."""
    seen: list[str] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        seen.append(web.status.seen)
        web.status.ready = web.spec.replicas

    def admit(obj: dict[str, dict[str, object]]) -> None:
        if "status" in obj:
            obj["status"]["seen"] = "by a webhook"

    async def main() -> None:
        api = FakeApi(Web)
        api.objects.admit = admit
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(1)

    virtual.run(main())
    assert seen == ["", "by a webhook"]


@pytest.mark.parametrize("error", [Retry("not yet", after_seconds=5), RuntimeError("a bug")])
def test_the_status_of_a_failed_reconcile_does_not_cut_its_backoff_short(error: Exception) -> None:
    times: list[float] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        times.append(asyncio.get_running_loop().time() - virtual.START_AT)
        web.status.ready = len(times)
        if len(times) < 8:
            raise error

    async def main() -> None:
        api = FakeApi(Web, latency_seconds=0.001)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(60)

    virtual.run(main())
    assert len(times) == 8
    gaps = [later - earlier for earlier, later in pairwise(times)]
    wanted = [5.0] * 7 if isinstance(error, Retry) else [max(0.005, 0.75 * 0.005 * 2**n) for n in range(7)]
    assert all(gap >= want for gap, want in zip(gaps, wanted, strict=True))


def test_a_terminal_failure_that_writes_why_runs_once() -> None:
    count = 0

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        nonlocal count
        count += 1
        web.status.seen = "cannot be"
        raise Terminal("cannot be")

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(60)

    virtual.run(main())
    assert count == 1


def test_echoes_g2_nothing_is_kept_of_echoes_that_have_come() -> None:
    @controller(Web, owns=[ConfigMap], workers=4)
    async def reconcile(web: Web, ctx: Context) -> None:
        await ctx.apply(config(web.metadata.name, a=str(web.spec.replicas)))
        web.status.ready = web.spec.replicas

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, latency_seconds=0.01)
        for number in range(50):
            api.put(web(f"w{number}"))
        async with running(api, reconcile) as manager:
            for turn in range(2, 6):
                await asyncio.sleep(5)
                api.lag_seconds = (turn % 2) * 0.2
                for number in range(50):
                    api.change(Web, f"w{number}", {"spec": {"replicas": turn}})
            for number in range(25):
                api.remove(Web, f"w{number}")
            await asyncio.sleep(10)
            echoes = manager._runners[0]._reconciler.echoes
            assert echoes is not None
            assert len(echoes) == 0
            assert not echoes._running

    virtual.run(main())


@pytest.mark.parametrize("seed", range(10))
def test_echoes_g1_no_change_by_anybody_else_is_ever_lost(seed: int) -> None:
    """Others write spec, labels and status of the same objects while a controller writes their status; answers and
    watches are late, in any order, watches are cut and forget, objects are made anew under their names.

    The controller answers for each state in its status. Forty times all is left alone, and then it has answered for
    the last state of each object.
    """
    random = Random(seed)
    fails = 0.0

    @controller(Web, workers=4)
    async def reconcile(web: Web, ctx: Context) -> None:
        answer = f"{web.metadata.labels.get('a', '')} {web.spec.replicas} {web.status.ready}"
        await asyncio.sleep(random.random() * random.choice((0.001, 0.05)))
        if random.random() < fails:
            web.status.seen = f"failed {random.random()}"
            raise random.choice((Retry("not yet"), RuntimeError("a bug")))
        web.status.seen = answer

    def change(api: FakeApi, name: str, number: int) -> None:
        what = random.random()
        if what < 0.3:
            api.change(Web, name, {"spec": {"replicas": number}})
        elif what < 0.6:
            api.change(Web, name, {"status": {"ready": number}}, at="status")
        elif what < 0.9:
            api.change(Web, name, {"metadata": {"labels": {"a": str(number)}}})
        else:
            api.remove(Web, name)
            api.put(web(name))

    async def main() -> None:
        nonlocal fails
        api = FakeApi(Web, seed=seed, latency_seconds=0.02)
        names = "abcd"
        for name in names:
            api.put(web(name))
        async with running(api, reconcile):
            for turn in range(40):
                fails = 0.3
                api.lag_seconds = random.choice((0.0, 0.0, 0.01, 0.05, 0.3))
                api.latency_seconds = random.choice((0.0, 0.02, 0.2))
                for number in range(random.randrange(15)):
                    change(api, random.choice(names), 100 * turn + number)
                    await asyncio.sleep(random.random() * random.choice((0.0, 0.02, 0.2)))
                if turn % 7 == 5:
                    api.expire()
                    api.cut(random.choice(("reset", "end", "gone")))
                if turn % 2:
                    await asyncio.sleep(random.random())
                    change(api, random.choice(names), turn)
                await asyncio.sleep(10)
                fails = 0.0
                await asyncio.sleep(60)
                for name in names:
                    found = api.get(Web, name)
                    assert found is not None
                    wanted = f"{found.metadata.labels.get('a', '')} {found.spec.replicas} {found.status.ready}"
                    assert found.status.seen == wanted

    virtual.run(main())
