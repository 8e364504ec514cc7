"""The election under 30 troubles: never two that write at once, and each leader is replaced in time.

    pytest -m soak tests/e2e/test_election_soak.py          about four minutes a pass

Not part of `make test`: two minutes and more of four processes at full speed, for what one pass rarely shows. What a
pass is made of is tested there one by one (`test_election_real`), the gap between check and system call on purpose.

The seed is printed; KUBEWRIGHT_SEED=<n> repeats a run's choices (not its timing).
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import time
from pathlib import Path

import pytest
from election_pair import MACHINE, TAKE_OVER, install, pair_in
from election_troubles import TROUBLE, Tally, suffer

from kubewright.testing.access import ClusterAccess

pytestmark = [pytest.mark.control_plane, pytest.mark.slow, pytest.mark.soak]

PAIRS = 2
ROUNDS = 15  # of each pair


def test_never_two_write_at_once_and_each_is_replaced_in_time(
    control_plane: ClusterAccess, namespace: str, tmp_path: Path
) -> None:
    seed = int(os.environ.get("KUBEWRIGHT_SEED") or random.SystemRandom().randrange(10**6))
    print(f"KUBEWRIGHT_SEED={seed}")
    install(control_plane, tmp_path)
    tally = Tally()

    async def play(number: int) -> None:
        choose = random.Random(seed * PAIRS + number)
        plan = [name for name in TROUBLE for _ in range(ROUNDS // len(TROUBLE))]
        choose.shuffle(plan)
        where = f"{namespace}-{number}"
        await asyncio.to_thread(control_plane.kubectl, "create", "namespace", where)
        async with pair_in(control_plane, where, tmp_path / where) as pair:
            await suffer(pair, plan, choose, tally, f"pair {number}")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(PAIRS):
                group.create_task(play(number))

    started_at = time.monotonic()
    asyncio.run(main())
    for what, taken in tally.times.items():
        print(
            f"  {what}: {tally.rounds[what]} rounds, {len(taken)} take-overs in {statistics.mean(taken):.2f} s on "
            f"average, {max(taken):.2f} s at most (bound {TAKE_OVER:.1f} s and the machine)"
        )
    print(f"  {tally.writes} writes, none by who did not hold the Lease; {time.monotonic() - started_at:.0f} s")
    assert tally.rounds.total() == PAIRS * ROUNDS == 30
    assert max(max(taken) for taken in tally.times.values()) <= TAKE_OVER + MACHINE
