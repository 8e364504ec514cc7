"""What a controller has written of its children wakes it no more; what it looked for before, or another has, does."""

from __future__ import annotations

import asyncio

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.controller import owned
from kubewright.controller.predicates import generation_changed, where
from kubewright.models.core.v1 import ConfigMap
from running import running
from webs import Web, config, web


def children(act: object = None, *, first: object = None, **options: object) -> list[str]:
    """The causes of all passes of a controller that applies a ConfigMap, and does something before."""
    causes: list[str] = []

    @controller(Web, **{"owns": [ConfigMap], **options})  # type: ignore[call-overload]
    async def reconcile(web: Web, ctx: Context) -> None:
        causes.append(", ".join(sorted(map(str, ctx.causes))))
        if callable(first):
            await first(ctx)
        await ctx.apply(config("child", replicas=str(web.spec.replicas)))

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, latency_seconds=0.01)
        async with running(api, reconcile):
            api.put(web())
            await asyncio.sleep(5)
            if callable(act):
                act(api)
            await asyncio.sleep(5)

    virtual.run(main())
    return causes


def test_a_child_that_a_reconcile_has_made_and_changed_does_not_wake_it() -> None:
    assert children(lambda api: api.change(Web, "a", {"spec": {"replicas": 7}})) == ["added", "updated"]


def test_a_child_that_another_changes_or_removes_does() -> None:
    assert children(lambda api: api.change(ConfigMap, "child", {"data": {"x": "y"}}))[1:] == ["updated ConfigMap child"]
    assert children(lambda api: api.remove(ConfigMap, "child"))[1:] == ["deleted ConfigMap child"]


async def _owned(ctx: Context) -> object:
    return await ctx.owned(ConfigMap)


async def _list(ctx: Context) -> object:
    return await ctx.list(ConfigMap)


async def _find(ctx: Context) -> object:
    return await ctx.find(ConfigMap, "child")


async def _live(ctx: Context) -> object:
    return await ctx.client.find(ConfigMap, "child", namespace="default")


async def _mutate(ctx: Context) -> object:
    return await ctx.create_or_patch(config("child"), lambda found: None)


async def _twice(ctx: Context) -> object:
    return await ctx.apply(config("child", replicas="0"))


@pytest.mark.parametrize("first", [_owned, _list, _find, _live, _mutate, _twice])
def test_after_it_has_looked_for_its_like_a_child_that_it_made_is_news(first: object) -> None:
    causes = children(first=first)
    assert "ConfigMap child" in causes[1]


def test_other_owners_hear_of_a_child_that_one_of_them_wrote() -> None:
    assert children(owns=[owned(ConfigMap, any_owner=True)]) == ["added", "added ConfigMap child"]


def test_a_predicate_that_hides_echoes_leaves_nothing_behind() -> None:
    @controller(Web, owns=[owned(ConfigMap, predicate=where(lambda config: False))], predicate=generation_changed)
    async def reconcile(web: Web, ctx: Context) -> None:
        await ctx.apply(config("child", replicas=str(web.spec.replicas)))
        web.status.ready = web.spec.replicas

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, latency_seconds=0.01)
        async with running(api, reconcile) as manager:
            api.put(web())
            await asyncio.sleep(5)
            echoes = manager._runners[0]._reconciler.echoes
            assert echoes is not None
            assert len(echoes) == 0

    virtual.run(main())
