"""cel-spec's simple tests, from the Go module that the API server is built with, or from KUBEWRIGHT_CEL_SPEC."""

from __future__ import annotations

import os

import pytest
from cel_conformance import checkout, run_all


def test_every_relevant_test_of_the_specification_passes() -> None:
    folder = checkout()
    if folder is None:
        missing = "there is no Go to get cel.dev/expr with, and KUBEWRIGHT_CEL_SPEC names no checkout"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    results = run_all(folder)
    assert [failure for counts in results.values() for failure in counts.failures] == []
    assert sum(counts.passed for counts in results.values()) > 1300
