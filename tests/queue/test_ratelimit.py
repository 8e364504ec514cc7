from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.queue import ExponentialBackoff, Longest, QueueState, TokenBucket


def test_a_delay_is_5_ms_doubled_with_each_failure_of_that_key() -> None:
    limiter = ExponentialBackoff(jitter=0)
    assert [limiter.delay_seconds("a", 0.0) for _ in range(5)] == [0.005, 0.01, 0.02, 0.04, 0.08]
    assert limiter.delay_seconds("b", 0.0) == 0.005
    assert limiter.failures("a") == 5
    assert limiter.failures("b") == 1


def test_a_delay_is_never_above_1000_s_however_often_a_key_failed() -> None:
    limiter = ExponentialBackoff(jitter=0)
    delays = [limiter.delay_seconds("a", 0.0) for _ in range(3000)]
    assert delays[17] == 0.005 * 2**17
    assert delays[18:] == [1000.0] * (3000 - 18)


def test_after_forget_the_next_failure_is_the_first() -> None:
    limiter = ExponentialBackoff(base_seconds=1, cap_seconds=8, jitter=0)
    assert [limiter.delay_seconds("a", 0.0) for _ in range(6)] == [1, 2, 4, 8, 8, 8]
    limiter.forget("a")
    limiter.forget("never seen")
    assert limiter.failures("a") == 0
    assert limiter.delay_seconds("a", 0.0) == 1


@given(
    base=st.floats(1e-6, 1e3),
    factor=st.floats(1, 1e6),
    jitter=st.floats(0, 1),
    seed=st.integers(),
    failures=st.integers(1, 40),
)
def test_jitter_never_goes_below_the_base_nor_above_the_cap_nor_further_from_the_delay_than_its_part(
    base: float, factor: float, jitter: float, seed: int, failures: int
) -> None:
    cap = base * factor
    limiter = ExponentialBackoff(base, cap, jitter=jitter, random=Random(seed))
    plain = ExponentialBackoff(base, cap, jitter=0)
    for _ in range(failures):
        seconds, exact = limiter.delay_seconds("a", 0.0), plain.delay_seconds("a", 0.0)
        assert base <= seconds <= cap
        assert abs(seconds - exact) <= jitter * exact * (1 + 1e-9)


@pytest.mark.parametrize("failures", [0, 5, 60])
def test_keys_that_fail_together_are_tried_apart_by_default_at_the_base_and_at_the_cap_too(failures: int) -> None:
    limiter = ExponentialBackoff()
    delays = []
    for key in range(200):
        for _ in range(failures):
            limiter.delay_seconds(key, 0.0)
        delays.append(limiter.delay_seconds(key, 0.0))
    assert len(set(delays)) > 190
    assert max(delays) - min(delays) > 0.15 * max(delays)


def test_until_the_cap_is_near_every_further_failure_waits_longer_whatever_chance_says() -> None:
    limiter = ExponentialBackoff()
    delays = [limiter.delay_seconds("a", 0.0) for _ in range(17)]
    assert delays == sorted(delays)


def test_the_same_seed_makes_the_same_delays() -> None:
    one, other = (ExponentialBackoff(random=Random(7)) for _ in range(2))
    assert [one.delay_seconds("a", 0.0) for _ in range(30)] == [other.delay_seconds("a", 0.0) for _ in range(30)]


def test_a_queue_backs_off_with_jitter_unless_told_otherwise() -> None:
    state: QueueState[int] = QueueState()
    assert len({state.add_rate_limited(key, 0.0) for key in range(50)}) > 40


@pytest.mark.parametrize("jitter", [-0.1, 1.1, float("nan")])
def test_a_jitter_that_is_no_part_of_the_delay_is_refused(jitter: float) -> None:
    with pytest.raises(ValueError, match="jitter"):
        ExponentialBackoff(jitter=jitter)


@pytest.mark.parametrize(
    ("base", "cap"), [(0.0, 1.0), (-1.0, 1.0), (2.0, 1.0), (1.0, float("inf")), (float("nan"), 1.0)]
)
def test_a_limiter_without_a_sensible_range_is_refused(base: float, cap: float) -> None:
    with pytest.raises(ValueError, match="base_seconds"):
        ExponentialBackoff(base, cap)


def test_a_bucket_lets_a_burst_through_and_then_so_many_a_second_of_all_keys_together() -> None:
    bucket = TokenBucket(per_second=10, burst=3)
    assert [round(bucket.delay_seconds(key, 5.0), 6) for key in "abcde"] == [0, 0, 0, 0.1, 0.2]
    assert bucket.delay_seconds("f", 5.2) == pytest.approx(0.1)
    assert [bucket.delay_seconds(key, 100.0) for key in "abc"] == [0, 0, 0]
    assert bucket.delay_seconds("d", 100.0) == pytest.approx(0.1)


def test_a_bucket_is_not_filled_by_a_clock_that_goes_back() -> None:
    bucket = TokenBucket(per_second=1, burst=1)
    assert bucket.delay_seconds("a", 10.0) == 0
    assert bucket.delay_seconds("a", 5.0) == 1
    assert bucket.delay_seconds("a", 10.0) == 2


@pytest.mark.parametrize(("per_second", "burst"), [(0.0, 1), (-1.0, 1), (1.0, 0)])
def test_a_bucket_that_never_lets_anything_through_is_refused(per_second: float, burst: int) -> None:
    with pytest.raises(ValueError, match="per_second"):
        TokenBucket(per_second, burst)


def test_the_longest_of_several_limiters_counts() -> None:
    both: Longest[str] = Longest(ExponentialBackoff(1, 1000, jitter=0), TokenBucket(per_second=0.5, burst=1))
    assert [both.delay_seconds("a", 0.0) for _ in range(4)] == [1, 2, 4, 8]
    assert both.delay_seconds("b", 0.0) == 8
    assert both.failures("a") == 4
    both.forget("a")
    assert both.failures("a") == 0
    with pytest.raises(ValueError, match="no limiters"):
        Longest()
