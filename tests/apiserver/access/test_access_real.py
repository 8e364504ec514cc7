"""The access of a real cluster beside ours: what is there from the start, and what its controllers make of it."""

from __future__ import annotations

import contextlib
from typing import Any

import orjson
import pytest

from kubewright.apiserver import new_server
from kubewright.apiserver.access import make
from kubewright.apiserver.access.bootstrap import BOOTSTRAP_PATH
from kubewright.apiserver.registry.call import resource_key
from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

GROUP = "rbac.authorization.k8s.io"


def test_the_recorded_roles_are_those_of_a_real_cluster(control_plane: ClusterAccess) -> None:
    with contextlib.closing(control_plane.rest()) as rest:
        bootstrapped = "?labelSelector=kubernetes.io/bootstrapping%3Drbac-defaults"
        made = make.build(lambda path: rest.get(path + bootstrapped))
    found, recorded = orjson.loads(made), orjson.loads(BOOTSTRAP_PATH.read_bytes())
    for plural, objects in recorded.items():
        assert found[plural] == [each for each in objects if "labels" in each["metadata"]], plural


def test_aggregated_roles_are_those_of_a_real_controller(control_plane_with_nodes: ClusterAccess) -> None:
    store = new_server(garbage=True).store
    with contextlib.closing(control_plane_with_nodes.rest()) as rest:
        for name in ("admin", "edit", "view"):
            real: dict[str, Any] = rest.get(f"/apis/{GROUP}/v1/clusterroles/{name}")
            entry = store.get(resource_key(GROUP, "clusterroles"), name)
            assert entry is not None
            assert entry.object["rules"] == real["rules"], name
