"""Which scenarios there are. Each is done on both sides, and ends at rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ..comparing import Cluster

Scenario = Callable[[Cluster], Awaitable[None]]
SCENARIOS: list[Scenario] = []


def scenario(function: Scenario) -> Scenario:
    SCENARIOS.append(function)
    return function
