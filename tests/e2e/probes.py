"""Probes: something small that changes often, who changes it, and who watches it through a proxy that cuts.

Used by the tests of watches in this folder. What is to be seen is made beside the proxy, so that no cut hinders it.
"""

from __future__ import annotations

import asyncio
import base64
import os
import random
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
from cutting_proxy import FIN, RST, STALL, CuttingProxy
from msgspec.structs import replace

from kubewright import Client, ClientConfig, Context, Model, ObjectMeta, Operator, Resource, controller, resource
from kubewright.cache import Added, Deleted, Delta, Informer, Updated
from kubewright.cache.collection import Collection
from kubewright.client import MergePatch, install_crds
from kubewright.client.http import HttpClient
from kubewright.client.http1 import Http1Transport
from kubewright.client.transport import Headers, Response
from kubewright.testing import ControlPlane
from kubewright.testing.access import ClusterAccess

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
