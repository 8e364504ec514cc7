"""Random operations are answered by the embedded server as by the real one.

A new seed each time, in CI always the same; the text of a failure has the sequence, made small, in the format of
`fidelity/cases`, where it belongs once it is understood. DIFFERENTIAL_SEED and DIFFERENTIAL_OPERATIONS choose others.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from kubewright.testing.access import ClusterAccess
from kubewright.testing.controlplane import ControlPlane

from .judging import compare
from .owning import compare_owning

pytestmark = pytest.mark.control_plane

_OPERATIONS = 5_000
_LENGTH = 70
_SEED_OF_CI = 137


def _seed() -> int:
    return int(
        os.environ.get("DIFFERENTIAL_SEED") or (_SEED_OF_CI if os.environ.get("CI") else random.randrange(10**6))
    )


def test_owners_and_dependents_go_as_on_a_real_cluster(private_control_plane: Callable[..., ControlPlane]) -> None:
    seed = _seed()
    verdict = compare_owning(
        private_control_plane(controllers=True).access,
        seed=seed,
        operations=int(os.environ.get("DIFFERENTIAL_OPERATIONS") or _OPERATIONS),
        length=_LENGTH // 2,
    )
    assert not verdict.counterexample, verdict.counterexample


def test_random_operations_are_answered_as_by_the_real_server(control_plane: ClusterAccess) -> None:
    seed = _seed()
    verdict = compare(
        control_plane,
        seed=seed,
        operations=int(os.environ.get("DIFFERENTIAL_OPERATIONS") or _OPERATIONS),
        length=_LENGTH,
        shrink_seconds=30.0,
    )
    assert not verdict.counterexample, verdict.counterexample
