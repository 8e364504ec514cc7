"""Workloads on a real kube-apiserver that has no controllers: what envtest users have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kubewright.client import Client, ClientConfig
from kubewright.testing.controlplane import ControlPlane
from kubewright.testing.workloads import CrashLoop, Workloads
from kubewright.testing.workloads import kinds as k

from .comparing import Obj, State, create, delete, patch, state
from .manifests import deployment, image, job, stateful_set
from .states import job_ended, rolled_out, set_ready


class _There:
    namespace = "default"

    def __init__(self, client: Client, workloads: Workloads) -> None:
        self.client, self.workloads = client, workloads

    async def rest(self) -> None:
        await self.workloads.settle()

    async def wait(self) -> None:
        await self.workloads.settle()


def named(found: State, prefix: str) -> list[Obj]:
    return [each for each in found["pods"] if each["metadata"]["name"].startswith(f"{prefix}-")]


@pytest.mark.control_plane
def test_the_same_happens_on_a_real_api_server(private_control_plane: Callable[..., ControlPlane]) -> None:
    access = private_control_plane().access

    async def main() -> None:
        async with (
            Client.connect(ClientConfig.from_kubeconfig(access.kubeconfig_path)) as client,
            Workloads(client, nodes=2) as workloads,
        ):
            there = _There(client, workloads)
            db = stateful_set(2, claims=True)
            db["metadata"]["name"] = "db"
            db["spec"]["selector"] = {"matchLabels": {"app": "db"}}
            db["spec"]["template"]["metadata"]["labels"] = {"app": "db"}
            await create(there, k.DEPLOYMENTS, deployment())
            await create(there, k.STATEFUL_SETS, db)
            await create(there, k.JOBS, job())
            await workloads.settle()
            found = await state(there)
            assert rolled_out()(found)
            assert set_ready(2, "db")({**found, "pods": named(found, "db")})
            assert job_ended("Complete")(found)
            assert [each["status"]["phase"] for each in found["persistentvolumeclaims"]] == ["Bound"] * 2

            failing = workloads.fail("web", CrashLoop())
            await patch(there, k.DEPLOYMENTS, "web", image("nginx:2"))
            await workloads.settle()
            waits = [
                each["state"]["waiting"]["reason"]
                for pod in (await state(there))["pods"]
                for each in pod["status"]["containerStatuses"]
                if "waiting" in each["state"]
            ]
            assert set(waits) == {"CrashLoopBackOff"}
            failing.heal()
            await patch(there, k.DEPLOYMENTS, "web", image("nginx:3"))
            await workloads.settle()
            assert rolled_out()(await state(there))
            await patch(there, k.DEPLOYMENTS, "web", {"spec": {"replicas": 0}})
            await delete(there, k.PODS, "db-0")
            await workloads.settle()
            found = await state(there)
            assert not named(found, "web")
            assert [each["metadata"]["name"] for each in named(found, "db")] == ["db-0", "db-1"]

    asyncio.run(main())
