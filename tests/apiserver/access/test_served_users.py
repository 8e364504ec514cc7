"""Users behind HTTPS: by static tokens, by those of service accounts, and over restarts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kubewright import ObjectMeta, unstructured
from kubewright.apiserver import User
from kubewright.client import Client, ClientConfig, Forbidden, Unauthorized
from kubewright.models.core.v1 import ConfigMap, ServiceAccount
from kubewright.models.rbac.v1 import ClusterRoleBinding, RoleRef, Subject
from kubewright.testing.embedded import EmbeddedServer

JANE = User("jane", ("team", "system:authenticated"))
TokenRequest = unstructured("authentication.k8s.io/v1", "TokenRequest", plural="tokenrequests")
GROUP = "rbac.authorization.k8s.io"


async def let_view(admin: Client, subject: Subject) -> None:
    role = RoleRef(kind="ClusterRole", name="view", api_group=GROUP)
    await admin.create(ClusterRoleBinding(metadata=ObjectMeta(name="viewers"), subjects=[subject], role_ref=role))


def test_anybody_may_ask_as_roles_allow() -> None:
    async def main() -> None:
        async with EmbeddedServer() as served, Client.connect(served.config) as admin:
            async with Client.connect(served.config_of(JANE)) as jane:
                with pytest.raises(Forbidden):
                    await jane.list(ConfigMap)
                await let_view(admin, Subject(kind="Group", name="team", api_group=GROUP))
                # Aggregated roles are filled in, as where controllers run.
                await jane.list(ConfigMap)
                with pytest.raises(Forbidden):
                    await jane.create(ConfigMap(metadata=ObjectMeta(name="a")))
            assert served.kubeconfig(JANE) == served.kubeconfig(JANE) != served.kubeconfig()

    asyncio.run(main())


def test_tokens_of_service_accounts_outlive_a_start(tmp_path: Path) -> None:
    async def main() -> None:
        async with EmbeddedServer(data_dir=tmp_path) as served, Client.connect(served.config) as admin:
            account = await admin.create(ServiceAccount(metadata=ObjectMeta(name="a")))
            await let_view(admin, Subject(kind="ServiceAccount", name="a", namespace="default"))
            made = await admin.create(TokenRequest(), of=account, subresource="token")
            token = made.get("status", "token")
        async with EmbeddedServer(data_dir=tmp_path) as served:
            config = ClientConfig(server=served.url, ca_data=served.ca, token=token)
            async with Client.connect(config) as account:
                await account.list(ConfigMap)
        async with EmbeddedServer(data_dir=tmp_path / "other") as served:
            config = ClientConfig(server=served.url, ca_data=served.ca, token=token)
            async with Client.connect(config) as account:
                with pytest.raises(Unauthorized):
                    await account.list(ConfigMap)

    asyncio.run(main())
