"""A kind whose spec and status are pydantic models, through the client to a real API server and back."""

from __future__ import annotations

import asyncio
import uuid
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from kubewright.client import Client, ClientConfig, Invalid, install_crds
from kubewright.model import Condition, ObjectMeta, Quantity, Resource, now, resource
from kubewright.schema import ListMap, crd_of

pytestmark = pytest.mark.control_plane

GROUP = f"pydantic-{uuid.uuid4().hex[:8]}.example.com"


class Port(BaseModel):
    name: str
    number: int = Field(80, ge=1)


class Spec(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    image: str
    max_size: Quantity | None = None
    ports: Annotated[list[Port], ListMap("name"), Field(max_length=4)] = []
    weight: int | None
    newer: dict[str, str] = {}


class OlderSpec(BaseModel):
    image: str
    weight: int | None


class Status(BaseModel):
    ready: int = 0
    conditions: list[Condition] = []


@resource(group=GROUP, version="v1")
class Web(Resource[Spec, Status]):
    pass


@resource(group=GROUP, version="v1", kind="Web", plural="webs")
class OlderWeb(Resource[OlderSpec, Status]):
    """The same, as an older program knows it."""


def test_a_pydantic_kind_lives_on_a_server(control_plane: Any, namespace: str) -> None:
    async def main() -> None:
        config = ClientConfig.load(control_plane.kubeconfig_path)
        async with Client.connect(config, namespace=namespace, field_manager="tests") as client:
            await install_crds(client, [crd_of(Web)])
            await asyncio.wait_for(body(client), 60)

    asyncio.run(main())


async def body(client: Client) -> None:
    spec = Spec(image="nginx", max_size=Quantity("1.5Gi"), ports=[Port(name="http")], weight=None, newer={"a": "b"})
    made = await client.create(Web(metadata=ObjectMeta(name="a"), spec=spec))
    assert made.spec == spec
    assert (await client.list(Web))[0].spec == spec

    older = await client.get(OlderWeb, "a")  # what it does not know survives its update
    older.spec.image = "caddy"
    await client.update(older)
    got = await client.get(Web, "a")
    assert got.spec == spec.model_copy(update={"image": "caddy"})

    got.status.ready = 2
    ready = Condition(type="Ready", status="True", reason="Fine", message="", last_transition_time=now())
    got.status.conditions = [ready]
    got = await client.update_status(got)
    assert (got.status.ready, got.status.conditions[0].type) == (2, "Ready")

    ports = [Port.model_construct(name="x", number=0)]
    bad = Web(metadata=ObjectMeta(name="b"), spec=spec.model_copy(update={"ports": ports}))
    with pytest.raises(Invalid, match=r"spec\.ports\[0\]\.number"):
        await client.create(bad)
    await client.delete(got)
