"""The finalizer contract: G1 stored before the first effect, G2 removed after finalize, G3 those of others stay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, MergePatch, Result, Retry, Terminal, after, controller
from kubewright.client import Conflict, Invalid
from kubewright.models.core.v1 import ConfigMap
from running import Passes, running
from webs import Web, config, web

OURS = "example.com/web"
PATH = "/apis/example.com/v1/namespaces/default/webs/a"


@controller(Web)
class Steps:
    """Notes what it is called for; `during` is what others do meanwhile."""

    def __init__(self, during: Callable[[], object] = lambda: None, *finalize: Any) -> None:
        self.calls: list[str] = []
        self.held: list[bool] = []
        self.uids: list[str] = []
        self._during = during
        self._finalize = list(finalize)

    async def reconcile(self, web: Web, ctx: Context) -> None:
        self.calls.append("reconcile")
        self.held.append(OURS in web.metadata.finalizers)

    async def finalize(self, web: Web, ctx: Context) -> None:
        self.calls.append("finalize")
        self.uids.append(web.metadata.uid)
        self._during()
        await asyncio.sleep(1)
        outcome = self._finalize.pop(0) if self._finalize else None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def server(*finalizers: str) -> FakeApi:
    api = FakeApi(Web, ConfigMap)
    api.put(web(finalizers=finalizers))
    return api


def finalizers(api: FakeApi) -> list[str]:
    found = api.get(Web, "a")
    assert found is not None
    return found.metadata.finalizers


def test_pass_g1_finalizing_g1_the_finalizer_is_stored_before_the_first_reconcile() -> None:
    async def main() -> None:
        api = server()
        steps = Steps()
        async with Passes(api, steps) as passes:
            await passes.run()
            assert steps.held == [True]
            assert finalizers(api) == [OURS]
            assert api.writes == [f"patch {PATH}"]
            await passes.run()
            assert len(api.writes) == 1

    virtual.run(main())


@pytest.mark.parametrize("lag_seconds", [0.0, 5.0])
def test_pass_g1_finalizing_g1_no_reconcile_runs_when_the_finalizer_could_not_be_stored(lag_seconds: float) -> None:
    async def main() -> None:
        api = server()
        api.fault("patch", PATH, then=lambda: api.change(Web, "a", {"metadata": {"finalizers": ["other.io/x"]}}))
        steps = Steps()
        async with Passes(api, steps) as passes:
            api.lag_seconds = lag_seconds
            with pytest.raises(Conflict):
                await passes.run()
            assert steps.calls == []
            await asyncio.sleep(6)
            await passes.run()
            assert finalizers(api) == ["other.io/x", OURS]
            assert steps.held == [True]

    virtual.run(main())


def test_pass_g4_an_object_that_goes_before_the_finalizer_is_stored_is_no_error() -> None:
    async def main() -> None:
        api = server()
        api.fault("patch", PATH, then=lambda: api.remove(Web, "a"))
        steps = Steps()
        async with Passes(api, steps) as passes:
            assert await passes.run() == Result()
            assert steps.calls == []

    virtual.run(main())


def test_a_controller_without_finalize_adds_no_finalizer() -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        pass

    async def main() -> None:
        api = server()
        async with Passes(api, reconcile) as passes:
            await passes.run()
            assert api.writes == []

    virtual.run(main())


def test_pass_g3_finalizing_g3_the_finalizer_goes_last_and_those_of_others_stay() -> None:
    async def main() -> None:
        api = server("other.io/x", OURS, "other.io/y")
        api.remove(Web, "a")
        steps = Steps()
        async with Passes(api, steps) as passes:
            await passes.run()
            assert steps.calls == ["finalize"]
            assert finalizers(api) == ["other.io/x", "other.io/y"]
            await passes.run()
            assert steps.calls == ["finalize"]

    virtual.run(main())


def test_the_object_is_gone_when_ours_was_the_last() -> None:
    async def main() -> None:
        api = server(OURS)
        api.remove(Web, "a")
        steps = Steps()
        async with Passes(api, steps) as passes:
            await passes.run()
            assert api.get(Web, "a") is None

    virtual.run(main())


@pytest.mark.parametrize("outcome", [Retry("not yet"), RuntimeError("no")])
def test_pass_g3_finalizing_g2_finalize_is_called_until_it_returns(outcome: Exception) -> None:
    async def main() -> None:
        api = server(OURS)
        api.remove(Web, "a")
        steps = Steps(lambda: None, outcome, outcome, None)
        async with running(api, steps):
            await asyncio.sleep(10)
        assert steps.calls == ["finalize"] * 3
        assert api.get(Web, "a") is None

    virtual.run(main())


def test_finalize_that_asks_to_be_called_again_by_a_value_is_an_error_and_the_finalizer_stays() -> None:
    async def main() -> None:
        api = server(OURS)
        api.remove(Web, "a")
        async with Passes(api, Steps(lambda: None, after(30))) as passes:
            with pytest.raises(Terminal, match=r"test_finalizer_contract.py:\d+\): finalize .*raise Retry"):
                await passes.run()
        assert finalizers(api) == [OURS]

    virtual.run(main())


@pytest.mark.parametrize("lag_seconds", [0.0, 5.0])
def test_an_object_that_others_change_during_finalize_is_released_all_the_same(lag_seconds: float) -> None:
    async def main() -> None:
        api = server(OURS, "other.io/x")
        api.remove(Web, "a")
        steps = Steps(
            lambda: api.change(Web, "a", {"metadata": {"finalizers": [OURS, "other.io/x"], "labels": {"a": "b"}}})
        )
        async with Passes(api, steps) as passes:
            api.lag_seconds = lag_seconds
            await passes.run()
        assert finalizers(api) == ["other.io/x"]

    virtual.run(main())


def test_an_object_that_somebody_releases_by_hand_during_finalize_is_no_error() -> None:
    async def main() -> None:
        api = server(OURS)
        api.remove(Web, "a")
        steps = Steps(lambda: api.change(Web, "a", {"metadata": {"finalizers": None}}))
        async with Passes(api, steps) as passes:
            assert await passes.run() == Result()
        assert api.get(Web, "a") is None

    virtual.run(main())


@pytest.mark.parametrize("lag_seconds", [0.0, 5.0])
def test_an_object_made_anew_during_finalize_keeps_its_own_finalizer(lag_seconds: float) -> None:
    def anew(api: FakeApi) -> None:
        api.change(Web, "a", {"metadata": {"finalizers": None}})
        api.put(web(finalizers=(OURS, "other.io/x")))

    async def main() -> None:
        api = server(OURS)
        api.remove(Web, "a")
        steps = Steps(lambda: anew(api))
        async with Passes(api, steps) as passes:
            api.lag_seconds = lag_seconds
            assert await passes.run() == Result()
            assert finalizers(api) == [OURS, "other.io/x"]
            api.lag_seconds = 0
            await passes.run()
        assert steps.calls == ["finalize", "reconcile"]

    virtual.run(main())


@pytest.mark.parametrize("lag_seconds", [0.0, 5.0])
def test_finalize_is_not_called_again_after_its_finalizer_went(lag_seconds: float) -> None:
    async def main() -> None:
        api = server(OURS)
        api.remove(Web, "a")
        steps = Steps()
        async with Passes(api, steps) as passes:
            api.lag_seconds = lag_seconds
            await passes.run()
            await passes.run()
        assert steps.calls == ["finalize"]

    virtual.run(main())


def test_a_stale_cache_does_not_bring_back_a_finalizer() -> None:
    async def main() -> None:
        api = server()
        steps = Steps()
        async with Passes(api, steps) as passes:
            api.lag_seconds = 5
            api.change(Web, "a", {"metadata": {"finalizers": ["other.io/x"]}})
            api.change(Web, "a", {"metadata": {"finalizers": None}})
            with pytest.raises(Conflict):
                await passes.run()
        assert finalizers(api) == []

    virtual.run(main())


def test_a_stale_cache_does_not_add_a_finalizer_to_an_object_that_is_going() -> None:
    async def main() -> None:
        api = server("other.io/x")
        steps = Steps()
        async with Passes(api, steps) as passes:
            api.lag_seconds = 5
            api.remove(Web, "a")
            with pytest.raises((Conflict, Invalid)):
                await passes.run()
            await asyncio.sleep(6)
            await passes.run()
        assert steps.calls == []
        assert finalizers(api) == ["other.io/x"]

    virtual.run(main())


def test_the_status_is_written_by_finalize_too_and_does_not_get_in_its_way() -> None:
    @controller(Web)
    class Backup:
        async def reconcile(self, web: Web, ctx: Context) -> None: ...

        async def finalize(self, web: Web, ctx: Context) -> None:
            web.status.seen = "going"
            await ctx.apply(config("backup", uid=web.metadata.uid), owned=False)

    async def main() -> None:
        api = server(OURS, "other.io/x")
        api.remove(Web, "a")
        async with Passes(api, Backup()) as passes:
            await passes.run()
        found = api.get(Web, "a")
        assert found is not None
        assert (found.status.seen, found.metadata.finalizers) == ("going", ["other.io/x"])
        assert api.get(ConfigMap, "backup") is not None

    virtual.run(main())


def test_a_function_controller_finalizes_with_finalize_and_a_name_of_its_own() -> None:
    calls: list[str] = []

    async def clean(web: Web, ctx: Context) -> None:
        calls.append("finalize")

    @controller(Web, finalize=clean, finalizer="example.com/clean")
    async def reconcile(web: Web, ctx: Context) -> None:
        calls.append(",".join(web.metadata.finalizers))

    async def main() -> None:
        api = server()
        async with running(api, reconcile):
            await asyncio.sleep(1)
            api.remove(Web, "a")
            await asyncio.sleep(1)
        assert api.get(Web, "a") is None

    virtual.run(main())
    assert calls == ["example.com/clean", "finalize"]


def test_deletion_in_the_middle_of_a_reconcile_ends_in_one_finalize() -> None:
    async def main() -> None:
        api = server()
        steps = Steps()

        @controller(Web, name="slow", finalize=steps.finalize, finalizer=OURS)
        async def reconcile(web: Web, ctx: Context) -> None:
            steps.calls.append("reconcile")
            await asyncio.sleep(10)
            await ctx.patch(web, MergePatch({"metadata": {"labels": {"seen": "yes"}}}))

        async with running(api, reconcile):
            await asyncio.sleep(15)
            api.change(Web, "a", {"spec": {"replicas": 2}})
            await asyncio.sleep(5)
            api.remove(Web, "a")
            await asyncio.sleep(60)
        assert api.get(Web, "a") is None
        assert steps.calls[-1] == "finalize"
        assert steps.calls.count("finalize") == 1

    virtual.run(main())
