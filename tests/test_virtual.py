"""The tests' clock."""

from __future__ import annotations

import asyncio
import time

import pytest

import virtual


def test_a_day_of_sleep_takes_no_time_and_ends_on_the_second() -> None:
    async def main() -> float:
        before = asyncio.get_running_loop().time()
        await asyncio.gather(asyncio.sleep(3), asyncio.sleep(86400))
        return asyncio.get_running_loop().time() - before

    started = time.monotonic()
    assert virtual.run(main()) == pytest.approx(86400)
    assert time.monotonic() - started < 5


def test_a_wait_that_nothing_can_end_is_an_error_and_no_hang() -> None:
    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(virtual.Deadlock):
        virtual.run(main())


def test_the_clock_stands_still_while_a_thread_works() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        before = loop.time()
        timer = asyncio.create_task(asyncio.sleep(60))
        assert await asyncio.to_thread(lambda: time.sleep(0.02) or "done") == "done"
        passed = loop.time() - before
        await timer
        return passed

    assert virtual.run(main()) == 0


def test_settling_does_not_move_the_clock() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        before = loop.time()
        ran: list[int] = []
        loop.call_later(1, ran.append, 1)
        loop.call_soon(loop.call_soon, ran.append, 2)
        await virtual.settle()
        assert ran == [2]
        assert loop.time() == before

    virtual.run(main())
