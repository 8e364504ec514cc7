"""The table of types on a real API server: it takes every CRD; every row takes and refuses what it should; and what is
said offline is what the server says: verdict, causes, message, and the object as it is stored.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from served_kinds import CRDS, Difference, Served, create, update
from table import FAMILIES, spec_schema_of
from table_rows import kind_of

from kubewright.model.base import model_fields
from kubewright.schema import crd_of
from kubewright.schema.cel.rules import Rules
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

ROWS = [(family, name) for family, rows in FAMILIES.items() for name in rows]


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def served(rest: Rest) -> Iterator[dict[str, Served]]:
    """The families, each a kind whose spec is that of the table, with rules of its own for the whole."""
    kinds = {name: Served(rest, spec_schema_of(name), rules=Rules, whole=True) for name in FAMILIES}
    yield kinds
    for kind in kinds.values():
        kind.remove()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_server_takes_the_crd_as_it_is_made(rest: Rest, family: str) -> None:
    code, answer = _send(rest, crd_of(kind_of(family, FAMILIES[family])))
    assert code == 201, answer
    assert not answer.get("status", {}).get("conditions")


def _send(rest: Rest, crd: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    answer = rest.request("POST", f"{CRDS}?dryRun=All&fieldValidation=Strict", copy.deepcopy(crd))
    return 201, answer


@pytest.mark.parametrize("family", FAMILIES)
def test_a_server_keeps_the_schema_as_it_is_made(served: dict[str, Served], rest: Rest, family: str) -> None:
    stored = rest.get(f"{CRDS}/{served[family].crd['metadata']['name']}")
    (schema,) = [each["schema"] for each in stored["spec"]["versions"] if each["name"] == "v2"]
    assert schema["openAPIV3Schema"]["properties"]["spec"] == spec_schema_of(family)


def wire(family: str, name: str) -> str:
    spec: Any = next(each.type for each in model_fields(kind_of(family, FAMILIES[family])) if each.name == "spec")
    return next(each.encode_name for each in model_fields(spec) if each.name == name)


@pytest.mark.parametrize(("family", "name"), ROWS)
def test_a_type_takes_and_refuses_as_the_server_does(served: dict[str, Served], family: str, name: str) -> None:
    kind, row, field = served[family], FAMILIES[family][name], wire(family, name)
    for value in row.good:
        difference = create(kind, {field: value})
        assert difference is None, difference
        assert _is_taken(kind, {field: value}), value
    for value in row.bad:
        difference = create(kind, {field: value})
        assert difference is None, difference
        assert not _is_taken(kind, {field: value}), value


def _is_taken(kind: Served, spec: dict[str, Any]) -> bool:
    return kind.version.create(kind.object(spec)).is_valid


CHANGES = [
    (family, name, place)
    for family, rows in FAMILIES.items()
    for name, row in rows.items()
    for place in range(len(row.changes))
]


@pytest.mark.parametrize(("family", "name", "place"), CHANGES)
def test_a_change_is_refused_as_the_server_does(served: dict[str, Served], family: str, name: str, place: int) -> None:
    kind, field = served[family], wire(family, name)
    old, new = FAMILIES[family][name].changes[place]
    specs = [{} if each is None else {field: each} for each in (old, new)]
    difference: Difference | None = update(kind, specs[0], specs[1])
    assert difference is None, difference
    before = kind.object(specs[0], "v2")
    assert kind.version.update(kind.object(specs[1]), before).errors
