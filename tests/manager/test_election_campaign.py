"""The election on an event loop, in virtual time: requests are sent, times are kept, changes are told in order."""

from __future__ import annotations

import asyncio

from election_world import DEFAULTS
from lease_api import LeaseApi, LeaseTransport
from msgspec.structs import replace

import virtual
from kubewright.client import ClientConfig
from kubewright.manager.election.campaign import Campaign
from kubewright.manager.election.election import Election
from kubewright.manager.election.lock import LeaseLock, election_http
from kubewright.manager.election.steps import Answer, Change, Elected, Ended, Failed, Lost, NewLeader, Request, Trouble

CONFIG = ClientConfig(server="http://fake.example", user_agent="web-operator/1.0")


class Runner:
    """One candidate on the running loop."""

    def __init__(self, api: LeaseApi, identity: str) -> None:
        loop = asyncio.get_running_loop()
        settings = replace(DEFAULTS, identity=identity)
        self.changes: list[Change] = []
        self.transport: LeaseTransport = api.transport()
        self._lock = LeaseLock(election_http(CONFIG, self.transport), settings)
        self.perform = self._lock.perform
        election = Election(settings, loop.time(), wall=lambda: str(loop.time()))
        self.campaign = Campaign(election, self._perform, clock=loop.time, deliver=self.changes.append)
        self.task = asyncio.create_task(self.campaign.run())

    async def _perform(self, request: Request) -> Answer:
        return await self.perform(request)

    @property
    def leads(self) -> bool:
        told = [change for change in self.changes if isinstance(change, Elected | Lost)]
        return bool(told) and isinstance(told[-1], Elected)

    async def end(self) -> None:
        self.campaign.stop()
        await self.task


def test_one_leads_and_renews_and_the_other_takes_over_when_it_gives_back() -> None:
    async def main() -> None:
        api = LeaseApi()
        first = Runner(api, "first")
        await virtual.settle()
        second = Runner(api, "second")
        await asyncio.sleep(600.0)
        assert first.leads
        assert not second.leads
        await first.end()
        assert first.changes[-1] == Ended(True)
        await asyncio.sleep(2.4)
        assert second.leads
        await second.end()
        assert api.history[-1] == ("", 1)
        assert api.user_agents == {"web-operator/1.0/leader-election"}

    virtual.run(main())


def test_a_leader_that_is_cut_off_steps_down_and_is_a_candidate_again() -> None:
    async def main() -> None:
        api = LeaseApi()
        first = Runner(api, "first")
        await asyncio.sleep(10.0)
        second = Runner(api, "second")
        await asyncio.sleep(10.0)
        first.transport.is_cut = True
        await asyncio.sleep(12.0)
        assert not first.leads
        assert not second.leads
        first.campaign.stepped_down()
        await asyncio.sleep(6.0)
        assert second.leads
        first.transport.is_cut = False
        await asyncio.sleep(30.0)
        assert NewLeader("second") in first.changes
        await second.end()
        await asyncio.sleep(2.4)
        assert first.leads
        assert [change for change in first.changes if isinstance(change, Elected)][-1].transitions == 2
        await first.end()

    virtual.run(main())


def test_a_defect_in_a_request_is_trouble_and_not_the_end() -> None:
    async def main() -> None:
        runner = Runner(LeaseApi(), "me")

        async def broken(request: Request) -> Answer:
            raise ZeroDivisionError("division by zero")

        works, runner.perform = runner.perform, broken
        await asyncio.sleep(10.0)
        assert runner.changes == [Trouble("ZeroDivisionError: division by zero")]
        runner.perform = works
        await asyncio.sleep(3.0)
        assert runner.leads
        await runner.end()

    virtual.run(main())


def test_who_noticed_the_loss_before_the_election_did_is_believed() -> None:
    async def main() -> None:
        runner = Runner(LeaseApi(), "me")
        await asyncio.sleep(1.0)

        async def hangs(request: Request) -> Answer:
            await asyncio.Event().wait()
            return Failed("never")

        runner.perform = hangs
        # The election's thread does nothing while the leadership runs out; the watchdog tells the event loop.
        loop = asyncio.get_running_loop()
        assert isinstance(loop, virtual.Loop)
        loop.now += 20.0
        runner.campaign.stepped_down()
        assert not runner.leads
        await virtual.settle()
        assert isinstance(runner.changes[-1], Lost)
        runner.task.cancel()
        await asyncio.gather(runner.task, return_exceptions=True)

    virtual.run(main())


def test_a_cancelled_campaign_leaves_no_request_behind() -> None:
    async def main() -> None:
        api = LeaseApi()
        runner = Runner(api, "me")
        runner.transport.is_cut = True
        await asyncio.sleep(1.0)
        runner.task.cancel()
        await asyncio.gather(runner.task, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    virtual.run(main())
