"""CRDs are installed on a real API server: they serve when they are said to, and lose nothing."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from real_webs import GROUP, Run, crd

from kubewright.client import Client, CrdConflict, Invalid, NotFound, install_crds
from kubewright.client.crds import CustomResourceDefinition
from kubewright.model import Object, decode, unstructured

pytestmark = pytest.mark.control_plane


@contextlib.asynccontextmanager
async def installed(client: Client, *crds: dict[str, Any]) -> AsyncIterator[None]:
    try:
        await install_crds(client, crds)
        yield
    finally:
        for each in crds:
            with contextlib.suppress(NotFound):
                await client.delete(CustomResourceDefinition, each["metadata"]["name"])


def kind_of(crd: dict[str, Any], version: str = "v1") -> type[Object]:
    names = crd["spec"]["names"]
    return unstructured(f"{GROUP}/{version}", names["kind"], plural=names["plural"])


def test_a_crd_serves_when_it_is_installed_and_not_merely_established(run: Run) -> None:
    async def body(client: Client) -> None:
        crds = [crd(f"fresh{number}s", f"Fresh{number}") for number in range(3)]
        async with installed(client, *crds):
            plain = Client(client.http, namespace=client.namespace)
            for each in crds:
                kind = kind_of(each)
                assert len(await plain.list(kind)) == 0
                obj = decode(kind, b'{"metadata":{"name":"a"},"spec":{"image":"x"}}')
                assert (await plain.create(obj)).metadata.uid

    run(body)


def test_installing_again_writes_nothing(run: Run) -> None:
    async def body(client: Client) -> None:
        wanted = crd("agains", "Again")
        async with installed(client, wanted):
            before = await client.get(CustomResourceDefinition, wanted["metadata"]["name"])
            await install_crds(client, [wanted])
            after = await client.get(CustomResourceDefinition, wanted["metadata"]["name"])
            assert after.metadata.resource_version == before.metadata.resource_version

    run(body)


def test_a_new_version_is_added_and_an_old_storage_version_is_not_dropped(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def body(client: Client) -> None:
        async with installed(client, crd("movers", "Mover", ("v1",), "v1")):
            with pytest.raises(CrdConflict, match="objects may be stored in v1"):
                await install_crds(client, [crd("movers", "Mover", ("v2",), "v2")])
            await install_crds(client, [crd("movers", "Mover", ("v1", "v2"), "v2")])
            assert "the storage version changes from v1 to v2" in caplog.text
            assert len(await client.list(unstructured(f"{GROUP}/v2", "Mover", plural="movers"))) == 0

    run(body)


def test_names_that_are_taken_are_told(run: Run) -> None:
    async def body(client: Client) -> None:
        thief = crd("thieves", "Thief")
        thief["spec"]["names"]["singular"] = "owner"
        async with installed(client, crd("owners", "Owner")):
            with pytest.raises(CrdConflict, match=r'its names are not accepted: "owner" is already in use'):
                await install_crds(client, [thief])
            await client.delete(CustomResourceDefinition, thief["metadata"]["name"])

    run(body)


def test_a_crd_that_breaks_the_rules_is_invalid(run: Run) -> None:
    async def body(client: Client) -> None:
        broken = crd("brokens", "Broken")
        broken["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["type"] = "nonsense"
        with pytest.raises(Invalid) as invalid:
            await install_crds(client, [broken])
        assert "openAPIV3Schema.properties[spec].type" in invalid.value.causes[0].field

    run(body)


def test_a_crd_that_is_being_deleted_is_waited_for(run: Run) -> None:
    async def body(client: Client) -> None:
        wanted = crd("phoenixes", "Phoenix")
        async with installed(client, wanted):
            await client.create(decode(kind_of(wanted), b'{"metadata":{"name":"a"},"spec":{"image":"x"}}'))
            await client.delete(CustomResourceDefinition, wanted["metadata"]["name"])
            await install_crds(client, [wanted])
            assert len(await client.list(kind_of(wanted))) == 0

    run(body)
