"""An election beside an event loop, in real time and real threads, against Leases in memory.

The numbers are an eighth of the defaults. What takes longer than it should here is the machine; no bound is tighter
than it has to be for what is shown.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from lease_api import LeaseApi, LeaseTransport
from msgspec.structs import replace

from kubewright.client import ClientConfig, Response
from kubewright.client.config import ConfigError
from kubewright.manager.election import Elector, LeaderElection, Term
from kubewright.manager.election.deadman import Timer

CONFIG = ClientConfig(server="http://fake.example")
QUICK = LeaderElection(lease_seconds=2, renew_seconds=1.2, retry_seconds=0.2)


@dataclass
class Told:
    """What an observer was told."""

    calls: list[str] = field(default_factory=list)

    def started_leading(self, transitions: int) -> None:
        self.calls.append(f"started {transitions}")

    def stopped_leading(self) -> None:
        self.calls.append("stopped")

    def slow_path(self) -> None:
        self.calls.append("slow")

    def new_leader(self, identity: str) -> None:
        self.calls.append(f"leader {identity}")

    def event(self, message: str) -> None:
        self.calls.append(f"event {message}")


@asynccontextmanager
async def leading(api: LeaseApi) -> AsyncIterator[tuple[Candidate, Candidate, Term]]:
    """One that leads, one that stands by, and the term of the first."""
    first, second = Candidate(api, "first"), Candidate(api, "second")
    async with first.elector:
        term = await first.elector.elected()
        async with second.elector:
            yield first, second, term


class Candidate:
    """An elector and what became of it."""

    def __init__(self, api: LeaseApi, identity: str, *, stall_seconds: float = 30.0) -> None:
        self.told = Told()
        self.ends: list[str] = []
        self.link: LeaseTransport = api.transport()
        settings = replace(QUICK, identity=identity, stall_seconds=stall_seconds).named("lease", "ns")
        self.elector = Elector(
            settings, CONFIG, observer=self.told, transport=lambda: self.link, end=self.ends.append, timer=None
        )


def run(main: Callable[[LeaseApi], Coroutine[None, None, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await main(LeaseApi())

    asyncio.run(bounded())


def test_a_term_begins_is_kept_and_is_given_back() -> None:
    async def main(api: LeaseApi) -> None:
        me = Candidate(api, "me")
        async with me.elector as elector:
            term = await elector.elected()
            assert elector.leadership.is_valid()
            assert (term.transitions, elector.leader) == (0, "me")
            await asyncio.sleep(1.5)
            assert not term.lost.is_set()
            assert elector.is_healthy()
            elector.stepped_down()
        assert api.holder == ""
        assert not me.elector.leadership.is_valid()
        assert me.told.calls == [
            "leader me",
            "started 0",
            "event me became leader",
            "stopped",
            "event me stopped leading",
            "leader ",
        ]
        assert me.ends == []

    run(main)


def test_another_takes_over_when_it_was_given_back_and_not_before() -> None:
    async def main(api: LeaseApi) -> None:
        async with leading(api) as (first, second, _):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(2.5):
                    await second.elector.elected()
            first.elector.stepped_down()
            await first.elector.__aexit__(None, None, None)
            given_back_at = time.monotonic()
            term = await second.elector.elected()
            assert time.monotonic() - given_back_at < 1.5
            assert term.transitions == 1
            second.elector.stepped_down()
        assert second.told.calls[0] == "leader first"

    run(main)


def test_an_event_loop_that_is_blocked_longer_than_the_lease_keeps_it() -> None:
    async def main(api: LeaseApi) -> None:
        async with leading(api) as (first, _, term):
            time.sleep(3.0)  # noqa: ASYNC251 - that is what it is about
            assert first.elector.leadership.is_valid()
            await asyncio.sleep(0.05)
            assert not term.lost.is_set()
            assert {holder for holder, _ in api.history} == {"first"}
            first.elector.stepped_down()
        assert first.ends == []

    run(main)


def test_an_event_loop_that_is_blocked_for_too_long_ends_the_process() -> None:
    async def main(api: LeaseApi) -> None:
        me = Candidate(api, "me", stall_seconds=0.5)
        async with me.elector as elector:
            await elector.elected()
            time.sleep(1.5)  # noqa: ASYNC251
            assert len(me.ends) == 1
            assert "the event loop was blocked" in me.ends[0]
            elector.stepped_down()

    run(main)


def test_a_leader_that_is_cut_off_hears_of_it_in_time_and_may_lead_again() -> None:
    async def main(api: LeaseApi) -> None:
        async with leading(api) as (first, second, term):
            first.link.is_cut = True
            cut_at = time.monotonic()
            await term.lost.wait()
            assert 0.5 < time.monotonic() - cut_at < 2.0
            assert not first.elector.leadership.is_valid()
            first.elector.stepped_down()
            assert (await second.elector.elected()).transitions == 1
            first.link.is_cut = False
            second.elector.stepped_down()
            await second.elector.__aexit__(None, None, None)
            assert (await first.elector.elected()).transitions == 2
            first.elector.stepped_down()
        assert first.ends == second.ends == []

    run(main)


def test_work_that_does_not_stop_after_a_loss_ends_with_the_process_before_the_lease_can_be_taken() -> None:
    async def main(api: LeaseApi) -> None:
        async with leading(api) as (first, _, _):
            first.link.is_cut = True
            await asyncio.to_thread(_until, lambda: first.ends)
            assert api.holder == "first"
            assert "was lost and reconciles did not end" in first.ends[0]
            assert first.ends[0].endswith("ending before another process leads")
            first.elector.leadership.guards = False

    run(main)


def _until(check: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_who_never_led_is_told_once_that_it_stopped() -> None:
    async def main(api: LeaseApi) -> None:
        first, second = Candidate(api, "first"), Candidate(api, "second")
        async with first.elector:
            await first.elector.elected()
            async with second.elector:
                await asyncio.sleep(0.3)
            assert second.told.calls == ["leader first", "stopped"]
            assert api.holder == "first"
            first.elector.stepped_down()

    run(main)


def test_a_right_that_is_missing_is_told_once_with_the_rule(caplog: pytest.LogCaptureFixture) -> None:
    async def main(api: LeaseApi) -> None:
        message = (
            'leases.coordination.k8s.io \\"lease\\" is forbidden: User \\"eve\\" cannot get resource \\"leases\\" in '
            'API group \\"coordination.k8s.io\\" in the namespace \\"ns\\"'
        )
        body = f'{{"kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"{message}"}}'
        refused = Response(403, {"content-type": "application/json"}, body.encode())
        api.refuse = lambda method: refused if api.requests < 4 else None
        me = Candidate(api, "me")
        async with me.elector as elector:
            await elector.elected()
            elector.stepped_down()

    with caplog.at_level(logging.WARNING):
        run(main)
    assert len(caplog.messages) == 1
    assert "bind User eve to a Role in namespace ns with the rule" in caplog.messages[0]
    assert '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get"]}' in caplog.messages[0]


def test_a_configuration_that_cannot_be_used_is_an_error_at_the_start() -> None:
    async def main(api: LeaseApi) -> None:
        config = ClientConfig(server="https://fake.example", client_cert_data=b"x", client_key_data=b"y")
        elector = Elector(QUICK.named("lease", "ns"), config)
        with pytest.raises(ConfigError):
            async with elector:
                raise AssertionError("not entered")

    run(main)


def test_a_defect_of_the_election_ends_the_term_and_comes_out() -> None:
    async def main(api: LeaseApi) -> None:
        me = Candidate(api, "me")
        async with me.elector as elector:
            term = await elector.elected()
            campaign = elector._campaign
            assert campaign is not None

            def defect(now: float) -> None:
                raise ZeroDivisionError

            campaign._election.timer = defect  # type: ignore[method-assign, assignment]
            await term.lost.wait()
            assert not elector.leadership.is_valid()
            assert not elector.is_healthy()
            elector.stepped_down()
            with pytest.raises(RuntimeError, match="leader election for Lease ns/lease has failed"):
                await elector.elected()

    run(main)


def test_a_cancelled_wait_takes_nothing() -> None:
    async def main(api: LeaseApi) -> None:
        async with leading(api) as (first, second, _):
            waiting = asyncio.create_task(second.elector.elected())
            await asyncio.sleep(0.1)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert not second.elector.leadership.guards
            first.elector.stepped_down()
        assert api.holder == ""

    run(main)


def test_health_is_lost_when_a_lease_was_not_renewed_for_its_whole_time() -> None:
    elector = Candidate(LeaseApi(), "me").elector
    assert elector.is_healthy(0.0)
    leadership = elector.leadership
    leadership.extend(101.2, 101.6, 1)  # renewed at 100.0, so that the lease ends at 102.0
    leadership.guards = True
    assert elector.is_healthy(101.99)
    assert not elector.is_healthy(102.01)
    assert elector.is_healthy(106.9, tolerance_seconds=5)
    leadership.guards = False
    assert elector.is_healthy(200.0)


def test_where_the_kernel_has_no_such_timer_it_is_said_once_and_the_election_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refused() -> Timer:
        raise OSError(1, "timer_create failed")

    async def main(api: LeaseApi) -> None:
        settings = replace(QUICK, identity="me").named("lease", "ns")
        async with Elector(settings, CONFIG, transport=api.transport, timer=refused) as elector:
            await elector.elected()
            elector.stepped_down()

    with caplog.at_level(logging.WARNING):
        run(main)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "no timer of the kernel ([Errno 1] timer_create failed): a process that is stopped" in caplog.text


def test_a_run_leaves_no_deadline_behind() -> None:
    made: list[Noted] = []

    def timer() -> Noted:
        made.append(Noted())
        return made[-1]

    async def main(api: LeaseApi) -> None:
        settings = replace(QUICK, identity="me").named("lease", "ns")
        async with Elector(settings, CONFIG, transport=api.transport, timer=timer) as elector:
            assert made[0].at is None
            await elector.elected()
            first = made[0].at
            assert first is not None
            await asyncio.sleep(0.5)
            assert made[0].at is not None
            assert made[0].at > first, "it follows the renewals"
        assert (made[0].at, made[0].closed) == (None, True)

    run(main)


class Noted:
    """A timer that ends nothing."""

    def __init__(self) -> None:
        self.at: float | None = None
        self.closed = False

    def set(self, at: float | None) -> None:
        self.at = at

    def close(self) -> None:
        self.closed = True
