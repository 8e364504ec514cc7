"""A whole operator on a server of the same process, in virtual time: no sockets, no waiting, no cluster."""

from __future__ import annotations

import asyncio

import virtual
from kubewright import Context, Model, ObjectMeta, Operator, Resource, controller, resource
from kubewright.apiserver import Request, new_server
from kubewright.apiserver.inprocess import in_process_client
from kubewright.client import Client
from kubewright.models.core.v1 import ConfigMap

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class SiteSpec(Model):
    title: str
    is_big: bool = False


class SiteStatus(Model):
    pages: int = 0


@resource(group="example.com", version="v1")
class Site(Resource[SiteSpec, SiteStatus]):
    """A site of pages."""


@controller(Site, owns=[ConfigMap])
async def reconcile(site: Site, ctx: Context) -> None:
    def fill(page: ConfigMap) -> None:
        page.data = {"title": site.spec.title}

    page, _ = await ctx.create_or_patch(ConfigMap(metadata=ObjectMeta(name=site.metadata.name)), fill)
    site.status.pages = len(page.data)


async def titles(kube: Client) -> dict[str, str]:
    found = (await kube.list(ConfigMap)).items
    return {each.metadata.name: each.data["title"] for each in found if each.metadata.owner_references}


def test_an_operator_runs_on_a_server_in_process_and_follows_every_change() -> None:
    operator = Operator("site-operator", controllers=[reconcile])

    async def main() -> None:
        api = new_server()
        for each in operator.crds():
            answer = await api.handle(Request.of("POST", DEFINITIONS, body=each))
            assert answer.status == 201
        async with in_process_client(api) as kube, operator.start(kube):
            for name in ("a", "b", "c"):
                await kube.create(Site(metadata=ObjectMeta(name=name), spec=SiteSpec(title="first")))
            await asyncio.sleep(5)
            assert await titles(kube) == {"a": "first", "b": "first", "c": "first"}
            assert [each.status.pages for each in (await kube.list(Site)).items] == [1, 1, 1]

            site = await kube.get(Site, "a")
            site.spec.title = "second"
            await kube.update(site)
            await kube.delete(await kube.get(ConfigMap, "b"))
            await asyncio.sleep(5)
            assert await titles(kube) == {"a": "second", "b": "first", "c": "first"}

            fork = api.fork()
            async with in_process_client(fork) as beside:
                await beside.delete(await beside.get(ConfigMap, "c"))
                await asyncio.sleep(5)
                assert set(await titles(beside)) == {"a", "b"}, "nobody reconciles in the fork"
                assert set(await titles(kube)) == {"a", "b", "c"}

    virtual.run(main())
