"""What a real server makes of a write of a built-in kind, the embedded one makes of it too."""

from __future__ import annotations

from typing import Any

import more_cases
import pytest
import write_cases
from both import done
from differential import NOW, Object, Real, collection, comparable, kind_of
from known_differences import KNOWN

from kubewright.apiserver import Request, new_server
from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

CASES = {**write_cases.CREATED, **more_cases.CREATED}
UNORDERED = {"quota: resources bad"}
"""Go goes through the resources as through any map: the order of what is wrong with them is chance."""


def _sorted(said: tuple[Any, ...]) -> tuple[Any, ...]:
    status, reason, _, causes = said
    return status, reason, sorted(causes, key=repr)


def _created(obj: Object) -> tuple[int, Object]:
    """Code and body of the embedded server."""
    server = new_server(seed=1, now=lambda: NOW)
    answer = done(server.handle(Request.of("POST", f"{collection(kind_of(obj), 'default')}?dryRun=All", body=obj)))
    return answer.status, answer.json


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_new_object_is_stored_or_refused_as_by_a_real_server(name: str, control_plane: ClusterAccess) -> None:
    real = Real(control_plane.url, control_plane.pki)
    ours, theirs = comparable(_created(CASES[name])), comparable(real.create(CASES[name]))
    if name in KNOWN:
        assert ours != theirs, f"{name}: is no difference any more; take it out of known_differences"
    elif name in UNORDERED:
        assert _sorted(ours) == _sorted(theirs)
    else:
        assert ours == theirs
