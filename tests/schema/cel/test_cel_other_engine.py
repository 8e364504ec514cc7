"""Random expressions in Google's C++ engine (`cel-expr-python`).

The number of expressions is KUBEWRIGHT_CEL_RANDOM (300 unless given).
"""

from __future__ import annotations

import os

import pytest
from cel_other_engine import compare

COUNT = int(os.environ.get("KUBEWRIGHT_CEL_RANDOM", "300"))
SEED = int(os.environ.get("KUBEWRIGHT_CEL_SEED", "1"))


def test_random_expressions_have_the_same_results() -> None:
    # There is no wheel for every platform (none with musl).
    pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python is not installed")
    assert compare(SEED, COUNT).found == []
