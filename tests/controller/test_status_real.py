"""On a real API server: the answer to a status is what the watch has shown, byte for byte, with the new status."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kubewright import (
    Client,
    ClientConfig,
    Context,
    MergePatch,
    Model,
    ObjectMeta,
    Operator,
    Resource,
    controller,
    resource,
    set_condition,
)
from kubewright.client import install_crds
from kubewright.controller import status
from kubewright.model import Condition, Object, decode
from kubewright.testing import ClusterAccess

pytestmark = pytest.mark.control_plane


class LampSpec(Model):
    color: str = ""
    share: float = 1.0


class LampStatus(Model):
    color: str = ""
    seen: int = 0
    conditions: list[Condition] = []


@resource(group="answers.example.com", version="v1")
class Lamp(Resource[LampSpec, LampStatus]):
    """Something with a status."""


def test_no_answer_to_a_status_is_decoded_and_none_wakes_the_reconcile(
    control_plane: ClusterAccess, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[bytes] = []
    seen: list[str] = []

    def decode_and_tell(kind: type[Object], data: bytes) -> Object:
        decoded.append(data)
        return decode(kind, data)

    @controller(Lamp)
    async def reconcile(lamp: Lamp, ctx: Context) -> None:
        seen.append(lamp.spec.color)
        lamp.status.color = lamp.spec.color
        lamp.status.seen = len(seen)
        lit = Condition(type="Ready", status="True", reason="Lit", message=f"it is {lamp.spec.color}")
        set_condition(lamp.status.conditions, lit)

    monkeypatch.setattr(status, "decode", decode_and_tell)
    colors = ["red", 'gr<e>&"n\\"', "blå\u2028", "red"]

    async def main() -> None:
        config = ClientConfig.load(Path(control_plane.kubeconfig_path))
        async with Client.connect(config, field_manager="test") as client:
            operator = Operator("lamps", controllers=[reconcile], namespace=namespace)
            await install_crds(client, operator.crds())
            meta = ObjectMeta(name="a", namespace=namespace, annotations={"note": '<"status":{}>', "a": "\t"})
            lamp = await client.create(Lamp(metadata=meta, spec=LampSpec(share=0.5)))
            async with operator.start(client), asyncio.timeout(60):
                for color in ["", *colors]:
                    lamp = await client.patch(lamp, MergePatch({"spec": {"color": color}}))
                    while not lamp.status.seen or lamp.status.color != color:
                        lamp = await client.get(Lamp, "a", namespace=namespace)

    asyncio.run(main())
    assert decoded == []
    assert seen == ["", *colors]
