"""A day of two managers on one Lease, in virtual time, with everything that goes wrong: nothing is left behind by it.

Between two looks all kinds of faults happen at random: refusals, requests and answers that get lost, slow ones, watches
that are cut, end or are too old, a server that is away altogether, Leases that cannot be renewed, are edited or
deleted, objects and namespaces that come and go, managers that are stopped and started anew. At each look the faults
have ended, and the world is the one of the look before: then there are as many tasks, watches, threads, open files and
objects of ours as then, and as much memory.

The seed is printed, and the same in CI; KUBEWRIGHT_SEED=<n> repeats a day's choices. KUBEWRIGHT_DAYS=7 makes a week.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from unittest.mock import patch

import pytest
from loop_elector import KeptOpen, LoopElector
from msgspec.structs import replace

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.client import ClientConfig
from kubewright.controller import bind
from kubewright.manager import CacheNotSynced, Candidacy, LeaderElection, Manager
from kubewright.manager.election import Term
from kubewright.models.coordination.v1 import Lease
from kubewright.models.core.v1 import ConfigMap
from kubewright.models.events.v1 import Event
from webs import Web, config, web

HOUR = 3600.0
LOOKS_PER_DAY = 6
SETTINGS = LeaderElection(lease_seconds=60, renew_seconds=40, retry_seconds=10)
CONFIG = ClientConfig(server="http://fake.example")
KEPT = 20  # objects that are there at each look
BOUNDED = {"_Gap", "_Tokens"}
"""What a manager keeps up to a number: 16 gaps of a kind, for Events 4,096 objects. How many says what has happened."""
NEW = 1 if os.environ.get("CI") else random.SystemRandom().randrange(10**6)


@controller(Web, name="web", owns=[ConfigMap], workers=3, deadline_seconds=60)
class Worker:
    """Brings about a ConfigMap and a status; notes in `beside` where somebody else leads."""

    def __init__(self, name: str, leaders: set[str], beside: list[str]) -> None:
        self.name = name
        self.leaders = leaders
        self.beside = beside

    async def reconcile(self, web: Web, ctx: Context) -> None:
        if self.leaders != {self.name}:
            self.beside.append(f"{self.name} reconciles while {self.leaders or 'nobody'} may")
        if web.spec.replicas == 13:
            raise TypeError("a mistake of this object")
        await ctx.apply(config(f"{web.metadata.name}-config", image=web.spec.image))
        ctx.event("Normal", "Applied", "The configuration is in place.")
        web.status.seen = web.spec.image


class Process:
    """A manager and its candidacy."""

    def __init__(self, api: FakeApi, name: str, leaders: set[str], beside: list[str]) -> None:
        loop = asyncio.get_running_loop()
        settings = replace(SETTINGS, identity=name).named("day", "default")
        self.leaders = leaders
        self.name = name
        self.ends: list[str] = []
        elector = LoopElector(
            settings, CONFIG, transport=lambda: KeptOpen(api), end=self.ends.append, timer=None, clock=loop.time
        )
        candidacy = Candidacy(elector, lambda fence: KeptOpen(api), server="fake.example")
        work = bind(Worker(name, leaders, beside))
        self.elector = elector
        self.manager = Manager(api.client(), [work], name="day", candidacy=candidacy, grace_seconds=5.0)
        lead = self.manager._lead

        async def noted(term: Term) -> None:
            leaders.add(name)
            try:
                await lead(term)
            finally:
                leaders.discard(name)

        self.manager._lead = noted  # type: ignore[method-assign]
        self.task = asyncio.create_task(self.manager.run())

    async def stop(self) -> None:
        self.manager.stop()
        with suppress(CacheNotSynced):
            await self.task
        assert self.ends == []


class Look:
    """What there is, of what a leak would be made: how many of each."""

    def __init__(self, api: FakeApi) -> None:
        gc.collect()
        self.blocks = sys.getallocatedblocks()
        everything = gc.get_objects()
        self.ours = Counter(type(each).__qualname__ for each in everything if _is_ours(type(each)))
        self.plain = Counter(type(each).__name__ for each in everything if type(each) in (dict, list, tuple, set))
        self.open = Counter(
            tasks=len(asyncio.all_tasks()),
            watches=api.open_watches,
            threads=threading.active_count(),
            files=len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0,
        )


def grown(before: Sequence[Look], after: Sequence[Look]) -> dict[str, object]:
    """What there always is more of in later looks than there was in any earlier one.

    Not the last beside the first: a manager that has led before has handlers that one has not which never did.
    """
    found: dict[str, object] = {}
    for of, slack in (("open", 0), ("ours", 10), ("plain", 200)):
        counts: list[list[Counter[str]]] = [[getattr(look, of) for look in looks] for looks in (before, after)]
        for name in set().union(*counts[0], *counts[1]):
            earlier, later = ([count[name] for count in each] for each in counts)
            if min(later) > max(earlier) + slack and name not in BOUNDED:
                found[name] = (earlier, later)
    blocks = [[look.blocks for look in looks] for looks in (before, after)]
    if min(blocks[1]) > max(blocks[0]) * 1.02:
        found["blocks of memory"] = blocks
    return found


def _is_ours(cls: type) -> bool:
    return str(getattr(cls, "__module__", "")).startswith("kubewright.") or cls in (
        asyncio.Task,
        asyncio.Future,
        asyncio.TimerHandle,
    )


class Day:
    """What happens."""

    def __init__(self, api: FakeApi, choose: random.Random) -> None:
        self.api = api
        self.choose = choose
        self.leaders: set[str] = set()
        self.made = 0
        self.happened: Counter[str] = Counter()
        self.beside: list[str] = []
        self.processes = [Process(api, f"p{number}", self.leaders, self.beside) for number in range(2)]
        self.started = 2
        self.lease_gone_at = -HOUR

    def kept(self) -> dict[str, Web]:
        return {f"w{number}": web(f"w{number}") for number in range(KEPT)}

    async def trouble(self, until_at: float) -> None:
        """All that can go wrong, until a time."""
        loop, choose, api = asyncio.get_running_loop(), self.choose, self.api
        ways = [
            self.change, self.change, self.change, self.change, self.come_and_go, self.come_and_go, self.refuse,
            self.lose, self.slow, self.cut, self.forget, self.lease, self.namespace,
        ]  # fmt: skip
        while loop.time() < until_at:
            await asyncio.sleep(choose.expovariate(1 / 20.0))
            way = choose.choice(ways)
            self.happened[way.__name__] += 1
            way()
            self.collect_garbage()
            await self.start_what_ended()
            if choose.random() < 0.01:
                self.happened["away"] += 1
                away = api.fault("*", "", times=10**9, lost="request")
                api.cut()
                await asyncio.sleep(choose.uniform(10, 300))
                api.faults.remove(away)
            if choose.random() < 0.01:
                self.happened["restart"] += 1
                await self.restart(choose.randrange(2))
            api.faults[:] = [fault for fault in api.faults if fault.seen < fault.at + fault.times - 1][-20:]
            api.requests.clear()

    def change(self) -> None:
        name = f"w{self.choose.randrange(KEPT)}"
        replicas = 13 if self.choose.random() < 0.05 else 1
        if self.api.get(Web, name) is not None:
            self.api.change(Web, name, {"spec": {"image": f"i{self.choose.randrange(10**6)}", "replicas": replicas}})

    def come_and_go(self) -> None:
        name = f"w{self.choose.randrange(KEPT)}"
        if self.api.get(Web, name) is None:
            self.api.put(web(name))
        else:
            self.api.remove(Web, name)

    def namespace(self) -> None:
        """A namespace comes with an object in it, or all of it goes."""
        old = sorted({key.namespace for key in self.api.all(Web)} - {"default"})
        if len(old) > 5:
            self.api.remove(Web, "only", namespace=old[0])
        else:
            self.made += 1
            self.api.put(web("only", namespace=f"n{self.made}"))

    def collect_garbage(self) -> None:
        """As kube-controller-manager: what was owned by who is gone goes too."""
        living = {each.metadata.uid for each in self.api.all(Web).values()}
        for key, each in self.api.all(ConfigMap).items():
            if not {owner.uid for owner in each.metadata.owner_references} <= living:
                self.api.remove(ConfigMap, key.name, namespace=key.namespace)

    def refuse(self) -> None:
        verb = self.choose.choice(["*", "list", "watch", "apply", "patch"])
        status = self.choose.choice([429, 500, 503, 403, 409])
        self.api.fault(verb, self._path(), status=status, times=self.choose.randint(1, 5))

    def lose(self) -> None:
        self.api.fault(
            "*", self._path(), lost=self.choose.choice(["request", "answer"]), times=self.choose.randint(1, 5)
        )

    def slow(self) -> None:
        self.api.fault("*", self._path(), delay_seconds=self.choose.uniform(1, 50), times=self.choose.randint(1, 5))

    def cut(self) -> None:
        self.api.cut(self.choose.choice(["reset", "end", "gone"]))

    def forget(self) -> None:
        self.api.expire()
        self.api.cut()
        del self.api.objects.history[:-50]

    def lease(self) -> None:
        # Who has not seen the Lease before it goes cannot know who leads by it, which the election says of itself: such
        # a one is not deleted here, and nobody starts while it is gone.
        is_known = self.api.get(Lease, "day") is not None and all(each.elector.leader for each in self.processes)
        if self.choose.random() < 0.3 and is_known:
            self.api.remove(Lease, "day")
            self.lease_gone_at = asyncio.get_running_loop().time()
        else:
            self.api.fault("*", "/leases", lost="request", times=self.choose.randint(1, 12))

    def _path(self) -> str:
        return self.choose.choice(["", "/webs", "/configmaps", "/leases", "/status", "/events"])

    async def start_what_ended(self) -> None:
        """As the kubelet: a manager may be refused its first list."""
        for number, process in enumerate(self.processes):
            if process.task.done():
                self.happened["ended"] += 1
                await self.restart(number)

    async def restart(self, number: int) -> None:
        await self.processes[number].stop()
        if self.api.get(Lease, "day") is None:
            known_at = self.lease_gone_at + 2 * SETTINGS.lease_seconds
            await asyncio.sleep(max(known_at - asyncio.get_running_loop().time(), 0))
        self.processes[number] = Process(self.api, f"p{self.started}", self.leaders, self.beside)
        self.started += 1

    async def until_converged(self, most_seconds: float = 1200.0) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + most_seconds
        while True:
            await asyncio.sleep(5)
            self.collect_garbage()
            await self.start_what_ended()
            behind = [key.name for key, each in self.api.all(Web).items() if each.status.seen != each.spec.image]
            if len(self.leaders) == 1 and not behind:
                return
            assert loop.time() < deadline, f"not within {most_seconds:g} s: {self.leaders=}, {behind=}"

    async def quiet(self) -> None:
        """No faults any more, and the same objects as at each look, all of them as they should be."""
        api = self.api
        api.faults.clear()
        for key in api.all(Web):
            if key.namespace != "default":
                api.remove(Web, key.name, namespace=key.namespace)
        for name, each in self.kept().items():
            if api.get(Web, name) is None:
                api.put(each)
            api.change(Web, name, {"spec": {"image": "the same", "replicas": 1}})

        await self.until_converged()
        api.change(Web, "w0", {"spec": {"image": "the same "}})  # the queue's last key, for all looks the same
        await asyncio.sleep(400)
        for event in api.all(Event):
            api.remove(Event, event.name, namespace=event.namespace)
        api.expire()
        del api.objects.history[:]
        api.requests.clear()
        await asyncio.sleep(60)


def test_a_day_of_faults_leaves_no_task_watch_file_or_memory_behind(caplog: pytest.LogCaptureFixture) -> None:
    seed = int(os.environ.get("KUBEWRIGHT_SEED") or NEW)
    days = float(os.environ.get("KUBEWRIGHT_DAYS") or 1)
    print(f"KUBEWRIGHT_SEED={seed}")
    caplog.set_level("CRITICAL")  # what is captured would be the leak

    async def main() -> None:
        loop = asyncio.get_running_loop()
        day = Day(FakeApi(Web, ConfigMap, Event, Lease, seed=seed, latency_seconds=0.05), random.Random(seed))
        await day.quiet()
        looks = []
        for number in range(1, int(days * LOOKS_PER_DAY) + 1):
            await day.trouble(virtual.START_AT + number * 24 * HOUR / LOOKS_PER_DAY)
            await day.quiet()
            looks.append(Look(day.api))
        for process in day.processes:
            await process.stop()
        hours = (loop.time() - virtual.START_AT) / HOUR
        print(f"  {hours:.0f} h: {dict(day.happened)}")
        print(f"  objects of ours: {[each.ours.total() for each in looks]}; blocks: {[each.blocks for each in looks]}")
        assert grown(looks[: len(looks) // 2], looks[len(looks) // 2 :]) == {}
        assert day.beside == []
        assert day.api.open_watches == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    began = time.monotonic()
    with patch("kubewright.manager.election.campaign._LONGEST_SLEEP_SECONDS", HOUR):  # its clock is the loop's here
        virtual.run(main())
    print(f"  in {time.monotonic() - began:.0f} s")
