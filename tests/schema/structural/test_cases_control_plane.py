"""The table of objects on a real API server: the golden answers are its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cases import ABSENT, CASES
from served_kinds import Difference, Served, create, update
from test_cases import outcome_of

from kubewright.schema.cel.rules import Rules
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def served(rest: Rest) -> Iterator[tuple[Served, dict[str, str]]]:
    """One kind with all schemas beside each other, and the field of each case."""
    names = {name: f"x{place}" for place, name in enumerate(CASES)}
    kind = Served(rest, {names[name]: case.schema for name, case in CASES.items()}, rules=Rules)
    yield kind, names
    kind.remove()


@pytest.mark.parametrize("name", CASES)
def test_a_server_says_the_same(served: tuple[Served, dict[str, str]], name: str) -> None:
    kind, names = served
    case, field = CASES[name], names[name]
    difference: Difference | None
    if case.old is ABSENT:
        difference = create(kind, {field: case.new})
    else:
        difference = update(kind, {field: case.old}, {field: case.new})
    assert difference is None, difference
    assert outcome_of(case) is not None
