"""Passes on a server whose body is that of a test: what its Context does is seen on the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.model import Model, Resource, resource
from kubewright.models.core.v1 import ConfigMap
from running import Passes
from webs import Web, config, web

APPLY = "apply /api/v1/namespaces/default/configmaps/child"
Body = Callable[[Web, Context], Awaitable[object]]


@resource(group="example.com", version="v1", namespaced=False)
class Zone(Resource[Model, Model]):
    """A cluster-scoped kind."""


def on_server(
    body: Body,
    test: Callable[[FakeApi, Passes], Awaitable[object]],
    *,
    owns: bool = True,
    namespace: str = "default",
) -> FakeApi:
    """Run `test`, whose passes call `body`, with one Web `a` on the server."""

    @controller(Web, owns=[ConfigMap] if owns else [])
    async def reconcile(web: Web, ctx: Context) -> None:
        await body(web, ctx)

    async def main() -> FakeApi:
        api = FakeApi(Web, ConfigMap, Zone)
        api.put(web(namespace=namespace))
        async with Passes(api, reconcile) as passes:
            await test(api, passes)
        return api

    return virtual.run(main())


async def child(web: Web, ctx: Context) -> object:
    return await ctx.apply(config("child", a="1"))


def data(api: FakeApi, name: str = "child") -> dict[str, str]:
    found = api.get(ConfigMap, name)
    assert found is not None
    return dict(found.data)
