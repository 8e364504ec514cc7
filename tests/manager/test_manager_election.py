"""Two managers and one Lease: one works at a time, and never a reconcile beside it.

In real time, as the election has threads of its own; the API server and the Lease are in memory.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from lease_api import LeaseApi
from msgspec.structs import replace

from fakeapi import FakeApi
from kubewright import Context, SyncContext, controller
from kubewright.client import ClientConfig
from kubewright.controller import bind
from kubewright.manager import Candidacy, LeaderElection, Manager, Runnable, Running
from kubewright.manager.election import Elector
from kubewright.models.core.v1 import ConfigMap
from running import until
from webs import Web, web

QUICK = LeaderElection(lease_seconds=3, renew_seconds=1.8, retry_seconds=0.3)
CONFIG = ClientConfig(server="http://fake.example")


@controller(Web, name="web", owns=[ConfigMap])
class Worker:
    """Writes who it is into the status; takes `seconds`."""

    def __init__(self, name: str, seconds: float = 0.0) -> None:
        self.name = name
        self.seconds = seconds
        self.began = 0
        self.ended = 0
        self.cancelled = 0

    async def reconcile(self, web: Web, ctx: Context) -> None:
        self.began += 1
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        web.status.seen = self.name
        self.ended += 1


class KeptOpen:
    """The API server below a fence: who drops its connections does not end the watches of everybody."""

    def __init__(self, api: FakeApi) -> None:
        self.request = api.request
        self.stream = api.stream
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


class Process:
    """A manager with a candidacy, running on the test's event loop."""

    def __init__(self, api: FakeApi, leases: LeaseApi, name: str, work: object, **options: Any) -> None:
        self.link = leases.transport()
        self.ends: list[str] = []
        self.below = KeptOpen(api)
        settings = replace(QUICK, identity=name).named("test", "default")
        elector = Elector(settings, CONFIG, transport=lambda: self.link, end=self.ends.append, timer=None)
        candidacy = Candidacy(elector, lambda fence: self.below, server="fake.example")
        self.elector = elector
        self.manager = Manager(api.client(), [bind(work)], name="test", candidacy=candidacy, **options)
        self.task = asyncio.create_task(self.manager.run())

    @property
    def works(self) -> bool:
        return self.manager.elected.is_set()

    async def stop(self) -> None:
        self.manager.stop()
        await self.task


def run(main: Callable[[FakeApi, LeaseApi], Coroutine[None, None, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            api = FakeApi(Web, ConfigMap)
            api.put(web("a"))
            await main(api, LeaseApi())

    asyncio.run(bounded())


def seen(api: FakeApi) -> str:
    return next(iter(api.all(Web).values())).status.seen


def test_one_works_and_the_other_stands_by_with_everything_synced_until_it_takes_over() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        first, second = Worker("first"), Worker("second")
        one = Process(api, leases, "first", first)
        await until(lambda: seen(api) == "first")
        two = Process(api, leases, "second", second)
        await two.manager.ready.wait()
        lists = [asked for asked in api.requests if asked.verb == "list"]
        await asyncio.sleep(3.5)
        assert one.works
        assert not two.works
        assert second.began == 0
        await one.stop()
        assert leases.holder == ""
        await until(lambda: seen(api) == "second", seconds=2.0)
        assert [asked for asked in api.requests if asked.verb == "list"] == lists, "a take-over lists nothing"
        await two.stop()
        assert one.ends == two.ends == []

    run(main)


def test_who_loses_the_lease_stops_its_reconciles_and_may_lead_again_with_all_objects() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        first, second = Worker("first"), Worker("second")
        one = Process(api, leases, "first", first)
        await until(lambda: seen(api) == "first")
        two = Process(api, leases, "second", second)
        first.seconds = 60.0
        api.change(Web, "a", {"spec": {"replicas": 2}})
        await until(lambda: first.began > first.ended)
        one.link.is_cut = True
        await until(lambda: not one.works)
        assert leases.holder == "first", "it stopped before anybody could take it"
        assert first.cancelled == 1
        assert one.below.closed >= 1
        await until(lambda: seen(api) == "second")
        assert not one.task.done()
        first.seconds = 0.0
        one.link.is_cut = False
        await two.stop()
        began = first.began
        await until(lambda: seen(api) == "first")
        assert first.began > began
        await one.stop()
        assert one.ends == []

    run(main)


def test_who_is_told_to_stop_while_standing_by_never_begins_to_work() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        first, second = Worker("first"), Worker("second")
        one = Process(api, leases, "first", first)
        await until(lambda: one.works)
        two = Process(api, leases, "second", second)
        await two.manager.ready.wait()
        two.manager.stop()
        await one.stop()
        await two.task
        assert second.began == 0

    run(main)


def test_the_lease_is_given_back_when_the_last_reconcile_has_ended() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        worker = Worker("first", seconds=4.0)
        one = Process(api, leases, "first", worker)
        await until(lambda: worker.began == 1)
        one.manager.stop()
        while worker.ended == 0:
            assert leases.holder == "first", "renewed for as long as it takes"
            await asyncio.sleep(0.05)
        await one.task
        assert leases.holder == ""
        assert seen(api) == "first"

    run(main)


def test_a_manager_that_is_warmed_up_has_its_objects_queued_before_it_is_elected() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        one = Process(api, leases, "first", Worker("first"))
        await until(lambda: one.works)
        cold = Process(api, leases, "cold", Worker("cold"))
        warm = Process(api, leases, "warm", Worker("warm"), warmup=True)
        await cold.manager.ready.wait()
        await warm.manager.ready.wait()
        assert [len(each.manager._runners[0].queue) for each in (cold, warm)] == [0, 1]
        assert not warm.works
        for each in (cold, warm, one):
            await each.stop()

    run(main)


def test_runnables_that_need_leadership_run_in_each_term_and_the_others_all_the_time() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        notes: list[str] = []

        def noting(name: str, needs_leadership: bool) -> Runnable:
            async def run(running: Running) -> None:
                notes.append(f"+{name}")
                try:
                    await asyncio.Event().wait()
                finally:
                    notes.append(f"-{name}")

            return Runnable(run, needs_leadership=needs_leadership)

        runnables = [noting("leader", True), noting("other", False)]
        one = Process(api, leases, "first", Worker("first"), runnables=runnables)
        await until(lambda: one.works)
        one.link.is_cut = True
        await until(lambda: not one.works)
        await until(lambda: "-leader" in notes)
        one.link.is_cut = False
        await until(lambda: one.works)
        await one.stop()
        assert notes == ["+other", "+leader", "-leader", "+leader", "-other", "-leader"]
        assert one.ends == []

    run(main)


def test_who_stands_by_after_a_term_queues_nothing_and_takes_all_objects_anew_when_it_is_elected_again() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        first = Worker("first")
        one = Process(api, leases, "first", first)
        await until(lambda: one.works)
        two = Process(api, leases, "second", Worker("second"))
        one.link.is_cut = True
        await until(lambda: two.works)
        began = first.began
        for number in range(50):
            api.put(web(f"gone-{number}"))
            await asyncio.sleep(0.01)
            api.remove(Web, f"gone-{number}")
        one.link.is_cut = False
        await asyncio.sleep(0.2)
        (runner,) = one.manager._runners
        assert (len(runner.queue), runner.queue.later) == (0, 0)
        await two.stop()
        await until(lambda: one.works)
        await until(lambda: first.began == began + 1)
        await asyncio.sleep(0.2)
        assert first.began == began + 1, "what is there now, and nothing that was"
        assert seen(api) == "first"
        await one.stop()

    run(main)


def test_who_is_stopped_before_it_is_elected_starts_nothing_that_needs_leadership() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        started: list[str] = []

        async def start(running: Running) -> None:
            started.append("it")

        one = Process(api, leases, "first", Worker("first"))
        await until(lambda: one.works)
        two = Process(api, leases, "second", Worker("second"), runnables=[Runnable(start)])
        await two.manager.ready.wait()
        await two.stop()
        await one.stop()
        assert started == []

    run(main)


def test_a_reconcile_that_cannot_be_stopped_ends_the_process_before_the_lease_can_be_taken() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        began, goes_on = threading.Event(), threading.Event()

        @controller(Web, name="web")
        def stubborn(web: Web, ctx: SyncContext) -> None:
            began.set()
            goes_on.wait(20)

        one = Process(api, leases, "first", stubborn)
        await until(began.is_set)
        one.link.is_cut = True
        await until(lambda: one.ends)
        assert leases.holder == "first"
        assert "reconciles did not end when they were cancelled" in one.ends[0]
        goes_on.set()
        await one.stop()

    run(main)


def test_a_cancelled_manager_leaves_no_thread_and_no_lease_behind() -> None:
    async def main(api: FakeApi, leases: LeaseApi) -> None:
        one = Process(api, leases, "first", Worker("first"))
        await until(lambda: one.works)
        one.task.cancel()
        await asyncio.gather(one.task, return_exceptions=True)
        assert leases.holder == ""
        await until(lambda: not [each for each in threading.enumerate() if each.name.startswith("leader election")])

    run(main)
