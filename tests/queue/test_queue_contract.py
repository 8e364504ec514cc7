"""The guarantees of the work queue, by number, each on one random history of 12,000 steps.

The history is what a queue was told and what it said. G5 (of several times the earliest stands), G7 (nothing starves)
and G9 (a shutdown) are in test_queue_state.py, test_queue_ordering.py and test_workqueue.py; against a model of all
rules at once the queue runs in test_queue_model.py.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random
from typing import NamedTuple

import pytest

from kubewright.queue import Item, Prioritised, QueueState

KEYS = [f"k{number}" for number in range(12)]
STEPS = 12_000


class Step(NamedTuple):
    what: str  # add, get, done; an add at a time is one when its time has come
    key: str
    cause: int = 0
    priority: int = 0
    item: Item[str, int] | None = None


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


def test_g6_of_several_priorities_of_adds_that_one_run_answers_the_highest_stands(history: list[Step]) -> None:
    asked: defaultdict[str, list[int]] = defaultdict(list)
    for step in history:
        if step.what == "add":
            asked[step.key].append(step.priority)
        elif step.item is not None:
            assert step.item.priority == max(asked.pop(step.key))


def test_g8_no_cause_is_lost_by_deduplication(history: list[Step]) -> None:
    asked: defaultdict[str, list[int]] = defaultdict(list)
    for step in history:
        if step.what == "add":
            asked[step.key].append(step.cause)
        elif step.item is not None:
            causes = asked.pop(step.key)
            assert list(step.item.causes) == causes[:16]
            assert step.item.more_causes == len(causes[16:])
