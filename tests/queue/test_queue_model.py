"""The work queue against a model that does the same by the most obvious means, on random histories."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.queue import ExponentialBackoff, Prioritised, QueueState

KEYS = "abcdefgh"
PRIORITIES = (-100, 0, 0, 0, 5)
AGE_SECONDS = 4.0
SHARE = 3
OPS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(KEYS), st.integers(0, 30), st.sampled_from(PRIORITIES)),
    st.tuples(st.just("after"), st.sampled_from(KEYS), st.integers(-1, 8), st.sampled_from(PRIORITIES)),
    st.tuples(st.just("limited"), st.sampled_from(KEYS), st.just(0), st.sampled_from(PRIORITIES)),
    st.tuples(st.just("forget"), st.sampled_from(KEYS), st.just(0), st.just(0)),
    st.tuples(st.just("get"), st.just(""), st.just(0), st.just(0)),
    st.tuples(st.just("get"), st.just(""), st.just(0), st.just(0)),
    st.tuples(st.just("done"), st.just(""), st.integers(0, 3), st.just(0)),
    st.tuples(st.just("pass"), st.just(""), st.integers(0, 5), st.just(0)),
)
Op = tuple[str, str, int, int]


class Model:
    """client-go's workqueue in its documentation's words, a list, two sets, and a list of times; and priorities."""

    def __init__(self) -> None:
        self.queue: list[tuple[str, float]] = []  # and since when
        self.dirty: dict[str, list[int]] = {}
        self.priority: dict[str, int] = {}
        self.processing: list[str] = []
        self.times: dict[str, tuple[float, int, int]] = {}
        self.failures: dict[str, int] = {}
        self.now = 0.0
        self.order = 0
        self.passed = 0

    def add(self, key: str, cause: int | None, priority: int) -> None:
        if key not in self.dirty:
            self.dirty[key] = []
            self.priority[key] = priority
            if key not in self.processing:
                self.queue.append((key, self.now))
        elif priority > self.priority[key]:
            self.priority[key] = priority
            if key not in self.processing:
                self.queue = [each for each in self.queue if each[0] != key] + [(key, self.now)]
        if cause is not None and cause not in self.dirty[key]:
            self.dirty[key].append(cause)

    def after(self, key: str, seconds: float, priority: int) -> None:
        if seconds <= 0:
            self.add(key, None, priority)
        elif key not in self.times or self.times[key][0] > self.now + seconds:
            self.order += 1
            highest = max(priority, self.times[key][2]) if key in self.times else priority
            self.times[key] = (self.now + seconds, self.order, highest)
        else:
            at, order, highest = self.times[key]
            self.times[key] = (at, order, max(priority, highest))

    def limited(self, key: str, seconds: float, priority: int) -> None:
        count = self.failures.get(key, 0)
        self.failures[key] = count + 1
        exact = min(0.005 * 2**count, 1000.0)
        assert max(0.005, 0.75 * exact) <= seconds <= min(1000.0, 1.25 * exact)
        self.after(key, seconds, priority)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        for (at, _, priority), key in sorted((when, key) for key, when in self.times.items()):
            if at <= self.now:
                del self.times[key]
                self.add(key, None, priority)

    def get(self) -> tuple[str, list[int], int, int] | None:
        if not self.queue:
            return None
        highest = max(self.priority[key] for key, _ in self.queue)
        place = next(place for place, (key, _) in enumerate(self.queue) if self.priority[key] == highest)
        if len({self.priority[key] for key, _ in self.queue}) > 1:
            self.passed += 1
            if self.passed >= SHARE:
                # Of keys that are ready equally long the highest priority, as everywhere.
                oldest = min(range(len(self.queue)), key=lambda n: (self.queue[n][1], -self.priority[self.queue[n][0]]))
                if self.now - self.queue[oldest][1] >= AGE_SECONDS:
                    place, self.passed = oldest, 0
        key, _ = self.queue.pop(place)
        self.processing.append(key)
        return key, self.dirty.pop(key), self.failures.get(key, 0), self.priority.pop(key)

    def done(self, key: str) -> None:
        self.processing.remove(key)
        if key in self.dirty:
            self.queue.append((key, self.now))


class Pair:
    """Both, step by step."""

    def __init__(self) -> None:
        self.model = Model()
        self.state: QueueState[str, int] = QueueState(
            limiter=ExponentialBackoff(random=Random(11)),
            ordering=Prioritised(age_seconds=AGE_SECONDS, share=SHARE),
        )
        self.unanswered: set[str] = set()  # keys with an add after which no get has begun

    def step(self, op: str, key: str, number: int, priority: int) -> None:
        model, state, now = self.model, self.state, self.model.now
        if op == "add":
            model.add(key, number, priority)
            state.add(key, now, number, priority)
            self.unanswered.add(key)
        elif op == "after":
            model.after(key, float(number), priority)
            state.add_after(key, float(number), now, None, priority)
            self.unanswered.add(key)
        elif op == "limited":
            model.limited(key, state.add_rate_limited(key, now, None, priority), priority)
            self.unanswered.add(key)
        elif op == "forget":
            model.failures.pop(key, None)
            state.forget(key)
        elif op == "pass":
            model.pass_time(number / 100 if number < 3 else float(number))
            state.tick(model.now)
        elif op == "get":
            self.get(now)
        elif model.processing:
            key = model.processing[number % len(model.processing)]
            model.done(key)
            state.done(key, now)
        self.agree()

    def get(self, now: float) -> None:
        before = list(self.model.processing)
        expected, item = self.model.get(), self.state.get(now)
        if expected is None or item is None:
            assert expected is None
            assert item is None
            return
        assert item.key not in before, "a key is never held by two workers"
        # The model keeps all causes; the queue sixteen and the number of the others, repetitions included.
        found = (item.key, list(item.causes), item.attempt, item.priority)
        assert found == (expected[0], expected[1][:16], *expected[2:])
        if item.key not in self.model.times:
            self.unanswered.discard(item.key)

    def agree(self) -> None:
        model, state = self.model, self.state
        assert len(state) == len(model.queue)
        assert state.working == len(model.processing)
        assert state.wake_at == min((when[0] for when in model.times.values()), default=None)
        assert all(state.num_requeues(key) == model.failures.get(key, 0) for key in KEYS)

    def finish(self) -> None:
        """No wake-up is lost: once the workers are done and time has passed, every add has been answered by a get."""
        model, state = self.model, self.state
        for key in list(model.processing):
            state.done(key, model.now)
        for turn in range(3):
            state.tick(model.now + 2000.0 * (turn + 1))
            while (item := state.get(model.now)) is not None:
                self.unanswered.discard(item.key)
                state.done(item.key, model.now)
        assert not self.unanswered
        assert state.is_idle
        assert state.wake_at is None


@settings(max_examples=300, deadline=None)
@given(st.lists(OPS, max_size=120))
def test_the_queue_does_what_the_model_does(ops: list[Op]) -> None:
    pair = Pair()
    for op in ops:
        pair.step(*op)
    pair.finish()


@pytest.mark.parametrize("seed", range(3))
def test_the_queue_does_what_the_model_does_over_a_long_life(seed: int) -> None:
    """Twenty thousand steps: what only long histories show, such as keys that were raised often and what ages."""
    random = Random(seed)
    pair = Pair()
    ops = ("add", "add", "add", "after", "limited", "forget", "get", "get", "done", "done", "pass")
    for _ in range(20_000):
        op = random.choice(ops)
        number = random.randrange(-1, 9) if op == "after" else random.randrange(6)
        pair.step(op, random.choice(KEYS), number, random.choice(PRIORITIES))
    pair.finish()


def test_times_that_were_replaced_do_not_pile_up() -> None:
    state: Any = QueueState[int]()
    for turn in range(1000):
        for key in range(10):
            state.add_after(key, 2000.0 - turn, 0.0)
    assert len(state._heap) <= 100
    assert state.wake_at == 1001.0
    assert state.tick(1001.0) == 10
    assert state.wake_at is None
