"""What an API server itself puts into its cluster: the same as the real one, and right after each start."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from kubewright.apiserver import Request, Response, new_server
from kubewright.testing import ClusterAccess
from kubewright.testing.embedded import EmbeddedServer

CORE = "/api/v1/namespaces/default"
PATHS = (
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
    "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking",
    f"{CORE}/services/kubernetes",
    f"{CORE}/endpoints/kubernetes",
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes",
    "/apis/networking.k8s.io/v1/servicecidrs/kubernetes",
    "/apis/apiregistration.k8s.io/v1/apiservices/v1.",
    "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps",
    "/apis/apiregistration.k8s.io/v1/apiservices/v2.autoscaling",
    "/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical",
    "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
)
OF_A_SERVER = {"uid", "resourceVersion", "creationTimestamp", "managedFields"}


async def got(served: EmbeddedServer, path: str) -> Any:
    answer = await served.server.handle(Request.of("GET", path))
    assert isinstance(answer, Response)
    assert answer.status == 200, (path, answer.body)
    return answer.json


def shape(obj: Any) -> Any:
    """What there is of an object, without what is a server's own: addresses, ports, texts of certificates."""
    if isinstance(obj, dict):
        return {name: shape(each) for name, each in sorted(obj.items()) if name not in OF_A_SERVER | {"status"}}
    if isinstance(obj, list):
        return [shape(each) for each in obj]
    text = str(obj)
    return "..." if text[:1].isdigit() or "CERTIFICATE" in text else obj


@pytest.mark.control_plane
@pytest.mark.parametrize("path", PATHS)
def test_they_are_those_of_the_real_server(path: str, control_plane: ClusterAccess) -> None:
    with contextlib.closing(control_plane.rest()) as real:
        expected = shape(real.get(path))

    async def ours() -> Any:
        async with EmbeddedServer() as served:
            return shape(await got(served, path))

    assert asyncio.run(ours()) == expected


def test_a_new_start_on_another_port_sets_right_where_the_server_is(tmp_path: Path) -> None:
    async def main() -> None:
        uids = set()
        for _ in range(2):
            async with EmbeddedServer(data_dir=tmp_path) as served:
                port = int(served.url.rpartition(":")[2])
                service = await got(served, f"{CORE}/services/kubernetes")
                endpoints = await got(served, f"{CORE}/endpoints/kubernetes")
                assert service["spec"]["clusterIP"] == "10.96.0.1"
                assert service["spec"]["ports"][0]["targetPort"] == port
                assert endpoints["subsets"][0]["ports"][0]["port"] == port
                uids.add(service["metadata"]["uid"])
        assert len(uids) == 1

    asyncio.run(main())


def test_a_start_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    async def revision(port: int) -> tuple[int, int]:
        async with EmbeddedServer(data_dir=tmp_path, port=port) as served:
            return served.server.store.revision, int(served.url.rpartition(":")[2])

    before, port = asyncio.run(revision(0))
    assert asyncio.run(revision(port)) == (before, port)


def test_who_owns_nothing_of_an_object_is_not_named_in_it() -> None:
    async def main() -> None:
        body = {"metadata": {"name": "a"}}
        answer = await new_server().handle(Request.of("POST", f"{CORE}/serviceaccounts", body=body))
        assert isinstance(answer, Response)
        assert answer.status == 201
        assert "managedFields" not in answer.json["metadata"]

    asyncio.run(main())
