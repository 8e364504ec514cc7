"""The rules of the work queue, one by one; all of them at once are in test_queue_model.py."""

from collections.abc import Callable

import pytest

from kubewright.queue import ExponentialBackoff, Item, QueueState


def keys(state: QueueState[str], now: float = 0.0) -> list[str]:
    """Takes all that is ready."""
    found = []
    while (item := state.get(now)) is not None:
        found.append(item.key)
    return found


def taken(state: QueueState[str], now: float = 0.0) -> Item[str]:
    item = state.get(now)
    assert item is not None
    return item


def test_a_key_added_twice_is_handed_out_once() -> None:
    state: QueueState[str] = QueueState()
    assert state.add("a", 0.0)
    assert not state.add("a", 0.0)
    assert len(state) == 1
    assert keys(state) == ["a"]


def test_keys_are_handed_out_in_the_order_in_which_they_became_ready() -> None:
    state: QueueState[str] = QueueState()
    for key in "cab":
        state.add(key, 0.0)
    state.add("c", 1.0)
    assert keys(state) == ["c", "a", "b"]


def test_any_number_of_adds_during_the_work_make_one_more_run_after_done() -> None:
    state: QueueState[str] = QueueState()
    state.add("a", 0.0)
    assert keys(state) == ["a"]
    assert [state.add("a", 1.0) for _ in range(3)] == [False, False, False]
    assert len(state) == 0
    assert keys(state) == []
    assert state.done("a", 2.0)
    assert keys(state) == ["a"]
    assert not state.done("a", 3.0)
    assert state.is_idle


def test_the_length_counts_what_could_be_handed_out_and_nothing_else() -> None:
    state: QueueState[str] = QueueState()
    for key in "abc":
        state.add(key, 0.0)
    state.add_after("d", 5.0, 0.0)
    taken(state)
    state.add("a", 0.0)
    assert (len(state), state.working, state.later) == (2, 1, 1)


def test_done_for_a_key_that_is_not_worked_on_is_an_error_that_says_so() -> None:
    state: QueueState[str] = QueueState()
    state.add("a", 0.0)
    with pytest.raises(ValueError, match=r"'a'.*once for each get"):
        state.done("a", 0.0)
    assert keys(state) == ["a"]


def test_of_several_times_for_a_key_the_earliest_stands() -> None:
    for delays in ([5.0, 9.0], [9.0, 5.0], [9.0, 5.0, 7.0]):
        state: QueueState[str] = QueueState()
        for delay in delays:
            state.add_after("a", delay, 0.0)
        assert state.wake_at == 5.0
        assert state.tick(4.999) == 0
        assert state.tick(5.0) == 1
        assert keys(state) == ["a"]
        state.done("a", 5.0)
        assert state.tick(100.0) == 0
        assert state.wake_at is None
        assert keys(state) == []


def test_an_add_now_does_not_take_back_an_add_at_a_time() -> None:
    state: QueueState[str] = QueueState()
    state.add_after("a", 5.0, 0.0)
    state.add("a", 1.0)
    assert keys(state) == ["a"]
    state.done("a", 2.0)
    assert state.wake_at == 5.0
    state.tick(5.0)
    assert keys(state) == ["a"]


def test_a_delay_of_nothing_is_an_add_now() -> None:
    state: QueueState[str] = QueueState()
    assert state.add_after("a", 0.0, 0.0)
    assert state.add_after("b", -1.0, 0.0)
    assert keys(state) == ["a", "b"]


@pytest.mark.parametrize("seconds", [float("inf"), float("nan")])
def test_a_delay_without_an_end_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        QueueState[str]().add_after("a", seconds, 0.0)


def test_keys_due_at_the_same_time_come_in_the_order_of_their_adds() -> None:
    state: QueueState[str] = QueueState()
    for key in "cab":
        state.add_after(key, 1.0, 0.0)
    assert state.tick(1.0) == 3
    assert keys(state) == ["c", "a", "b"]


def test_a_key_that_comes_due_during_its_work_runs_again_after_done() -> None:
    state: QueueState[str] = QueueState()
    state.add("a", 0.0)
    taken(state)
    state.add_after("a", 1.0, 0.0)
    assert state.tick(1.0) == 0
    assert keys(state) == []
    assert state.done("a", 2.0)
    assert keys(state) == ["a"]


def test_each_failure_of_a_key_doubles_its_delay_until_it_is_forgotten() -> None:
    state: QueueState[str] = QueueState(limiter=ExponentialBackoff(jitter=0))
    assert [state.add_rate_limited("a", 0.0) for _ in range(3)] == [0.005, 0.01, 0.02]
    assert state.num_requeues("a") == 3
    assert state.wake_at == 0.005
    state.forget("a")
    assert state.num_requeues("a") == 0
    assert state.later == 1


def test_the_attempt_of_an_item_is_how_often_its_key_has_failed() -> None:
    state: QueueState[str] = QueueState()
    state.add("a", 0.0)
    for attempt in range(3):
        assert taken(state).attempt == attempt
        state.add_rate_limited("a", 0.0)
        state.done("a", 0.0)
        state.tick(1.0)
    state.forget("a")
    assert taken(state).attempt == 0


def test_the_causes_of_all_adds_that_a_run_answers_are_kept_once_each_and_in_order() -> None:
    state: QueueState[str, str] = QueueState()
    state.add("a", 1.0, "pod")
    state.add("a", 2.0, "secret")
    state.add("a", 3.0, "pod")
    state.add("a", 4.0)
    assert state.get(5.0) == Item("a", ("pod", "secret"), 0, 0, 1.0)
    state.add("a", 6.0, "service")
    state.done("a", 7.0)
    assert state.get(8.0) == Item("a", ("service",), 0, 0, 6.0)


def test_causes_of_an_add_at_a_time_come_with_the_run_that_it_makes() -> None:
    state: QueueState[str, str] = QueueState()
    state.add_after("a", 9.0, 0.0, "timer")
    state.add_after("a", 5.0, 0.0, "earlier timer")
    state.add("a", 1.0, "event")
    first = state.get(1.0)
    assert first is not None
    assert first.causes == ("event",)
    state.done("a", 2.0)
    state.add("a", 4.0, "another event")
    state.tick(5.0)
    assert state.get(6.0) == Item("a", ("another event", "timer", "earlier timer"), 0, 0, 4.0)


def test_beyond_sixteen_causes_only_their_number_is_kept() -> None:
    state: QueueState[str, int] = QueueState()
    for cause in range(20):
        state.add("a", 0.0, cause)
    item = state.get(0.0)
    assert item is not None
    assert item.causes == tuple(range(16))
    assert item.more_causes == 4


def test_a_shutdown_with_drain_hands_out_what_waits_and_takes_nothing_new() -> None:
    state: QueueState[str] = QueueState()
    for key in "abc":
        state.add(key, 0.0)
    taken(state)
    state.add("a", 0.0)
    state.add_after("d", 1.0, 0.0)
    state.shut_down(drain=True)
    assert not state.add("e", 0.0)
    assert not state.add_after("e", 0.0, 0.0)
    assert state.add_rate_limited("e", 0.0) == 0.0
    assert state.wake_at is None
    assert keys(state) == ["b", "c"]
    assert state.done("a", 0.0)
    assert keys(state) == ["a"]


def test_a_shutdown_without_drain_drops_what_waits() -> None:
    state: QueueState[str] = QueueState()
    for key in "abc":
        state.add(key, 0.0)
    taken(state)
    state.add("a", 0.0)
    state.shut_down(drain=False)
    assert keys(state) == []
    assert not state.done("a", 0.0)
    assert keys(state) == []
    assert state.is_idle


class Recorded:
    """Metrics that remember."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, float]] = []
        self.depths: dict[int, Callable[[], int]] = {}

    def depth(self, priority: int, keys: Callable[[], int]) -> None:
        self.depths[priority] = keys

    def added(self) -> None:
        self.calls.append(("added", 1))

    def retried(self) -> None:
        self.calls.append(("retried", 1))

    def queued_for(self, seconds: float) -> None:
        self.calls.append(("queued", seconds))

    def worked_for(self, seconds: float) -> None:
        self.calls.append(("worked", seconds))


def test_metrics_are_told_in_client_gos_terms() -> None:
    metrics = Recorded()
    state: QueueState[str] = QueueState(metrics=metrics)
    depth = metrics.depths[0]
    state.add("a", 10.0)
    state.add("a", 11.0)
    assert (metrics.calls, depth()) == ([("added", 1)], 1)
    metrics.calls.clear()
    taken(state, 13.0)
    assert (metrics.calls, depth()) == ([("queued", 3.0)], 0)
    metrics.calls.clear()
    state.add("a", 14.0)
    assert (metrics.calls, depth()) == ([("added", 1)], 1)
    metrics.calls.clear()
    state.done("a", 17.0)
    assert (metrics.calls, depth()) == ([("worked", 4.0)], 1)
    metrics.calls.clear()
    state.add_rate_limited("b", 17.0)
    assert metrics.calls == [("retried", 1)]
    state.shut_down(drain=False)
    assert depth() == 0


def test_the_depth_is_told_by_priority_and_a_raised_key_counts_in_its_new_one() -> None:
    metrics = Recorded()
    state: QueueState[str] = QueueState(metrics=metrics)

    def depths() -> dict[int, int]:
        return {priority: keys() for priority, keys in metrics.depths.items()}

    state.add("a", 0.0, None, -100)
    state.add("b", 0.0, None, -100)
    assert depths() == {0: 0, -100: 2}
    state.add("a", 0.0, None, 5)
    assert depths() == {0: 0, -100: 1, 5: 1}
    taken(state)
    state.shut_down(drain=False)
    assert depths() == {0: 0, -100: 0, 5: 0}


def test_the_highest_priority_is_handed_out_first_and_inside_of_it_who_was_first() -> None:
    state: QueueState[str] = QueueState()
    for key, priority in (("low", -100), ("a", 0), ("b", 0), ("high", 10)):
        state.add(key, 0.0, None, priority)
    assert keys(state) == ["high", "a", "b", "low"]


def test_of_several_priorities_of_a_key_the_highest_stands() -> None:
    state: QueueState[str] = QueueState()
    state.add("a", 0.0, None, 5)
    state.add("a", 0.0, None, -100)
    assert taken(state).priority == 5
    state.add("a", 0.0, None, -100)
    state.add("a", 0.0, None, 7)
    state.done("a", 0.0)
    assert taken(state).priority == 7


def test_a_key_whose_priority_rises_goes_to_the_end_of_the_new_one() -> None:
    state: QueueState[str] = QueueState()
    state.add("a", 0.0, None, -100)
    state.add("b", 0.0, None, 0)
    state.add("a", 0.0, None, 0)
    state.add("c", 0.0, None, 0)
    assert keys(state) == ["b", "a", "c"]


def test_a_key_that_comes_due_has_the_highest_priority_that_was_planned_for_it() -> None:
    state: QueueState[str] = QueueState()
    state.add_after("a", 5.0, 0.0, None, -100)
    state.add_after("a", 9.0, 0.0, None, 3)
    state.tick(5.0)
    assert taken(state, 5.0).priority == 3


def test_causes_that_are_equal_are_merged() -> None:
    state: QueueState[str, tuple[str, int]] = QueueState(merge=lambda earlier, later: later)
    state.add("a", 0.0, ("x", 1))
    state.add_after("a", 1.0, 0.0, ("x", 1))
    state.tick(1.0)
    item = state.get(1.0)
    assert item is not None
    assert item.causes == (("x", 1),)


def test_unfinished_work_is_the_sum_and_the_longest_of_what_is_worked_on() -> None:
    state: QueueState[str] = QueueState()
    assert state.unfinished_work_seconds(5.0) == 0.0
    assert state.longest_running_seconds(5.0) == 0.0
    state.add("a", 0.0)
    state.add("b", 0.0)
    taken(state, 1.0)
    taken(state, 3.0)
    assert state.unfinished_work_seconds(5.0) == 6.0
    assert state.longest_running_seconds(5.0) == 4.0
