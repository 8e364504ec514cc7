"""Simulations: whatever others, webhooks, faults and other controllers do to children, the last state is seen."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, MergePatch, Result, Retry, after, controller
from kubewright.controller import runner
from kubewright.models.core.v1 import ConfigMap
from running import running
from webs import Web, config, web

NAMES = "abcd"


async def _looked(ctx: Context, child: ConfigMap, random: Random) -> ConfigMap | None:
    """Apply a child and see it, in one of many orders."""
    name, style = child.metadata.name, random.randrange(6)

    async def look() -> ConfigMap | None:
        await asyncio.sleep(random.random() * random.choice((0.0, 0.02, 0.1)))
        return await ctx.find(ConfigMap, name)

    if style == 0:
        found = await look()
        await ctx.apply(child)
    elif style == 1:
        found = await ctx.apply(child)
    elif style == 2:
        _, found = await asyncio.gather(ctx.apply(child), look())
    elif style == 3:
        await ctx.apply(child)
        found = await look()
    elif style == 4:
        found = await ctx.client.find(ConfigMap, name, namespace="default")
        await ctx.apply(child)
    else:
        _, found = await asyncio.gather(ctx.apply(child), ctx.apply(child))
    return found


def _answer(web: Web, child: ConfigMap | None) -> str:
    meta = web.metadata
    seen = [meta.labels.get("a"), meta.annotations.get("by"), child.data.get("x") if child is not None else None]
    return f"{seen} {web.spec.replicas} {web.status.ready}"


def _change(api: FakeApi, name: str, number: int, random: Random) -> None:
    what = random.random()
    if what < 0.15:
        api.change(Web, name, {"spec": {"replicas": number}})
    elif what < 0.3:
        api.change(Web, name, {"status": {"ready": number}}, at="status")
    elif what < 0.4:
        api.change(Web, name, {"metadata": {"labels": {"a": str(number)}}})
    elif api.get(ConfigMap, name) is None:
        return
    elif what < 0.85:
        api.change(ConfigMap, name, {"data": {"x": str(number)}})
    else:
        api.remove(ConfigMap, name)


@pytest.mark.parametrize("seed", range(4))
def test_no_change_of_a_child_is_ever_lost(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    is_quiet = False
    second_saw: dict[str, str] = {}
    if seed % 2:
        monkeypatch.setattr(runner, "_STATES_KEPT", 1)

    @controller(Web, owns=[ConfigMap], workers=3)
    async def reconcile(web: Web, ctx: Context) -> Result | None:
        found = await _looked(ctx, config(web.metadata.name, replicas=str(web.spec.replicas)), random)
        web.status.seen = _answer(web, found)
        if not is_quiet and random.random() < 0.3:
            raise random.choice((Retry("not yet"), RuntimeError("a bug"), Retry("later", after_seconds=3)))
        return after(random.choice((1, 20))) if random.random() < 0.2 else None

    @controller(Web, name="second")
    async def second(web: Web, ctx: Context) -> None:
        second_saw[web.metadata.name] = web.status.seen
        if not is_quiet and random.random() < 0.3:
            await ctx.patch(web, MergePatch({"metadata": {"labels": {"a": str(random.random())}}}))

    def admit(obj: dict[str, Any]) -> None:
        if not is_quiet and random.random() < 0.2:
            value = str(random.randrange(1000))
            if obj["kind"] == "Web":
                obj["metadata"].setdefault("annotations", {})["by"] = value
            else:
                obj.setdefault("data", {})["x"] = value

    async def main() -> None:
        nonlocal is_quiet
        api = FakeApi(Web, ConfigMap, seed=seed)
        api.objects.admit = admit
        for name in NAMES:
            api.put(web(name))
        async with running(api, reconcile, second):
            for turn in range(15):
                is_quiet = False
                api.lag_seconds = random.choice((0.0, 0.0, 0.01, 0.05, 0.3))
                api.latency_seconds = random.choice((0.0, 0.02, 0.2))
                for verb in ("apply", "patch"):
                    api.fault(verb, "", at=random.randrange(1, 9), lost=random.choice(("answer", "request")))
                for number in range(random.randrange(15)):
                    _change(api, random.choice(NAMES), 100 * turn + number, random)
                    await asyncio.sleep(random.random() * random.choice((0.0, 0.02, 0.2)))
                if turn % 5 == 3:
                    api.expire()
                    api.cut(random.choice(("reset", "end", "gone")))
                await asyncio.sleep(random.choice((0.5, 10)))
                is_quiet = True
                api.faults.clear()
                await asyncio.sleep(random.random() * 2)
                _change(api, random.choice(NAMES), 77_000 + turn, random)
                await asyncio.sleep(80)
                for name in NAMES:
                    found, child = api.get(Web, name), api.get(ConfigMap, name)
                    assert found is not None
                    assert child is not None
                    assert child.data["replicas"] == str(found.spec.replicas)
                    assert found.status.seen == _answer(found, child)
                    assert second_saw[name] == found.status.seen

    virtual.run(main())
