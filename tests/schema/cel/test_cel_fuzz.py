"""The fuzz run of `cel_fuzz`, short. The long one: `make fuzz`."""

from __future__ import annotations

import os

import pytest
from cel_fuzz import Fuzz

COUNT = int(os.environ.get("KUBEWRIGHT_CEL_FUZZ", "400"))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_input_hangs_crashes_or_has_two_results(seed: int) -> None:
    fuzz = Fuzz(seed)
    for number in range(COUNT):
        fuzz.run_one(number)
    assert fuzz.report.failures == []
