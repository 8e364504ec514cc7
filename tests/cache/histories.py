"""Informers of a `FakeServer` in virtual time, and a handler that checks that it is told a legal history."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import virtual
from kubewright.cache import Added, Delta, Entry, Informer, Updated, is_resync


class Seen:
    """A handler that keeps what it is told, and checks that it is a legal history of each object."""

    def __init__(self, informer: Informer | None = None) -> None:
        self.deltas: list[Delta] = []
        self.state: dict[tuple[str, str], Entry] = {}
        self.informer = informer
        self.illegal: list[Delta] = []

    def __call__(self, delta: Delta) -> None:
        self.deltas.append(delta)
        try:
            self._check(delta)
        except Exception:
            self.illegal.append(delta)  # what a handler raises goes to the log
            raise

    def _check(self, delta: Delta) -> None:
        key = delta.key
        if isinstance(delta, Added):
            assert key not in self.state
            self.state[key] = delta.entry
        elif isinstance(delta, Updated):
            known = self.state[key]
            assert delta.old == known
            assert known.uid == delta.entry.uid
            assert is_resync(delta) or int(known.resource_version) < int(delta.entry.resource_version)
            self.state[key] = delta.entry
        else:
            known = self.state.pop(key)
            assert known.uid == delta.entry.uid
        if self.informer is not None:
            shown = self.informer.store.get(key)
            expected = self.state.get(key)
            # In the middle of a replacement the store may be ahead, never behind.
            assert (
                shown == expected or shown is None or int(shown.resource_version) >= int(delta.entry.resource_version)
            )

    def versions(self) -> dict[tuple[str, str], str]:
        return {key: entry.resource_version for key, entry in self.state.items()}

    def names(self) -> list[str]:
        return [f"{type(delta).__name__} {delta.entry.name}" for delta in self.deltas]


@asynccontextmanager
async def running(server: Any, **options: Any) -> Any:
    informer = Informer(server, name="things", random=Random(1), **options)
    task = asyncio.create_task(informer.run())
    try:
        yield informer
    finally:
        informer.stop()
        await task


def in_virtual_time(main: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    def test() -> None:
        virtual.run(main())  # type: ignore[arg-type]

    test.__name__ = main.__name__
    return test
