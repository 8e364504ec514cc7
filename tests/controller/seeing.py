"""A controller that notes what wakes it, and how it is run with another kind on the server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import virtual
from fakeapi import FakeApi
from kubewright import Context, Key, controller
from kubewright.controller import Lookup
from kubewright.model import ObjectMeta
from kubewright.models.core.v1 import ConfigMap, Namespace, Secret
from running import running
from webs import Web, web

KEY = Key("default", "a")


class Seen:
    """A controller that notes its passes: the name and the causes."""

    def __init__(self, **options: Any) -> None:
        self.passes: list[tuple[str, str]] = []

        @controller(Web, **options)
        async def reconcile(web: Web, ctx: Context) -> None:
            self.passes.append((web.metadata.name, " ".join(map(str, ctx.causes))))

        self.controller = reconcile


def secret(name: str = "s", *, labels: dict[str, str] | None = None, web: str = "") -> Secret:
    meta = ObjectMeta(name=name, namespace="default", labels=labels or {}, annotations={"web": web})
    return Secret(metadata=meta)


def run(seen: Seen, act: Any) -> list[tuple[str, str]]:
    async def main() -> None:
        api = FakeApi(Web, Secret, ConfigMap, Namespace)
        for name in "abc":
            api.put(web(name))
        async with running(api, seen.controller):
            await asyncio.sleep(1)
            seen.passes.clear()
            done = act(api)
            if asyncio.iscoroutine(done):
                await done
            await asyncio.sleep(60)

    virtual.run(main())
    return seen.passes


def pointed_to(secret: Secret, cache: Lookup) -> Iterable[Key]:
    name = secret.metadata.annotations.get("web")
    return [Key(secret.metadata.namespace, name)] if name else []
