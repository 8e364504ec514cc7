"""What tells a controller's own writes from others' is attacked: nothing foreign may be taken for an echo."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Hashable

import orjson

import virtual
from fakeapi import FakeApi
from kubewright import Context, Key, Result, after, controller
from kubewright.cache.entry import Entry
from kubewright.controller import owned
from kubewright.controller.cause import Cause, merged
from kubewright.controller.echoes import Version
from kubewright.controller.handlers import are_echoes
from kubewright.manager import Manager
from kubewright.models.core.v1 import ConfigMap
from running import running
from webs import Web, config, web


def test_a_child_that_is_looked_for_while_it_is_applied_is_news() -> None:
    """What was looked at may be older than the answer, which has what somebody else changed in between."""
    passes = 0

    @controller(Web, owns=[ConfigMap])
    async def reconcile(web: Web, ctx: Context) -> Result | None:
        nonlocal passes
        passes += 1

        async def look() -> ConfigMap | None:
            await asyncio.sleep(0.005)
            return await ctx.find(ConfigMap, "child")

        _, found = await asyncio.gather(ctx.apply(config("child", replicas=str(min(passes, 2)))), look())
        web.status.seen = found.data.get("x", "") if found is not None else ""
        return after(5) if passes == 1 else None

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, latency_seconds=0.01)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(4.8)
            api.lag_seconds = 1.0
            api.change(ConfigMap, "child", {"data": {"x": "by others"}})
            await asyncio.sleep(10)
            found = api.get(Web, "a")
            assert found is not None
            assert found.status.seen == "by others"

    virtual.run(main())


def _entry(version: str) -> Entry:
    meta = {"name": "c", "namespace": "default", "uid": "u", "resourceVersion": version}
    return Entry("default", "c", "u", version, 1, orjson.dumps({"metadata": meta}))


def test_a_change_whose_state_was_not_kept_is_not_hidden_by_an_echo_before_it() -> None:
    """Above a bound of waiting keys causes keep no states: then nobody knows which version the cause is of."""
    echo = Cause("updated", "ConfigMap", "default", "c", _entry("9"), _entry("10"))
    foreign = Cause("updated", "ConfigMap", "default", "c")
    cause = functools.reduce(merged, [echo, foreign])
    early: dict[Hashable, Version] = {("ConfigMap", "default", "c"): Version("u", 10)}
    assert not are_echoes(early, Key("default", "a"), _entry("1"), [cause])
    assert cause.changed == frozenset(), "what the second has changed is not known"


def _kept(manager: Manager) -> int:
    echoes = manager._runners[0]._reconciler.echoes
    assert echoes is not None
    return len(echoes)


def test_nothing_is_kept_of_children_whose_echo_never_comes() -> None:
    """Of kinds that the controller does not own, or whose owners all hear of them."""

    def kept(**options: object) -> int:
        @controller(Web, **options)  # type: ignore[call-overload, untyped-decorator]
        async def reconcile(web: Web, ctx: Context) -> None:
            await ctx.apply(config(web.metadata.name, replicas=str(web.spec.replicas)))

        async def main() -> int:
            api = FakeApi(Web, ConfigMap, latency_seconds=0.01)
            for number in range(10):
                api.put(web(f"w{number}"))
            async with running(api, reconcile) as manager:
                await asyncio.sleep(5)
                return _kept(manager)

        return virtual.run(main())

    assert kept() == 0
    assert kept(owns=[owned(ConfigMap, any_owner=True)]) == 0


def test_what_is_added_to_the_metadata_with_a_status_wakes_it() -> None:
    """Some kinds of the server take labels and annotations with a status, and webhooks set them."""
    seen: list[str] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        seen.append(web.metadata.annotations.get("by", ""))
        web.status.ready = web.spec.replicas

    def admit(obj: dict[str, dict[str, object]]) -> None:
        if obj.get("status", {}).get("ready"):
            obj["metadata"]["annotations"] = {"by": "a webhook"}

    async def main() -> None:
        api = FakeApi(Web)
        api.objects.admit = admit
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(1)

    virtual.run(main())
    assert seen == ["", "a webhook"]
