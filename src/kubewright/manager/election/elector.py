"""Leader election for a program on an event loop: a thread that renews, a watchdog, and terms of leadership.

Owns the threads and what passes between them and the event loop. The election itself is `Election`'s, on a loop of
its own in its own thread with its own connection: an event loop that is blocked for ten seconds by somebody's
computation does not cost the lease.

    election thread    asks, renews; writes `leadership`         posts Elected, Lost, ... to the event loop
    event loop         starts and stops what is guarded          posts stepped_down, stop to the election thread
    watchdog thread    reads `leadership`                        posts the loss to the event loop, or ends the process
    the kernel         has the last deadline of `leadership`     ends the process, even where none of its threads runs

Nothing waits for another thread, and the election thread does not log: whoever holds a lock of the logging, or a full
pipe behind it, would hold the lease as well.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from kubewright.client import ClientConfig, Transport
from kubewright.model import MicroTime

from .campaign import Campaign
from .deadman import DeadManSwitch, Timer
from .election import Election
from .leadership import Leadership, steady
from .lock import LeaseLock, election_http
from .observer import ElectionObserver, NoObserver
from .settings import LeaderElection
from .steps import Change, Elected, Ended, Lost, NewLeader, Renewed, SlowPath, Trouble
from .watchdog import Watchdog, end_process

__all__ = ["Elector", "Term"]

_END_SECONDS = 2.0  # beyond the time for the release, for the thread to end


def _kernel_timer() -> Timer:
    from .kerneltimer import kernel_timer

    return kernel_timer()


class Term:
    """A time of leadership. `lost` is set when it is over; `reason` says why."""

    def __init__(self, transitions: int) -> None:
        self.transitions = transitions
        self.lost = asyncio.Event()
        self.reason = ""

    def end(self, reason: str) -> None:
        """It is over. A second call does nothing."""
        if not self.lost.is_set():
            self.reason = reason
            self.lost.set()


class Elector:
    """One candidate of one Lease.

    Expected flow:

        async with Elector(settings, config) as elector:      a candidate; at the end the lease is given back
            while wanted:
                term = await elector.elected()
                ...start what is guarded, and stop it when term.lost is set, within settings.grace_seconds...
                elector.stepped_down()                        a candidate again

    Guarantees:
        T1 From `elected` on no other process that keeps the rules leads, until `2 * grace_seconds` after
           `leadership.valid_until` (less what clocks differ in speed); `term.lost` is set when that has passed.
        T2 What has not stepped down `grace_seconds` after the leadership was lost ends with the process; where the
           process was stopped meanwhile, before the event loop's thread executes anything (Linux).
        T3 A blocked event loop does not lose the lease before `stall_seconds`; then the process ends.
        T4 The lease is given back only after `stepped_down`, or when nothing was guarded.
    Cancellation: a cancelled `elected` has taken nothing. Leaving `async with` takes `release_seconds` and a little
        at most; cancelled during that, it ends at once and the lease runs out.
    Caveats: bound to the event loop that enters it; enter it once.
    """

    def __init__(
        self,
        settings: LeaderElection,
        config: ClientConfig,
        *,
        observer: ElectionObserver | None = None,
        transport: Callable[[], Transport] | None = None,
        end: Callable[[str], None] = end_process,
        timer: Callable[[], Timer] | None = _kernel_timer,
        clock: Callable[[], float] = steady,
        logger: logging.Logger | None = None,
    ) -> None:
        """A candidate that does not run yet.

        Args:
            settings: with name, namespace and identity.
            config: the API server; a client of its own is made for it.
            observer: metrics and events; none by default.
            transport: called in the election's thread; makes another transport than the usual.
            end: ends the process, having said why.
            timer: called in the event loop's thread; makes what ends the process where no thread can. None: nothing.
        """
        assert settings.identity is not None
        self.settings = settings
        self.leadership = Leadership(f"{settings.namespace}/{settings.name}", settings.identity, clock=clock)
        self.leader = ""
        """Who was last seen to hold the lease; "" for nobody."""
        self._config = config
        self._observer = observer or NoObserver()
        self._transport = transport
        self._logger = logger or logging.getLogger("kubewright.leader-election")
        self._clock = clock
        self._timer = timer
        self._switch: DeadManSwitch | None = None
        self._thread = threading.Thread(target=self._run, name="leader election", daemon=True)
        self._campaign: Campaign | None = None  # of the thread, while it runs
        self._thread_loop: asyncio.AbstractEventLoop | None = None
        self._failure: BaseException | None = None
        self._has_led = False
        self._leads = False  # as far as the observer was told
        self._term: Term | None = None
        self._started = asyncio.Event()
        self._changed = asyncio.Event()
        self._ended = asyncio.Event()
        self._watchdog = Watchdog(
            self.leadership,
            ping=self._post,
            step_down=lambda: self._post(self._overdue),
            stall_seconds=settings.stall_seconds,
            tick_seconds=settings.grace_seconds / 4,
            end=end,
        )

    # On the event loop

    async def __aenter__(self) -> Self:
        """Start. Raises ConfigError: the configuration cannot be used."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()
        try:
            await self._started.wait()
        except BaseException:
            self._command("cancel")
            raise
        if self._failure is not None:
            raise self._failure
        self._switch = self._make_switch()
        self._watchdog.start()
        self._logger.info("leader election: candidate for Lease %s as %s", self.lease, self.settings.identity)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._guard(False)
        self._watchdog.stop()
        self._command("stop")
        try:
            async with asyncio.timeout(self.settings.release_seconds + _END_SECONDS):
                await self._ended.wait()
        except TimeoutError:
            self._logger.warning("leader election: Lease %s was not given back in time; it runs out", self.lease)
        finally:
            self._command("cancel")
            if self._switch is not None:
                self._switch.close()
            if self._leads or not self._has_led:
                self._stopped_leading()

    @property
    def lease(self) -> str:
        """ "namespace/name"."""
        return self.leadership.lease

    async def elected(self) -> Term:
        """Wait until we lead. From now on the watchdog holds us to it.

        Raises RuntimeError: the election has failed for good, by a defect.
        """
        while True:
            if self._failure is not None:
                raise RuntimeError(f"leader election for Lease {self.lease} has failed") from self._failure
            term = self._term
            if term is None:
                self._changed.clear()
                await self._changed.wait()
            elif not self.leadership.is_valid():
                await term.lost.wait()  # by now on its way, if it is not there
                self.stepped_down()
            else:
                self._guard(True)
                return term

    def stepped_down(self) -> None:
        """What was guarded has ended: be a candidate again. Too late, it ends the process (T2)."""
        self._watchdog.enforce()
        self._guard(False)
        if self._term is not None and self._term.lost.is_set():
            self._term = None
            self._command("stepped_down")

    def _guard(self, guards: bool) -> None:
        self.leadership.guards = guards
        if self._switch is not None:
            self._switch.follow()

    def _make_switch(self) -> DeadManSwitch | None:
        if self._timer is None:
            return None
        try:
            timer = self._timer()
        except OSError as error:
            self._logger.warning(
                "leader election: no timer of the kernel (%s): a process that is stopped while it writes may write "
                "once more when it goes on, after another leads",
                error,
            )
            return None
        return DeadManSwitch(self.leadership, timer, margin_seconds=self.settings.grace_seconds / 4)

    def is_healthy(self, now: float | None = None, *, tolerance_seconds: float = 0.0) -> bool:
        """Whether the election does its work, for a health check.

        False when a lease that we lead by was not renewed for `lease_seconds + tolerance_seconds` (client-go's
        HealthzAdaptor), or when the election has failed. `now` is on the leadership's clock.
        """
        if self._failure is not None:
            return False
        leadership = self.leadership
        lease_end = leadership.dead_at + self.settings.grace_seconds
        now = leadership.clock() if now is None else now
        return not leadership.guards or now <= lease_end + tolerance_seconds

    def _on_change(self, change: Change) -> None:
        if isinstance(change, Elected):
            self._logger.info("leader election: leading, by Lease %s (transition %d)", self.lease, change.transitions)
            self._has_led = self._leads = True
            self._observer.started_leading(change.transitions)
            self._observer.event(f"{self.settings.identity} became leader")
            self._term = Term(change.transitions)
            self._changed.set()
        elif isinstance(change, Lost):
            if self._leads:
                self._stopped_leading()
                self._observer.event(f"{self.settings.identity} stopped leading")
            if self._term is not None:
                self._term.end(change.reason)
        elif isinstance(change, NewLeader):
            self.leader = change.identity
            if change.identity != self.settings.identity:
                self._logger.info("leader election: the leader is %s", change.identity or "nobody")
            self._observer.new_leader(change.identity)
        elif isinstance(change, SlowPath):
            self._observer.slow_path()
        elif isinstance(change, Trouble):
            if change.problem:
                self._logger.warning("leader election: Lease %s: %s; trying again", self.lease, change.problem)
        elif isinstance(change, Ended) and change.released:
            self._logger.info("leader election: Lease %s given back", self.lease)

    def _stopped_leading(self) -> None:
        self._leads = False
        self._has_led = True
        self._observer.stopped_leading()

    def _overdue(self) -> None:
        """The watchdog saw that the time is up; the election, which may hang, will see it later."""
        if self._term is not None and not self.leadership.is_valid():
            self._term.end(f"not renewed for {self.settings.renew_seconds:g} s")

    def _on_end(self, failure: BaseException | None) -> None:
        self._started.set()
        self._ended.set()
        if failure is not None:
            self._failure = failure
            if self._term is not None:
                self._term.end(f"the election has failed: {type(failure).__name__}: {failure}")
            self._changed.set()

    # Between the threads

    def _post(self, call: Callable[..., object], *args: object) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *args)
        except RuntimeError:
            pass  # the event loop is closed: there is nobody left to tell, and nothing left that is guarded

    def _command(self, name: str) -> None:
        loop = self._thread_loop
        if loop is not None:
            try:
                loop.call_soon_threadsafe(self._obey, name)
            except RuntimeError:
                pass  # it has ended

    # In the election's thread

    def _obey(self, name: str) -> None:
        campaign = self._campaign
        if campaign is None:
            return
        if name == "stop":
            campaign.stop()
        elif name == "stepped_down":
            campaign.stepped_down()
        else:
            self._campaigning.cancel()

    def _run(self) -> None:
        failure: BaseException | None = None
        try:
            with asyncio.Runner() as runner:
                runner.run(self._run_campaign())
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            failure = error
        finally:
            self.leadership.revoke()
            self._post(self._on_end, failure)

    async def _run_campaign(self) -> None:
        http = election_http(self._config, self._transport() if self._transport is not None else None)
        async with http:
            lock = LeaseLock(http, self.settings)
            election = Election(self.settings, self._clock(), wall=lambda: MicroTime.now().to_wire())
            self._campaign = Campaign(election, lock.perform, clock=self._clock, deliver=self._deliver)
            self._campaigning = asyncio.ensure_future(self._campaign.run())
            self._thread_loop = asyncio.get_running_loop()
            self._post(self._started.set)
            try:
                await self._campaigning
            finally:
                self._campaign = None

    def _deliver(self, change: Change) -> None:
        if isinstance(change, Elected | Renewed):
            dead_at = change.valid_until + self.settings.grace_seconds
            self.leadership.extend(change.valid_until, dead_at, change.transitions)
            if self._switch is not None:
                self._switch.follow()
        elif isinstance(change, Lost):
            self.leadership.revoke()
            self._watchdog.enforce()
        if not isinstance(change, Renewed):
            self._post(self._on_change, change)
