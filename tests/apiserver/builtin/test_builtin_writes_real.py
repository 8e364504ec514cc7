"""What a real server makes of a write of a built-in kind, the strategies make of it too."""

from __future__ import annotations

from typing import Any

import more_cases
import pytest
import write_cases
from differential import Real, answer, comparable, create
from known_differences import KNOWN

from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

CASES = {**write_cases.CREATED, **more_cases.CREATED}
UNORDERED = {"quota: resources bad"}
"""Go goes through the resources as through any map: the order of what is wrong with them is chance."""


def _sorted(said: tuple[Any, ...]) -> tuple[Any, ...]:
    status, reason, _, causes = said
    return status, reason, sorted(causes, key=repr)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_new_object_is_stored_or_refused_as_by_a_real_server(name: str, control_plane: ClusterAccess) -> None:
    real = Real(control_plane.url, control_plane.pki)
    ours, theirs = comparable(answer(create, CASES[name])), comparable(real.create(CASES[name]))
    if name in KNOWN:
        assert ours != theirs, f"{name}: is no difference any more; take it out of known_differences"
    elif name in UNORDERED:
        assert _sorted(ours) == _sorted(theirs)
    else:
        assert ours == theirs
