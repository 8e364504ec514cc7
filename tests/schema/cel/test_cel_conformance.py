"""cel-spec's simple tests, where a checkout is at hand (KUBEWRIGHT_CEL_SPEC)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cel_conformance import run_all

CHECKOUT = os.environ.get("KUBEWRIGHT_CEL_SPEC")


@pytest.mark.skipif(not CHECKOUT, reason="KUBEWRIGHT_CEL_SPEC names no checkout of github.com/google/cel-spec")
def test_every_relevant_test_of_the_specification_passes() -> None:
    results = run_all(Path(str(CHECKOUT)).expanduser())
    assert [failure for counts in results.values() for failure in counts.failures] == []
    assert sum(counts.passed for counts in results.values()) > 1300
