"""Workloads leave behind what a real controller manager, scheduler and kwok leave behind, after the same steps."""

from __future__ import annotations

import asyncio

import pytest

from kubewright.apiserver import new_server
from kubewright.apiserver.inprocess import in_process_client
from kubewright.client import Client, ClientConfig
from kubewright.testing import ClusterAccess
from kubewright.testing.workloads import VirtualClock, Workloads

from .comparing import Obj, Real, Simulated, differences, plain, state
from .scenarios import SCENARIOS, Scenario


async def simulated(scenario: Scenario) -> Obj:
    clock = VirtualClock()
    server = new_server(seed=1, now=clock, garbage=True)
    async with in_process_client(server) as client, Workloads(client, nodes=3, clock=clock) as workloads:
        cluster = Simulated(client, server, workloads)
        await scenario(cluster)
        found = plain(await state(cluster))
    server.close()
    return found


async def real(scenario: Scenario, access: ClusterAccess, namespace: str) -> Obj:
    async with Client.connect(ClientConfig.from_kubeconfig(access.kubeconfig_path)) as client:
        cluster = Real(client, namespace)
        await scenario(cluster)
        return plain(await state(cluster))


@pytest.mark.control_plane
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
def test_workloads_leave_behind_what_a_real_cluster_does(
    scenario: Scenario, control_plane_with_nodes: ClusterAccess, namespace_with_nodes: str
) -> None:
    ours = asyncio.run(simulated(scenario))
    theirs = asyncio.run(real(scenario, control_plane_with_nodes, namespace_with_nodes))
    assert not differences(ours, theirs)
