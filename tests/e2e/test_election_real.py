"""Two operator processes on one Lease, and everything that goes wrong with them: never two that write at once.

Each process stands behind a proxy of its own. Round by round the one that leads is killed, stopped for a while, or cut
off from the API server; then the other has to take over within its time. Both write without pause, and without a
resourceVersion that would save them: each write says who made it. The API server's own order of things is the judge:
at every write the Lease was held by the writer.

The seed is printed; KUBEWRIGHT_SEED=<n> repeats a run's choices (not its timing).
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from cutting_proxy import CuttingProxy, Pipe
from operator_process import OperatorProcess, kubewright, until

from kubewright import Client, ClientConfig, Model, ObjectMeta, Resource, resource
from kubewright.models.coordination.v1 import Lease
from kubewright.testing.access import ClusterAccess

pytestmark = [pytest.mark.control_plane, pytest.mark.slow]

LEASE, RENEW, RETRY = 3, 2.0, 0.5
TAKE_OVER = LEASE + 1.2 * RETRY
MACHINE = 6.0  # what a busy machine may add to that: a process that waits for its turn
PAIRS = 2
ROUNDS = 15  # of each pair
OBJECTS = 3

OPERATOR = """
import asyncio, os, time
from kubewright import Context, Model, Operator, Resource, SyncContext, after, controller, resource
from kubewright.client import MergePatch
from kubewright.manager import LeaderElection

ME = f"p{os.getpid()}"

class BeatSpec(Model):
    writer: str = ""
    count: int = 0
    block_seconds: float = 0

@resource(group="election.example.com", version="v1")
class Beat(Resource[BeatSpec]):
    pass

count = 0

@controller(Beat, workers=3)
async def write(beat: Beat, ctx: Context):
    global count
    if beat.spec.block_seconds:
        ctx.log.info("blocks")
        block = MergePatch({"spec": {"block_seconds": None, "blockSeconds": None}})
        await ctx.client.patch(beat, block)
        time.sleep(beat.spec.block_seconds)
        ctx.log.info("goes on")
    count += 1
    await ctx.client.patch(beat, MergePatch({"spec": {"writer": ME, "count": count}}))
    return after(0.1)

election = LeaderElection(lease_seconds=3, renew_seconds=2, retry_seconds=0.5, identity=ME)
beats = Operator("beats", controllers=[write], leader_election=election, grace_seconds=5)
impatient = beats.with_leader_election(LeaderElection(
    lease_seconds=3, renew_seconds=2, retry_seconds=0.5, identity=ME, stall_seconds=2))
"""


class BeatSpec(Model):
    writer: str = ""
    count: int = 0
    block_seconds: float = 0


@resource(group="election.example.com", version="v1")
class Beat(Resource[BeatSpec]):
    """What both processes want to write."""


class Link(CuttingProxy):
    """A way to the API server that can be cut: what is sent is lost, whichever side sends, on old and new connections.

    When it is mended the connections that lost something are reset, as those of a host that gave up sending again.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._mended = asyncio.Event()
        self._mended.set()

    def cut_off(self) -> None:
        self._mended.clear()
        for pipe in self.pipes:
            pipe.mute()

    def mend(self) -> None:
        self._mended.set()
        for pipe in self.pipes:
            pipe.close(reset=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._mended.is_set():
            await super()._accept(reader, writer)
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._mended.wait()
        finally:
            self._tasks.discard(task)
            Pipe(reader, writer).close(reset=True)


class Seen(NamedTuple):
    """One write, in the server's order: by `holder` to the Lease, or by `writer` to a Beat."""

    version: int
    holder: str = ""
    writer: str = ""
    transitions: int = 0


class History:
    """All that was written in a namespace, from two watches beside the proxies."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.seen: list[Seen] = []
        self.holder = ""
        self.transitions = 0
        self.last_writer = ""
        self._news = asyncio.Condition()

    async def follow_lease(self) -> None:
        async for event in self._client.watch(Lease, namespace=self._client.namespace):
            spec, version = event.object.spec, int(event.object.metadata.resource_version)
            self.holder, self.transitions = spec.holder_identity or "", spec.lease_transitions or 0
            await self._tell(Seen(version, holder=self.holder, transitions=self.transitions))

    async def follow_beats(self) -> None:
        last: dict[str, tuple[str, int]] = {}
        async for event in self._client.watch(Beat, namespace=self._client.namespace):
            beat = event.object
            said = (beat.spec.writer, beat.spec.count)
            if said != last.get(beat.metadata.name) and beat.spec.writer:
                self.last_writer = beat.spec.writer
                await self._tell(Seen(int(beat.metadata.resource_version), writer=beat.spec.writer))
            last[beat.metadata.name] = said

    async def _tell(self, seen: Seen) -> None:
        self.seen.append(seen)
        async with self._news:
            self._news.notify_all()

    async def until(self, what: str, holds: Callable[[], bool], seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds), self._news:
                await self._news.wait_for(holds)
        except TimeoutError:
            raise AssertionError(f"not within {seconds:g} s: {what}; {self.holder=}, {self.last_writer=}") from None

    def wrong(self) -> list[str]:
        """Every write that was not the holder's."""
        found, holder = [], ""
        for each in sorted(self.seen):
            if each.writer and each.writer != holder:
                found.append(f"{each.writer} wrote version {each.version} while {holder or 'nobody'} held the Lease")
            elif not each.writer:
                holder = each.holder
        return found


class Process:
    """One of a pair: an operator process behind its own link, started again whenever it has ended."""

    def __init__(self, name: str, link: Link, start: Callable[[], OperatorProcess]) -> None:
        self.name = name
        self.link = link
        self._start = start
        self.operator = start()

    @property
    def identity(self) -> str:
        return f"p{self.operator.pid}"

    def restart(self) -> None:
        self.operator.kill()
        self.operator = self._start()

    async def until_candidate(self) -> None:
        async def missing() -> str:
            if self.operator.code is not None:
                return f"it has ended with {self.operator.code}: {self.operator.text}"
            return "" if "candidate for Lease" in self.operator.text else self.operator.text or "no line in the log"

        await until(f"{self.name} stands by", missing, 30.0)


@dataclass
class Pair:
    """Two processes on one Lease, in one namespace, with what was written there."""

    first: Process
    second: Process
    history: History
    client: Client

    def leader(self) -> Process | None:
        return next((each for each in (self.first, self.second) if each.identity == self.history.holder), None)

    def other(self, process: Process) -> Process:
        return self.second if process is self.first else self.first

    async def until_settled(self) -> Process:
        """Both run, one of them writes."""
        await self.first.until_candidate()
        await self.second.until_candidate()
        await self.until_writes(lambda: self.leader() is not None)
        leader = self.leader()
        assert leader is not None
        return leader

    async def until_writes(self, holds: Callable[[], bool] = lambda: True, seconds: float = 30.0) -> None:
        """The holder of the Lease, one for which `holds`, has written since."""
        await self.history.until(
            "the leader writes",
            lambda: holds() and self.history.holder != "" and self.history.last_writer == self.history.holder,
            seconds,
        )

    async def until_taken_over(self, by: Process, since: float) -> float:
        """When the other has written, in seconds."""
        await self.until_writes(lambda: self.history.holder == by.identity, TAKE_OVER + MACHINE + 5)
        return time.monotonic() - since


@pytest.fixture(scope="module")
def installed(control_plane: ClusterAccess, tmp_path_factory: pytest.TempPathFactory) -> ClusterAccess:
    """The API server, knowing Beats."""
    file = tmp_path_factory.mktemp("crd") / "beats.py"
    file.write_text(OPERATOR)
    crd = kubewright("manifests", "crd", file).stdout
    control_plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=crd)
    control_plane.kubectl("wait", "--for=condition=Established", "crd/beats.election.example.com")
    return control_plane


@contextmanager
def operators(
    access: ClusterAccess, folder: Path, namespace: str, target: str
) -> Iterator[Callable[..., OperatorProcess]]:
    """Starts operator processes at a URL, each with a log of its name; kills them in the end."""
    folder.mkdir(exist_ok=True)
    file = folder / "beats.py"
    file.write_text(OPERATOR)
    started: list[OperatorProcess] = []

    def start(name: str, url: str) -> OperatorProcess:
        content = yaml.safe_load(access.kubeconfig())
        content["clusters"][0]["cluster"]["server"] = url
        kubeconfig = folder / f"{name}.kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(content))
        options = ("--no-install-crds", "--namespace", namespace, "--leader-elect-resource-namespace", namespace)
        started.append(OperatorProcess(Path(f"{file}:{target}"), kubeconfig, folder / f"{name}.log", *options))
        return started[-1]

    try:
        yield start
    finally:
        for operator in started:
            operator.signal(signal.SIGCONT)
            operator.kill()


@asynccontextmanager
async def pair_in(access: ClusterAccess, namespace: str, folder: Path, target: str = "beats") -> AsyncIterator[Pair]:
    url = yaml.safe_load(access.kubeconfig())["clusters"][0]["cluster"]["server"]
    async with (
        Client.connect(ClientConfig.load(access.kubeconfig_path), namespace=namespace) as client,
        Link(url) as one,
        Link(url) as two,
    ):
        for number in range(OBJECTS):
            await client.create(Beat(metadata=ObjectMeta(name=f"b{number}")))
        history = History(client)
        following = [asyncio.create_task(history.follow_lease()), asyncio.create_task(history.follow_beats())]
        with operators(access, folder, namespace, target) as start:
            first = Process("first", one, lambda: start("first", one.url))
            second = Process("second", two, lambda: start("second", two.url))
            try:
                yield Pair(first, second, history, client)
            finally:
                for task in following:
                    task.cancel()
                await asyncio.gather(*following, return_exceptions=True)


async def ended(process: Process, what: str, seconds: float = 5.0) -> int:
    async def missing() -> str:
        return "it runs" if process.operator.code is None else ""

    await until(what, missing, seconds)
    assert process.operator.code is not None
    return process.operator.code


# What happens to a leader. Each returns how long the take-over took; None where there need not be one.


async def killed(pair: Pair, leader: Process, choose: random.Random) -> float | None:
    leader.operator.kill()
    since = time.monotonic()
    took = await pair.until_taken_over(pair.other(leader), since)
    leader.restart()
    return took


async def stopped(pair: Pair, leader: Process, choose: random.Random) -> float | None:
    """SIGSTOP, and SIGCONT at a moment around that at which the other takes over."""
    pause_seconds = choose.uniform(1.0, TAKE_OVER + 1.5)
    other = pair.other(leader)
    leader.operator.signal(signal.SIGSTOP)
    since = time.monotonic()
    taking = asyncio.create_task(pair.until_taken_over(other, since))
    await asyncio.sleep(pause_seconds)
    had_been_taken = taking.done()
    leader.operator.signal(signal.SIGCONT)
    try:
        if pause_seconds > LEASE:
            # Its workers had no chance to end before the lease could be taken.
            assert await ended(leader, "a leader that was stopped for longer than its lease ends") == 1
            assert "the process did not run for" in leader.operator.text.splitlines()[-1], leader.operator.text
        if had_been_taken or leader.operator.code is not None:
            took = await taking
            leader.restart()
            return took
        await asyncio.sleep(RENEW)
        await pair.until_writes()
        if leader.operator.code is not None:
            leader.restart()
        return None
    finally:
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)


async def cut_off(pair: Pair, leader: Process, choose: random.Random) -> float | None:
    """It goes on running: it steps down, stands by, and can lead again."""
    other = pair.other(leader)
    pid = leader.operator.pid
    leader.link.cut_off()
    since = time.monotonic()
    try:
        took = await pair.until_taken_over(other, since)
        await asyncio.sleep(choose.uniform(0, 1.0))
    finally:
        leader.link.mend()
    await asyncio.sleep(1.0)
    assert (leader.operator.pid, leader.operator.code) == (pid, None), leader.operator.text
    assert "standing by" in leader.operator.text, leader.operator.text
    return took


TROUBLE: dict[str, Callable[[Pair, Process, random.Random], Awaitable[float | None]]] = {
    "SIGKILL": killed,
    "SIGSTOP/SIGCONT": stopped,
    "partition": cut_off,
}


@pytest.mark.soak
def test_never_two_write_at_once_and_each_is_replaced_in_time(
    installed: ClusterAccess, namespace: str, tmp_path: Path
) -> None:
    seed = int(os.environ.get("KUBEWRIGHT_SEED") or random.SystemRandom().randrange(10**6))
    print(f"KUBEWRIGHT_SEED={seed}")
    times: dict[str, list[float]] = defaultdict(list)
    rounds: Counter[str] = Counter()
    writes: Counter[str] = Counter()

    async def play(number: int) -> None:
        choose = random.Random(seed * PAIRS + number)
        plan = [name for name in TROUBLE for _ in range(ROUNDS // len(TROUBLE))]
        choose.shuffle(plan)
        where = f"{namespace}-{number}"
        await asyncio.to_thread(installed.kubectl, "create", "namespace", where)
        async with pair_in(installed, where, tmp_path / where) as pair:
            try:
                for what in plan:
                    leader = await pair.until_settled()
                    await asyncio.sleep(choose.uniform(0, RETRY))
                    took = await TROUBLE[what](pair, leader, choose)
                    rounds[what] += 1
                    print(f"  pair {number}: {what}: {'no change' if took is None else f'{took:.2f} s'}")
                    if took is not None:
                        times[what].append(took)
                await pair.until_settled()
            except BaseException:
                for process in (pair.first, pair.second):
                    print(f"-- {where} {process.name}\n{process.operator.log.read_text()}")
                raise
            assert pair.history.wrong() == []
            writes[where] = sum(1 for each in pair.history.seen if each.writer)
            changes = [each.transitions for each in sorted(pair.history.seen) if each.holder]
            assert changes == sorted(changes), "transitions only grow"

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(PAIRS):
                group.create_task(play(number))

    started_at = time.monotonic()
    asyncio.run(main())
    for what, taken in times.items():
        print(
            f"  {what}: {rounds[what]} rounds, {len(taken)} take-overs in {statistics.mean(taken):.2f} s on average, "
            f"{max(taken):.2f} s at most (bound {TAKE_OVER:.1f} s and the machine)"
        )
    print(f"  {sum(writes.values())} writes, none by who did not hold the Lease; {time.monotonic() - started_at:.0f} s")
    assert sum(rounds.values()) == PAIRS * ROUNDS == 30
    assert max(max(taken) for taken in times.values()) <= TAKE_OVER + MACHINE


def test_a_lease_that_is_given_back_is_taken_at_once(installed: ClusterAccess, namespace: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with pair_in(installed, namespace, tmp_path / "pair") as pair:
            for _ in range(2):
                leader = await pair.until_settled()
                leader.operator.signal(signal.SIGTERM)
                since = time.monotonic()
                took = await pair.until_taken_over(pair.other(leader), since)
                assert await ended(leader, "it stops") == 0
                assert "given back" in leader.operator.text, leader.operator.text
                assert took < 1.2 * RETRY + MACHINE
                print(f"  taken over in {took:.2f} s")
                leader.restart()
            assert pair.history.wrong() == []

    asyncio.run(main())


@pytest.mark.parametrize(("target", "ends"), [("beats", False), ("impatient", True)])
def test_a_blocked_event_loop_keeps_the_lease_up_to_a_time_and_then_ends(
    installed: ClusterAccess, namespace: str, tmp_path: Path, target: str, ends: bool
) -> None:
    """Blocked for 5 s, longer than the lease: whether it may is `stall_seconds`."""

    async def main() -> None:
        async with pair_in(installed, namespace, tmp_path / "pair", target) as pair:
            leader = await pair.until_settled()
            await asyncio.to_thread(
                installed.kubectl, "patch", "beats.election.example.com", "b0", "-n", namespace, "--type=merge",
                "-p", '{"spec":{"blockSeconds":5}}',
            )  # fmt: skip
            if ends:
                assert await ended(leader, "it ends", 10.0) == 1
                assert "the event loop was blocked for 2 s while leading" in leader.operator.text.splitlines()[-1]
                await pair.until_taken_over(pair.other(leader), time.monotonic())
            else:

                async def missing() -> str:
                    return "" if "goes on" in leader.operator.text else leader.operator.text

                await until("it has been blocked", missing, 20.0)
                await pair.until_writes()
                assert pair.leader() is leader
                assert pair.history.transitions == 0
            assert pair.history.wrong() == []

    asyncio.run(main())
