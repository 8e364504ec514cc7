"""What a Context lists: of the cache of an operator, and of a FakeContext alike."""

from __future__ import annotations

from collections.abc import Iterable

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.cache import index
from kubewright.models.core.v1 import ConfigMap
from kubewright.testing import FakeContext
from running import Passes
from webs import Web, config, web


@index(ConfigMap)
def by_tier(config: ConfigMap) -> Iterable[str]:
    return [config.data.get("tier", "none")]


def test_lists_are_narrowed_by_indexes_and_by_fields() -> None:
    found: list[list[str]] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        for lists in (
            await ctx.list(ConfigMap, index={by_tier: "db"}),
            await ctx.list(ConfigMap, fields="data.tier=web"),
            await ctx.list(ConfigMap, index={by_tier: "none"}),
        ):
            found.append(sorted(each.metadata.name for each in lists))  # noqa: PERF401

    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        for name, data in {"a": {"tier": "db"}, "b": {"tier": "web"}, "c": {}}.items():
            api.put(config(name, **data))
        api.put(web())
        async with Passes(api, reconcile) as passes:
            await passes.run()
        fake = FakeContext(web(), objects=[config("a", "default", tier="db"), config("b", "default", tier="web")])
        assert [each.metadata.name for each in await fake.list(ConfigMap, index={by_tier: "db"})] == ["a"]
        assert [each.metadata.name for each in await fake.list(ConfigMap, fields={"data.tier": "web"})] == ["b"]

    virtual.run(main())
    assert found == [["a"], ["b"], ["c"]]
