"""A watch that is cut loses no change, whoever cuts it and however.

Three things see the same collection through a proxy that cuts: an informer, an operator's cache, and a reconcile that
notes what it was called for. Changes are made beside the proxy. At the end all three know the last state of everything.
The 410s are real: etcd is compacted while nobody watches, or the API server restarts and has forgotten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from cutting_proxy import CuttingProxy
from msgspec.structs import replace
from operator_process import until
from probes import (
    GROUP,
    Changer,
    CountingTransport,
    Etcd,
    Probe,
    ProbeSpec,
    chosen,
    cut_at_random,
    watching,
)

from kubewright import Client, ClientConfig, Context, ObjectMeta, Operator, controller
from kubewright.cache import Informer, ListPage
from kubewright.cache.collection import Collection
from kubewright.client import install_crds
from kubewright.client.http import HttpClient
from kubewright.testing import ControlPlane
from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

CHANGES = 1000


@pytest.fixture(scope="module")
def forgetful() -> Iterator[tuple[ControlPlane, Etcd]]:
    """A server that answers watches from etcd, not from its own memory of the last changes: compaction is felt."""
    with ControlPlane(api_server_args=["--watch-cache=false"]) as control_plane:
        yield control_plane, Etcd(control_plane)


@pytest.mark.slow
def test_1000_changes_while_connections_are_cut_at_random(control_plane: ClusterAccess, namespace: str) -> None:
    choose = chosen()

    async def main() -> None:
        async with watching(control_plane, namespace) as watchers:
            changer = Changer(watchers.direct, namespace, choose)
            cutter = asyncio.create_task(cut_at_random(watchers.proxy, choose))
            await changer.make(CHANGES, 0.05)
            cutter.cancel()
            await until("everybody knows the last state", watchers.behind, 120.0)
            print(f"{dict(changer.made)}; cut: {dict(watchers.proxy.cuts)}; told: {dict(watchers.histories.told)}")
            assert watchers.histories.illegal == []
            assert sum(changer.made.values()) == CHANGES
            assert watchers.proxy.cuts.total() >= 20
            assert len(watchers.proxy.cuts) >= 3

    asyncio.run(main())


@pytest.mark.slow
def test_1000_changes_while_connections_are_cut_and_the_server_forgets(
    forgetful: tuple[ControlPlane, Etcd],
) -> None:
    choose = chosen()
    control_plane, etcd = forgetful

    async def main() -> None:
        async with watching(control_plane.access, "default") as watchers:
            changer, proxy = Changer(watchers.direct, "default", choose), watchers.proxy
            # This first: each failure makes the wait after the next one longer, up to a minute (client-go's back-off).
            proxy.refusing = True
            proxy.cut_all()
            await changer.make(200, 0.0)
            await asyncio.to_thread(etcd.compact)
            proxy.refusing = False
            await until("they know what they have not seen happen", watchers.behind, 60.0)
            assert watchers.transport.gone == 2, "informer and operator are told 410, each by itself"
            cutter = asyncio.create_task(cut_at_random(proxy, choose))
            await changer.make(CHANGES - 200, 0.03)
            cutter.cancel()
            await until("everybody knows the last state", watchers.behind, 120.0)
            print(f"{dict(changer.made)}; cut: {dict(proxy.cuts)}; {watchers.transport.gone} x 410")
            assert watchers.histories.illegal == []
            assert sum(changer.made.values()) == CHANGES

    asyncio.run(main())


@pytest.mark.slow
def test_changes_while_the_api_server_is_killed_and_has_forgotten(
    private_control_plane: Callable[..., ControlPlane],
) -> None:
    choose = chosen()
    control_plane = private_control_plane()

    async def main() -> None:
        async with watching(control_plane.access, "default") as watchers:
            changer, proxy = Changer(watchers.direct, "default", choose), watchers.proxy
            await changer.make(100, 0.0)
            proxy.refusing = True
            proxy.cut_all()
            await changer.make(100, 0.0)
            await asyncio.to_thread(control_plane.restart_api_server)
            proxy.refusing = False
            await changer.make(50, 0.0)
            await until("everybody knows the last state", watchers.behind, 120.0)
            print(f"{watchers.transport.gone} x 410; told: {dict(watchers.histories.told)}")
            assert watchers.histories.illegal == []
            assert watchers.transport.gone >= 2

    asyncio.run(main())


class Forgetting(Collection):
    """A collection of which two objects go, and with them the snapshot, between the third page and the fourth."""

    pages = 0
    meanwhile: Callable[[], Awaitable[None]]

    async def list_page(self, request: ListPage) -> bytes:
        self.pages += 1
        if self.pages == 4:
            await self.meanwhile()
        return await super().list_page(request)


def test_a_list_whose_pages_outlive_their_snapshot_is_whole(forgetful: tuple[ControlPlane, Etcd]) -> None:
    control_plane, etcd = forgetful
    config = ClientConfig.load(control_plane.access.kubeconfig_path)
    transport = CountingTransport(config.server, tls=config.ssl_context())
    namespace = "kube-public"

    async def main() -> None:
        async with Client(HttpClient(config, transport), namespace=namespace) as client:

            async def meanwhile() -> None:
                await client.delete(Probe, "q00")
                await client.delete(Probe, "q29")
                await asyncio.to_thread(etcd.compact)

            await install_crds(client, Operator("any", controllers=[controller(Probe)(_nothing)]).crds())
            for number in range(30):
                await client.create(Probe(metadata=ObjectMeta(name=f"q{number:02}"), spec=ProbeSpec()))
            source = Forgetting(client.http, f"/apis/{GROUP}/v1/namespaces/{namespace}/probes")
            source.meanwhile = meanwhile
            informer = Informer(source, page_size=5)
            following = asyncio.create_task(informer.run())
            await informer.wait_synced(30.0)
            assert {entry.key.name for entry in informer.store} == {f"q{number:02}" for number in range(1, 29)}
            assert transport.gone == 1
            assert source.pages == 5, "three pages, one that was refused, and all of it at once"
            informer.stop()
            await following

    asyncio.run(main())


async def _nothing(probe: Probe, ctx: Context) -> None:
    pass


@pytest.mark.slow
def test_a_connection_that_is_half_open_for_ever_is_given_up(control_plane: ClusterAccess, namespace: str) -> None:
    """Nothing ends it: only its silence tells, on a server that has shown that it sends bookmarks."""

    async def main() -> None:
        config = ClientConfig.load(control_plane.kubeconfig_path)
        async with Client.connect(config) as direct, CuttingProxy(control_plane.url) as proxy:
            await install_crds(direct, Operator("any", controllers=[controller(Probe)(_nothing)]).crds())
            await direct.create(Probe(metadata=ObjectMeta(name="before", namespace=namespace), spec=ProbeSpec()))
            async with Client.connect(replace(config, server=proxy.url)) as client:
                source = Collection(client.http, f"/apis/{GROUP}/v1/namespaces/{namespace}/probes")
                informer = Informer(source, stream_initial=True, silence_seconds=3.0)
                following = asyncio.create_task(informer.run())
                await informer.wait_synced(30.0)
                (watch,) = proxy.pipes
                watch.mute()
                made = await direct.create(
                    Probe(metadata=ObjectMeta(name="after", namespace=namespace), spec=ProbeSpec())
                )
                await informer.wait_version(made.metadata.resource_version, 15.0)
                assert {entry.key.name for entry in informer.store} == {"before", "after"}
                informer.stop()
                await following

    asyncio.run(main())
