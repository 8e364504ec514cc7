"""Clients of a real API server, each in the namespace of its test."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from real_webs import Body, Run, crd

from kubewright.client import Client, ClientConfig, install_crds


@pytest.fixture
def run(control_plane: Any, namespace: str) -> Run:
    """Runs a test's body with a client whose default namespace is the test's own."""

    def run(body: Body) -> None:
        async def main() -> None:
            config = ClientConfig.load(control_plane.kubeconfig_path)
            async with Client.connect(config, namespace=namespace, field_manager="tests") as client:
                await asyncio.wait_for(body(client), 60)

        asyncio.run(main())

    return run


@pytest.fixture
def web_run(run: Run) -> Run:
    """As `run`, with the kind Web served. Installing what is there already costs two requests."""

    def web_run(body: Body) -> None:
        async def main(client: Client) -> None:
            await install_crds(client, [crd()])
            await body(client)

        run(main)

    return web_run
