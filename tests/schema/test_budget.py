"""The size of a CRD: how descriptions are cut, and what is said of one that no server can store."""

from __future__ import annotations

import re
import types
from typing import Any

import pytest

from kubewright.model import Model, Resource, resource
from kubewright.schema import SchemaError, crd_of, to_yaml
from kubewright.schema.budget import MAX_CRD_BYTES, cut_description, fits_annotation, size_of
from kubewright.testing.access import ClusterAccess
from kubewright.testing.errors import RequestFailed

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [
        ("Short.", 10, "Short."),
        ("First. Second sentence.", 15, "First."),
        ("First. Second. Third.", 14, "First. Second."),
        ("No e.g. end of a sentence here", 20, "No e.g."),
        ("one two three four", 11, "one two..."),
        ("one two three four", 10, "one two..."),
        ("longestwordofall", 10, "longest..."),
        ("anything", 0, ""),
        ("v1.2 is not an end", 12, "v1.2 is..."),
    ],
)
def test_a_description_ends_with_a_sentence_or_a_word(text: str, most: int, cut: str) -> None:
    assert cut_description(text, most) == cut
    assert len(cut) <= most or text == cut


class Spec(Model):
    description: str = "a default"
    """What is described. And more of it."""


@resource(group="budget.example.com", version="v1")
class Small(Resource[Spec]):
    """A small kind. With a second sentence."""


def test_every_description_is_cut_and_a_field_of_that_name_stays() -> None:
    crd = crd_of(Small, max_description=20)
    root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert root["description"] == "A small kind."
    assert root["properties"]["spec"]["properties"]["description"]["description"] == "What is described."
    assert max(map(len, re.findall(r"description: (.+)", to_yaml(crd)))) <= 20


def test_none_are_left_at_0() -> None:
    crd = crd_of(Small, max_description=0)
    field_ = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["description"]
    assert field_ == {"type": "string", "default": "a default"}


def large(characters: int) -> Any:
    """A kind with a default of a size."""
    blob = type("Blob", (Model,), {"__annotations__": {"text": str}, "text": "x" * characters})
    spec = type("LargeSpec", (Model,), {"__annotations__": {"blob": blob}, "blob": blob()})
    cls: Any = types.new_class("Large", (Resource[spec],))  # type: ignore[valid-type]
    return resource(group="budget.example.com", version="v1")(cls)


def test_a_crd_that_no_server_can_store_is_refused_with_what_is_large() -> None:
    with pytest.raises(SchemaError) as error:
        crd_of(large(2**21))
    said = str(error.value)
    assert "its CRD has 2,049 KiB, and a server stores at most 1,532 KiB" in said
    assert "the largest fields are v1 spec.blob 2,048 KiB" in said
    assert "--max-description), or mark what is large and not yours Schemaless()" in said


def test_what_client_side_apply_can_write_is_known() -> None:
    assert fits_annotation(crd_of(Small))
    assert not fits_annotation(crd_of(large(2**18)))


@pytest.mark.control_plane
def test_a_server_takes_what_is_just_below_the_limit_and_not_what_is_above(control_plane: ClusterAccess) -> None:
    rest = control_plane.rest()
    try:
        crd = crd_of(large(1000))
        properties = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        room = MAX_CRD_BYTES - size_of(crd)
        properties["blob"]["description"] = "x" * (room - 20)
        assert size_of(crd) <= MAX_CRD_BYTES
        rest.request("POST", CRDS, crd)
        rest.request("DELETE", f"{CRDS}/{crd['metadata']['name']}")
        properties["blob"]["description"] = "x" * (room + 8192)
        with pytest.raises(RequestFailed, match="request is too large"):
            rest.request("POST", CRDS, crd)
    finally:
        rest.close()
