"""What starts after what, and what ends before what: in a good run, and wherever it breaks off."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from loop_elector import KeptOpen, LoopElector
from msgspec.structs import replace

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.client import ClientConfig
from kubewright.controller import bind
from kubewright.manager import Candidacy, LeaderElection, Manager, Runnable, Running
from kubewright.models.coordination.v1 import Lease
from kubewright.models.core.v1 import ConfigMap
from kubewright.models.events.v1 import Event
from running import until
from webs import Web, web

CONFIG = ClientConfig(server="http://fake.example")
SETTINGS = LeaderElection()
OTHERS, LEADERS = [f"other {number}" for number in range(3)], [f"leader {number}" for number in range(3)]
STAGES = ["servers", "prepare", "synced", OTHERS[1], LEADERS[1]]


class Broken(Exception):
    """What a stage is made to raise."""


class Traced:
    """A manager each part of which notes its start and, with a minus, its end; `breaks` raises at its start."""

    def __init__(self, api: FakeApi, name: str = "me", *, breaks: str = "", elects: bool = True) -> None:
        self.trace: list[str] = []
        self.ends: list[str] = []
        self.ends_after = 0.0  # what a runnable takes to end
        self.breaks = breaks
        self.api = api

        @controller(Web, name="web", owns=[ConfigMap])
        async def reconcile(web: Web, ctx: Context) -> None:
            self.note("reconcile")
            try:
                await asyncio.sleep(2)
            finally:
                self.note("-reconcile")

        candidacy = None
        if elects:
            settings = replace(SETTINGS, identity=name).named("order", "default")
            elector = LoopElector(
                settings,
                CONFIG,
                transport=lambda: KeptOpen(api),
                end=self.ends.append,
                timer=None,
                clock=asyncio.get_running_loop().time,
            )
            candidacy = Candidacy(elector, lambda fence: KeptOpen(api), server="fake.example")
            self._wrap(candidacy, "run", after="-election")

        async def prepare() -> None:
            await asyncio.sleep(1)
            self.note("prepare")

        runnables = [
            *(Runnable(self._runnable(each), name=each, needs_leadership=False) for each in OTHERS),
            *(Runnable(self._runnable(each), name=each) for each in LEADERS),
        ]
        self.manager = manager = Manager(
            api.client(), [bind(reconcile)], name="order", candidacy=candidacy, prepare=prepare, runnables=runnables
        )
        self._wrap(manager.servers, "start", before="servers")
        self._wrap(manager.servers, "close", after="-servers")
        self._wrap(manager, "_start", after="synced")
        self._wrap(manager._informers, "stop", after="-informers")
        self._wrap(manager.telemetry.events, "stop", after="-events")

    def note(self, what: str) -> None:
        self.trace.append(what)
        if what == self.breaks:
            raise Broken(what)

    def before(self, some: str, others: str) -> bool:
        return self.trace.index(some) < self.trace.index(others)

    def _wrap(self, owner: Any, name: str, *, before: str = "", after: str = "") -> None:
        original: Callable[..., Awaitable[Any]] = getattr(owner, name)

        async def wrapped(*args: Any) -> Any:
            if before:
                self.note(before)
            try:
                return await original(*args)
            finally:
                if after:
                    self.note(after)

        setattr(owner, name, wrapped)

    def _runnable(self, name: str) -> Callable[[Running], Awaitable[None]]:
        async def run(running: Running) -> None:
            self.note(name)
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(self.ends_after)
                self.note(f"-{name}")

        return run


def on_an_api(case: Callable[[FakeApi], Awaitable[None]]) -> None:
    async def main() -> None:
        api = FakeApi(Web, ConfigMap, Lease, Event)
        api.put(web("a"))
        await case(api)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert api.open_watches == 0

    virtual.run(main())


@pytest.mark.parametrize("elects", [False, True])
def test_a_good_run_starts_in_order_and_ends_in_order(elects: bool) -> None:
    async def case(api: FakeApi) -> None:
        traced = Traced(api, elects=elects)
        running = asyncio.create_task(traced.manager.run())
        await until(lambda: "reconcile" in traced.trace)
        traced.manager.stop()
        await running
        stops_at = next(at for at, what in enumerate(traced.trace) if what.startswith("-"))
        start, stop = traced.trace[:stops_at], traced.trace[stops_at:]
        assert start[:6] == ["servers", "prepare", "synced", *OTHERS]
        assert set(start[6:]) == {*LEADERS, "reconcile"}
        assert set(stop[:3]) == {f"-{each}" for each in OTHERS}
        assert set(stop[3:7]) == {*(f"-{each}" for each in LEADERS), "-reconcile"}
        assert stop[7:] == [*(["-election"] if elects else []), "-informers", "-servers", "-events"]

    on_an_api(case)


@pytest.mark.parametrize("breaks", STAGES)
def test_what_breaks_at_its_start_ends_what_has_started_and_nothing_else_starts(breaks: str) -> None:
    async def case(api: FakeApi) -> None:
        traced = Traced(api, breaks=breaks)
        with pytest.raises(Broken, match=breaks):
            await traced.manager.run()
        position = STAGES.index(breaks)
        for later in STAGES[position + 1 :]:
            if later not in (*OTHERS, *LEADERS):
                assert later not in traced.trace
        assert ("reconcile" in traced.trace) == ("-reconcile" in traced.trace)
        for each in (*OTHERS, *LEADERS):
            if each != breaks:
                assert (each in traced.trace) == (f"-{each}" in traced.trace)
        assert traced.before("-informers", "-servers")
        if breaks in LEADERS:
            assert traced.before(f"-{OTHERS[0]}", f"-{LEADERS[0]}")
            assert traced.before(f"-{LEADERS[0]}", "-election")

    on_an_api(case)


@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.5, 4.0])
def test_a_stop_at_any_time_of_the_start_ends_in_order_and_starts_nothing_of_the_leader(seconds: float) -> None:
    async def case(api: FakeApi) -> None:
        api.fault("list", "/configmaps", delay_seconds=1.0)
        api.fault("*", "/leases", delay_seconds=4.0)
        traced = Traced(api)
        running = asyncio.create_task(traced.manager.run())
        await asyncio.sleep(seconds)
        traced.manager.stop()
        async with asyncio.timeout(10):
            await running
        assert not {*LEADERS, "reconcile"} & set(traced.trace)
        assert traced.trace[-3:] == ["-informers", "-servers", "-events"]
        assert {each for each in OTHERS if each in traced.trace} == {
            each for each in OTHERS if f"-{each}" in traced.trace
        }

    on_an_api(case)


@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.5, 4.0, 20.0])
def test_a_cancellation_at_any_time_leaves_nothing(seconds: float) -> None:
    async def case(api: FakeApi) -> None:
        api.fault("list", "/configmaps", delay_seconds=1.0)
        traced = Traced(api)
        running = asyncio.create_task(traced.manager.run())
        await asyncio.sleep(seconds)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        await virtual.settle()
        started = {each for each in (*OTHERS, *LEADERS) if each in traced.trace}
        assert started == {each for each in (*OTHERS, *LEADERS) if f"-{each}" in traced.trace}

    on_an_api(case)


def test_a_lost_lease_ends_what_is_the_leaders_and_nothing_else() -> None:
    async def case(api: FakeApi) -> None:
        traced = Traced(api)
        running = asyncio.create_task(traced.manager.run())
        await until(lambda: "reconcile" in traced.trace)
        lost = api.fault("*", "/leases", times=10**9, lost="request")
        await until(lambda: f"-{LEADERS[0]}" in traced.trace)
        assert not {f"-{each}" for each in OTHERS} & set(traced.trace)
        await asyncio.sleep(5)
        api.faults.remove(lost)
        at = len(traced.trace)
        await until(lambda: set(LEADERS) <= set(traced.trace[at:]))
        traced.manager.stop()
        await running
        assert traced.trace.count(OTHERS[0]) == 1
        assert traced.trace.count(LEADERS[0]) == 2
        assert traced.ends == []

    on_an_api(case)


@pytest.mark.parametrize("grace_seconds", [0.0, 30.0])
def test_a_lease_is_not_asked_for_again_before_the_leaders_runnables_have_ended(grace_seconds: float) -> None:
    async def case(api: FakeApi) -> None:
        traced = Traced(api)
        traced.manager._grace_seconds = grace_seconds
        traced.ends_after = 2.0  # of the 2.5 s until its watchdog would end it
        running = asyncio.create_task(traced.manager.run())
        await until(lambda: "reconcile" in traced.trace)
        assert traced.manager.candidacy is not None
        leadership = traced.manager.candidacy.elector.leadership
        lost = api.fault("*", "/leases", times=10**9, lost="request")
        await until(lambda: not leadership.is_valid())
        await asyncio.sleep(1.5)
        assert leadership.guards
        assert f"-{LEADERS[0]}" not in traced.trace
        await until(lambda: not leadership.guards)
        assert {f"-{each}" for each in LEADERS} <= set(traced.trace)
        api.faults.remove(lost)
        traced.manager.stop()
        await running
        await asyncio.sleep(traced.ends_after + 1)  # of the others, where there is no grace

    on_an_api(case)


def test_who_stands_by_starts_all_but_what_is_the_leaders() -> None:
    async def case(api: FakeApi) -> None:
        first, second = Traced(api, "first"), Traced(api, "second")
        one = asyncio.create_task(first.manager.run())
        await until(lambda: "reconcile" in first.trace)
        two = asyncio.create_task(second.manager.run())
        await second.manager.ready.wait()
        await asyncio.sleep(100)
        assert second.trace == ["servers", "prepare", "synced", *OTHERS]
        first.manager.stop()
        await one
        await until(lambda: "reconcile" in second.trace)
        second.manager.stop()
        await two

    on_an_api(case)
