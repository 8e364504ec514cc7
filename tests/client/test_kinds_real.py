"""What a real API server serves and to whom: kinds that are not there, discovery, RBAC, raw requests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from real_webs import GROUP, Run
from web_model import config_map

from kubewright.client import Client, ClientConfig, Forbidden, KindNotServed
from kubewright.model import unstructured

pytestmark = pytest.mark.control_plane


def test_a_kind_that_is_not_served(run: Run) -> None:
    async def body(client: Client) -> None:
        for kind in (unstructured(f"{GROUP}/v7", "Gizmo", plural="gizmos"), unstructured(f"{GROUP}/v7", "Gizmo")):
            with pytest.raises(KindNotServed, match="install its CustomResourceDefinition"):
                await client.find(kind, "a")
            with pytest.raises(KindNotServed):
                await client.list(kind)
            with pytest.raises(KindNotServed):
                async for _ in client.watch(kind, resource_version="5"):
                    pass
        with pytest.raises(KindNotServed) as missing:
            await client.list(unstructured("apps/v1beta1", "Deployment", plural="deployments"))
        assert [near.api_version for near in missing.value.near][:1] == ["apps/v1"]

    run(body)


def test_every_kind_of_the_server_is_resolved_alike_by_both_forms_of_discovery(run: Run) -> None:
    async def body(client: Client) -> None:
        from kubewright.client.discovery import Discovery

        class Older:
            async def request(self, method: str, target: str, **options: Any) -> Any:
                options["headers"] = (("accept", "application/json"),)
                return await client.http.request(method, target, **options)

        older, newer = Discovery(Older()), client.discovery
        for group, version, kind in (("", "v1", "Pod"), ("apps", "v1", "Deployment"), ("", "v1", "Node")):
            gvk = unstructured(f"{group}/{version}" if group else version, kind).__resource__.gvk
            assert await older.resolve(gvk) == await newer.resolve(gvk)

    run(body)


def test_who_may_not_hears_the_rule_to_add(control_plane: Any, namespace: str) -> None:
    async def main() -> None:
        config = ClientConfig.from_kubeconfig(control_plane.kubeconfig("nobody"))
        async with Client.connect(config, namespace=namespace) as client:
            with pytest.raises(Forbidden) as forbidden:
                await client.create(config_map())
            rule = forbidden.value.rule
            assert rule is not None
            assert (rule.verb, rule.resource, rule.namespace) == ("create", "configmaps", namespace)

    asyncio.run(main())


def test_raw(run: Run) -> None:
    async def body(client: Client) -> None:
        assert b"gitVersion" in (await client.raw("GET", "/version")).body
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        answer = await client.raw("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=review)
        assert answer.status == 201

    run(body)
