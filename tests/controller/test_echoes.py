"""What a controller itself has written wakes it no more; what anybody else has, always."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from random import Random

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Key, Retry, Terminal, controller
from kubewright.controller import owned, reconciler
from kubewright.controller.cause import INITIAL, REQUEUE, RETRY, Cause
from kubewright.controller.echoes import Echoes, Version
from kubewright.controller.predicates import generation_changed, where
from kubewright.controller.reconciler import Aside, Pass
from kubewright.models.core.v1 import ConfigMap
from running import Passes, running
from webs import Web, config, web

# The rule, without any I/O


def test_a_version_that_was_accounted_for_is_no_news_and_every_later_one_is() -> None:
    echoes = Echoes()
    echoes.begin("a")
    echoes.account("a", "u", "10", "a")
    echoes.end("a")
    assert echoes.covers("a", "u", "9")
    assert echoes.covers("a", "u", "10")
    assert not echoes.covers("a", "u", "10"), "its echo has come"
    assert not echoes.covers("a", "u", "11")
    assert len(echoes) == 0


def test_a_later_version_is_news_and_ends_the_wait_for_the_echo() -> None:
    echoes = Echoes()
    echoes.begin("a")
    echoes.account("a", "u", "10", "a")
    assert not echoes.covers("a", "u", "11")
    assert len(echoes) == 0


def test_another_object_of_the_same_name_is_news() -> None:
    echoes = Echoes()
    echoes.begin("a")
    echoes.account("a", "old", "10", "a")
    assert not echoes.covers("a", "new", "9")
    assert len(echoes) == 0


def test_a_version_that_is_no_number_is_news() -> None:
    echoes = Echoes()
    echoes.begin("a")
    echoes.account("a", "u", "abc", "a")
    assert not echoes.covers("a", "u", "abc")
    echoes.account("a", "u", "10", "a")
    assert not echoes.covers("a", "u", "x9")


def test_an_echo_that_came_before_the_answer_is_told_apart() -> None:
    echoes = Echoes()
    echoes.begin("child")
    assert not echoes.covers("child", "u", "10")
    echoes.account("child", "u", "10", "a")
    echoes.end("child")
    [known] = echoes.early["a"].values()
    assert known.covers("u", "10")
    assert known.covers("u", "9")
    assert not known.covers("u", "11")
    assert not known.covers("other", "10")
    assert not known.covers("u", "x")


@pytest.mark.parametrize(
    ("causes", "is_known"),
    [
        ([Cause("updated")], True),
        ([Cause("updated"), REQUEUE], False),
        ([RETRY], False),
        ([INITIAL], False),
        ([Cause("updated", "ConfigMap", "default", "c")], False),
        ([Cause("updated"), Cause("updated", "ConfigMap", "default", "c")], False),
        ([], False),
    ],
)
def test_pass_g5_it_is_left_out_if_nothing_but_early_echoes_has_asked_for_it(
    causes: list[Cause], is_known: bool
) -> None:
    count = 0

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        nonlocal count
        count += 1

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        async with Passes(api, reconcile) as passes:
            key = Key("default", "a")
            found = api.get(Web, "a")
            assert found is not None
            echoes = passes.reconciler.echoes
            assert echoes is not None
            version = found.metadata.resource_version
            echoes.early[key] = {key: Version(found.metadata.uid, int(version))}
            await passes.reconciler.run(key, Pass(1, causes))
            assert count == (not is_known)
            assert not echoes.early

    virtual.run(main())


def test_a_pass_that_is_left_out_does_not_decode_its_object(monkeypatch: pytest.MonkeyPatch) -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        raise AssertionError("nothing is new")

    def refuse(*_: object) -> object:
        raise AssertionError("decoded")

    async def main() -> None:
        api = FakeApi(Web)
        made = api.put(web())
        async with Passes(api, reconcile) as passes:
            key, echoes = Key("default", "a"), passes.reconciler.echoes
            assert echoes is not None
            echoes.early[key] = {key: Version(made.metadata.uid, int(made.metadata.resource_version))}
            monkeypatch.setattr(reconciler, "decode", refuse)
            assert isinstance(await passes.reconciler.run(key, Pass(1, [Cause("updated")])), Aside)

    virtual.run(main())


# On an operator


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


# Children


def children(act: object = None, *, first: object = None, **options: object) -> list[str]:
    """The causes of all passes of a controller that applies a ConfigMap, and does something before."""
    causes: list[str] = []

    @controller(Web, **{"owns": [ConfigMap], **options})  # type: ignore[call-overload]
    async def reconcile(web: Web, ctx: Context) -> None:
        causes.append(", ".join(sorted(map(str, ctx.causes))))
        if callable(first):
            await first(ctx)
        await ctx.apply(config("child", replicas=str(web.spec.replicas)))

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, latency_seconds=0.01)
        async with running(api, reconcile):
            api.put(web())
            await asyncio.sleep(5)
            if callable(act):
                act(api)
            await asyncio.sleep(5)

    virtual.run(main())
    return causes


def test_a_child_that_a_reconcile_has_made_and_changed_does_not_wake_it() -> None:
    assert children(lambda api: api.change(Web, "a", {"spec": {"replicas": 7}})) == ["added", "updated"]


def test_a_child_that_another_changes_or_removes_does() -> None:
    assert children(lambda api: api.change(ConfigMap, "child", {"data": {"x": "y"}}))[1:] == ["updated ConfigMap child"]
    assert children(lambda api: api.remove(ConfigMap, "child"))[1:] == ["deleted ConfigMap child"]


async def _owned(ctx: Context) -> object:
    return await ctx.owned(ConfigMap)


async def _list(ctx: Context) -> object:
    return await ctx.list(ConfigMap)


async def _find(ctx: Context) -> object:
    return await ctx.find(ConfigMap, "child")


async def _live(ctx: Context) -> object:
    return await ctx.client.find(ConfigMap, "child", namespace="default")


async def _mutate(ctx: Context) -> object:
    return await ctx.create_or_patch(config("child"), lambda found: None)


async def _twice(ctx: Context) -> object:
    return await ctx.apply(config("child", replicas="0"))


@pytest.mark.parametrize("first", [_owned, _list, _find, _live, _mutate, _twice])
def test_after_it_has_looked_for_its_like_a_child_that_it_made_is_news(first: object) -> None:
    causes = children(first=first)
    assert "ConfigMap child" in causes[1]


def test_other_owners_hear_of_a_child_that_one_of_them_wrote() -> None:
    assert children(owns=[owned(ConfigMap, any_owner=True)]) == ["added", "added ConfigMap child"]


def test_a_predicate_that_hides_echoes_leaves_nothing_behind() -> None:
    @controller(Web, owns=[owned(ConfigMap, predicate=where(lambda config: False))], predicate=generation_changed)
    async def reconcile(web: Web, ctx: Context) -> None:
        await ctx.apply(config("child", replicas=str(web.spec.replicas)))
        web.status.ready = web.spec.replicas

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, latency_seconds=0.01)
        async with running(api, reconcile) as manager:
            api.put(web())
            await asyncio.sleep(5)
            echoes = manager._runners[0]._reconciler.echoes
            assert echoes is not None
            assert len(echoes) == 0

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
