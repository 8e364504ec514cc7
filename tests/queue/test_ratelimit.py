import pytest

from kubewright.queue import ExponentialBackoff, Longest, TokenBucket


def test_a_delay_is_5_ms_doubled_with_each_failure_of_that_key() -> None:
    limiter = ExponentialBackoff()
    assert [limiter.delay_seconds("a", 0.0) for _ in range(5)] == [0.005, 0.01, 0.02, 0.04, 0.08]
    assert limiter.delay_seconds("b", 0.0) == 0.005
    assert limiter.failures("a") == 5
    assert limiter.failures("b") == 1


def test_a_delay_is_never_above_1000_s_however_often_a_key_failed() -> None:
    limiter = ExponentialBackoff()
    delays = [limiter.delay_seconds("a", 0.0) for _ in range(3000)]
    assert delays[17] == 0.005 * 2**17
    assert delays[18:] == [1000.0] * (3000 - 18)


def test_after_forget_the_next_failure_is_the_first() -> None:
    limiter = ExponentialBackoff(base_seconds=1, cap_seconds=8)
    assert [limiter.delay_seconds("a", 0.0) for _ in range(6)] == [1, 2, 4, 8, 8, 8]
    limiter.forget("a")
    limiter.forget("never seen")
    assert limiter.failures("a") == 0
    assert limiter.delay_seconds("a", 0.0) == 1


@pytest.mark.parametrize(("base", "cap"), [(0.0, 1.0), (-1.0, 1.0), (2.0, 1.0)])
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
    both: Longest[str] = Longest(ExponentialBackoff(1, 1000), TokenBucket(per_second=0.5, burst=1))
    assert [both.delay_seconds("a", 0.0) for _ in range(4)] == [1, 2, 4, 8]
    assert both.delay_seconds("b", 0.0) == 8
    assert both.failures("a") == 4
    both.forget("a")
    assert both.failures("a") == 0
    with pytest.raises(ValueError, match="no limiters"):
        Longest()
