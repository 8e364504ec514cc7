"""The guarantees of the work queue, by number, each on random histories of 12,000 steps.

A history is what a queue was told and what it said. G5 and G9, of times and of a shutdown, have histories of their own;
the bound of G7 is that of test_queue_ordering.py. Against a model of all rules at once the queue runs in
test_queue_model.py.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from random import Random
from typing import NamedTuple

import pytest

import virtual
from kubewright.queue import Item, Prioritised, QueueState, WorkQueue

KEYS = [f"k{number}" for number in range(12)]
STEPS = 12_000


class Step(NamedTuple):
    what: str  # add, get, done; an add at a time is one when its time has come
    key: str
    cause: int = 0
    priority: int = 0
    item: Item[str, int] | None = None


def test_every_numbered_guarantee_has_a_test_of_its_number() -> None:
    said = f"{QueueState.__doc__} {re.split('Cancellation', WorkQueue.__doc__ or '')[0]}"
    promised = set(re.findall(r"\bG\d\b", said))
    tested = {found[1].upper() for name in globals() if (found := re.match(r"test_(g\d)_", name))}
    assert promised == tested == {f"G{number}" for number in range(1, 10)}


@pytest.fixture(scope="module", params=range(3))
def history(request: pytest.FixtureRequest) -> list[Step]:
    random = Random(request.param)
    # Ageing aside: it changes the order, and is looked at for itself.
    state: QueueState[str, int] = QueueState(ordering=Prioritised(age_seconds=1e9))
    steps: list[Step] = []
    working: list[str] = []
    now, cause = 0.0, 0

    def get() -> bool:
        item = state.get(now)
        if item is not None:
            working.append(item.key)
            steps.append(Step("get", item.key, item=item))
        return item is not None

    def done(place: int) -> None:
        key = working.pop(place)
        state.done(key, now)
        steps.append(Step("done", key))

    while len(steps) < STEPS:
        now += random.random()
        what = random.random()
        if what < 0.5:
            cause += 1
            added = Step("add", random.choice(KEYS), cause, random.choice((-100, 0, 0, 5)))
            state.add(added.key, now, added.cause, added.priority)
            steps.append(added)
        elif what < 0.75:
            if len(working) < 4:
                get()
        elif working:
            done(random.randrange(len(working)))
    while working:
        done(0)
    while get():
        done(0)
    return steps


def test_g1_a_key_is_never_handed_out_while_it_is_worked_on(history: list[Step]) -> None:
    working: set[str] = set()
    for step in history:
        if step.what == "get":
            assert step.key not in working
            working.add(step.key)
        elif step.what == "done":
            working.remove(step.key)


def test_g2_after_each_add_there_is_a_get_of_that_key(history: list[Step]) -> None:
    waiting: set[str] = set()
    for step in history:
        if step.what == "add":
            waiting.add(step.key)
        elif step.what == "get":
            waiting.remove(step.key)
    assert not waiting


def test_g3_any_number_of_adds_is_answered_by_one_get(history: list[Step]) -> None:
    asked: Counter[str] = Counter()
    for step in history:
        if step.what == "add":
            asked[step.key] += 1
        elif step.what == "get":
            assert asked[step.key] > 0, "nobody asked for this run"
            asked[step.key] = 0


def test_g4_keys_are_handed_out_by_priority_and_then_in_the_order_in_which_they_became_ready(
    history: list[Step],
) -> None:
    ready: list[str] = []
    priority: dict[str, int] = {}
    working: set[str] = set()
    for step in history:
        key = step.key
        if step.what == "add":
            if key not in priority or step.priority > priority[key]:
                if key in ready:
                    ready.remove(key)
                if key not in working:
                    ready.append(key)
                priority[key] = step.priority
        elif step.what == "get":
            highest = max(priority[each] for each in ready)
            assert key == next(each for each in ready if priority[each] == highest)
            ready.remove(key)
            del priority[key]
            working.add(key)
        else:
            working.remove(key)
            if key in priority:
                ready.append(key)


@pytest.mark.parametrize("seed", range(3))
def test_g5_of_several_times_for_a_key_the_earliest_stands_and_an_add_now_does_not_take_it_back(seed: int) -> None:
    random = Random(seed)
    state: QueueState[str] = QueueState(ordering=Prioritised(age_seconds=1e9))
    due: dict[str, float] = {}
    asked: set[str] = set()
    now = 0.0
    for _ in range(STEPS):
        key, what = random.choice(KEYS), random.random()
        if what < 0.4:
            seconds = random.choice((0.5, 1.0, 3.0, 10.0)) * random.random() + 1e-6
            state.add_after(key, seconds, now)
            due[key] = min(due.get(key, 1e9), now + seconds)
        elif what < 0.5:
            state.add(key, now)
            asked.add(key)
        else:
            now += random.random()
            state.tick(now)
            asked |= {each for each, at in due.items() if at <= now}
            due = {each: at for each, at in due.items() if at > now}
            got = set()
            while (item := state.get(now)) is not None:
                got.add(item.key)
                state.done(item.key, now)
            assert got == asked
            asked.clear()
        assert state.later == len(due)
        assert state.wake_at is None or state.wake_at <= min(due.values(), default=1e9)


def test_g6_of_several_priorities_of_adds_that_one_run_answers_the_highest_stands(history: list[Step]) -> None:
    asked: defaultdict[str, list[int]] = defaultdict(list)
    for step in history:
        if step.what == "add":
            asked[step.key].append(step.priority)
        elif step.item is not None:
            assert step.item.priority == max(asked.pop(step.key))


@pytest.mark.parametrize("seed", range(3))
def test_g7_no_key_starves_though_higher_priorities_keep_all_workers_busy(seed: int) -> None:
    random = Random(seed)
    age_seconds, share = 5.0, 4
    state: QueueState[int] = QueueState(ordering=Prioritised(age_seconds=age_seconds, share=share))
    ready_since: dict[int, float] = {}
    now, longest = 0.0, 0.0
    for number in range(STEPS):
        now += 0.1
        low = number % 20 == 0
        state.add(number, now, priority=random.choice((-100, -7)) if low else random.choice((0, 5)))
        ready_since[number] = now
        item = state.get(now)  # as many as are added: without ageing those of low priority would wait for ever
        assert item is not None
        longest = max(longest, now - ready_since.pop(item.key))
        state.done(item.key, now)
    assert longest < age_seconds + 0.1 * share * 20
    assert all(now - since < age_seconds + 0.1 * share * 20 for since in ready_since.values())


def test_g8_no_cause_is_lost_by_deduplication(history: list[Step]) -> None:
    asked: defaultdict[str, list[int]] = defaultdict(list)
    for step in history:
        if step.what == "add":
            asked[step.key].append(step.cause)
        elif step.item is not None:
            causes = asked.pop(step.key)
            assert list(step.item.causes) == causes[:16]
            assert step.item.more_causes == len(causes[16:])


@pytest.mark.parametrize("seed", range(20))
def test_g9_get_returns_none_only_after_a_shutdown_and_when_nothing_is_ready(seed: int) -> None:
    random = Random(seed)

    async def main() -> None:
        queue: WorkQueue[str] = WorkQueue()
        asked: Counter[str] = Counter()
        answered_at_the_end: list[str] = []

        async def work() -> None:
            while (item := await queue.get()) is not None:
                asked[item.key] = 0
                await asyncio.sleep(random.random())
                if queue.is_shut_down:
                    answered_at_the_end.append(item.key)
                queue.done(item.key)
            assert queue.is_shut_down
            assert len(queue) == 0

        workers = [asyncio.create_task(work()) for _ in range(3)]
        for _ in range(200):
            key = random.choice(KEYS)
            queue.add(key)
            asked[key] += 1
            await asyncio.sleep(random.random() * 0.2)
        busy = queue.working
        for key in KEYS:  # of those that are worked on, too: they are handed out to the worker that is at it
            queue.add(key)
            asked[key] += 1
        queue.shut_down()
        queue.add("too late")
        await asyncio.gather(*workers)
        assert not asked.total(), "what was added before the shutdown was handed out"
        assert "too late" not in answered_at_the_end
        assert len(answered_at_the_end) == len(KEYS) + busy

    virtual.run(main())
