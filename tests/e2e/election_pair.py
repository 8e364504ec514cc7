"""Two operator processes on one Lease, each behind a proxy of its own, and the judge of what they write.

Both write all the time, and without a resourceVersion that would save them: each write says who made it. The judge is
the API server's own order of things: the versions of all objects are revisions of one store, so of a write and a change
of the Lease it is certain which came first. At every write the Lease must be held by the writer.

Owns the processes, the proxies and the judge; what is done to a leader is in `election_troubles`.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import yaml
from cutting_proxy import CuttingProxy, Pipe
from operator_process import OperatorProcess, kubewright, until

from kubewright import Client, ClientConfig, Model, ObjectMeta, Resource, resource
from kubewright.models.coordination.v1 import Lease
from kubewright.testing.access import ClusterAccess

LEASE, RENEW, RETRY = 3, 2.0, 0.5
TAKE_OVER = LEASE + 1.2 * RETRY
MACHINE = 6.0  # what a busy machine may add to that: a process that waits for its turn
OBJECTS = 3

OPERATOR = """
import asyncio, os, signal, time
from kubewright import Context, Model, Operator, Resource, SyncContext, after, controller, resource
from kubewright.client import MergePatch
from kubewright.client.http1_connection import Connection
from kubewright.manager import LeaderElection

ME = f"p{os.getpid()}"

class BeatSpec(Model):
    writer: str = ""
    count: int = 0
    asked_at: float = 0
    block_seconds: float = 0
    stop_in_send: str = ""

@resource(group="election.example.com", version="v1")
class Beat(Resource[BeatSpec]):
    pass

count = 0
stops_in_send = None  # not asked for yet
send = Connection.send

def stopping_send(self, exchange):
    # After the check of a write, before its system call.
    global stops_in_send
    if stops_in_send and exchange.method == "PATCH":
        stops_in_send = False
        os.kill(os.getpid(), signal.SIGSTOP)
    send(self, exchange)

Connection.send = stopping_send

@controller(Beat, workers=3)
async def write(beat: Beat, ctx: Context):
    global count, stops_in_send
    if beat.spec.block_seconds:
        ctx.log.info("blocks")
        block = MergePatch({"spec": {"block_seconds": None, "blockSeconds": None}})
        await ctx.client.patch(beat, block)
        time.sleep(beat.spec.block_seconds)
        ctx.log.info("goes on")
    if stops_in_send is None and beat.spec.stop_in_send == ME:
        stops_in_send = True
    count += 1
    asked_at = time.clock_gettime(time.CLOCK_BOOTTIME)
    spec = {"writer": ME, "count": count, "askedAt": asked_at}
    await ctx.client.patch(beat, MergePatch({"spec": spec}))
    return after(0.1)

election = LeaderElection(lease_seconds=3, renew_seconds=2, retry_seconds=0.5, identity=ME)
beats = Operator("beats", controllers=[write], leader_election=election, grace_seconds=5)
impatient = beats.with_leader_election(LeaderElection(
    lease_seconds=3, renew_seconds=2, retry_seconds=0.5, identity=ME, stall_seconds=2))
"""


class BeatSpec(Model):
    writer: str = ""
    count: int = 0
    asked_at: float = 0
    block_seconds: float = 0
    stop_in_send: str = ""


@resource(group="election.example.com", version="v1")
class Beat(Resource[BeatSpec]):
    """What both processes want to write."""


def clock() -> float:
    """Seconds, the same in all processes."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


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
    """One write, in the server's order: by `holder` to the Lease, or by `writer` to a Beat.

    `asked_at`: when the writer called the client; `seen_at`: when the change came to the test.
    """

    version: int
    holder: str = ""
    writer: str = ""
    transitions: int = 0
    asked_at: float = 0.0
    seen_at: float = 0.0


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
            await self._tell(Seen(version, holder=self.holder, transitions=self.transitions, seen_at=clock()))

    async def follow_beats(self) -> None:
        last: dict[str, tuple[str, int]] = {}
        async for event in self._client.watch(Beat, namespace=self._client.namespace):
            beat = event.object
            said = (beat.spec.writer, beat.spec.count)
            if said != last.get(beat.metadata.name) and beat.spec.writer:
                self.last_writer = beat.spec.writer
                version = int(beat.metadata.resource_version)
                await self._tell(Seen(version, writer=beat.spec.writer, asked_at=beat.spec.asked_at, seen_at=clock()))
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
        """Every write that was not the holder's, with the times that tell where it has been."""
        found, holder, since = [], "", 0.0
        for each in sorted(self.seen):
            if not each.writer:
                if each.holder != holder:
                    since = each.seen_at
                holder = each.holder
            elif each.writer != holder:
                found.append(
                    f"{each.writer} wrote version {each.version} while {holder or 'nobody'} held the Lease: "
                    f"asked for {since - each.asked_at:.3f} s before that was seen to be so, "
                    f"seen {each.seen_at - since:.3f} s after"
                )
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


def install(access: ClusterAccess, folder: Path) -> None:
    """Let the API server know Beats."""
    file = folder / "beats.py"
    file.write_text(OPERATOR)
    crd = kubewright("manifests", "crd", file).stdout
    access.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=crd)
    access.kubectl("wait", "--for=condition=Established", "crd/beats.election.example.com")


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
