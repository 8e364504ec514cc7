"""API documents of the cluster that kubectl would use, with its credentials, for commands that are not asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl

from kubewright.client import Client, ClientConfig

__all__ = ["cluster_documents"]


@contextmanager
def cluster_documents(source: str, kubeconfig: Path | None) -> Iterator[tuple[str, Callable[[str], bytes] | None]]:
    """Where to read from, and how. `"cluster"` is the server of the kubeconfig; any other source is left as it is.

    Raises:
        ConfigError: there is no usable kubeconfig.
    """
    if source != "cluster":
        yield source, None
        return
    config = ClientConfig.load(kubeconfig)
    with asyncio.Runner() as runner:
        client = Client.connect(config)

        def fetch(path: str) -> bytes:
            path, _, query = path.partition("?")
            return runner.run(client.raw("GET", path, query=dict(parse_qsl(query)))).body

        try:
            yield config.server, fetch
        finally:
            runner.run(client.close())
