"""Workers: never two for one object, always one more for a change, and nothing that one object does stops another."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Result, Retry, Terminal, after, controller
from kubewright.models.core.v1 import ConfigMap
from running import running, until
from webs import Web, config, web


@pytest.mark.parametrize("seed", [*range(10), 46])
def test_runner_g1_g2_an_object_is_never_reconciled_twice_at_a_time_and_its_last_state_always_is(seed: int) -> None:
    """Random changes, children, failures, lags and cuts, with eight workers on five objects."""
    random = Random(seed)
    at_work: Counter[str] = Counter()
    seen: dict[str, int] = {}
    most = 0

    @controller(Web, owns=[ConfigMap], workers=8)
    async def reconcile(web: Web, ctx: Context) -> Result | None:
        nonlocal most
        name = web.metadata.name
        at_work[name] += 1
        assert at_work[name] == 1
        most = max(most, at_work.total())
        try:
            await asyncio.sleep(random.random() * 0.1)
            await ctx.apply(config(name, replicas=str(web.spec.replicas)))
            await asyncio.sleep(random.random() * 0.1)
            seen[name] = web.spec.replicas
            web.status.ready = web.spec.replicas
            outcome = random.random()
            if outcome < 0.1:
                raise Retry("not yet")
            if outcome < 0.2:
                raise RuntimeError("a bug")
            return after(random.random()) if outcome < 0.3 else None
        finally:
            at_work[name] -= 1

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, seed=seed, latency_seconds=0.01)
        names = "abcde"
        for name in names:
            api.put(web(name))
        async with running(api, reconcile):
            for number in range(200):
                name = random.choice(names)
                if random.random() < 0.8:
                    api.change(Web, name, {"spec": {"replicas": number}})
                elif api.get(ConfigMap, name) is not None:
                    api.remove(ConfigMap, name)
                if number % 20 == 0:
                    api.lag_seconds = random.choice((0.0, 0.1, 1.0))
                if number % 45 == 0:
                    # What is made and removed until the list comes is in no event.
                    api.fault("list", "", delay_seconds=random.random() * 4, times=2)
                    api.expire()
                    api.cut(random.choice(("reset", "end", "gone")))
                await asyncio.sleep(random.random() * 0.1)
            api.lag_seconds = 0
            await asyncio.sleep(60)
            for name in names:
                found, made = api.get(Web, name), api.get(ConfigMap, name)
                assert found is not None
                assert made is not None
                assert found.spec.replicas == found.status.ready == seen[name] == int(made.data["replicas"])
            writes = len(api.writes)
            api.requests.clear()
            await asyncio.sleep(20)
            assert writes > 0
            assert api.writes == []
        assert 1 < most <= 5

    virtual.run(main())


def test_runner_g2_any_number_of_changes_during_a_reconcile_make_exactly_one_more() -> None:
    seen: list[int] = []

    @controller(Web, workers=4)
    async def reconcile(web: Web, ctx: Context) -> None:
        seen.append(web.spec.replicas)
        await asyncio.sleep(10)

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        async with running(api, reconcile):
            for number in range(2, 7):
                await asyncio.sleep(1)
                api.change(Web, "a", {"spec": {"replicas": number}})
            await asyncio.sleep(60)

    virtual.run(main())
    assert seen == [1, 6]


def test_a_failing_object_delays_no_other() -> None:
    done: list[str] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        if web.metadata.name == "bad":
            raise RuntimeError("a bug")
        done.append(web.metadata.name)

    async def main() -> None:
        api = FakeApi(Web)
        for name in ("bad", "x", "y"):
            api.put(web(name))
        async with running(api, reconcile):
            await asyncio.sleep(0.001)
            assert sorted(done) == ["x", "y"]

    virtual.run(main())


def test_no_more_objects_are_reconciled_at_once_than_there_are_workers() -> None:
    at_work: list[int] = [0]
    most: list[int] = [0]

    @controller(Web, workers=3)
    async def reconcile(web: Web, ctx: Context) -> None:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        await asyncio.sleep(1)
        at_work[0] -= 1

    async def main() -> None:
        api = FakeApi(Web)
        for number in range(20):
            api.put(web(f"w{number}"))
        async with running(api, reconcile):
            await asyncio.sleep(30)

    virtual.run(main())
    assert most == [3]


def test_two_controllers_of_one_kind_each_get_every_change() -> None:
    calls: list[str] = []

    @controller(Web, name="one")
    async def one(web: Web, ctx: Context) -> None:
        calls.append("one")

    @controller(Web, name="two")
    async def two(web: Web, ctx: Context) -> None:
        calls.append("two")
        raise Terminal("no")

    async def main() -> None:
        api = FakeApi(Web)
        async with running(api, one, two):
            api.put(web())
            await asyncio.sleep(1)

    virtual.run(main())
    assert sorted(calls) == ["one", "two"]


def test_a_child_that_changes_or_goes_wakes_its_owner() -> None:
    causes: list[tuple[str, ...]] = []

    @controller(Web, owns=[ConfigMap])
    async def reconcile(web: Web, ctx: Context) -> None:
        causes.append(tuple(map(str, ctx.causes)))
        await ctx.apply(config("child", a="1"))

    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(1)
            causes.clear()
            api.change(ConfigMap, "child", {"data": {"a": "2"}})
            await asyncio.sleep(1)
            api.remove(ConfigMap, "child")
            await asyncio.sleep(1)
            assert api.get(ConfigMap, "child") is not None
        assert [said[0] for said in causes] == ["updated ConfigMap child", "deleted ConfigMap child"]

    virtual.run(main())


def test_a_change_while_a_failed_step_waits_is_not_lost() -> None:
    """Two steps, of which the second fails once and is retried after 4 s. In between the spec changes.

    A toolkit that remembers which handlers of which change have succeeded never runs the first step for the new spec.
    """
    first_step: list[str] = []
    fails_until = virtual.START_AT + 4

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        first_step.append(web.spec.image)
        web.status.seen = web.spec.image
        if asyncio.get_running_loop().time() < fails_until:
            raise Retry("not yet", after_seconds=4)
        web.status.ready = web.spec.replicas

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web(image="v1", replicas=1))
        async with running(api, reconcile):
            await asyncio.sleep(2)
            found = api.get(Web, "a")
            assert found is not None
            assert (found.status.seen, found.status.ready) == ("v1", 0)
            api.change(Web, "a", {"spec": {"image": "v2", "replicas": 2}})

            def is_current() -> bool:
                found = api.get(Web, "a")
                return found is not None and (found.status.seen, found.status.ready) == ("v2", 2)

            await until(is_current)
            await asyncio.sleep(10)
            assert is_current()
        assert first_step[-1] == "v2"

    virtual.run(main())


def test_nothing_is_sent_while_nothing_changes() -> None:
    @controller(Web, owns=[ConfigMap], workers=4)
    async def reconcile(web: Web, ctx: Context) -> Result:
        await ctx.apply(config(web.metadata.name, a="1"))
        web.status.ready = len(await ctx.owned(ConfigMap))
        return after(5)

    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        for number in range(50):
            api.put(web(f"w{number}"))
        async with running(api, reconcile):
            await asyncio.sleep(30)
            api.requests.clear()
            await asyncio.sleep(600)
            assert api.writes == []
            assert {asked.verb for asked in api.requests} == {"watch"}

    virtual.run(main())
