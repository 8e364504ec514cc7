"""The subresources of a real API server: what is below an object has a kind of its own."""

from __future__ import annotations

import pytest
from real_webs import AnyWeb, Binding, Deployment, Eviction, Pod, Run, ServiceAccount, TokenRequest, Web, web

from kubewright.client import Client, Conflict, MergePatch, NotFound, Scale
from kubewright.client.scale import ScaleSpec
from kubewright.model import ObjectMeta

pytestmark = pytest.mark.control_plane


def test_scale_of_a_custom_resource_and_of_a_deployment(web_run: Run) -> None:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}

    async def body(client: Client) -> None:
        await client.create(web())
        await client.create(Deployment(metadata=ObjectMeta(name="a"), content={"spec": spec}))
        for kind in (Web, Deployment, AnyWeb):
            scale = await client.get_scale(kind, "a")
            stale = await client.get(Scale, "a", of=kind, subresource="scale")
            scale.spec.replicas += 1
            assert (await client.update_scale(kind, scale)).spec.replicas == scale.spec.replicas
            with pytest.raises(Conflict):
                await client.update_scale(kind, stale)
        assert (await client.get(Web, "a")).spec.replicas == 3
        obj = await client.get(Web, "a")
        await client.update_scale(obj, Scale(metadata=ObjectMeta(name="a"), spec=ScaleSpec(replicas=9)))
        patched = await client.patch(Scale, MergePatch({"spec": {"replicas": 4}}), of=obj, subresource="scale")
        assert patched.spec.replicas == 4
        with pytest.raises(NotFound):
            await client.get_scale(Deployment, "b")

    web_run(body)


def test_token_eviction_and_binding(run: Run, namespace: str) -> None:
    async def body(client: Client) -> None:
        account = await client.create(ServiceAccount(metadata=ObjectMeta(name="sa")))
        token = await client.create(
            TokenRequest(content={"spec": {"expirationSeconds": 600}}), of=account, subresource="token"
        )
        assert token.get("status", "token").count(".") == 2
        pod = {"serviceAccountName": "sa", "containers": [{"name": "a", "image": "a"}]}
        for name in ("p", "q"):
            await client.create(Pod(metadata=ObjectMeta(name=name), content={"spec": pod}))
        binding = Binding(metadata=ObjectMeta(name="p"), content={"target": {"kind": "Node", "name": "n"}})
        assert await client.create(binding, of=Pod, subresource="binding") is binding
        assert (await client.get(Pod, "p"))["spec"]["nodeName"] == "n"
        eviction = Eviction(metadata=ObjectMeta(name="q", namespace=namespace))
        assert await client.create(eviction, of=Pod, subresource="eviction") is eviction
        assert await client.find(Pod, "q") is None
        await client.delete(Pod, "p", grace_period_seconds=0)

    run(body)
