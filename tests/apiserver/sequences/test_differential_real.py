"""Random operations are answered by the embedded server as by the real one.

A new seed each time, in CI always the same; the text of a failure has the sequence, made small, in the format of
`fidelity/cases`, where it belongs once it is understood. DIFFERENTIAL_SEED and DIFFERENTIAL_OPERATIONS choose others.
"""

from __future__ import annotations

import os
import random

import pytest

from kubewright.testing.access import ClusterAccess

from .judging import compare

pytestmark = pytest.mark.control_plane

_OPERATIONS = 5_000
_LENGTH = 70
_SEED_OF_CI = 137


def test_random_operations_are_answered_as_by_the_real_server(control_plane: ClusterAccess) -> None:
    seed = int(
        os.environ.get("DIFFERENTIAL_SEED") or (_SEED_OF_CI if os.environ.get("CI") else random.randrange(10**6))
    )
    verdict = compare(
        control_plane,
        seed=seed,
        operations=int(os.environ.get("DIFFERENTIAL_OPERATIONS") or _OPERATIONS),
        length=_LENGTH,
        shrink_seconds=30.0,
    )
    assert not verdict.counterexample, verdict.counterexample
