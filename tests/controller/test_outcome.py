from __future__ import annotations

import math

import pytest

from kubewright.controller.outcome import Retry, after, done


def test_done_asks_for_nothing() -> None:
    assert done.requeue_after_seconds is None


def test_after_asks_for_one_more_run() -> None:
    assert after(2.5).requeue_after_seconds == 2.5


@pytest.mark.parametrize("seconds", [0, -1, math.inf, math.nan])
def test_after_refuses_what_is_no_positive_time_and_names_it(seconds: float) -> None:
    with pytest.raises(ValueError, match=r"after\(seconds="):
        after(seconds)


@pytest.mark.parametrize("seconds", [0, -1, math.inf, math.nan])
def test_retry_refuses_what_is_no_positive_time(seconds: float) -> None:
    with pytest.raises(ValueError, match=r"Retry\(after_seconds="):
        Retry("no database yet", after_seconds=seconds)


def test_retry_without_a_time_backs_off() -> None:
    assert Retry("no database yet").after_seconds is None
