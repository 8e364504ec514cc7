"""Random schemas and objects on a real API server: verdict, causes, message and stored object have to be ours.

    KUBEWRIGHT_DIFFERENTIAL_OBJECTS   how many objects (2000)
    KUBEWRIGHT_DIFFERENTIAL_SEED      the first seed; it is printed when something differs, with the smallest difference

A CRD has a dozen random schemas beside each other. Three of five objects are created, two of five are updates of an
object that may be invalid (ratcheting).
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from generator import Generator
from served_kinds import Served, create, update

from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

OBJECTS = int(os.environ.get("KUBEWRIGHT_DIFFERENTIAL_OBJECTS", "2000"))
# CI takes the same seed in every run, so that it fails for what a change did and for nothing else.
_NEW = 1 if os.environ.get("CI") else random.SystemRandom().randrange(2**32)
SEED = int(os.environ.get("KUBEWRIGHT_DIFFERENTIAL_SEED", "0")) or _NEW
OBJECTS_PER_CRD = 50
FIELDS = 10
CONNECTIONS = 4


@pytest.mark.slow
def test_random_objects_fare_here_as_on_a_server(
    control_plane: ClusterAccess, record_property: Callable[[str, object], None]
) -> None:
    counts = [min(OBJECTS_PER_CRD, OBJECTS - done) for done in range(0, OBJECTS, OBJECTS_PER_CRD)]
    record_property("seeds", f"{SEED} to {SEED + len(counts) - 1}")

    def run(place: int) -> None:
        rest = control_plane.rest()
        try:
            _one_crd(rest, SEED + place, counts[place])
        finally:
            rest.close()

    # Nearly all of the time is the server's; each seed is a kind of its own.
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for done in [pool.submit(run, place) for place in range(len(counts))]:
            done.result()
    print(f"{OBJECTS} objects, seeds {SEED} to {SEED + len(counts) - 1}: no difference")


def _one_crd(rest: Rest, seed: int, count: int) -> None:
    make = Generator(seed)
    schemas = {f"f{place}": make.schema(3) for place in range(FIELDS)}
    served = Served(rest, schemas)
    try:
        for _ in range(count):
            spec = {name: make.value(schema) for name, schema in schemas.items() if make.maybe(0.8)}
            if make.maybe(0.6):
                difference = create(served, spec)
                assert difference is None, _smallest(served, seed, spec, None)
            else:
                new = {name: make.changed(schemas[name], each) for name, each in spec.items() if make.maybe(0.9)}
                difference = update(served, spec, new)
                assert difference is None, _smallest(served, seed, new, spec)
    finally:
        served.remove()


def _smallest(served: Served, seed: int, new: Any, old: Any) -> str:
    """The difference of the first field that has one alone, for the report."""
    schemas = served.crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    for name in new:
        one = {name: new[name]}
        before = None if old is None else {name: old[name]} if name in old else {}
        difference = create(served, one) if before is None else update(served, before, one)
        if difference is not None:
            return (
                f"seed {seed}\nschema {json.dumps(schemas[name])}\nold {json.dumps(before)}\nnew {json.dumps(one)}\n"
                f"{difference.what}\n  ours   {difference.ours}\n  theirs {difference.theirs}"
            )
    return f"seed {seed}: only together: {json.dumps(schemas)} {json.dumps(old)} {json.dumps(new)}"
