"""Random histories on a server that is cut at random: store and handlers agree with it whenever it rests."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest
from fakeserver import FakeServer, random_cut
from histories import Seen, running
from hypothesis import given, settings
from hypothesis import strategies as st

import virtual
from kubewright.cache import (
    Condition,
)


async def chaos(chance: Random, changes: int, cut_chance: float, **options: Any) -> int:
    """Random changes on a server that is cut at random; whenever it rests, everybody must agree with it.

    How many changes the first handler was told.
    """
    server = FakeServer()
    server.page_size = chance.choice([None, 3])
    for number in range(chance.randrange(40)):
        server.put(f"o{number}")
    async with running(server, page_size=chance.choice([2, 500]), **options) as informer:
        handlers = [Seen(informer)]
        informer.add_handler(handlers[0])
        for change in range(changes + 1):
            if chance.random() < 0.03 or change == changes:
                server.list_failures.clear()
                server.watch_failures.clear()
                server.garble = False
                await informer.wait_version(server.version, 700)
                assert {entry.key: entry.resource_version for entry in informer.store} == server.state()
                for handler in handlers:
                    assert handler.versions() == server.state()
                    assert handler.illegal == []
            if chance.random() < 0.02:
                handlers.append(Seen(informer))
                informer.add_handler(handlers[-1])
            name = f"o{chance.randrange(40)}"
            if ("ns", name) in server.objects and chance.random() < 0.35:
                server.delete(name)
            elif change < changes:
                server.put(name)
            if chance.random() < 0.05:
                server.bookmark()
            if chance.random() < cut_chance:
                random_cut(server, chance)
            if chance.random() < 0.6:
                await asyncio.sleep(chance.choice([0, 0, 0, 0.01, 1.0, 30.0]))
        await asyncio.sleep(700)
        assert informer.condition is Condition.LIVE
        return len(handlers[0].deltas)


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 60), st.sampled_from([0.0, 0.1, 0.4]), st.booleans())
def test_after_any_history_with_any_cuts_store_and_handlers_agree_with_the_server(
    chance: Random, changes: int, cut_chance: float, stream: bool
) -> None:
    virtual.run(chaos(chance, changes, cut_chance, stream_initial=stream))


@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_changes_with_cuts_at_random_lose_nothing(seed: int) -> None:
    assert virtual.run(chaos(Random(seed), 3000, 0.03, stream_initial=seed % 2 == 1)) > 1000
