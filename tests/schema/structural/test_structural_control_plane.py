"""Random schemas and objects on a real API server: verdict, causes, message and stored object have to be ours.

    KUBEWRIGHT_DIFFERENTIAL_OBJECTS   how many objects (300)
    KUBEWRIGHT_DIFFERENTIAL_SEED      the first seed; it is printed when something differs, with the smallest difference

A CRD has a dozen random schemas beside each other, and two versions: v1 keeps everything and stores, v2 has the
schemas. An update goes to v2 over an object made through v1, which v2 may find invalid: that is ratcheting.
"""

from __future__ import annotations

import json
import os
import random
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from generator import Generator

from kubewright.schema.structural import Kind, Outcome, json_value
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "differential.example.com"
OBJECTS = int(os.environ.get("KUBEWRIGHT_DIFFERENTIAL_OBJECTS", "300"))
# CI takes the same seed in every run, so that it fails for what a change did and for nothing else.
_NEW = 1 if os.environ.get("CI") else random.SystemRandom().randrange(2**32)
SEED = int(os.environ.get("KUBEWRIGHT_DIFFERENTIAL_SEED", "0")) or _NEW
OBJECTS_PER_CRD = 50
FIELDS = 10
PATIENCE_SECONDS = 30.0


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


class Served:
    """A kind with random schemas, on the server and compiled here."""

    def __init__(self, rest: Rest, schemas: dict[str, Any], *, status: bool = False) -> None:
        self.rest = rest
        self.plural = f"w{uuid.uuid4().hex[:8]}s"
        self.crd = _crd(self.plural, schemas, status=status)
        code, answer = self.send("POST", CRDS, self.crd)
        assert code == 201, (answer.get("message"), json.dumps(schemas))
        self.path = f"/apis/{GROUP}/v2/namespaces/default/{self.plural}"
        self.loose = f"/apis/{GROUP}/v1/namespaces/default/{self.plural}"
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.send("GET", self.path)[0] != 200 or self.send("GET", self.loose)[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.version = Kind(self.crd).version("v2")

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        data = None if body is None else json.dumps(body).encode()
        code, answer = self.rest._exchange(method, path, data, "application/json")
        return code, json.loads(answer) if answer.startswith(b"{") else {"message": answer.decode()}

    def object(self, spec: Any, version: str = "v2") -> dict[str, Any]:
        return {
            "apiVersion": f"{GROUP}/{version}",
            "kind": self.crd["spec"]["names"]["kind"],
            "metadata": {"name": "a"},
            "spec": spec,
        }

    def remove(self) -> None:
        self.send("DELETE", f"{CRDS}/{self.plural}.{GROUP}")


def _crd(plural: str, schemas: dict[str, Any], *, status: bool) -> dict[str, Any]:
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    strict = {"type": "object", "properties": {"spec": {"type": "object", "properties": schemas}}}
    versions = [("v1", True, loose), ("v2", False, strict)]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "plural": plural,
                "singular": plural,
                "kind": plural.title(),
                "listKind": f"{plural.title()}List",
            },
            "versions": [
                {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}}
                for name, storage, schema in versions
            ],
        },
    }


class Difference(NamedTuple):
    """What is not the same."""

    what: str
    ours: Any
    theirs: Any


def parts_of(message: str) -> list[str]:
    head, _, tail = message.partition(" is invalid: ")
    tail = tail.removeprefix("[").removesuffix("]")
    return sorted([head, *tail.split(", ")])


def causes_of(answer: dict[str, Any]) -> Counter[tuple[str, str, str]]:
    found = answer["details"].get("causes") or []
    return Counter((each["reason"], each["message"], each["field"]) for each in found)


def compare(ours: Outcome, code: int, answer: dict[str, Any]) -> Difference | None:
    """The first thing that differs."""
    if code == 400:
        return None if ours.undecodable == answer["message"] else Difference("undecodable", ours, answer["message"])
    if ours.undecodable:
        return Difference("undecodable", ours.undecodable, answer)
    if code == 422:
        causes = Counter((each.reason, each.body, each.field) for each in ours.errors)
        if causes != causes_of(answer):
            return Difference(
                "causes", sorted((causes - causes_of(answer)).items()), sorted((causes_of(answer) - causes).items())
            )
        if parts_of(ours.message) != parts_of(answer["message"]):
            return Difference("message", ours.message, answer["message"])
        return None
    if code not in (200, 201) or not ours.is_valid:
        return Difference("verdict", [str(each) for each in ours.errors], (code, answer.get("message")))
    assert ours.object is not None
    if ours.object.get("spec") != answer.get("spec") or str(ours.object.get("spec")) != str(
        json_value(answer.get("spec"))
    ):
        mine, theirs = ours.object.get("spec"), answer.get("spec")
        if _numbers(mine) != _numbers(theirs):
            return Difference("object", mine, theirs)
    return None


def _numbers(value: Any) -> Any:
    """With 1 for 1.0, which is how a server writes it, and True told from 1."""
    if isinstance(value, dict):
        return {name: _numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    return f"bool {value}" if isinstance(value, bool) else value


def create(served: Served, spec: Any) -> Difference | None:
    """A create of one object."""
    body = served.object(spec)
    ours = served.version.create(body)
    code, answer = served.send("POST", f"{served.path}?dryRun=All&fieldValidation=Ignore", body)
    difference = compare(ours, code, answer)
    if difference is None and (ours.unknown or ours.undecodable):
        code, answer = served.send("POST", f"{served.path}?dryRun=All&fieldValidation=Strict", body)
        said = answer["message"].partition("strict decoding error")
        if ours.unknown and sorted((said[1] + said[2]).split(", ")) != sorted(ours.strict_message.split(", ")):
            return Difference("strict", ours.strict_message, answer["message"])
    return difference


def update(served: Served, old: Any, new: Any) -> Difference | None:
    """An update of an object that was made through the version that keeps everything."""
    first = served.object(old, "v1")
    first["metadata"]["name"] = f"o{uuid.uuid4().hex[:10]}"
    code, answer = served.send("POST", served.loose, first)
    assert code == 201, answer
    path = f"{served.path}/{first['metadata']['name']}"
    code, stored = served.send("GET", path)
    assert code == 200, stored
    body = {**stored, "spec": new}
    ours = served.version.update(body, stored)
    code, answer = served.send("PUT", f"{path}?dryRun=All&fieldValidation=Ignore", body)
    served.send("DELETE", path)
    return compare(ours, code, answer)


@pytest.mark.slow
def test_random_objects_fare_here_as_on_a_server(rest: Rest) -> None:
    done, seed = 0, SEED
    while done < OBJECTS:
        done += _one_crd(rest, seed, min(OBJECTS_PER_CRD, OBJECTS - done))
        seed += 1
    print(f"{done} objects, seeds {SEED} to {seed - 1}: no difference")


def _one_crd(rest: Rest, seed: int, count: int) -> int:
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
    return count


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
