"""Candidates, a server and everything between them, in simulated time: the world in which an election has to hold.

Owns time. Each candidate has a clock of its own speed and setting; requests and answers take their time or get lost;
a candidate can be stopped for a while, crash, or be asked to stop; people edit the Lease. All of it is decided by the
test and one seed, so that a failure happens again.

    world = World(seed=1); a = world.candidate("a"); world.run(until=60.0); world.check_one_leader()

A window of belief reaches from the moment at which a candidate learns that it leads to the one at which its own clock
says that it does no more: what its fence would let through, whether it runs or is stopped.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from msgspec.structs import replace

from kubewright.manager.election.election import Election
from kubewright.manager.election.record import LeaseObject, Record, with_record
from kubewright.manager.election.settings import LeaderElection
from kubewright.manager.election.steps import (
    Answer,
    Change,
    Create,
    Elected,
    Ended,
    Failed,
    Found,
    Get,
    Lost,
    Missing,
    Phase,
    Renewed,
    Request,
)

DEFAULTS = LeaderElection(name="lease", namespace="ns")


class Server:
    """One Lease, with the server's optimistic lock. `made_at`: when it was created, the last time."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.lease: LeaseObject | None = None
        self.made_at = 0.0
        self._now = now
        self._version = 0
        self.history: list[Record | None] = []

    def handle(self, request: Request) -> Answer:
        if isinstance(request, Get):
            return Missing() if self.lease is None else Found(self.lease)
        if isinstance(request, Create):
            if self.lease is not None:
                return Failed("already exists", conflict=True)
            self.made_at = self._now()
            return self._store(request.lease)
        if self.lease is None:
            return Missing()
        if request.lease["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            return Failed("the object has been modified", conflict=True)
        return self._store(request.lease)

    def edit(self, **fields: Any) -> None:
        """Somebody changes the record by hand."""
        if self.lease is not None:
            old = {name: getattr(Record.of(self.lease), name) for name in Record.__struct_fields__}
            self._store(with_record(self.lease, Record(**{**old, **fields}), {}))

    def delete(self) -> None:
        self.lease = None
        self.history.append(None)

    @property
    def record(self) -> Record | None:
        return None if self.lease is None else Record.of(self.lease)

    def _store(self, lease: LeaseObject) -> Answer:
        self._version += 1
        self.lease = {**lease, "metadata": {**lease["metadata"], "resourceVersion": str(self._version)}}
        self.history.append(Record.of(self.lease))
        return Found(self.lease)


@dataclass
class Net:
    """Between a candidate and the server.

    `sometimes_slow`: the part of the messages that take up to `slow_seconds`; `answer_seconds`: what every answer takes
    in addition.
    """

    seconds: float = 0.01
    lose: float = 0.0
    sometimes_slow: float = 0.0
    slow_seconds: float = 20.0
    answer_seconds: float = 0.0
    is_cut: bool = False

    def delay(self, random: Random) -> float | None:
        """How long one message takes; None: it is lost."""
        if self.is_cut or random.random() < self.lose:
            return None
        if random.random() < self.sometimes_slow:
            return random.uniform(0, self.slow_seconds)
        return random.uniform(0, self.seconds)


@dataclass
class Window:
    """A time of belief, in true time."""

    who: str
    begin: float
    end: float


@dataclass(eq=False)
class Candidate:
    """One process. `rate`: how fast its clock runs; `work_seconds`: how long its workers take to stop."""

    name: str
    election: Election
    rate: float
    offset: float
    net: Net
    work_seconds: float = 0.0
    paused_until: float = 0.0
    is_dead: bool = False
    sent: Request | None = None
    wake_at: float | None = None
    windows: list[Window] = field(default_factory=list)
    changes: list[tuple[float, Change]] = field(default_factory=list)

    def local(self, at: float) -> float:
        return self.offset + self.rate * at

    def true(self, local: float) -> float:
        return (local - self.offset) / self.rate

    @property
    def leads(self) -> bool:
        return not self.is_dead and self.election.phase is Phase.LEADING

    def told(self, kind: type[Change]) -> list[float]:
        return [at for at, change in self.changes if isinstance(change, kind)]


class World:
    """See the module."""

    def __init__(self, seed: int = 0, settings: LeaderElection = DEFAULTS) -> None:
        self.random = Random(seed)
        self.settings = settings
        self.server = Server(lambda: self.now)
        self.candidates: list[Candidate] = []
        self.now = 0.0
        self.steps = 0
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    # What a test does

    def candidate(
        self, name: str, *, rate: float = 1.0, net: Net | None = None, work_seconds: float = 0.0, **changed: Any
    ) -> Candidate:
        """A process that starts now."""
        settings = replace(self.settings, identity=name, **changed)
        offset = self.random.uniform(-1e6, 1e6)
        local = offset + rate * self.now
        wall = map("{:.6f}".format, itertools.count())  # text that is another each time
        election = Election(settings, local, wall=lambda: next(wall), random=Random(self.random.random()))
        made = Candidate(name, election, rate, offset, net or Net(), work_seconds)
        self.candidates.append(made)
        self._step(made, lambda _: [])
        return made

    def at(self, when: float, call: Callable[[], None]) -> None:
        """Let something happen at a time."""
        heapq.heappush(self._events, (max(when, self.now), next(self._order), call))

    def pause(self, candidate: Candidate, seconds: float) -> None:
        """SIGSTOP now, SIGCONT later."""
        candidate.paused_until = max(candidate.paused_until, self.now + seconds)

    def crash(self, candidate: Candidate) -> None:
        """SIGKILL: it believes nothing any more."""
        candidate.is_dead = True
        self._close(candidate)

    def stop(self, candidate: Candidate) -> None:
        """SIGTERM of a process whose workers have ended."""
        self._step(candidate, candidate.election.stop)

    def run(self, *, until: float) -> None:
        while self._events and self._events[0][0] <= until:
            self.now, _, call = heapq.heappop(self._events)
            call()
        self.now = until

    def run_until(self, check: Callable[[], bool], *, most: float) -> float:
        """When `check` became true. Fails if it does not within `most` seconds."""
        deadline = self.now + most
        while not check():
            assert self._events, "nothing happens any more"
            assert self._events[0][0] <= deadline, f"not within {most} s, at {self.now:.3f}; {self.describe()}"
            self.now, _, call = heapq.heappop(self._events)
            call()
        return self.now

    # What a test sees

    @property
    def leaders(self) -> list[str]:
        return [candidate.name for candidate in self.candidates if candidate.leads]

    def windows(self) -> list[Window]:
        return sorted(
            (window for candidate in self.candidates for window in candidate.windows), key=lambda window: window.begin
        )

    def overlap_seconds(self) -> float:
        """The longest time for which two believed at once."""
        worst = 0.0
        windows = self.windows()
        for position, window in enumerate(windows):
            for other in windows[position + 1 :]:
                if other.who != window.who:
                    worst = max(worst, min(window.end, other.end) - other.begin)
        return worst

    def describe(self) -> str:
        return ", ".join(f"{each.name}: {each.election.phase}" for each in self.candidates if not each.is_dead)

    # How it goes

    def _step(self, candidate: Candidate, step: Callable[[float], Sequence[Change]]) -> None:
        if candidate.is_dead:
            return
        if candidate.paused_until > self.now:
            self.at(candidate.paused_until, lambda: self._step(candidate, step))
            return
        self.steps += 1
        local = candidate.local(self.now)
        before = candidate.election.phase
        for change in step(local):
            candidate.changes.append((self.now, change))
            self._note(candidate, change)
        self._check(candidate, local, before)
        self._send(candidate)
        self._arm(candidate)

    def _note(self, candidate: Candidate, change: Change) -> None:
        if isinstance(change, Elected):
            candidate.windows.append(Window(candidate.name, self.now, candidate.true(change.valid_until)))
        elif isinstance(change, Renewed):
            candidate.windows[-1].end = candidate.true(change.valid_until)
        elif isinstance(change, Lost):
            self._close(candidate)
            down = self.now + candidate.work_seconds
            self.at(down, lambda: self._step(candidate, candidate.election.stepped_down))

    def _check(self, candidate: Candidate, local: float, before: Phase) -> None:
        """The guarantees that hold after each step."""
        election = candidate.election
        assert (election.phase is Phase.LEADING) == (local < election.valid_until), (before, election.phase)
        if election.phase in (Phase.STEPPING_DOWN, Phase.ENDED):
            assert election.request is None
            assert election.wake_at is None
        else:
            assert election.wake_at is not None
        leading = [type(change) for _, change in candidate.changes if isinstance(change, Elected | Lost)]
        assert leading == [(Elected, Lost)[position % 2] for position in range(len(leading))]

    def _close(self, candidate: Candidate) -> None:
        if candidate.windows:
            candidate.windows[-1].end = min(candidate.windows[-1].end, self.now)

    def _send(self, candidate: Candidate) -> None:
        request = candidate.election.request
        if request is None or request is candidate.sent:
            return
        candidate.sent = request
        there = candidate.net.delay(self.random)
        if there is None:
            return

        def arrive() -> None:
            answer = self.server.handle(request)
            back = candidate.net.delay(self.random)
            if back is not None:
                come_at = self.now + back + candidate.net.answer_seconds
                answered = candidate.election.answered
                self.at(come_at, lambda: self._step(candidate, lambda local: answered(request, answer, local)))

        self.at(self.now + there, arrive)

    def _arm(self, candidate: Candidate) -> None:
        wake_at = candidate.election.wake_at
        if wake_at is None or wake_at == candidate.wake_at:
            return
        candidate.wake_at = wake_at

        def fire() -> None:
            if candidate.wake_at == wake_at:
                candidate.wake_at = None
                # The way from local to true time and back may end a rounding error early.
                self._step(candidate, lambda local: candidate.election.timer(max(local, wake_at)))

        self.at(candidate.true(wake_at), fire)


def ended(candidate: Candidate) -> Ended:
    """What the end of an election said."""
    found = [change for _, change in candidate.changes if isinstance(change, Ended)]
    assert len(found) == 1
    return found[0]
