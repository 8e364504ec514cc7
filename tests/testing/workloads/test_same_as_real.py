"""Workloads leave behind what a real controller manager, scheduler and kwok leave behind, after the same steps."""

from __future__ import annotations

import asyncio

import pytest

from kubewright.client import Client, ClientConfig
from kubewright.testing import ClusterAccess

from . import sim
from .comparing import Obj, Real, Simulated, differences, plain, state
from .scenarios import SCENARIOS, Scenario


async def simulated(scenario: Scenario) -> Obj:
    async with sim.simulated() as made:
        cluster = Simulated(made.client, made.server, made.workloads)
        await scenario(cluster)
        return plain(await state(cluster))


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
