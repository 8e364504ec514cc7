"""Projections: what stays of an object, and what cannot be taken from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watching import encode, obj

from kubewright.cache import drop, keep
from kubewright.cache.frame import entry_of
from kubewright.cache.transform import Transform, intake_of

POD = {
    **obj("a", 5, labels={"app": "web"}, annotations={"big": "x", "small": "y"}),
    "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}], "replicas": 3},
    "status": {"phase": "Running"},
}


def kept(transform: Transform, value: Any = POD) -> Any:
    intake = intake_of(transform)
    assert intake is not None
    return json.loads(intake(entry_of(encode(value))).data)


def test_keep_leaves_the_metadata_and_what_is_named() -> None:
    assert kept(keep("spec.nodeName", "status")) == {
        "apiVersion": "v1",
        "kind": "Thing",
        "metadata": POD["metadata"],
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running"},
    }


def test_drop_leaves_all_but_what_is_named() -> None:
    without = kept(drop("spec.containers", "status", "metadata.annotations.big"))
    assert without["spec"] == {"nodeName": "n", "replicas": 3}
    assert without["metadata"]["annotations"] == {"small": "y"}
    assert "status" not in without


def test_what_is_not_there_is_neither_kept_nor_dropped() -> None:
    assert kept(keep("no.such", "spec.no")) == {
        "apiVersion": "v1",
        "kind": "Thing",
        "metadata": POD["metadata"],
        "spec": {},
    }
    assert kept(drop("no.such", "spec.no", "spec.nodeName.deeper")) == POD


def test_of_a_path_and_one_below_it_the_whole_is_meant() -> None:
    assert kept(keep("spec", "spec.nodeName"))["spec"] == POD["spec"]
    assert kept(keep("spec.nodeName", "spec"))["spec"] == POD["spec"]
    assert "spec" not in kept(drop("spec", "spec.nodeName"))


@pytest.mark.parametrize("path", ["metadata", "kind", "metadata.uid", "metadata.ownerReferences", "metadata.labels"])
def test_what_every_reader_relies_on_cannot_be_dropped(path: str) -> None:
    with pytest.raises(ValueError, match=r"every reader of the cache relies on it"):
        drop(path)


@pytest.mark.parametrize("path", ["", ".spec", "spec..a", "spec."])
def test_a_path_with_an_empty_name_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="has an empty name in it"):
        keep(path)


def test_an_entry_keeps_its_identity_and_version_whatever_a_function_does() -> None:
    def destructive(obj: dict[str, Any]) -> dict[str, Any]:
        return {"metadata": {"name": "other"}}

    intake = intake_of(destructive)
    assert intake is not None
    found = intake(entry_of(encode(POD)))
    assert (found.namespace, found.name, found.uid, found.resource_version) == ("ns", "a", "uid-a", "5")
    assert found.data == b'{"metadata":{"name":"other"}}'


def test_a_function_that_returns_no_object_says_so() -> None:
    with pytest.raises(TypeError, match="returned NoneType; it must return the object as a dict"):
        kept(lambda obj: None)  # type: ignore[arg-type,return-value]


def test_no_transform_is_no_intake() -> None:
    assert intake_of(None) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)
PATHS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(".".join), max_size=3)


@given(st.dictionaries(st.sampled_from("abc"), JSON), PATHS)
def test_keep_and_drop_are_idempotent_and_the_same_on_bytes_and_on_dicts(fields: dict[str, Any], paths: Any) -> None:
    value = {**obj("a", 5), **fields}
    for made in (keep(*paths), drop(*paths)):
        once = kept(made, value)
        assert kept(made, once) == once
        assert made(value) == once


@given(st.dictionaries(st.sampled_from("abc"), JSON), PATHS)
def test_what_is_kept_and_what_is_dropped_by_whole_fields_are_the_object(fields: dict[str, Any], paths: Any) -> None:
    value = {**obj("a", 5), **fields}
    tops = [path.split(".")[0] for path in paths]
    left, right = kept(keep(*tops), value), kept(drop(*tops), value)
    assert {**left, **right} == value
