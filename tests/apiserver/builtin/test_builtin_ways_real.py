"""How objects of each kind come and go: creation and change by PUT, deletion, what is answered, as on a real server."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from both import Both, compared
from change_cases import BASES
from differential import Real, kind_of

from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

Object = dict[str, Any]


@pytest.fixture(scope="module")
def both(control_plane: ClusterAccess) -> Iterator[Both]:
    real = Real(control_plane.url, control_plane.pki)
    name = f"ways-{uuid.uuid4().hex[:8]}"
    assert real.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})[0] == 201
    servers = Both(real, name, slot=1)
    for base in BASES.values():
        servers.make(base)
    yield servers
    for base in BASES.values():
        servers.remove(base)
    real.send("DELETE", f"/api/v1/namespaces/{name}")


@pytest.mark.parametrize("name", sorted(BASES))
def test_a_put_of_what_is_not_there_makes_it_or_is_404(name: str, both: Both) -> None:
    obj = both.here(BASES[name])
    obj["metadata"]["name"] = "10.200.77.7" if obj["kind"] == "IPAddress" else "none.such.example.com"
    path = both.path(obj)
    ours, theirs = compared(both.ask("PUT", f"{path}?dryRun=All", obj))
    assert ours == theirs


@pytest.mark.parametrize("name", sorted(BASES))
def test_a_put_without_a_revision_is_taken_or_refused(name: str, both: Both) -> None:
    ours, theirs = compared(both.change(BASES[name], "", {"metadata.resourceVersion": ""}))
    assert ours == theirs


@pytest.mark.parametrize("options", [{}, {"gracePeriodSeconds": 0}, {"propagationPolicy": "Foreground"}])
@pytest.mark.parametrize("name", sorted(BASES))
def test_a_deletion_answers_with_a_status_or_the_object(name: str, options: Object, both: Both) -> None:
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"], **options}
    ours, theirs = compared(both.ask("DELETE", both.path(BASES[name]), body))
    assert ours == theirs


@pytest.mark.parametrize("name", sorted(BASES))
def test_a_second_object_of_the_same_name_is_refused(name: str, both: Both) -> None:
    obj = both.here(BASES[name])
    path = both.path(obj).rpartition("/")[0]
    ours, theirs = compared(both.ask("POST", f"{path}?dryRun=All", obj))
    assert ours == theirs


@pytest.mark.parametrize("name", sorted(name for name, base in BASES.items() if "status" in kind_of(base).subresources))
def test_a_status_can_be_read_by_its_own_path(name: str, both: Both) -> None:
    ours, theirs = compared(both.ask("GET", f"{both.path(BASES[name])}/status"))
    assert ours == theirs
