import pytest

from kubewright.queue import ExponentialBackoff


def test_a_delay_is_5_ms_doubled_with_each_failure_of_that_key() -> None:
    limiter = ExponentialBackoff()
    assert [limiter.delay_seconds("a") for _ in range(5)] == [0.005, 0.01, 0.02, 0.04, 0.08]
    assert limiter.delay_seconds("b") == 0.005
    assert limiter.failures("a") == 5
    assert limiter.failures("b") == 1


def test_a_delay_is_never_above_1000_s_however_often_a_key_failed() -> None:
    limiter = ExponentialBackoff()
    delays = [limiter.delay_seconds("a") for _ in range(3000)]
    assert delays[17] == 0.005 * 2**17
    assert delays[18:] == [1000.0] * (3000 - 18)


def test_after_forget_the_next_failure_is_the_first() -> None:
    limiter = ExponentialBackoff(base_seconds=1, cap_seconds=8)
    assert [limiter.delay_seconds("a") for _ in range(6)] == [1, 2, 4, 8, 8, 8]
    limiter.forget("a")
    limiter.forget("never seen")
    assert limiter.failures("a") == 0
    assert limiter.delay_seconds("a") == 1


@pytest.mark.parametrize(("base", "cap"), [(0.0, 1.0), (-1.0, 1.0), (2.0, 1.0)])
def test_a_limiter_without_a_sensible_range_is_refused(base: float, cap: float) -> None:
    with pytest.raises(ValueError, match="base_seconds"):
        ExponentialBackoff(base, cap)
