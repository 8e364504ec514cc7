"""The data file says of the built-in kinds what a real server says of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from kubewright.apiserver.builtin import make
from kubewright.apiserver.builtin.datafile import Data
from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def fetch(control_plane: ClusterAccess) -> Iterator[make.Fetch]:
    with contextlib.closing(control_plane.rest()) as rest:
        yield lambda path, accept: rest.get(path, accept=accept)


def test_resources_verbs_names_and_columns_come_in_the_order_of_discovery(fetch: make.Fetch) -> None:
    ours = Data().resources
    # Other tests have definitions of their own on the same server, which come and go.
    assert make.resources(fetch, only=[group["group"] for group in ours]) == ours


def test_schemas_are_those_of_the_real_server(fetch: make.Fetch) -> None:
    data, theirs = Data(), make.schemas(fetch)
    for group in data.resources:
        for version in group["versions"]:
            name = "_".join(each for each in (group["group"], version["version"]) if each)
            assert data.get(f"openapi/{name}.json") == theirs[f"openapi/{name}.json"]
            for component in data.get(f"openapi/{name}.json"):
                prefix, _, short = component.rpartition(".")
                assert data.schema(component) == theirs[f"schemas/{prefix}.json"][short]


def test_parameters_of_operations_are_those_of_the_real_server(fetch: make.Fetch) -> None:
    assert make.parameters(fetch) == {"openapi/parameters.json": Data().get("openapi/parameters.json")}
