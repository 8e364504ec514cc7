"""What happens to processes that lead: killed, stopped and continued, cut off from the API server.

Each trouble leaves a pair in which one leads and the other stands by, and checks on its way what became of who led.
"""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from election_pair import LEASE, RENEW, RETRY, TAKE_OVER, Pair, Process, ended

ENDED = (1, 64)  # by its watchdog or by the kernel, whichever comes first when the process goes on

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
            code = await ended(leader, "a leader that was stopped for longer than its lease ends")
            assert code in ENDED, (code, leader.operator.text)
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


@dataclass
class Tally:
    """What came of all troubles."""

    rounds: Counter[str] = field(default_factory=Counter)
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    writes: int = 0


async def suffer(pair: Pair, plan: Sequence[str], choose: random.Random, tally: Tally, name: str = "pair") -> None:
    """One trouble after the other; afterwards no write was anybody's but the holder's."""
    try:
        for what in plan:
            leader = await pair.until_settled()
            await asyncio.sleep(choose.uniform(0, RETRY))
            took = await TROUBLE[what](pair, leader, choose)
            tally.rounds[what] += 1
            print(f"  {name}: {what}: {'no change' if took is None else f'{took:.2f} s'}")
            if took is not None:
                tally.times[what].append(took)
        await pair.until_settled()
    except BaseException:
        for process in (pair.first, pair.second):
            print(f"-- {name} {process.name}\n{process.operator.log.read_text()}")
        raise
    assert pair.history.wrong() == []
    tally.writes += sum(1 for each in pair.history.seen if each.writer)
    changes = [each.transitions for each in sorted(pair.history.seen) if each.holder]
    assert changes == sorted(changes), "transitions only grow"
