"""CRDs on a real API server: the verdict, the fields and the texts have to be ours."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import broken_crds
import pytest

from kubewright.schema.structural.crdcheck import check_crd
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All"


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


def create(rest: Rest, crd: dict[str, Any], query: str = "") -> tuple[int, dict[str, Any]]:
    code, answer = rest._exchange("POST", CRDS + query, json.dumps(crd).encode(), "application/json")
    return code, json.loads(answer)


def shown(field: str, message: str) -> tuple[str, str]:
    """Without the value where it is a whole list of versions or schema, which a server shows in Go's form."""
    for opening, closing in (("[{", "]: "), ("{", "}: "), ("null", ": ")):
        if message.startswith(f"Invalid value: {opening}"):
            return field, message.rpartition(closing)[2]
    return field, message


@pytest.mark.parametrize("name", broken_crds.BROKEN)
def test_a_broken_crd_is_refused_in_the_words_of_a_server(rest: Rest, name: str) -> None:
    crd = broken_crds.made(broken_crds.BROKEN[name])
    ours = check_crd(crd)
    code, answer = create(rest, crd)
    assert code == 422, answer
    theirs = Counter(shown(each["field"], each["message"]) for each in answer["details"]["causes"])
    mine = Counter(shown(each.field, each.body) for each in ours.errors)
    assert mine == theirs


@pytest.mark.parametrize("name", broken_crds.FINE)
def test_a_good_crd_is_accepted(rest: Rest, name: str) -> None:
    crd = broken_crds.made(broken_crds.FINE[name])
    ours = check_crd(crd)
    code, answer = create(rest, crd)
    assert code == 201, answer
    assert ours.is_valid, ours.message


def test_unknown_fields_are_those_of_strict_validation(rest: Rest) -> None:
    crd = broken_crds.good()
    crd["spec"]["oops"] = 1
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["minimun"] = 1
    crd["spec"]["names"]["plurals"] = "x"
    fields = broken_crds.spec_of(crd)
    fields["ports"]["items"]["unseen"] = 1
    fields["labels"]["additionalProperties"]["unseen"] = 1
    crd["metadata"]["label"] = {}
    code, answer = create(rest, crd, "&fieldValidation=Strict")
    assert code == 400
    said = answer["message"].partition("strict decoding error: ")[2].split(", ")
    assert sorted(said) == sorted(f'unknown field "{each}"' for each in check_crd(crd).unknown)
    assert [each.rpartition(".")[2] for each in check_crd(crd).unseen] == ["unseen", "unseen"]
