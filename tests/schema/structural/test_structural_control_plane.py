"""Random schemas and objects on a real API server: verdict, causes, message and stored object have to be ours.

    KUBEWRIGHT_DIFFERENTIAL_OBJECTS   how many objects at least (2000)
    KUBEWRIGHT_DIFFERENTIAL_SEED      the seed of a run again; it is printed with what differs, and recorded

Hypothesis draws a few schemas, which stand beside each other in one CRD, and a batch of objects for them. Three of five
objects are created, two of five are updates of an object that may be invalid (ratcheting). What differs is shrunk and
printed as a row of `cases.py`, where it stays.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import pytest
from generator import Generator
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from random_rules import add_rules
from served_kinds import Difference, Served, create, update

from kubewright.schema.cel.rules import Rules
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

OBJECTS = int(os.environ.get("KUBEWRIGHT_DIFFERENTIAL_OBJECTS", "2000"))
# CI takes the same seed in every run, so that it fails for what a change did and for nothing else.
_NEW = 1 if os.environ.get("CI") else random.SystemRandom().randrange(2**32)
SEED = int(os.environ.get("KUBEWRIGHT_DIFFERENTIAL_SEED", "0")) or _NEW
BATCH = 24
EXAMPLES = 1 + OBJECTS // 14  # of a batch, some objects are alike or left out
FIELDS = 5
CONNECTIONS = 4
ATTEMPTS = 10
MOST_ATTEMPTS = 200

# Every attempt asks a server: what an explanation of the smallest failure would take is better spent on objects.
SETTINGS = settings(
    max_examples=EXAMPLES,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    print_blob=True,
)


class Change(NamedTuple):
    """A spec; `old` is the one that it replaces, or None for a create."""

    new: dict[str, Any]
    old: dict[str, Any] | None


@pytest.mark.slow
def test_random_objects_fare_here_as_on_a_server(
    control_plane: ClusterAccess, record_property: Callable[[str, object], None]
) -> None:
    asked = 0
    record_property("seed", SEED)
    with ExitStack() as stack:
        connections = [stack.enter_context(closing(control_plane.rest())) for _ in range(CONNECTIONS)]
        pool = stack.enter_context(ThreadPoolExecutor(CONNECTIONS))
        served = Served(connections[0], {})
        stack.callback(served.remove)

        @seed(SEED)
        @SETTINGS
        @given(st.randoms(use_true_random=False))
        def fare_alike(choices: random.Random) -> None:
            nonlocal asked
            make = Generator(choices)
            schemas = _schemas(make)
            changes = _changes(make, schemas)
            asked += len(changes)
            served.replace(schemas, rules=Rules)
            different = _compare(connections, pool, served, changes)
            assert different is None, _row(served, schemas, different)

        fare_alike()
    record_property("objects", asked)
    print(f"{asked} objects, seed {SEED}: no difference")
    assert asked >= OBJECTS


def _schemas(make: Generator) -> dict[str, Any]:
    schemas = {f"f{place}": make.schema(3) for place in range(make.random.randint(1, FIELDS))}
    add_rules(make, schemas)
    return schemas


def _changes(make: Generator, schemas: dict[str, Any]) -> list[Change]:
    """A batch of different objects, in the order in which they are drawn."""
    made: dict[str, Change] = {}
    for _ in range(BATCH):
        new, old = {name: make.value(schema) for name, schema in schemas.items() if make.maybe(0.8)}, None
        if make.maybe(0.4):
            old = new
            new = {name: make.changed(schemas[name], each) for name, each in old.items() if make.maybe(0.9)}
        made.setdefault(json.dumps([new, old]), Change(new, old))
    return list(made.values())


def _compare(connections: list[Rest], pool: ThreadPoolExecutor, served: Served, changes: list[Change]) -> Change | None:
    shares = [changes[place::CONNECTIONS] for place in range(CONNECTIONS)]
    found = list(pool.map(_first, [served.through(rest) for rest in connections], shares))
    return next((each for each in found if each is not None), None)


def _first(served: Served, changes: list[Change]) -> Change | None:
    return next((change for change in changes if _differs(served, change)), None)


def _differs(served: Served, change: Change) -> bool:
    """Whether no answer of the server is ours.

    Which of several errors in a map a server finds first is its chance. So it is asked again, and where its answers
    are not all the same, until it has had every chance: one error of each of several maps makes many answers.
    """
    answers: set[str] = set()
    for attempt in range(MOST_ATTEMPTS):
        difference = _difference(served, change)
        if difference is None:
            return False
        answers.add(repr(difference))
        if attempt + 1 >= ATTEMPTS and len(answers) == 1:
            return True
    return True


def _difference(served: Served, change: Change) -> Difference | None:
    return create(served, change.new) if change.old is None else update(served, change.old, change.new)


def _row(served: Served, schemas: dict[str, Any], change: Change) -> str:
    """A difference as a row of the table: of the first field that has one alone, else of the whole spec."""
    for name in {**change.new, **(change.old or {})}:
        one = Change(*({name: each[name]} if each and name in each else each and {} for each in change))
        if difference := _difference(served, one):
            new, old = (each and name in each and repr(each[name]) for each in one)
            return _said(repr(schemas[name]), new or "ABSENT", old or "ABSENT", difference)
    difference = _difference(served, change)
    schema = {"type": "object", "properties": schemas}
    return _said(repr(schema), repr(change.new), "ABSENT" if change.old is None else repr(change.old), difference)


def _said(schema: str, new: str, old: str, difference: Difference | None) -> str:
    values = f"{new}, {old}" if old != "ABSENT" else new
    differs = difference or Difference("nothing, when asked again", None, None)
    return (
        f"seed {SEED}, shrunk, for cases.py:\n"
        f'    "{differs.what} of ...": Case({schema}, {values}),\n'
        f"  ours   {differs.ours}\n  theirs {differs.theirs}"
    )
