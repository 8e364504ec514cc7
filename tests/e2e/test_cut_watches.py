"""A watch that is cut loses no change, whoever cuts it and however.

Three things see the same collection through a proxy that cuts: an informer, an operator's cache, and a reconcile that
notes what it was called for. Changes are made beside the proxy. At the end all three know the last state of everything.
The 410s are real: etcd is compacted while nobody watches, or the API server restarts and has forgotten.
"""

from __future__ import annotations

import asyncio
import base64
import os
import random
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from cutting_proxy import FIN, RST, STALL, CuttingProxy
from operator_process import until

from kubewright import Client, ClientConfig, Context, Model, ObjectMeta, Operator, Resource, controller, resource
from kubewright.cache import Added, Deleted, Delta, Informer, ListPage, Updated
from kubewright.cache.collection import Collection
from kubewright.client import MergePatch, install_crds
from kubewright.client.http import HttpClient
from kubewright.client.http1 import Http1Transport
from kubewright.client.transport import Headers, Response
from kubewright.testing import ControlPlane
from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

CHANGES = 1000
NAMES = 50
HANDS = 5
GROUP = "cutting.example.com"


class ProbeSpec(Model):
    value: int = 0


class ProbeStatus(Model):
    seen: int = -1


@resource(group=GROUP, version="v1")
class Probe(Resource[ProbeSpec, ProbeStatus]):
    """Something small that changes often."""


State = dict[str, tuple[str, str]]
"""Of each object by name: uid and resource version."""


class CountingTransport(Http1Transport):
    """The default transport; counts the 410s that the server sends, as an answer or inside a watch."""

    gone = 0

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        answer = await super().request(method, target, headers=headers, body=body, timeout_seconds=timeout_seconds)
        self.gone += answer.status == 410
        return answer

    async def stream(
        self,
        method: str,
        target: str,
        *,
        on_line: Callable[[bytes], None],
        on_response: Callable[[Response], None] | None = None,
        headers: Headers = (),
        body: bytes | None = None,
        idle_seconds: float | None = None,
    ) -> Response:
        def count(line: bytes) -> None:
            self.gone += line.startswith(b'{"type":"ERROR"') and b'"code":410' in line
            on_line(line)

        answer = await super().stream(
            method,
            target,
            on_line=count,
            on_response=on_response,
            headers=headers,
            body=body,
            idle_seconds=idle_seconds,
        )
        self.gone += answer.status == 410
        return answer


class Histories:
    """A handler that checks that each object's history is a legal one: guarantee I2 of `Informer`."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[str, int]] = {}
        self.illegal: list[str] = []
        self.told = Counter[str]()

    def __call__(self, delta: Delta) -> None:
        name, entry = delta.key.name, delta.entry
        self.told[type(delta).__name__] += 1
        known = self.known.get(name)
        if isinstance(delta, Added):
            legal = known is None
        else:
            legal = known is not None and known[0] == (delta.old.uid if isinstance(delta, Updated) else entry.uid)
        version = int(entry.resource_version)
        if isinstance(delta, Deleted):
            self.known.pop(name, None)
        else:
            legal = legal and (known is None or version > known[1])
            self.known[name] = (entry.uid, version)
        if not legal:
            self.illegal.append(f"{type(delta).__name__} {name} {entry.uid}@{version} after {known}")


class Changer:
    """Makes changes: each hand has its own names, so that per object one follows the other."""

    def __init__(self, client: Client, namespace: str, choose: random.Random) -> None:
        self._client = client
        self._namespace = namespace
        self._choose = choose
        self.made = Counter[str]()

    async def make(self, count: int, pause_seconds: float) -> None:
        names = [f"p{number}" for number in range(NAMES)]
        await asyncio.gather(*(self._hand(names[hand::HANDS], count // HANDS, pause_seconds) for hand in range(HANDS)))

    async def _hand(self, names: list[str], count: int, pause_seconds: float) -> None:
        client, namespace = self._client, self._namespace
        living = {each.metadata.name for each in await client.list(Probe, namespace=namespace)} & set(names)
        for value in range(count):
            name = self._choose.choice(names)
            if name not in living:
                probe = Probe(metadata=ObjectMeta(name=name, namespace=namespace), spec=ProbeSpec(value=value))
                await client.create(probe)
                living.add(name)
                self.made["created"] += 1
            elif self._choose.random() < 0.25:
                await client.delete(Probe, name, namespace=namespace)
                living.discard(name)
                self.made["deleted"] += 1
            else:
                patch = MergePatch({"spec": {"value": self._choose.randrange(10**9)}})
                await client.patch(Probe, patch, name, namespace=namespace)
                self.made["updated"] += 1
            await asyncio.sleep(self._choose.uniform(0.0, 2 * pause_seconds))


class Watchers:
    """An informer and an operator behind a proxy, and the real state to compare with."""

    def __init__(self, direct: Client, proxy: CuttingProxy, transport: CountingTransport, namespace: str) -> None:
        self.direct = direct
        self.proxy = proxy
        self.transport = transport
        self.namespace = namespace
        self.histories = Histories()
        self.reconciled: dict[str, list[tuple[str, int]]] = {}
        self.read: Callable[[], Awaitable[State]] | None = None
        self.informer: Informer | None = None

    async def behind(self) -> list[str]:
        """What somebody does not know yet; empty when all know the state that the server has."""
        listed = await self.direct.list(Probe, namespace=self.namespace)
        state = {each.metadata.name: (each.metadata.uid, each.metadata.resource_version) for each in listed}
        assert self.informer is not None
        assert self.read is not None
        stored = {entry.key.name: (entry.uid, entry.resource_version) for entry in self.informer.store}
        wrong = [f"the informer has {stored.get(n)} for {n}, {state.get(n)}" for n in _differ(stored, state)]
        cached = await self.read()
        wrong += [f"the operator's cache has {cached.get(n)} for {n}, {state.get(n)}" for n in _differ(cached, state)]
        for each in listed:
            meta = each.metadata
            last = self.reconciled.get(meta.name, [("", 0)])[-1]
            if last != (meta.uid, meta.generation):
                wrong.append(f"{meta.name} was reconciled last as {last}, is {meta.uid}, {meta.generation}")
            if each.status.seen != each.spec.value:
                wrong.append(f"{meta.name} has status.seen {each.status.seen} for {each.spec.value}")
        return wrong


def _differ(some: State, others: State) -> list[str]:
    return sorted(name for name in some.keys() | others.keys() if some.get(name) != others.get(name))


@asynccontextmanager
async def watching(access: ClusterAccess, namespace: str) -> AsyncIterator[Watchers]:
    """Watchers of Probes in a namespace, synced, with the CRD installed."""
    config = ClientConfig.load(access.kubeconfig_path)
    async with Client.connect(config, field_manager="changer") as direct, CuttingProxy(access.url) as proxy:
        cut = replace(config, server=proxy.url)
        transport = CountingTransport(cut.server, tls=cut.ssl_context())
        async with Client(HttpClient(cut, transport), field_manager="probes") as client:
            found = Watchers(direct, proxy, transport, namespace)

            @controller(Probe, workers=4)
            async def note(probe: Probe, ctx: Context) -> None:
                meta = probe.metadata
                found.reconciled.setdefault(meta.name, []).append((meta.uid, meta.generation))
                probe.status.seen = probe.spec.value

            operator = Operator("probes", controllers=[note], namespace=namespace)
            await install_crds(direct, operator.crds())
            path = f"/apis/{GROUP}/v1/namespaces/{namespace}/probes"
            found.informer = Informer(Collection(client.http, path), name="probes")
            found.informer.add_handler(found.histories)
            following = asyncio.create_task(found.informer.run())
            async with operator.start(client) as manager:

                async def read() -> State:
                    listed = await manager.reader.list(Probe, namespace=namespace)
                    return {each.metadata.name: (each.metadata.uid, each.metadata.resource_version) for each in listed}

                found.read = read
                await found.informer.wait_synced(30.0)
                yield found
            found.informer.stop()
            await following


def chosen(seed: int | None = None) -> random.Random:
    seed = int(os.environ.get("KUBEWRIGHT_SEED") or random.SystemRandom().randrange(10**6))
    print(f"KUBEWRIGHT_SEED={seed}")
    return random.Random(seed)


async def cut_at_random(proxy: CuttingProxy, choose: random.Random) -> None:
    while True:
        await asyncio.sleep(choose.uniform(0.05, 0.4))
        if proxy.pipes:
            how = choose.choice((FIN, RST, RST, STALL))
            proxy.cut(choose.choice(proxy.pipes), how, choose.uniform(0.2, 1.5))


class Etcd:
    """The store below a control plane, by its JSON gateway (https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/)."""

    def __init__(self, control_plane: ControlPlane) -> None:
        pid = control_plane.supervised.children["etcd"].pid
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        self._url = next(each for each in arguments if each.startswith("--advertise-client-urls=")).partition("=")[2]

    def compact(self) -> int:
        """Forget all history before now; the revision that is now the oldest."""
        key = base64.b64encode(b"any").decode()
        revision = int(self._ask("/v3/kv/range", {"key": key})["header"]["revision"])
        self._ask("/v3/kv/compaction", {"revision": str(revision), "physical": True})
        return revision

    def _ask(self, path: str, body: dict[str, object]) -> dict[str, dict[str, str]]:
        request = urllib.request.Request(self._url + path, orjson.dumps(body), method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as answer:
            found: dict[str, dict[str, str]] = orjson.loads(answer.read())
            return found


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
