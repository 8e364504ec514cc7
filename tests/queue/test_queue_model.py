"""The work queue against a model that does the same by the most obvious means, on random histories."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.queue import QueueState

KEYS = "abcd"
OPS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(KEYS), st.integers(0, 30)),
    st.tuples(st.just("after"), st.sampled_from(KEYS), st.integers(-1, 8)),
    st.tuples(st.just("limited"), st.sampled_from(KEYS), st.just(0)),
    st.tuples(st.just("forget"), st.sampled_from(KEYS), st.just(0)),
    st.tuples(st.just("get"), st.just(""), st.just(0)),
    st.tuples(st.just("get"), st.just(""), st.just(0)),
    st.tuples(st.just("done"), st.just(""), st.integers(0, 3)),
    st.tuples(st.just("pass"), st.just(""), st.integers(0, 5)),
)


class Model:
    """client-go's workqueue in its documentation's words: a list, two sets, and a list of times."""

    def __init__(self) -> None:
        self.queue: list[str] = []
        self.dirty: dict[str, list[int]] = {}
        self.processing: list[str] = []
        self.times: dict[str, tuple[float, int]] = {}
        self.failures: dict[str, int] = {}
        self.now = 0.0
        self.order = 0

    def add(self, key: str, cause: int | None = None) -> None:
        if key not in self.dirty:
            self.dirty[key] = []
            if key not in self.processing:
                self.queue.append(key)
        if cause is not None and cause not in self.dirty[key]:
            self.dirty[key].append(cause)

    def after(self, key: str, seconds: float) -> None:
        if seconds <= 0:
            self.add(key)
        elif key not in self.times or self.times[key][0] > self.now + seconds:
            self.order += 1
            self.times[key] = (self.now + seconds, self.order)

    def limited(self, key: str) -> None:
        count = self.failures.get(key, 0)
        self.failures[key] = count + 1
        self.after(key, min(0.005 * 2**count, 1000.0))

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        for (at, _), key in sorted((when, key) for key, when in self.times.items()):
            if at <= self.now:
                del self.times[key]
                self.add(key)

    def get(self) -> tuple[str, list[int], int] | None:
        if not self.queue:
            return None
        key = self.queue.pop(0)
        self.processing.append(key)
        return key, self.dirty.pop(key), self.failures.get(key, 0)

    def done(self, key: str) -> None:
        self.processing.remove(key)
        if key in self.dirty:
            self.queue.append(key)


@settings(max_examples=300, deadline=None)
@given(st.lists(OPS, max_size=120))
def test_the_queue_does_what_the_model_does(ops: list[tuple[str, str, int]]) -> None:
    model, state = Model(), QueueState[str, int]()
    unanswered: set[str] = set()  # keys with an add after which no get has begun
    for op, key, number in ops:
        now = model.now
        if op == "add":
            model.add(key, number)
            state.add(key, now, number)
            unanswered.add(key)
        elif op == "after":
            model.after(key, float(number))
            state.add_after(key, float(number), now)
            unanswered.add(key)
        elif op == "limited":
            model.limited(key)
            state.add_rate_limited(key, now)
            unanswered.add(key)
        elif op == "forget":
            model.failures.pop(key, None)
            state.forget(key)
        elif op == "pass":
            model.pass_time(number / 100 if number < 3 else float(number))
            state.tick(model.now)
        elif op == "get":
            before = list(model.processing)
            expected, item = model.get(), state.get(now)
            if expected is None or item is None:
                assert expected is None
                assert item is None
            else:
                assert item.key not in before, "a key is never held by two workers"
                # The model keeps all causes; the queue sixteen and the number of the others, repetitions included.
                assert (item.key, list(item.causes), item.attempt) == (expected[0], expected[1][:16], expected[2])
                if item.key not in model.times:
                    unanswered.discard(item.key)
        elif model.processing:
            key = model.processing[number % len(model.processing)]
            model.done(key)
            state.done(key, now)
        assert len(state) == len(model.queue)
        assert state.working == len(model.processing)
        assert state.wake_at == min((at for at, _ in model.times.values()), default=None)
        assert all(state.num_requeues(key) == model.failures.get(key, 0) for key in KEYS)

    # No wake-up is lost: once the workers are done and time has passed, every add has been answered by a get.
    for key in list(model.processing):
        state.done(key, model.now)
    for turn in range(3):
        state.tick(model.now + 2000.0 * (turn + 1))
        while (item := state.get(model.now)) is not None:
            unanswered.discard(item.key)
            state.done(item.key, model.now)
    assert not unanswered
    assert state.is_idle
    assert state.wake_at is None


def test_times_that_were_replaced_do_not_pile_up() -> None:
    state: Any = QueueState[int]()
    for turn in range(1000):
        for key in range(10):
            state.add_after(key, 2000.0 - turn, 0.0)
    assert len(state._heap) <= 100
    assert state.wake_at == 1001.0
    assert state.tick(1001.0) == 10
    assert state.wake_at is None
