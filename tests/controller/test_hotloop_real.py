"""On a real API server: who else writes a field is told from managedFields."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from kubewright import Client, ClientConfig, Context, MergePatch, ObjectMeta, Operator, controller
from kubewright.controller.predicates import where
from kubewright.models.core.v1 import ConfigMap
from kubewright.testing import ClusterAccess

pytestmark = pytest.mark.control_plane


@controller(ConfigMap, owns=[ConfigMap], predicate=where(lambda config: config.metadata.name == "owner"))
async def reconcile(config: ConfigMap, ctx: Context) -> None:
    if config.metadata.name == "owner":
        await ctx.apply(ConfigMap(metadata=ObjectMeta(name="child"), data={"color": "blue"}))


def test_the_other_field_manager_is_named(
    control_plane: ClusterAccess, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="kubewright.paint")

    def told() -> list[str]:
        return [record.getMessage() for record in caplog.records if "hot loop" in record.getMessage()]

    async def main() -> None:
        config = ClientConfig.load(Path(control_plane.kubeconfig_path))
        async with (
            Client.connect(config, field_manager="test") as client,
            Client.connect(config, field_manager="rival") as rival,
        ):
            await client.create(ConfigMap(metadata=ObjectMeta(name="owner", namespace=namespace)))
            operator = Operator("paint", controllers=[reconcile], namespace=namespace)
            async with operator.start(client), asyncio.timeout(60):
                while not told():
                    child = await client.find(ConfigMap, "child", namespace=namespace)
                    if child is not None and child.data["color"] == "blue":
                        await rival.patch(child, MergePatch({"data": {"color": "red"}}))

    asyncio.run(main())
    assert f"ConfigMap {namespace}/owner: hot loop: ConfigMap child: data.color was written back 10 times" in told()[0]
    assert 'against field manager "rival"' in told()[0]
