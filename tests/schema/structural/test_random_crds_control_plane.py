"""Random CRDs, mostly broken, on a real API server: the causes have to be ours.

KUBEWRIGHT_DIFFERENTIAL_CRDS   how many (150)
KUBEWRIGHT_DIFFERENTIAL_SEED   the first seed; it is printed when something differs
"""
# ruff: noqa: E501 - a table is read by its lines

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from broken_crds import good, root_of
from generator import Generator
from test_crd_check_control_plane import create, shown

from kubewright.schema.structural.crdcheck import check_crd
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = [pytest.mark.control_plane, pytest.mark.slow]

CRDS = int(os.environ.get("KUBEWRIGHT_DIFFERENTIAL_CRDS", "150"))
# CI takes the same seed in every run, so that it fails for what a change did and for nothing else.
_NEW = 1 if os.environ.get("CI") else random.SystemRandom().randrange(2**32)
SEED = int(os.environ.get("KUBEWRIGHT_DIFFERENTIAL_SEED", "0")) or _NEW
KEYWORDS: dict[str, tuple[Any, ...]] = {
    "type": ("string", "integer", "object", "array", "null", "text", ""),
    "default": ("a", 1, {}, [], {"zz": 1}, True),
    "nullable": (True,),
    "pattern": ("(", "^a$", "(?=a)", "\\1"),
    "items": ({"type": "string"}, {}, {"type": "object", "properties": {"name": {"type": "string"}}}),
    "properties": ({"a": {}}, {"metadata": {"type": "string"}}, {"a": {"type": "array"}}, {}),
    "additionalProperties": (True, False, {"type": "string"}, {}),
    "allOf": ([{"type": "string"}], [{"properties": {"zz": {"minLength": 1}}}], [{"title": "x"}], [{"not": {"default": 1}}]),
    "anyOf": ([{"type": "integer"}, {"type": "string"}], [{"nullable": True}]),
    "not": ({"x-kubernetes-list-type": "set"}, {"items": {"type": "string"}}, {"properties": {"metadata": {}}}),
    "uniqueItems": (True, False),
    "required": (["a"], []),
    "enum": ([1], ["a"], []),
    "x-kubernetes-preserve-unknown-fields": (True, False),
    "x-kubernetes-embedded-resource": (True,),
    "x-kubernetes-int-or-string": (True,),
    "x-kubernetes-list-type": ("set", "map", "atomic", "bag"),
    "x-kubernetes-map-type": ("atomic", "granular", "loose"),
    "x-kubernetes-list-map-keys": (["name"], ["name", "name"], ["zz"]),
    "$ref": ("#/a",),
    "definitions": ({"a": {"type": "string"}},),
    "id": ("x",),
}  # fmt: skip


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


def nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all below it."""
    if isinstance(schema, list):
        for each in schema:
            yield from nodes_of(each)
    if not isinstance(schema, dict):
        return
    yield schema
    for each in (schema.get("properties") or {}).values():
        yield from nodes_of(each)
    for name in ("items", "additionalProperties", "not", "allOf", "anyOf", "oneOf"):
        yield from nodes_of(schema.get(name))


def random_crd(seed: int) -> dict[str, Any]:
    make = Generator(seed)
    crd = good()
    if make.maybe(0.5):
        crd["spec"]["versions"].pop()
    if make.maybe(0.3):
        crd["spec"]["versions"][0]["subresources"] = {"status": {}}
    properties = root_of(crd)["properties"]["spec"]["properties"]
    for place in range(3):
        properties[f"f{place}"] = make.schema(2)
    nodes = list(nodes_of(root_of(crd)))
    for _ in range(make.random.randint(0, 4)):
        node = make.pick(nodes)
        if make.maybe(0.25) and node:
            node.pop(make.pick(sorted(node)))
        else:
            keyword = make.pick(sorted(KEYWORDS))
            node[keyword] = json.loads(json.dumps(make.pick(KEYWORDS[keyword])))
    return crd


def test_random_crds_fare_as_on_a_server(rest: Rest) -> None:
    verdicts: Counter[int] = Counter()
    for seed in range(SEED, SEED + CRDS):
        crd = random_crd(seed)
        ours = check_crd(crd)
        code, answer = create(rest, crd)
        verdicts[code] += 1
        if code == 400:
            assert ours.broken, (seed, answer["message"])
            continue
        theirs = Counter(
            shown(each["field"], each["message"]) for each in (answer.get("details") or {}).get("causes") or []
        )
        mine = Counter(shown(each.field, each.body) for each in ours.errors)
        assert code in (201, 422), answer
        assert mine == theirs, (
            f"seed {seed}\nours   {sorted((mine - theirs).items())}\ntheirs {sorted((theirs - mine).items())}\n"
            f"{json.dumps(crd['spec']['versions'])}"
        )
    print(f"{CRDS} CRDs, seeds {SEED} to {SEED + CRDS - 1}: {dict(verdicts)}")
