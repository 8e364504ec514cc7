"""The guarantees of a controller's loop, by number, on virtual time: 10,000 and more steps of everything at once.

Objects, children and secrets that they point to change, come and go; reconciles fail in all ways, take their time, ask
to be called again; answers are late, watches lag, end and forget; whoever reconciles has to see the last state of all
of it, one object at a time, and a fast one must not wait for a slow one.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Key, Result, Retry, Terminal, after, controller
from kubewright.controller import Lookup
from kubewright.model import ObjectMeta
from kubewright.models.core.v1 import ConfigMap, Secret
from running import running
from webs import Web, config, web

NAMES = "abcdefgh"


class World:
    """A controller whose status is a function of its object, its child and a Secret, and all that can go wrong."""

    def __init__(self, seed: int, *, looks_first: bool) -> None:
        self.random = random = Random(seed)
        self.at_work: Counter[str] = Counter()
        self.most_at_work = 0
        self.passes = 0
        self.trouble = 0.3

        @controller(Web, owns=[ConfigMap], workers=4)
        async def reconcile(web: Web, ctx: Context) -> Result | None:
            name = web.metadata.name
            self.at_work[name] += 1
            assert self.at_work[name] == 1, "G1"
            self.most_at_work = max(self.most_at_work, self.at_work.total())
            self.passes += 1
            assert ctx.causes, "no reconcile without a cause"
            try:
                await asyncio.sleep(random.random() * random.choice((0.0, 0.01, 0.1)))
                seen = await ctx.owned(ConfigMap) if looks_first else []
                seen = [each for each in seen if each.metadata.name == name]
                child = await ctx.apply(config(name, replicas=str(web.spec.replicas)))
                if looks_first:
                    child = seen[0] if seen else config(name)  # what it saw before it wrote: late by one pass
                secret = await ctx.find(Secret, name)
                if random.random() < self.trouble:
                    raise random.choice(
                        (Retry("not yet"), Retry("not yet", after_seconds=0.3), RuntimeError("a bug"), KeyError("k"))
                    )
                web.status.seen = " ".join((
                    str(web.spec.replicas),
                    web.metadata.labels.get("n", ""),
                    child.metadata.labels.get("n", ""),
                    child.data.get("replicas", ""),
                    "" if secret is None else secret.metadata.labels.get("n", ""),
                ))  # fmt: skip
                if random.random() < self.trouble / 3:
                    raise Terminal("no more, until something changes")
                return after(random.random() * 5 + 0.1) if random.random() < self.trouble else None
            finally:
                self.at_work[name] -= 1

        @reconcile.watches(Secret)
        def users(secret: Secret, cache: Lookup) -> Iterable[Key]:
            if random.random() < self.trouble:
                raise RuntimeError("a bug")
            return [Key("default", secret.metadata.name)]

        self.reconcile = reconcile

    def change(self, api: FakeApi, number: int) -> None:
        random, name = self.random, self.random.choice(NAMES)
        label = {"metadata": {"labels": {"n": str(number)}}}
        what = random.random()
        if what < 0.3:
            api.change(Web, name, {"spec": {"replicas": number}})
        elif what < 0.5:
            api.change(Web, name, label)
        elif what < 0.65 and api.get(ConfigMap, name) is not None:
            api.change(ConfigMap, name, label)
        elif what < 0.7 and api.get(ConfigMap, name) is not None:
            api.remove(ConfigMap, name)
        elif what < 0.9 and api.get(Secret, name) is not None:
            api.change(Secret, name, label)
        elif what < 0.95 and api.get(Secret, name) is not None:
            api.remove(Secret, name)
        elif api.get(Secret, name) is None:
            api.put(Secret(metadata=ObjectMeta(name=name, namespace="default", labels={"n": str(number)})))

    def check(self, api: FakeApi) -> None:
        for name in NAMES:
            found, child, secret = api.get(Web, name), api.get(ConfigMap, name), api.get(Secret, name)
            assert found is not None
            assert child is not None
            wanted = (
                str(found.spec.replicas),
                found.metadata.labels.get("n", ""),
                child.metadata.labels.get("n", ""),
                child.data.get("replicas", ""),
                "" if secret is None else secret.metadata.labels.get("n", ""),
            )
            assert found.status.seen == " ".join(wanted)


@pytest.mark.parametrize("seed", range(2))
def test_runner_g1_g2_g3_g5_one_at_a_time_and_the_last_state_always(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    steps = 0
    caplog.set_level(logging.CRITICAL, logger="kubewright.test")

    async def main() -> None:
        nonlocal steps
        world = World(seed, looks_first=seed % 2 == 1)
        api = FakeApi(Web, ConfigMap, Secret, seed=seed, latency_seconds=0.005)
        for name in NAMES:
            api.put(web(name))
        async with running(api, world.reconcile):
            for turn in range(60):
                world.trouble = 0.3
                api.lag_seconds = world.random.choice((0.0, 0.0, 0.02, 0.2))
                api.latency_seconds = world.random.choice((0.0, 0.005, 0.05))
                for number in range(100):
                    world.change(api, 100 * turn + number)
                    await asyncio.sleep(world.random.random() * 0.02)
                if turn % 5 == 4:
                    api.cut(world.random.choice(("reset", "end")))
                world.trouble = 0.0
                await asyncio.sleep(1100)  # the longest back-off
                world.check(api)
        steps = 60 * 100 + world.passes
        assert 1 < world.most_at_work <= 4

    virtual.run(main())
    assert steps >= 10_000


def test_runner_g3_an_exception_of_one_reconcile_stops_nothing_else() -> None:
    done: Counter[str] = Counter()

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        if web.metadata.name in "ab":
            raise RuntimeError("a bug")
        done[web.metadata.name] += 1

    async def main() -> None:
        api = FakeApi(Web)
        for name in NAMES:
            api.put(web(name))
        async with running(api, reconcile):
            for turn in range(100):
                api.change(Web, "c", {"spec": {"replicas": turn + 2}})
                await asyncio.sleep(1)
        assert done["c"] == 101
        assert all(done[name] == 1 for name in NAMES[3:])

    virtual.run(main())


@pytest.mark.parametrize(("grace_seconds", "how"), [(30, "ended"), (3, "cancelled")])
def test_runner_g4_after_stop_no_key_is_handed_out_and_what_runs_has_its_grace_to_end_and_is_then_cancelled(
    grace_seconds: float, how: str
) -> None:
    begun: list[str] = []
    ended: list[tuple[str, str]] = []

    @controller(Web, workers=2)
    async def reconcile(web: Web, ctx: Context) -> None:
        begun.append(web.metadata.name)
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            ended.append((web.metadata.name, "cancelled"))
            raise
        ended.append((web.metadata.name, "ended"))

    async def main() -> None:
        api = FakeApi(Web)
        for name in NAMES:
            api.put(web(name))
        async with running(api, reconcile, grace_seconds=grace_seconds):
            await asyncio.sleep(5)
        assert len(asyncio.all_tasks()) == 1

    virtual.run(main())
    assert begun == ["a", "b"]
    assert ended == [("a", how), ("b", how)]


def test_runner_g5_a_change_by_anybody_else_is_never_lost_while_ones_own_are_left_out() -> None:
    seen: list[tuple[int, str]] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        seen.append((web.spec.replicas, web.status.seen))
        await asyncio.sleep(0.01)
        web.status.ready = web.spec.replicas

    async def main() -> None:
        api = FakeApi(Web, latency_seconds=0.02)
        api.lag_seconds = 0.05
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(1)
            for number in range(2, 100):
                api.change(Web, "a", {"spec": {"replicas": number}})
                await asyncio.sleep(0.001 * (number % 70))
                api.change(Web, "a", {"status": {"seen": str(number)}}, at="status")
                await asyncio.sleep(0.001 * (number % 50))
            await asyncio.sleep(5)
            passes = len(seen)
            await asyncio.sleep(100)
            assert len(seen) == passes

    virtual.run(main())
    assert seen[-1] == (99, "99")


def test_runner_g6_a_reconcile_that_is_tried_again_keeps_its_priority() -> None:
    order: list[str] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> Result | None:
        order.append(f"{web.metadata.name}{ctx.attempt}")
        await asyncio.sleep(1)
        if web.metadata.name == "a" and ctx.attempt < 3:
            raise RuntimeError("a bug")
        return None

    async def main() -> None:
        api = FakeApi(Web)
        for name in "abc":
            api.put(web(name))
        async with running(api, reconcile):
            await asyncio.sleep(0.5)
            for name in "de":
                api.put(web(name))  # these are changes: before what was there at the start
            await asyncio.sleep(60)

    virtual.run(main())
    assert order[:3] == ["a1", "d1", "e1"]
    assert order.index("b1") < order.index("a2")


def test_runner_g6_a_result_and_a_retry_may_say_another_priority() -> None:
    order: list[str] = []
    said: dict[str, Result | Exception] = {
        "a": after(1, priority=7),
        "b": Retry("later", after_seconds=1, priority=9),
        "c": after(1),
    }

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> Result | None:
        name = web.metadata.name
        order.append(name)
        outcome = said.pop(name, None)
        await asyncio.sleep(2 if name == "blocker" else 0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def main() -> None:
        api = FakeApi(Web)
        for name in "abc":
            api.put(web(name))
        async with running(api, reconcile):
            await asyncio.sleep(0.5)
            api.put(web("blocker"))
            await asyncio.sleep(1)
            api.put(web("d"))
            await asyncio.sleep(60)

    virtual.run(main())
    assert order[4:] == ["b", "a", "d", "c"]
