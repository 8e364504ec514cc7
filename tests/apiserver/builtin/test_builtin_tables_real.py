"""What `kubectl get` shows of a built-in kind is what a real server would show."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from both import TABLE, Both, tables
from differential import Real, kind_of
from known_differences import KNOWN_OF_TABLES
from table_cases import ROWS

from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

NAMED = {f"{each['kind']} {each['metadata']['name']}": each for each in ROWS}


@pytest.fixture(scope="module")
def both(control_plane: ClusterAccess) -> Iterator[Both]:
    real = Real(control_plane.url, control_plane.pki)
    name = f"tables-{uuid.uuid4().hex[:8]}"
    assert real.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})[0] == 201
    yield Both(real, name, slot=2)
    real.send("DELETE", f"/api/v1/namespaces/{name}")


@pytest.mark.parametrize("name", sorted(NAMED))
def test_columns_and_cells_are_those_of_a_real_server(name: str, both: Both) -> None:
    obj = NAMED[name]
    if not kind_of(obj).namespaced:
        both.remove(obj)
    try:
        both.make(obj)
        ours, theirs = tables(both.ask("GET", both.path(obj), accept=TABLE))
    finally:
        both.remove(obj)
    if name in KNOWN_OF_TABLES:
        assert ours != theirs, f"{name}: is no difference any more; take it out of known_differences"
    else:
        assert ours == theirs
