"""What a real server warns of when an object is made, a server in this process warns of too."""

from __future__ import annotations

import pytest
from both import Both
from differential import Real, collection, kind_of
from warning_cases import WARNED

from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def both(control_plane: ClusterAccess) -> Both:
    return Both(Real(control_plane.url, control_plane.pki), "default")


@pytest.mark.parametrize("name", sorted(WARNED))
def test_the_warnings_are_those_of_a_real_server(name: str, both: Both) -> None:
    obj = WARNED[name]
    path = collection(kind_of(obj), "default") + "?dryRun=All"
    ours, theirs = both.warnings(path, obj)
    assert ours == theirs
