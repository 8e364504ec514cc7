"""The queue on an event loop: waiting, waking, cancelling, and its one timer."""

from __future__ import annotations

import asyncio
import contextlib
import random

import pytest

import virtual
from kubewright.queue import ExponentialBackoff, Item, WorkQueue


def key_of(item: Item[str] | None) -> str | None:
    return item.key if item is not None else None


def test_a_get_waits_for_an_add() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        get = asyncio.create_task(queue.get())
        await virtual.settle()
        assert not get.done()
        queue.add("a")
        assert key_of(await get) == "a"
        assert (len(queue), queue.working) == (0, 1)

    virtual.run(main())


def test_each_add_wakes_one_waiter_in_the_order_of_their_coming() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        got: list[tuple[int, str | None]] = []

        async def worker(number: int) -> None:
            got.append((number, key_of(await queue.get())))

        workers = [asyncio.create_task(worker(number)) for number in range(3)]
        await virtual.settle()
        queue.add("a")
        queue.add("b")
        await virtual.settle()
        assert got == [(0, "a"), (1, "b")]
        queue.shut_down()
        await asyncio.gather(*workers)
        assert got[2] == (2, None)

    virtual.run(main())


def test_a_cancelled_get_has_taken_nothing() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        first, second = (asyncio.create_task(queue.get()) for _ in range(2))
        await virtual.settle()
        queue.add("a")  # the first is woken, and cancelled before it can run
        first.cancel()
        await asyncio.wait([first])
        assert first.cancelled()
        assert key_of(await second) == "a"

        third = asyncio.create_task(queue.get())
        await virtual.settle()
        third.cancel()
        await asyncio.wait([third])
        queue.add("b")
        assert key_of(await queue.get()) == "b"

    virtual.run(main())


def test_a_get_that_times_out_takes_nothing() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await queue.get()
        queue.add("a")
        assert key_of(await queue.get()) == "a"

    virtual.run(main())


def test_a_key_added_for_later_comes_at_its_time() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        loop = asyncio.get_running_loop()
        start = loop.time()
        for key, seconds in (("late", 3600.0), ("soon", 1.0), ("sooner", 0.5), ("late", 7200.0)):
            queue.add_after(key, seconds)
        assert queue.later == 3
        came = []
        for _ in range(3):
            item = await queue.get()
            came.append((key_of(item), round(loop.time() - start, 6)))
        assert came == [("sooner", 0.5), ("soon", 1.0), ("late", 3600.0)]

    virtual.run(main())


def test_however_many_keys_wait_for_a_time_there_is_one_timer_and_no_task() -> None:
    async def main() -> None:
        queue: WorkQueue[int] = WorkQueue()
        loop = asyncio.get_running_loop()
        before = len(loop._scheduled)  # type: ignore[attr-defined]
        for key in range(1000):
            queue.add_after(key, 10.0 + key)
        assert len(loop._scheduled) == before + 1  # type: ignore[attr-defined]
        assert len(asyncio.all_tasks()) == 1
        for key in range(1000):
            item = await queue.get()
            assert item is not None
            assert item.key == key
            queue.done(key)

    virtual.run(main())


def test_a_failing_key_comes_back_after_its_backoff_and_delays_no_other() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue(limiter=ExponentialBackoff(jitter=0))
        loop = asyncio.get_running_loop()
        start = loop.time()
        runs: list[tuple[str, float, int]] = []
        queue.add("bad")
        queue.add("good")
        while len(runs) < 8:
            item = await queue.get()
            assert item is not None
            runs.append((item.key, round(loop.time() - start, 6), item.attempt))
            if item.key == "bad":
                queue.add_rate_limited("bad")
            else:
                queue.forget("good")
            queue.done(item.key)
        assert runs == [
            ("bad", 0.0, 0),
            ("good", 0.0, 0),
            *[("bad", pytest.approx(0.005 * (2**n - 1)), n) for n in range(1, 7)],
        ]

    virtual.run(main())


def test_a_shutdown_with_drain_hands_out_what_is_left_and_then_none() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        for key in "ab":
            queue.add(key)
        first = await queue.get()
        queue.add("a")
        queue.add_after("c", 1.0)
        queue.shut_down()
        assert queue.is_shut_down
        assert key_of(first) == "a"
        assert key_of(await queue.get()) == "b"
        assert await queue.get() is None
        queue.done("b")
        queue.done("a")
        assert key_of(await queue.get()) == "a"
        queue.done("a")
        assert await queue.get() is None
        await queue.drained()

    virtual.run(main())


def test_a_shutdown_without_drain_releases_all_waiters_at_once() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        gets = [asyncio.create_task(queue.get()) for _ in range(3)]
        await virtual.settle()
        queue.add_after("a", 1.0)
        queue.shut_down(drain=False)
        assert await asyncio.gather(*gets) == [None, None, None]
        queue.add("b")
        assert await queue.get() is None

    virtual.run(main())


def test_drained_returns_when_the_last_work_is_done() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        await queue.drained()
        queue.add("a")
        await queue.get()
        queue.add("a")
        drained, cancelled = (asyncio.create_task(queue.drained()) for _ in range(2))
        await virtual.settle()
        cancelled.cancel()
        queue.done("a")
        await virtual.settle()
        assert not drained.done()
        await queue.get()
        queue.done("a")
        await drained
        assert cancelled.cancelled()

    virtual.run(main())


def test_unfinished_work_grows_while_it_lasts() -> None:
    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        queue.add("a")
        await queue.get()
        await asyncio.sleep(7)
        assert queue.unfinished_work_seconds() == pytest.approx(7)
        assert queue.longest_running_seconds() == pytest.approx(7)

    virtual.run(main())


@pytest.mark.parametrize("seed", range(5))
def test_with_many_workers_and_cancellations_no_key_is_lost_or_held_twice(seed: int) -> None:
    chance = random.Random(seed)

    async def main() -> None:
        queue: WorkQueue[int] = WorkQueue()
        held: set[int] = set()
        unanswered: set[int] = set()

        async def worker() -> None:
            while (item := await queue.get()) is not None:
                key = item.key
                assert key not in held
                held.add(key)
                unanswered.discard(key)
                try:
                    await asyncio.sleep(chance.choice([0, 0, 0.01, 1.0]))
                    if chance.random() < 0.2:
                        queue.add_rate_limited(key)
                    else:
                        queue.forget(key)
                finally:
                    held.discard(key)
                    queue.done(key)

        workers = {asyncio.create_task(worker()) for _ in range(5)}
        for _ in range(2000):
            key = chance.randrange(20)
            if chance.random() < 0.3:
                queue.add_after(key, chance.random() * 5)
            else:
                queue.add(key)
            unanswered.add(key)
            if chance.random() < 0.1:
                victim = chance.choice(sorted(workers, key=lambda task: task.get_name()))
                victim.cancel()
                workers.discard(victim)
                workers.add(asyncio.create_task(worker()))
                with contextlib.suppress(asyncio.CancelledError):
                    await victim
            if chance.random() < 0.3:
                await asyncio.sleep(chance.choice([0, 0, 0.005, 0.5]))
        await asyncio.sleep(3000)
        assert not unanswered
        assert not held
        queue.shut_down()
        await asyncio.gather(*workers)

    virtual.run(main())


def test_times_that_have_come_already_are_kept_on_uvloop_too() -> None:
    """There a timer that is due within half a millisecond is no timer, and cannot say when it is."""
    uvloop = pytest.importorskip("uvloop")

    async def main() -> None:
        queue: WorkQueue[int] = WorkQueue()
        for key in range(100):
            queue.add_after(key, 1e-6 * (100 - key))
        async with asyncio.timeout(10):
            got = [item.key for _ in range(100) if (item := await queue.get()) is not None]
        assert sorted(got) == list(range(100))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
