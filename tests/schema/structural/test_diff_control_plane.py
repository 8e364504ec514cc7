"""The pairs of `diff` judged by a real API server: the new schema does not take a witness as the old one does."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from diff_pairs import ABSENT, PAIRS, mapping, string
from generator import Generator
from served_kinds import Served
from test_diff import added, is_of_its_type

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


def stored(kind: Served, field: str, value: Any, validation: str = "Ignore") -> Any:
    """What a server would store of a value; ABSENT where it refuses."""
    body = kind.object({field: value})
    code, answer = kind.send("POST", f"{kind.path}?dryRun=All&fieldValidation={validation}", body)
    return answer["spec"].get(field, ABSENT) if code == 201 else ABSENT


@pytest.mark.parametrize("name", WITNESSED)
def test_a_server_shows_the_break(served: tuple[Served, Served], name: str) -> None:
    old, new = served
    witness = PAIRS[name].witness
    assert stored(old, FIELDS[name], witness) == witness
    after = stored(new, FIELDS[name], witness)
    assert after is ABSENT or after != witness


def of_rule(*rules: str) -> list[str]:
    return [name for name, pair in PAIRS.items() if set(pair.rules) & set(rules)]


@pytest.mark.parametrize("name", of_rule("default-changed", "default-added", "default-removed"))
def test_another_default_is_another_object(served: tuple[Served, Served], name: str) -> None:
    found = []
    for kind in served:
        answer = kind.send("POST", f"{kind.path}?dryRun=All", kind.object({}))[1]
        found.append(answer["spec"].get(FIELDS[name], ABSENT))
    assert found == [PAIRS[name].old.get("default", ABSENT), PAIRS[name].new.get("default", ABSENT)]


@pytest.mark.parametrize("name", of_rule("type-widened", "nullable-added", "required-removed", "field-unchecked"))
def test_a_reader_can_meet_what_it_never_met(served: tuple[Served, Served], name: str) -> None:
    """A value that the new schema stores and the old one does not: who reads objects may not know it."""
    old, new = served
    field = FIELDS[name]
    candidates = [1.5, "a", 5, None, True, {}, {"a": 1}, {"a": {}}, ["a"]]
    shown = [value for value in candidates if stored(new, field, value) == value != stored(old, field, value)]
    assert shown, candidates


APPLIED: dict[str, tuple[Any, Any]] = {
    "set to atomic": (["a"], ["b"]),
    "atomic to set": (["a"], ["b"]),
    "atomic to map": ([{"k": "a"}], [{"k": "b"}]),
    "another key": ([{"k": "a", "j": "x"}], [{"k": "a", "j": "y"}]),
    "one key more": ([{"k": "a", "j": "x"}], [{"k": "a", "j": "y"}]),
}


@pytest.mark.parametrize("name", APPLIED)
def test_what_two_appliers_make_of_it_is_another_object(served: tuple[Served, Served], name: str) -> None:
    assert applied(served[0], FIELDS[name], APPLIED[name]) != applied(served[1], FIELDS[name], APPLIED[name])


def test_an_atomic_map_has_one_owner(rest: Rest) -> None:
    plain = mapping(string())
    pairs = [({"a": "x"}, {"b": "y"})] * 2
    kinds = [Served(rest, {"x": schema}) for schema in (plain, {**plain, "x-kubernetes-map-type": "atomic"})]
    found = [applied(kind, "x", pair) for kind, pair in zip(kinds, pairs, strict=True)]
    for kind in kinds:
        kind.remove()
    assert found == [{"a": "x", "b": "y"}, {"b": "y"}]


def applied(kind: Served, field: str, values: tuple[Any, Any]) -> Any:
    """What is stored when two appliers, one after the other, say each their own."""
    name = f"o{uuid.uuid4().hex[:10]}"
    answer: dict[str, Any] = {}
    for manager, value in zip(("first", "second"), values, strict=True):
        body = kind.object({field: value})
        body["metadata"]["name"] = name
        path = f"{kind.path}/{name}?fieldManager={manager}&force=true"
        headers = {"Accept": "application/json", "Content-Type": "application/apply-patch+yaml"}
        code, raw = kind.rest._send("PATCH", path, json.dumps(body).encode(), headers)
        answer = json.loads(raw)
        assert code in (200, 201), answer
    kind.send("DELETE", f"{kind.path}/{name}")
    return answer["spec"][field]


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if not pair.breaks and pair.old is not None])
def test_no_object_shows_a_break_where_there_is_none(served: tuple[Served, Served], name: str) -> None:
    old, new = served
    make, field = Generator(3), FIELDS[name]
    for _ in range(8):
        value = make.value(PAIRS[name].old)
        before = stored(old, field, value, "Strict")
        if before is not ABSENT and is_of_its_type(value, PAIRS[name].old):
            assert added(before, stored(new, field, value)), value


def test_most_pairs_are_judged() -> None:
    judged = {*WITNESSED, *APPLIED, *of_rule("default-changed", "default-added", "default-removed")}
    judged |= {
        *of_rule("type-widened", "nullable-added", "required-removed", "field-unchecked"),
        "a map becomes atomic",
    }
    judged |= {name for name, pair in PAIRS.items() if not pair.breaks}
    assert len(PAIRS) >= 60
    assert set(PAIRS) - judged == set()
