"""The algorithm of client-go's leader election as a step machine: no I/O, no clock, no thread.

Owns what to ask the server next, when, and whether we lead. A shell sends `request`, calls `answered` with what came,
`timer` when `wake_at` has come, and acts on the changes that both return. An answer to a request that is no longer
`request` is ignored, so a shell need not care which of two things came first.

    try       fast path: we hold the lease and it is valid: update, as if nobody had touched it since
              slow path: get; not there: create; held by another and valid: fail; else update
    candidate a try every retry_seconds to 1.2 * retry_seconds, and one as soon as the other's lease has run out
    leading   a try every retry_seconds; none succeeds within renew_seconds of the last: lost
    release   get, update with no holder and a duration of 1 s; again on conflict

Whether another's lease is valid is judged by our own clock alone: from the moment at which *we* saw its record change.
Clocks may differ by years, only their speeds must not.

Where this is stricter than client-go (tools/leaderelection/leaderelection.go), each time because two could lead:
- Our own leadership counts from the *sending* of the renewal, not from its answer, which may have taken seconds on the
  way while others had long seen it; and `renew_seconds` from there, not from the next try.
- A leader that reads another holder in the Lease stops at once, not when its deadline comes.
- A Lease that was deleted by hand does not end a leadership: a candidate that knew it waits for the whole of its time
  before it creates a new one, as its holder may have renewed it last just before; the leader puts it back as it was.
- A release does not overwrite another holder.

What cannot be excluded: a candidate that starts at the very moment at which somebody deletes the Lease, or to whom
somebody hands it by editing its holder, leads until the old leader's next try in parallel with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from .record import LeaseObject, Record, lease_of, with_record
from .settings import JITTER, LeaderElection
from .steps import (
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
    NewLeader,
    Phase,
    Renewed,
    Request,
    SlowPath,
    Trouble,
    Update,
)

__all__ = ["Election"]

_RELEASED_SECONDS = 1  # the duration in a released record: for clients that do not know that an empty holder is none


class Election:
    """One candidate. `now` is seconds on any steady clock, the same in all calls.

    Guarantees:
        E1 `Elected` and `Lost` alternate, and what was elected is lost before `Ended`.
        E2 While we lead, `now < valid_until`, and `valid_until` is at most `renew_seconds` after the sending of an
           update that the server has carried out.
        E3 An update over another's record is sent only `duration_seconds` of that record after we saw it first, or
           when its holder is empty; and carried out only if that record was not renewed meanwhile.
        E4 After `stop` there is no `Elected`.
        E5 Something is always awaited: `wake_at` is None only while stepping down and after the end.

    Caveats: not for concurrent use.
    """

    def __init__(
        self,
        settings: LeaderElection,
        now: float,
        *,
        wall: Callable[[], str],
        random: Random | None = None,
    ) -> None:
        """Begin as a candidate, with a try at once.

        Args:
            settings: with name, namespace and identity (`LeaderElection.named`).
            wall: the time of day as metav1.MicroTime, for people who read the Lease.
        """
        if settings.name is None or settings.namespace is None or settings.identity is None:
            raise ValueError("settings: have no name, namespace or identity; fill them in with named()")
        self._settings = settings
        self._name, self._namespace, self._identity = settings.name, settings.namespace, settings.identity
        self._wall = wall
        self._random = random or Random()  # noqa: S311 - jitter

        self.phase = Phase.CANDIDATE
        self.request: Request | None = None
        """What to send now; None: nothing."""
        self.valid_until = -math.inf
        """Until when we lead; in the past unless `LEADING`."""

        self._lease: LeaseObject | None = None  # as last read or written; what an update is based on
        self._observed: Record | None = None  # the record that was last seen to be another than before,
        self._observed_at = -math.inf  # and when
        self._read_at = -math.inf  # when we sent what the server last answered with what there is
        self._gone_until = -math.inf  # a Lease that was deleted may be led by until then
        self._reported = ""
        self._trouble = ""
        self._finish_at = math.inf  # of a release
        self._is_fast = False  # the request is a fast path's update
        self._try_at = now
        self._sent_at = now
        self._next_at: float | None = now  # of the next try; None while a request is out
        self._changes: list[Change] = []
        self._try(now)

    @property
    def leader(self) -> str:
        """Who holds the lease as far as was last seen; "" for nobody."""
        return self._observed.holder if self._observed is not None else ""

    @property
    def wake_at(self) -> float | None:
        """When to call `timer`; earlier if something else happens."""
        if self.phase in (Phase.STEPPING_DOWN, Phase.ENDED):
            return None
        times = [self._finish_at]
        if self.phase is Phase.LEADING:
            times.append(self.valid_until)
        if self.request is not None:
            times.append(self._sent_at + self._settings.request_seconds)
        elif self._next_at is not None:
            times.append(self._next_at)
        return min(times)

    # Steps

    def timer(self, now: float) -> list[Change]:
        """`wake_at` has come (a call before it does nothing)."""
        self._expire(now)
        if self.phase is Phase.RELEASING and now >= self._finish_at:
            self._end(released=False)
        elif self.request is not None:
            if now >= self._sent_at + self._settings.request_seconds:
                self._take(Failed(f"no answer within {self._settings.request_seconds:g} s"), now)
        elif self._next_at is not None and now >= self._next_at:
            self._try(now)
        return self._take_changes()

    def answered(self, request: Request, answer: Answer, now: float) -> list[Change]:
        """The server has answered `request`, or it has failed."""
        self._expire(now)
        if request is self.request:
            self._take(answer, now)
        return self._take_changes()

    def stepped_down(self, now: float) -> list[Change]:
        """What the lost leadership guarded has ended: be a candidate again."""
        if self.phase is Phase.STEPPING_DOWN:
            self.phase = Phase.CANDIDATE
            self._try(now)
        return self._take_changes()

    def stop(self, now: float) -> list[Change]:
        """Lead no more, give the lease back, end. What it guards must have ended before."""
        if self.phase in (Phase.RELEASING, Phase.ENDED):
            return []
        self._expire(now)
        if self.phase is Phase.LEADING:
            self._lose("the election was stopped")
        is_ours_to_give = self._is_mine
        if self.phase is Phase.CANDIDATE and isinstance(self.request, Create | Update):
            is_ours_to_give = True  # it may make us the holder: its answer is awaited
        if not (self._settings.release and is_ours_to_give):
            self._end(released=False)
            return self._take_changes()
        self.phase = Phase.RELEASING
        self._finish_at = now + self._settings.release_seconds
        if not isinstance(self.request, Create | Update):
            self._send(Get(), now)
        return self._take_changes()

    # One try

    def _try(self, now: float) -> None:
        self._try_at = now
        if self._is_mine and self._is_valid(now):
            self._update(now, is_fast=True)
        else:
            self._send(Get(), now)

    def _take(self, answer: Answer, now: float) -> None:
        request, self.request = self.request, None
        if isinstance(answer, Failed) and not answer.conflict:
            self._note_trouble(answer.problem)
        elif not isinstance(answer, Failed):
            self._note_trouble("")
        if self.phase is Phase.RELEASING:
            self._take_release(request, answer, now)
        elif isinstance(request, Get):
            self._take_read(answer, now)
        elif isinstance(answer, Found):
            self._take_stored(answer.lease, now)
        elif self._is_fast:
            self._send(Get(), now)  # whatever the reason: see what is there
        else:
            self._failed(now)

    def _take_read(self, answer: Answer, now: float) -> None:
        if isinstance(answer, Failed):
            self._failed(now)
            return
        # Go's clock for "now" is that of the try's begin, here and below: the later one would wait less.
        if isinstance(answer, Missing):
            self._observe_missing(now)
            if self.phase is Phase.CANDIDATE and self._try_at < self._gone_until:
                self._failed(now)
            else:
                self._create(now)
            return
        self._observe(answer.lease, now)
        if self._is_anothers and self._is_valid(self._try_at):
            if self.phase is Phase.LEADING:
                self._lose(f"the Lease is held by {self.leader}")
            else:
                self._failed(now)
        else:
            self._update(now, is_fast=False)

    def _take_stored(self, lease: LeaseObject, now: float) -> None:
        self._observe(lease, now)
        valid_until = self._sent_at + self._settings.renew_seconds
        if not self._is_mine:
            self._failed(now)
        elif now >= valid_until:  # ours, but we were asleep for so long that it is of no use
            self._report_leader()
            self._next_at = now
        else:
            self._observed_at = self._sent_at
            self.valid_until = valid_until
            self._next_at = now + self._settings.retry_seconds
            self._report_leader()
            assert self._observed is not None
            transitions = self._observed.transitions
            if self.phase is Phase.LEADING:
                self._changes.append(Renewed(transitions, valid_until))
            else:
                self.phase = Phase.LEADING
                self._changes.append(Elected(transitions, valid_until))

    def _failed(self, now: float) -> None:
        self._report_leader()
        retry = self._settings.retry_seconds
        if self.phase is Phase.LEADING:
            self._next_at = max(self._try_at + retry, now)
            return
        self._next_at = now + retry * (1 + (JITTER - 1) * self._random.random())
        # Not later than that: a dead leader's lease is taken as soon as it has run out. Those who wait for it saw its
        # last renewal at different times, so they do not come together.
        free_at = self._gone_until if self._lease is None else self._free_at
        if (self._lease is None or not self._is_mine) and free_at > now:
            self._next_at = min(self._next_at, free_at)

    # Requests

    def _send(self, request: Request, now: float) -> None:
        self.request = request
        self._sent_at = now
        self._next_at = None
        self._is_fast = False

    def _record(self) -> Record:
        """The record that says that we hold the lease."""
        wall, old = self._wall(), self._observed
        duration = int(self._settings.lease_seconds)
        if old is None:
            return Record(self._identity, duration, wall, wall, 0)
        if self._is_mine:
            return Record(self._identity, duration, old.acquire_time, wall, old.transitions)
        return Record(self._identity, duration, wall, wall, old.transitions + 1)

    def _create(self, now: float) -> None:
        lease = lease_of(self._record(), self._name, self._namespace, self._settings.labels)
        self._send(Create(lease), now)

    def _update(self, now: float, *, is_fast: bool) -> None:
        if self._lease is None:  # deleted while it was ours
            self._send(Get(), now)
            return
        if self.phase is Phase.LEADING and not is_fast:
            self._changes.append(SlowPath())
        self._send(Update(with_record(self._lease, self._record(), self._settings.labels)), now)
        self._is_fast = is_fast

    # What is known of the lease

    @property
    def _is_mine(self) -> bool:
        return self.leader == self._identity

    @property
    def _is_anothers(self) -> bool:
        return self.leader not in ("", self._identity)

    @property
    def _free_at(self) -> float:
        return self._observed_at + (self._observed.duration_seconds if self._observed is not None else 0)

    def _is_valid(self, now: float) -> bool:
        return self._free_at > now

    def _observe(self, lease: LeaseObject, now: float) -> None:
        record = Record.of(lease)
        self._lease = lease
        self._read_at = self._sent_at
        if record != self._observed:
            self._observed = record
            self._observed_at = now

    def _observe_missing(self, now: float) -> None:
        """It was there, or may have been since we last looked: its holder may have renewed it the moment before."""
        looked_away = now - self._read_at > 2 * JITTER * self._settings.retry_seconds
        if self._observed is not None and (self._lease is not None or looked_away):
            self._gone_until = now + max(int(self._settings.lease_seconds), self._observed.duration_seconds)
        self._lease = None
        self._read_at = self._sent_at

    def _report_leader(self) -> None:
        if self.leader != self._reported:
            self._reported = self.leader
            self._changes.append(NewLeader(self.leader))

    def _note_trouble(self, problem: str) -> None:
        if problem != self._trouble:
            self._trouble = problem
            self._changes.append(Trouble(problem))

    # The end of a leadership, and of an election

    def _expire(self, now: float) -> None:
        if self.phase is Phase.LEADING and now >= self.valid_until:
            because = f": {self._trouble}" if self._trouble else ""
            self._lose(f"not renewed for {self._settings.renew_seconds:g} s{because}")

    def _lose(self, reason: str) -> None:
        self.phase = Phase.STEPPING_DOWN
        self.request = None
        self._next_at = None
        self.valid_until = -math.inf
        self._changes.append(Lost(reason))
        self._report_leader()

    def _take_release(self, request: Request | None, answer: Answer, now: float) -> None:
        if isinstance(answer, Found):
            self._observe(answer.lease, now)
            if self._is_mine:
                self._release(now)
            else:
                self._end(released=isinstance(request, Update) and self.leader == "")
        elif isinstance(answer, Failed) and isinstance(request, Create | Update) and now < self._finish_at:
            # A conflict is mostly with our own last renewal, whose answer was not awaited. Where nothing is known of
            # the write, it is that of the try that `stop` found under way, or the last attempt.
            if answer.conflict or Record.of(request.lease).holder:
                self._send(Get(), now)
            else:
                self._end(released=False)
        else:
            self._end(released=False)

    def _release(self, now: float) -> None:
        assert self._lease is not None
        assert self._observed is not None
        wall = self._wall()
        record = Record("", _RELEASED_SECONDS, wall, wall, self._observed.transitions)
        self._send(Update(with_record(self._lease, record, self._settings.labels)), now)

    def _end(self, *, released: bool) -> None:
        self.phase = Phase.ENDED
        self.request = None
        self._next_at = None
        self._report_leader()
        self._changes.append(Ended(released))

    def _take_changes(self) -> list[Change]:
        changes, self._changes = self._changes, []
        return changes
