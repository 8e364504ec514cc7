"""The pairs of `diff` judged by a real API server: the new schema does not take a witness as the old one does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from diff_pairs import ABSENT, PAIRS
from served_kinds import Served

from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

WITNESSED = [name for name, pair in PAIRS.items() if pair.witness is not ABSENT]
FIELDS = {name: f"x{place}" for place, name in enumerate(PAIRS)}


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def served(rest: Rest) -> Iterator[tuple[Served, Served]]:
    """Kinds with the old and the new schemas of all pairs beside each other."""
    kinds = [
        Served(rest, {FIELDS[name]: pair[side] for name, pair in PAIRS.items() if pair[side] is not None})
        for side in (0, 1)
    ]
    yield kinds[0], kinds[1]
    for kind in kinds:
        kind.remove()


def stored(kind: Served, field: str, value: Any) -> Any:
    """What a server would store of a value; None where it refuses."""
    body = kind.object({field: value})
    code, answer = kind.send("POST", f"{kind.path}?dryRun=All&fieldValidation=Ignore", body)
    return answer["spec"].get(field, ABSENT) if code == 201 else ABSENT


@pytest.mark.parametrize("name", WITNESSED)
def test_a_server_shows_the_break(served: tuple[Served, Served], name: str) -> None:
    old, new = served
    witness = PAIRS[name].witness
    assert stored(old, FIELDS[name], witness) == witness
    after = stored(new, FIELDS[name], witness)
    assert after is ABSENT or after != witness


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if pair.rules == ("default-changed",)])
def test_another_default_is_another_object(served: tuple[Served, Served], name: str) -> None:
    found = []
    for kind in served:
        answer = kind.send("POST", f"{kind.path}?dryRun=All", kind.object({}))[1]
        found.append(answer["spec"][FIELDS[name]])
    assert found == [PAIRS[name].old["default"], PAIRS[name].new["default"]]
