"""Whole objects on a real API server: metadata, scale, the status subresource."""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from served_kinds import CRDS, GROUP, PATIENCE_SECONDS, Served, compare

from kubewright.schema.structural import Kind
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

INTEGER = {"type": "integer", "maximum": 5}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {"replicas": {"x-kubernetes-preserve-unknown-fields": True}, "a": INTEGER},
        },
        "status": {
            "type": "object",
            "required": ["ready"],
            "properties": {
                "ready": {"x-kubernetes-preserve-unknown-fields": True},
                "selector": {"x-kubernetes-preserve-unknown-fields": True},
                "phase": {"type": "string", "default": "New"},
                "b": INTEGER,
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            },
        },
        "top": {"type": "string", "default": "x"},
    },
}


class Whole(Served):
    """A kind with status and scale; `scope` is one of a CRD."""

    def __init__(self, rest: Rest, scope: str = "Namespaced") -> None:
        self.rest = rest
        self.plural, self.name = f"r{uuid.uuid4().hex[:8]}s", "v2"
        self.crd: dict[str, Any] = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{self.plural}.{GROUP}"},
            "spec": {
                "group": GROUP,
                "scope": scope,
                "names": {"plural": self.plural, "kind": self.plural.title()},
                "versions": [
                    {
                        "name": "v2",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": SCHEMA},
                        "subresources": {
                            "status": {},
                            "scale": {
                                "specReplicasPath": ".spec.replicas",
                                "statusReplicasPath": ".status.ready",
                                "labelSelectorPath": ".status.selector",
                            },
                        },
                    }
                ],
            },
        }
        code, answer = self.send("POST", CRDS, self.crd)
        assert code == 201, answer
        inside = "namespaces/default/" if scope == "Namespaced" else ""
        self.path = f"/apis/{GROUP}/v2/{inside}{self.plural}"
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.send("GET", self.path)[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.version = Kind(self.crd).version("v2")


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def kinds(rest: Rest) -> Iterator[dict[str, Whole]]:
    made = {scope: Whole(rest, scope) for scope in ("Namespaced", "Cluster")}
    yield made
    for kind in made.values():
        kind.remove()


OBJECTS: dict[str, dict[str, Any]] = {
    "nothing but a name": {},
    "a name that is none": {"metadata": {"name": "A_b"}},
    "a long name": {"metadata": {"name": "a" * 254}},
    "a generated name": {"metadata": {"generateName": "ab-"}},
    "a generated name that is none": {"metadata": {"generateName": "Ab-"}},
    "no name": {"metadata": {}},
    "no metadata": {"metadata": None},
    "labels that are none": {"metadata": {"name": "a", "labels": {"a b": "-x", "/c": "", "d/e/f": "y" * 64}}},
    "annotations that are none": {"metadata": {"name": "a", "annotations": {"A b": "x", "Example.com/Ok": ""}}},
    "large annotations": {"metadata": {"name": "a", "annotations": {"a": "x" * 262144}}},
    "owners that are none": {"metadata": {"name": "a", "ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]}},
    "two controllers": {"metadata": {"name": "a", "ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": each, "uid": each, "controller": True} for each in "xy"]}},
    "an owner that may not be": {"metadata": {"name": "a", "ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "x", "uid": "y"}]}},
    "finalizers that are none": {"metadata": {"name": "a", "finalizers": ["a b", "example.com/ok"]}},
    "two ends": {"metadata": {"name": "a", "finalizers": ["orphan", "foregroundDeletion"]}},
    "unknown metadata": {"metadata": {"name": "a", "clusterName": "x", "label": {}, "managedFields": [{"manager": "m", "operation": "Update", "zz": 1}]}},
    "labels of numbers": {"metadata": {"name": "a", "labels": {"a": 1}}},
    "labels of null": {"metadata": {"name": "a", "labels": {"a": None}}},
    "metadata that is a list": {"metadata": []},
    "a name that is a number": {"metadata": {"name": 5}},
    "finalizers that are a text": {"metadata": {"name": "a", "finalizers": "x"}},
    "owners that are texts": {"metadata": {"name": "a", "ownerReferences": ["x"]}},
    "an owner with a number": {"metadata": {"name": "a", "ownerReferences": [{"name": 5}]}},
    "a generation with a fraction": {"metadata": {"name": "a", "generation": 1.5}},
    "unknown fields at the top": {"zz": 1, "spec": {"zz": 2}},
    "a status that is dropped": {"status": {"ready": -1}},
    "a spec that is a text": {"spec": "x"},
    "replicas below zero": {"spec": {"replicas": -1}},
    "many replicas": {"spec": {"replicas": 2**31}},
    "replicas of a text": {"spec": {"replicas": "three"}},
    "replicas of an object": {"spec": {"replicas": {"a": [1, "x", None, 1.5, True]}}},
    "replicas of null": {"spec": {"replicas": None}},
}  # fmt: skip


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
@pytest.mark.parametrize("name", OBJECTS)
def test_a_create_fares_as_on_a_server(kinds: dict[str, Whole], scope: str, name: str) -> None:
    kind = kinds[scope]
    body = {**kind.object({"a": 1}), **OBJECTS[name]}
    if body["metadata"] is None:
        del body["metadata"]
    ours = kind.version.create(body)
    code, answer = kind.send("POST", f"{kind.path}?dryRun=All&fieldValidation=Ignore", body)
    if "generateName" in (body.get("metadata") or {}) and code == 422:
        # A server has drawn five letters by then.
        said = [each["message"].replace(answer["details"]["name"], "N") for each in answer["details"]["causes"]]
        assert [each.body.replace(ours.name, "N") if ours.name else each.body for each in ours.errors] == said
        return
    assert compare(ours, code, answer) is None, compare(ours, code, answer)
    if code == 201:
        assert ours.object is not None
        assert {name for name in ours.object if name != "metadata"} == {name for name in answer if name != "metadata"}
        assert ours.object.get("status") == answer.get("status")
    elif code != 400 and ours.unknown:
        return
    if ours.unknown:
        code, answer = kind.send("POST", f"{kind.path}?dryRun=All&fieldValidation=Strict", body)
        assert code == 400
        assert sorted(answer["message"].partition("error: ")[2].split(", ")) == sorted(
            ours.strict_message.partition("error: ")[2].split(", ")
        )


STATUSES: dict[str, tuple[Any, Any]] = {
    "a good status": (None, {"ready": 1}),
    "a bad status": (None, {"b": 9, "phase": 1}),
    "unknown fields of a status": (None, {"ready": 1, "zz": 1}),
    "no status": ({"ready": 1}, None),
    "ready below zero": (None, {"ready": -1}),
    "ready that is a text": (None, {"ready": "x"}),
    "a selector that is a number": (None, {"ready": 1, "selector": 5}),
    "duplicate tags": (None, {"ready": 1, "tags": ["a", "a"]}),
    "a status that is a text": (None, "x"),
    "a null": (None, {"ready": 1, "phase": None}),
}


@pytest.mark.parametrize("name", STATUSES)
def test_an_update_of_the_status_fares_as_on_a_server(kinds: dict[str, Whole], name: str) -> None:
    kind = kinds["Namespaced"]
    before, after = STATUSES[name]
    body = kind.object({"a": 1})
    body["metadata"]["name"] = f"o{uuid.uuid4().hex[:8]}"
    code, stored = kind.send("POST", kind.path, body)
    assert code == 201, stored
    path = f"{kind.path}/{body['metadata']['name']}"
    if before is not None:
        code, stored = kind.send("PUT", f"{path}/status", {**stored, "status": before})
        assert code == 200, stored
    new = {name: each for name, each in stored.items() if name != "status"} | (
        {} if after is None else {"status": after}
    )
    new["spec"] = {"a": 3, "ignored": True}
    ours = kind.version.update_status(new, stored)
    code, answer = kind.send("PUT", f"{path}/status?dryRun=All&fieldValidation=Ignore", new)
    assert compare(ours, code, answer) is None, compare(ours, code, answer)
    if code == 200:
        assert ours.object is not None
        assert ours.object.get("status") == answer.get("status")
        assert answer["spec"] == {"a": 1}


UPDATES: dict[str, dict[str, Any]] = {
    "another label": {"metadata": {"labels": {"a": "b"}}},
    "a bad label": {"metadata": {"labels": {"-": "b"}}},
    "a bad owner": {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "", "uid": "x"}]}},
    "a status that is ignored": {"status": {"ready": -1}},
    "a bad spec": {"spec": {"a": 9}},
    "replicas below zero": {"spec": {"replicas": -1}},
}


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_fares_as_on_a_server(kinds: dict[str, Whole], name: str) -> None:
    kind = kinds["Namespaced"]
    body = kind.object({"a": 1})
    body["metadata"]["name"] = f"o{uuid.uuid4().hex[:8]}"
    code, stored = kind.send("POST", kind.path, body)
    assert code == 201, stored
    change = UPDATES[name]
    new = {**stored, **change, "metadata": {**stored["metadata"], **change.get("metadata", {})}}
    ours = kind.version.update(new, stored)
    path = f"{kind.path}/{body['metadata']['name']}"
    code, answer = kind.send("PUT", f"{path}?dryRun=All&fieldValidation=Ignore", new)
    assert compare(ours, code, answer) is None, compare(ours, code, answer)
    if code == 200:
        assert ours.object is not None
        assert ours.object.get("status") == answer.get("status")


def test_a_deep_object_is_one_that_a_server_would_take(kinds: dict[str, Whole]) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    kind = kinds["Namespaced"]
    body = kind.object({"replicas": 1, "a": 1, "deep": deep})
    assert kind.version.create(body).is_valid
    assert kind.send("POST", f"{kind.path}?dryRun=All&fieldValidation=Ignore", body)[0] == 201
    assert json.dumps(body)
