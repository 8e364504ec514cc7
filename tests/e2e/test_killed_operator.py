"""The operator is killed at random moments while clusters come, change and go; it always converges, exactly.

Each round changes several clusters at once, kills the operator (SIGKILL) while it works on that, in some rounds changes
more while nobody runs, kills it a second time while it starts, and then waits until one that is left alone has brought
about exactly what the specs say. The seed is printed; KUBEWRIGHT_SEED=<n> repeats a run's choices (not its timing).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from pathlib import Path

import pytest
from examples.rediscluster.types import RedisCluster, RedisClusterSpec, Sentinel
from operator_process import REDIS_OPERATOR, OperatorProcess, until, until_running
from redis_children import State, Wanted, collections

from kubewright import Client, ClientConfig, ObjectMeta
from kubewright.client import MergePatch
from kubewright.testing.access import ClusterAccess

pytestmark = [pytest.mark.control_plane, pytest.mark.slow]

KILLS = 20
MOST_CLUSTERS = 4
VERSIONS = ("7.2.4", "8.0.1", "8.2.1-rc.1")


class Driver:
    """A person in a hurry: creates, scales, updates, deletes clusters, without waiting for anything."""

    def __init__(self, client: Client, choose: random.Random) -> None:
        self._client = client
        self._choose = choose
        self._made = 0
        self.wanted: dict[str, Wanted] = {}
        self.recorded: set[str] = set()
        """Clusters of which a backup is to be recorded: those that went with the finalizer on them."""
        self.changes = 0

    async def change(self, *, deletes: bool) -> str:
        """Make one change; what it was."""
        self.changes += 1
        names = sorted(self.wanted)
        ways = ("create", "scale", "sentinel", "version") + (("delete", "create again") if deletes else ())
        what = self._choose.choice(ways)
        if not names or (what == "create" and len(names) < MOST_CLUSTERS):
            self._made += 1
            return await self._create(f"c{self._made}")
        name = self._choose.choice(names)
        old = self.wanted[name]
        if what == "delete":
            await self.delete(name)
            return f"delete {name}"
        if what == "create again":
            # Under a name whose children may still be there, of an owner that is gone.
            await self.delete(name)
            await until(f"{name} is gone", lambda: self._client.find(RedisCluster, name))
            return await self._create(name)
        replicas, sentinel, version = old.replicas, old.sentinel, old.version
        if what == "scale":
            replicas = self._choose.choice([count for count in (1, 2, 3) if count != replicas])
        elif what == "sentinel":
            sentinel = not sentinel
        else:
            version = self._choose.choice(VERSIONS)
        new = Wanted(replicas, sentinel, version)
        spec = {"replicas": new.replicas, "sentinel": {"enabled": new.sentinel}, "version": new.version}
        await self._client.patch(RedisCluster, MergePatch({"spec": spec}), name=name)
        self.wanted[name] = new
        return f"{what} {name}: {new}"

    async def _create(self, name: str) -> str:
        wanted = Wanted(self._choose.randint(1, 3), self._choose.random() < 0.5, self._choose.choice(VERSIONS))
        spec = RedisClusterSpec(
            replicas=wanted.replicas, version=wanted.version, sentinel=Sentinel(enabled=wanted.sentinel, replicas=1)
        )
        await self._client.create(RedisCluster(metadata=ObjectMeta(name=name), spec=spec))
        self.wanted[name] = wanted
        return f"create {name}: {wanted}"

    async def delete(self, name: str) -> None:
        held = await self._client.delete(RedisCluster, name)
        del self.wanted[name]
        if held is not None and held.metadata.deletion_timestamp is not None:
            self.recorded.add(name)


def test_killed_at_any_moment_it_converges_to_exactly_the_wanted_children(
    control_plane_with_nodes: ClusterAccess, namespace_with_nodes: str, tmp_path: Path
) -> None:
    seed = int(os.environ.get("KUBEWRIGHT_SEED") or random.SystemRandom().randrange(10**6))
    print(f"KUBEWRIGHT_SEED={seed}")
    choose = random.Random(seed)
    namespace = namespace_with_nodes
    kubeconfig = control_plane_with_nodes.kubeconfig_path

    def start() -> OperatorProcess:
        return OperatorProcess(REDIS_OPERATOR, kubeconfig, tmp_path / "log", "--namespace", namespace)

    async def main() -> None:
        async with Client.connect(ClientConfig.load(kubeconfig), namespace=namespace) as client:
            operator = start()
            try:
                await until_running(operator)
                driver = Driver(client, choose)
                paths = await collections(client)

                async def differ() -> list[str]:
                    state = await State.look(client, namespace, paths)
                    return state.differences(driver.wanted, driver.recorded)

                async def short() -> list[str]:
                    state = await State.look(client, namespace, paths)
                    return state.short(driver.wanted) or state.differences(driver.wanted, driver.recorded)

                killed = rounds = whole = 0
                while killed < KILLS:
                    for _ in range(choose.randint(2, 4)):
                        # It takes the garbage collector up to 30 s to learn of a new kind.
                        print(f"  {await driver.change(deletes=killed >= KILLS // 4)}")
                        await asyncio.sleep(choose.uniform(0.0, 0.1))
                    await asyncio.sleep(choose.uniform(0.0, 0.8))
                    operator.kill()
                    killed += 1
                    operator = start()
                    if choose.random() < 0.3:
                        await asyncio.sleep(choose.uniform(0.3, 2.0))
                        was_running = operator.is_running
                        operator.kill()
                        killed += 1
                        print(f"  killed again, {'at work' if was_running else 'while it started'}")
                        operator = start()
                    what = f"all is as wanted after {killed} kills, seed {seed}"
                    await until(what, differ, 60.0)
                    rounds += 1
                    with contextlib.suppress(AssertionError):
                        await until("every StatefulSet runs all its Pods", short, 8.0)
                        whole += 1
                    print(f"  converged after {killed} kills, {driver.changes} changes: {sorted(driver.wanted)}")
                print(f"{rounds} rounds, {killed} kills, {driver.changes} changes; all Ready at the end of {whole}")
                assert whole >= rounds / 2
                for name in list(driver.wanted):
                    await driver.delete(name)
                await until("all is gone", differ, 60.0)
            except BaseException:
                print(operator.log.read_text())
                for what in ("redisclusters,statefulsets,deployments,pods,persistentvolumeclaims", "events"):
                    print(control_plane_with_nodes.kubectl("get", what, "-n", namespace, "-o", "wide"))
                raise
            finally:
                operator.kill()

    asyncio.run(main())
    check_log((tmp_path / "log").read_text())


def check_log(text: str) -> None:
    """Kills are no reason for a traceback or an error in the log of those that come after."""
    assert "Traceback" not in text, text
    assert not [line for line in text.splitlines() if " ERROR " in line], text
