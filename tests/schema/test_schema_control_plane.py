"""The golden kinds on a real API server: every CRD is taken, and does what its class says.

All of it lives in an API group of its own per run, so that several workers can share a server.
"""

from __future__ import annotations

import copy
import time
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import schema_kinds

from kubewright.schema import crd_of
from kubewright.testing.access import ClusterAccess
from kubewright.testing.errors import RequestFailed
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PATIENCE_SECONDS = 30.0


class Served(NamedTuple):
    """A kind on the server: `path` is its collection."""

    rest: Rest
    path: str
    crd: dict[str, Any]

    def body(self, spec: Any, name: str = "a") -> dict[str, Any]:
        group, names = self.crd["spec"]["group"], self.crd["spec"]["names"]
        api_version = f"{group}/{self.crd['spec']['versions'][0]['name']}"
        return {"apiVersion": api_version, "kind": names["kind"], "metadata": {"name": name}, "spec": spec}

    def create(self, spec: Any, *, dry_run: bool = True) -> dict[str, Any]:
        name = f"o{uuid.uuid4().hex[:8]}"
        query = "?fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
        return self.rest.request("POST", self.path + query, self.body(spec, name))

    def change(self, obj: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
        return self.rest.request("PUT", f"{self.path}/{obj['metadata']['name']}", {**obj, "spec": spec})


def _create(rest: Rest, crd: dict[str, Any]) -> Served:
    rest.request("POST", CRDS, crd)
    spec = crd["spec"]
    version = spec["versions"][0]["name"]
    inside = "namespaces/default/" if spec["scope"] == "Namespaced" else ""
    path = f"/apis/{spec['group']}/{version}/{inside}{spec['names']['plural']}"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not _is_served(rest, crd["metadata"]["name"], path):
        assert time.monotonic() < deadline, rest.get(f"{CRDS}/{crd['metadata']['name']}")["status"]
        time.sleep(0.05)
    return Served(rest, path, crd)


def _is_served(rest: Rest, name: str, path: str) -> bool:
    conditions = rest.get(f"{CRDS}/{name}").get("status", {}).get("conditions") or []
    established = any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
    return established and rest.status(path) == 200  # for a moment it answers 404, or 429


@pytest.fixture(scope="module")
def group() -> str:
    return f"g{uuid.uuid4().hex[:8]}.example.com"


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def served(rest: Rest, group: str) -> Iterator[dict[str, Served]]:
    """All kinds of the table, by name."""
    kinds = {}
    try:
        for name, versions in schema_kinds.KINDS.items():
            crd = copy.deepcopy(crd_of(*versions))
            crd["spec"]["group"] = group
            crd["metadata"]["name"] = f"{crd['spec']['names']['plural']}.{group}"
            kinds[name] = _create(rest, crd)
        yield kinds
    finally:
        for kind in kinds.values():
            rest.request("DELETE", f"{CRDS}/{kind.crd['metadata']['name']}")


def test_every_crd_is_established(served: dict[str, Served], rest: Rest) -> None:
    for kind in served.values():
        conditions = rest.get(f"{CRDS}/{kind.crd['metadata']['name']}")["status"]["conditions"]
        assert {each["type"]: each["status"] for each in conditions}["Established"] == "True"
        assert not any(each["type"] == "NonStructuralSchema" for each in conditions)


def test_the_server_keeps_the_schema_as_it_was_written(served: dict[str, Served], rest: Rest) -> None:
    for kind in served.values():
        stored = rest.get(f"{CRDS}/{kind.crd['metadata']['name']}")
        for ours, theirs in zip(kind.crd["spec"]["versions"], stored["spec"]["versions"], strict=True):
            assert theirs["schema"] == ours["schema"]


def test_defaults_are_filled_in_at_every_depth(served: dict[str, Served]) -> None:
    leaf, other = {"name": "leaf"}, {"name": "other", "weight": 3}
    branch = {"leaf": leaf, "other": other}
    rest = served["nested"].rest
    body = served["nested"].body({})
    del body["spec"]
    created = rest.request("POST", f"{served['nested'].path}?dryRun=All", body)
    assert created["spec"] == {
        "branch": branch,
        "words": ["a", "b"],
        "ports": {"http": 80},
        "leaves": [leaf, {"name": "x"}],
        "serverSide": "set by the server",
    }
    given = served["nested"].create({"branches": [{"leaf": {"weight": 1}}], "byName": {"a": {}}})["spec"]
    assert given["branches"] == [{"leaf": {"name": "leaf", "weight": 1}, "other": other}]
    assert given["byName"] == {"a": leaf}


def test_a_server_defaults_to_what_python_defaults_to(served: dict[str, Served]) -> None:
    required = {
        "text": "", "number": 0, "ratio": 0, "flag": False, "data": "AP8=", "at": "2026-01-02T03:04:05Z",
        "atMicro": "2026-01-02T03:04:05.000000Z", "day": "2026-01-02", "every": "1s", "size": 1, "target": 1,
        "uid": schema_kinds.GOOD_UUID, "color": "red", "magnitude": 1, "letter": "on", "digit": 1, "user": 1, "port": 1,
        "anything": {},
    }  # fmt: skip
    created = served["scalar"].create(required)["spec"]
    assert {name: value for name, value in created.items() if name not in required} == {
        "defaultText": "1e3",
        "defaultEmpty": "",
        "defaultNumber": 0,
        "defaultRatio": 0.5,
        "defaultFlag": False,
        "defaultData": "AP8=",
        "defaultAt": "2026-01-02T03:04:05Z",
        "defaultEvery": "1h30m",
        "defaultSize": "500m",
        "defaultTarget": "25%",
        "defaultColor": "green",
        "defaultMagnitude": 10,
        "defaultLetter": "n",
        "defaultPort": 8080,
    }
    for name in required:
        with pytest.raises(RequestFailed, match=f"spec.{name}"):
            served["scalar"].create({other: value for other, value in required.items() if other != name})


@pytest.mark.parametrize(
    ("before", "after", "blamed"),
    [
        ({}, {"storage": "2Gi"}, "spec.storage"),
        ({"namespace": "a"}, {"namespace": "b"}, "spec.namespace"),
        ({"namespace": "a"}, {}, "namespace is immutable and cannot be removed once it is set"),
        ({"whole": {"a": 1}}, {"whole": {"a": 2}}, "spec.whole"),
        ({"onlyUp": 2}, {"onlyUp": 1}, "must not go down"),
        ({"parts": [{"name": "a", "size": 1}]}, {"parts": [{"name": "a", "size": 2}]}, "spec.parts"),
        ({"parts": [{"name": "a", "size": 1}]}, {"parts": [{"name": "a"}]}, "size is immutable"),
        ({"byName": {"a": 1}}, {"byName": {"a": 2}}, "spec.byName"),
    ],
)
def test_a_transition_rule_refuses_the_change(
    served: dict[str, Served], before: dict[str, Any], after: dict[str, Any], blamed: str
) -> None:
    obj = served["change"].create(before, dry_run=False)
    with pytest.raises(RequestFailed) as error:
        served["change"].change(obj, after)
    assert error.value.code == 422
    assert blamed in str(error.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"namespace": "a", "whole": {"a": 1}, "onlyUp": 1, "parts": [{"name": "a", "size": 1}]}),
        ({"namespace": "a", "parts": [{"name": "a"}]}, {"namespace": "a", "parts": [{"name": "a", "size": 1}]}),
        ({"parts": [{"name": "a", "size": 1}]}, {"parts": [{"name": "b", "size": 2}]}),
        ({"byName": {"a": 1}}, {"byName": {"b": 2}}),
    ],
)
def test_a_transition_rule_lets_what_was_absent_be_set(
    served: dict[str, Served], before: dict[str, Any], after: dict[str, Any]
) -> None:
    obj = served["change"].create(before, dry_run=False)
    served["change"].change(obj, after)


def test_a_rule_above_a_kind_sees_its_name(served: dict[str, Served]) -> None:
    with pytest.raises(RequestFailed, match="at most 10 characters"):
        served["change"].rest.request(
            "POST", f"{served['change'].path}?dryRun=All", served["change"].body({}, "a-long-name-indeed")
        )


def test_metadata_of_embedded_templates_is_kept(served: dict[str, Served]) -> None:
    pod = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["example.com/x"]},
        "spec": {"containers": [{"name": "a", "image": "b", "ports": [{"containerPort": 80}]}]},
    }
    claim = {"metadata": {"name": "data", "labels": {"a": "b"}}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    spec = {"template": pod, "selector": {"matchLabels": {"a": "b"}}, "volumeClaimTemplates": [claim]}
    created = served["workload"].create(spec)["spec"]
    assert created["template"]["metadata"] == pod["metadata"]
    assert created["template"]["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert created["volumeClaimTemplates"] == [claim]
    assert created["selector"] == spec["selector"]


def test_columns_and_scale_work(served: dict[str, Served], control_plane: ClusterAccess, group: str) -> None:
    obj = served["scaled"].create({"hosts": ["x.example.com", "y"], "size": "1Gi", "ratio": 0.5}, dry_run=False)
    name = obj["metadata"]["name"]
    wide = control_plane.kubectl("get", f"scaleds.{group}", name, "-o", "wide").splitlines()
    head = "NAME REPLICAS AT RATIO PAUSED SIZE FIRST HOSTS READY GENERATION APP BORN"
    assert " ".join(wide[0].split()) == head
    assert wide[1].split()[:6] == [name, "1", "0.5", "false", "1Gi", "x.example.com"]
    control_plane.kubectl("scale", f"scaleds.{group}", name, "--replicas=4")
    assert served["scaled"].rest.get(f"{served['scaled'].path}/{name}")["spec"]["replicas"] == 4


def test_selectable_fields_select(served: dict[str, Served], control_plane: ClusterAccess, group: str) -> None:
    names = {
        paused: served["scaled"].create({"paused": paused}, dry_run=False)["metadata"]["name"]
        for paused in (True, False)
    }
    found = control_plane.kubectl("get", f"scaleds.{group}", "--field-selector=spec.paused=true", "-o", "name")
    assert names[True] in found
    assert names[False] not in found


def test_labels_and_annotations_of_a_crd_are_stored(served: dict[str, Served], rest: Rest) -> None:
    metadata = rest.get(f"{CRDS}/{served['scaled'].crd['metadata']['name']}")["metadata"]
    assert metadata["labels"] == {"app.kubernetes.io/part-of": "golden"}
    assert metadata["annotations"] == {"example.com/owner": "the golden team"}


def test_an_age_column_is_shown_beside_those_of_the_kind(
    served: dict[str, Served], control_plane: ClusterAccess, group: str
) -> None:
    served["plain"].create({"image": "a"}, dry_run=False)
    head = control_plane.kubectl("get", f"plains.{group}").splitlines()[0]
    assert head.split() == ["NAME", "READY", "AGE"]


def test_kubectl_explains_a_kind_in_the_words_of_its_docstrings(
    served: dict[str, Served], control_plane: ClusterAccess, group: str
) -> None:
    assert served["docs"]
    deadline = time.monotonic() + PATIENCE_SECONDS
    said = ""
    while "What stands under a field is its description" not in said:  # OpenAPI follows a moment after
        assert time.monotonic() < deadline, said
        time.sleep(0.2)
        try:
            said = control_plane.kubectl("explain", "docs.spec", f"--api-version={group}/v1")
        except Exception as error:
            said = str(error)
    assert "field\t<string>" in said
