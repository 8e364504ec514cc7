"""`Workloads`: a control plane's controllers and a cluster's nodes, beside one API server.

Owns which parts there are, and what a test may do to them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Self

from kubewright.client import Client, NotFound
from kubewright.model.selector import LabelSelector, Selector

from .api import Api
from .claims import Claims
from .clock import Clock, LoopClock, VirtualClock
from .cronjobs import CronJobs
from .daemonsets import DaemonSets
from .deployments import Deployments
from .disruption import DisruptionBudgets
from .engine import Controller, Engine
from .failures import Failing, Failure
from .jobs import Jobs
from .kinds import PODS, REPLICA_SETS, REPLICATION_CONTROLLERS
from .kubelets import Kubelets
from .namespaces import Namespaces
from .nodes import Nodes
from .quotas import Quotas
from .replicasets import ReplicaSets
from .scheduler import Scheduler
from .services import Services
from .statefulsets import StatefulSets
from .view import View

__all__ = ["Workloads"]


class Workloads:
    """What makes a Deployment become ready: controllers, scheduler and kubelets, by a client of an API server.

    ```python
    async with Workloads(client, nodes=3) as workloads:
        await client.create(deployment)
        await workloads.settle()                      # its Pods are ready
        failing = workloads.fail("web", CrashLoop())  # and now they are not
        await workloads.advance(60)
    ```

    The server may be an embedded one, in process or not, or a real one that has no controllers of its own.

    Args:
        client: stays the caller's. It has to be allowed everything.
        nodes: see to it that there are so many Nodes, node-0 and on.
        clock: what time it is; by default the event loop's. With a `VirtualClock` nothing happens by itself that has
            to wait: `advance` moves the time. Give the server the same one: `new_server(now=clock)`.
        root_ca: the authority of the server's certificate, PEM, for the ConfigMaps `kube-root-ca.crt`; None: the one
            that the client trusts, and none where it names none.
        heartbeat_seconds: how often nodes renew their Leases; None: never, so that what is idle costs nothing.

    Guarantees: W1 one thing is done at a time, in an order that depends on nothing but what has happened: with a server
    of a given seed, and a virtual clock, every run is the same. W2 `settle` returns when nothing is due at this time.
    Cancellation: a cancelled `settle` or `advance` stops nothing.
    """

    def __init__(
        self,
        client: Client,
        *,
        nodes: int = 0,
        clock: Clock | None = None,
        root_ca: str | None = None,
        heartbeat_seconds: float | None = None,
    ) -> None:
        self._client, self._count, self._clock, self._heartbeat = client, nodes, clock, heartbeat_seconds
        self._root_ca = (client.http.config.ca_data or b"").decode() if root_ca is None else root_ca
        self._engine: Engine | None = None

    async def start(self) -> None:
        """Begin. Raises ListWatchError, ApiError: the server refuses; TimeoutError: it does not answer."""
        view = View()
        self._engine = engine = Engine(self._client, view, self._clock or LoopClock())
        api = Api(self._client, view)
        self._nodes = Nodes(engine, api, heartbeat_seconds=self._heartbeat)
        self._kubelets = Kubelets(engine, api, self._nodes)
        self._claims = Claims(engine, api)
        self._view = view
        controllers: list[Controller] = [
            self._nodes,
            Deployments(engine, api),
            ReplicaSets(engine, api, REPLICA_SETS),
            ReplicaSets(engine, api, REPLICATION_CONTROLLERS),
            StatefulSets(engine, api),
            Namespaces(engine, api, self._root_ca),
            DisruptionBudgets(engine, api),
            Quotas(engine, api),
            DaemonSets(engine, api),
            CronJobs(engine, api),
            Jobs(engine, api),
            self._claims,
            Services(engine, api),
            Scheduler(engine, api, self._kubelets.failures),
            self._kubelets,
        ]
        try:
            await engine.start(controllers)
            await self.add_nodes(self._count)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop. Nothing is deleted. May be called again."""
        if self._engine is not None:
            await self._engine.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def add_nodes(self, count: int) -> None:
        """See to it that there are so many Nodes, and where there is one, a StorageClass. Raises ApiError."""
        if count:
            await self._nodes.make(count)
            await self._claims.make_class()

    # -- time ---------------------------------------------------------------------------------------------------------

    @property
    def clock(self) -> Clock:
        """What time it is here."""
        return self._running.clock

    async def settle(self) -> None:
        """Until nothing is due at this time, and all is seen that the server has.

        What waits for a later time (a back-off, a readiness delay) does not count.

        Raises:
            TimeoutError: it does not come to rest within 30 seconds.
        """
        await self._running.settle()

    async def advance(self, seconds: float) -> None:
        """Let so much time pass. With a `VirtualClock` at once: all that falls due on the way happens, in its order.

        Raises:
            ValueError: `seconds` is negative. TimeoutError: as `settle`.
        """
        if seconds < 0:
            raise ValueError(f"seconds: {seconds:g} is negative; time does not go back")
        engine = self._running
        await engine.settle()
        clock = engine.clock
        if not isinstance(clock, VirtualClock):
            await asyncio.sleep(seconds)
            await engine.settle()
            return
        end = clock() + timedelta(seconds=seconds)
        while (at := engine.next_at) is not None and at <= end:
            clock.move_to(at)
            await engine.settle()
        clock.move_to(end)
        await engine.settle()

    # -- a bad day ----------------------------------------------------------------------------------------------------

    def fail(
        self,
        pods: str | Mapping[str, str] | LabelSelector | Selector,
        failure: Failure,
        *,
        namespace: str | None = None,
    ) -> Failing:
        """Let something go wrong with Pods, from now on, until `heal()` of what is returned.

        Args:
            pods: the name of a Pod or of its owner (Deployment, StatefulSet, Job, ...); or labels, or a selector.
            namespace: only there; None: anywhere.
        """
        return self._running_kubelets.failures.add(
            pods if isinstance(pods, str) else Selector.of(pods), failure, namespace
        )

    async def evict(
        self, pod: str, *, namespace: str = "default", message: str = "The node was low on resource: memory."
    ) -> None:
        """The kubelet ends a Pod, because its node is short of something: it is Failed, with the reason Evicted.

        (Evictions that respect disruption budgets are the API's: create an `Eviction`.)

        Raises:
            KeyError: there is no such Pod. ValueError: it is on no node.
        """
        await self._running.settle()
        found = self._view.get(PODS, namespace, pod)
        if found is None:
            raise KeyError(f"there is no Pod {namespace}/{pod}")
        try:
            await self._running_kubelets.evict(found, "Evicted", message)
        except NotFound:
            raise KeyError(f"there is no Pod {namespace}/{pod}") from None

    def lose_node(self, name: str) -> None:
        """A node is not heard of any more. After 50 seconds it is given up: NotReady, tainted, its Pods not ready;
        Pods are deleted when they have tolerated that for as long as they say, and stay Terminating, as nobody is there
        to end them.

        Raises:
            KeyError: there is no such node.
        """
        _ = self._running
        self._nodes.lose(name)

    async def recover_node(self, name: str) -> None:
        """The node is back: Ready, without taints, and its kubelet ends what was deleted meanwhile."""
        await self._nodes.recover(name)
        self._kubelets.look_again()

    @property
    def _running(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("these workloads have not started; use `async with Workloads(...)`")
        return self._engine

    @property
    def _running_kubelets(self) -> Kubelets:
        _ = self._running
        return self._kubelets
