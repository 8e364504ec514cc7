"""Two operator processes on one Lease of a real API server: never two that write at once.

One of each trouble, and those that chance would take long to find. `test_election_soak` has many of them at random.
"""

from __future__ import annotations

import asyncio
import random
import signal
import time
from pathlib import Path

import pytest
from election_pair import MACHINE, RETRY, TAKE_OVER, ended, install, pair_in
from election_troubles import ENDED, TROUBLE, Tally, suffer
from operator_process import until

from kubewright.testing.access import ClusterAccess

pytestmark = [pytest.mark.control_plane, pytest.mark.slow]

SEED = 5  # the process is stopped for 4.3 s, longer than the lease


@pytest.fixture(scope="module")
def installed(control_plane: ClusterAccess, tmp_path_factory: pytest.TempPathFactory) -> ClusterAccess:
    """The API server, knowing Beats."""
    install(control_plane, tmp_path_factory.mktemp("crd"))
    return control_plane


def test_a_leader_that_is_killed_stopped_or_cut_off_is_replaced_in_time_and_writes_no_more(
    installed: ClusterAccess, namespace: str, tmp_path: Path
) -> None:
    tally = Tally()

    async def main() -> None:
        async with pair_in(installed, namespace, tmp_path / "pair") as pair:
            await suffer(pair, list(TROUBLE), random.Random(SEED), tally)

    asyncio.run(main())
    assert max(max(taken) for taken in tally.times.values()) <= TAKE_OVER + MACHINE
    print(f"  {tally.writes} writes, none by who did not hold the Lease")


def test_a_write_that_was_checked_before_the_process_was_stopped_is_not_sent_after_another_leads(
    installed: ClusterAccess, namespace: str, tmp_path: Path
) -> None:
    async def main() -> None:
        async with pair_in(installed, namespace, tmp_path / "pair") as pair:
            leader = await pair.until_settled()
            await asyncio.to_thread(
                installed.kubectl, "patch", "beats.election.example.com", "b0", "-n", namespace, "--type=merge",
                "-p", f'{{"spec":{{"stopInSend":"{leader.identity}"}}}}',
            )  # fmt: skip

            async def missing() -> str:
                return "" if leader.operator.state == "T" else leader.operator.state

            await until("it stops itself between the check of a write and its system call", missing)
            await pair.until_taken_over(pair.other(leader), time.monotonic())
            leader.operator.signal(signal.SIGCONT)
            code = await ended(leader, "it ends")
            await asyncio.sleep(0.5)
            assert pair.history.wrong() == []
            assert code in ENDED, leader.operator.text

    asyncio.run(main())


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
