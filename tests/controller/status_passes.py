"""Passes whose reconcile changes an object, with what others do before and meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import virtual
from fakeapi import FakeApi
from kubewright import Context, Result, controller, unstructured
from kubewright.model import Condition, Model, Object, Resource, resource
from kubewright.models.apps.v1 import Deployment
from kubewright.models.core.v1 import ConfigMap
from running import Passes
from webs import Web

STATUS = "patch /apis/example.com/v1/namespaces/default/webs/a/status"
AnyWeb = unstructured("example.com/v1", "Web", plural="webs")


def condition(kind: str = "Ready", status: Any = "True", reason: str = "Up", **more: Any) -> Condition:
    return Condition(type=kind, status=status, reason=reason, **more)


def run_on(
    obj: Object,
    change: Callable[[Any], object],
    *,
    before: Callable[[FakeApi], object] = lambda api: None,
    meanwhile: Callable[[FakeApi], object] = lambda api: None,
    lag_seconds: float = 0.0,
    passes: int = 1,
    raises: Exception | None = None,
    result: Result | None = None,
) -> tuple[FakeApi, list[BaseException]]:
    """Passes whose reconcile changes the object by `change`; the server, and what the passes raised.

    Others do `before` before the first, and `meanwhile` during each; the watch is `lag_seconds` behind with that.
    """
    raised: list[BaseException] = []
    apis: list[FakeApi] = []

    @controller(type(obj))
    async def reconcile(obj: Any, ctx: Context) -> Result | None:
        change(obj)
        meanwhile(apis[0])
        await asyncio.sleep(0.5)
        if raises is not None:
            raise raises
        return result

    async def main() -> FakeApi:
        api = FakeApi(Web, Deployment, ConfigMap, Loose)
        apis.append(api)
        api.put(obj)
        async with Passes(api, reconcile) as run:
            before(api)
            await asyncio.sleep(0.001)
            api.lag_seconds = lag_seconds
            for _ in range(passes):
                try:
                    assert await run.run() == (result or Result())
                except Exception as error:
                    raised.append(error)
                run.now += timedelta(hours=1)
        return api

    return virtual.run(main()), raised


class LooseStatus(Model):
    ready: int = 0


@resource(group="example.com", version="v1", status=False)
class Loose(Resource[Model, LooseStatus]):
    """A kind without a status subresource."""


def status_of(api: FakeApi, name: str = "a") -> dict[str, Any]:
    found = api.get(AnyWeb, name)
    assert found is not None
    status = found.get("status", default={})
    assert isinstance(status, dict)
    return status


def ready_is_2(web: Web) -> None:
    web.status.ready = 2


def write_status(**status: Any) -> Callable[[FakeApi], object]:
    return lambda api: api.change(AnyWeb, "a", {"status": status}, at="status")
