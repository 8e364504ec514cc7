"""The embedded server where a real control plane is meant: found, asked and used in the same ways."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import pytest

from kubewright.client import Client, ClientConfig, Forbidden
from kubewright.models.core.v1 import ConfigMap
from kubewright.testing import ClusterAccess, RequestFailed
from kubewright.testing.embedded_access import embedded_access
from kubewright.testing.namespaces import Namespaces


@pytest.fixture(scope="module")
def access() -> Iterator[ClusterAccess]:
    with embedded_access() as made:
        yield made


def test_the_kubeconfig_on_disk_is_the_administrators(access: ClusterAccess) -> None:
    async def main() -> None:
        async with Client.connect(ClientConfig.load(access.kubeconfig_path)) as client:
            assert len(await client.list(ConfigMap, namespace="default")) == 0

    asyncio.run(main())


def test_a_user_is_who_the_certificate_says(access: ClusterAccess) -> None:
    async def main() -> None:
        async with Client.connect(ClientConfig.from_kubeconfig(access.kubeconfig("jane", ["readers"]))) as client:
            with pytest.raises(Forbidden, match='User "jane" cannot list'):
                await client.list(ConfigMap)
        masters = access.kubeconfig("root", ["system:masters"])
        async with Client.connect(ClientConfig.from_kubeconfig(masters)) as client:
            assert len(await client.list(ConfigMap, namespace="default")) == 0

    asyncio.run(main())


def test_a_namespace_is_made_and_gone_with_all_that_is_in_it(access: ClusterAccess) -> None:
    with contextlib.closing(access.rest()) as rest:
        with contextlib.closing(Namespaces(access)) as namespaces:
            name = namespaces.create("mine")
            path = f"/api/v1/namespaces/{name}/configmaps"
            rest.request("POST", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
            namespaces.delete_later(name)
        with pytest.raises(RequestFailed):
            rest.get(f"/api/v1/namespaces/{name}")
        assert all(each["metadata"]["namespace"] != name for each in rest.get("/api/v1/configmaps")["items"])


def test_nothing_is_left_on_disk() -> None:
    with embedded_access() as access:
        folder = access.kubeconfig_path.parent
        assert folder.exists()
    assert not folder.exists()
