"""Random histories on servers that go wrong at random, held against a model of what a server has promised.

The model is the history of the servers itself. Whenever everything rests, and after each single change for what must
hold at any time:

    the store           has what the servers have, or the last readable state of it
    each handler        was told a legal history (`Seen`) that ends in the state of the store, whenever it was added
    nothing is lost     every state that stands is told; what we wrote ourselves is told even if no event has it
    nothing is made up  every state that is told, somebody wrote
    nothing is left     when it is stopped: no watch, no task
    a resync            tells states that are known
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest
from fakeserver import FakeServer, random_cut
from histories import Seen
from hypothesis import given, settings
from hypothesis import strategies as st
from watching import encode

import virtual
from kubewright.cache import Added, Condition, Deleted, Delta, Informer
from kubewright.cache.frame import entry_of
from kubewright.cache.handlers import Registration
from kubewright.cache.scope import EVERYTHING, Scope

NAMES = 30


class Witness(Seen):
    """A handler that also knows which objects it was told of."""

    def __init__(self, world: World) -> None:
        super().__init__(world.informer)
        self.world = world
        self.uids: set[str] = set()
        self.added_at = world.step
        self.invented: list[Delta] = []

    def __call__(self, delta: Delta) -> None:
        if isinstance(delta, Added):
            self.uids.add(delta.entry.uid)
        state = (delta.entry.uid, delta.entry.resource_version)
        if state not in self.world.states:
            self.invented.append(delta)
        super().__call__(delta)


class World:
    """Servers, an informer of all of them, handlers, and what is on its way between them."""

    def __init__(self, chance: Random, scopes: int, **options: Any) -> None:
        self.chance = chance
        self.step = 0
        self.states: set[tuple[str, str]] = set()
        self.written: dict[str, int] = {}  # uids that we wrote, and when
        self.witnesses: list[tuple[Witness, Registration]] = []
        self.servers: dict[str, FakeServer] = {}
        self.informer = Informer(name="things", random=chance, page_size=chance.choice([2, 500]), **options)
        if scopes == 1:
            self.add_source("", EVERYTHING)
        for number in range(scopes if scopes > 1 else 0):
            self.add_source(f"n{number}", Scope(f"n{number}", resync_seconds=chance.choice([None, 500.0])))

    # What happens

    def add_source(self, namespace: str, scope: Scope) -> None:
        server = self.servers[namespace] = FakeServer()
        server.uid_prefix = f"{namespace}-{self.step}"
        server.page_size = self.chance.choice([None, 3])
        for number in range(self.chance.randrange(NAMES)):
            self.put(server, namespace, f"o{number}")
        self.informer.add_source(server, scope)

    def witness(self) -> None:
        witness = Witness(self)
        self.witnesses.append((witness, self.informer.add_handler(witness)))

    def put(self, server: FakeServer, namespace: str, name: str, **fields: Any) -> None:
        server.put(name, namespace=namespace or "ns", **fields)
        self.note(server, (namespace or "ns", name))

    def note(self, server: FakeServer, key: tuple[str, str]) -> None:
        meta = server.objects[key]["metadata"]
        self.states.add((meta["uid"], meta["resourceVersion"]))

    def change(self) -> None:
        chance = self.chance
        namespace, server = chance.choice([*self.servers.items()])
        name = f"o{chance.randrange(NAMES)}"
        key = (namespace or "ns", name)
        luck = chance.random()
        if key in server.objects and luck < 0.35:
            self.delete(server, key)
        elif luck < 0.40:
            # Nobody can read it, and so nobody knows whether it is still the one of before.
            self.put(server, namespace, f"odd{chance.randrange(3)}", generation=chance.choice(["no number", 1]))
        else:
            self.put(server, namespace, name)
            if luck > 0.75:
                self.answer(server, key)

    def delete(self, server: FakeServer, key: tuple[str, str]) -> None:
        uid = server.objects[key]["metadata"]["uid"]
        version = server.delete(key[1], namespace=key[0])
        self.states.add((uid, str(version)))

    def answer(self, server: FakeServer, key: tuple[str, str]) -> None:
        """It was our write. The answer comes now or later, and perhaps somebody removes the object meanwhile."""
        entry, written_at = entry_of(encode(server.objects[key])), self.step

        def hear() -> None:
            if server not in self.servers.values():
                return
            self.informer.wrote(entry)
            shown = self.informer.store.get(entry.key)
            if delay == 0 or shown is None or shown.uid == entry.uid:  # see the caveats of the informer
                self.written.setdefault(entry.uid, written_at)

        if self.chance.random() < 0.3:
            self.delete(server, key)
        delay = self.chance.choice([0.0, 0.0, 0.01, 2.0])
        if delay:
            asyncio.get_running_loop().call_later(delay, hear)
        else:
            hear()

    def trouble(self) -> None:
        server = self.chance.choice([*self.servers.values()])
        server.delay_seconds = self.chance.choice([0.0, 0.0, 0.5, 5.0])
        random_cut(server, self.chance)

    def move_source(self) -> None:
        if "n9" not in self.servers:
            self.add_source("n9", Scope("n9"))
        else:
            self.informer.remove_source("n9")
            left = self.servers.pop("n9").uid_prefix
            self.written = {uid: at for uid, at in self.written.items() if not uid.startswith(left)}

    # What must hold

    async def rest(self) -> None:
        """Nothing goes wrong any more: everybody must agree."""
        await asyncio.sleep(3)  # answers that are on their way
        for server in self.servers.values():
            server.list_failures.clear()
            server.watch_failures.clear()
            server.garble = False
            server.delay_seconds = 0.0
        for namespace, server in self.servers.items():
            async with asyncio.timeout(700):
                while self.informer.observed(namespace or "ns") < server.version:
                    server.bookmark()
                    await asyncio.sleep(1)
        self.check()

    def check(self) -> None:
        expected = {key: version for server in self.servers.values() for key, version in server.state().items()}
        unreadable = {(key.namespace, key.name) for key in self.informer.unreadable}
        shown = {(entry.namespace, entry.name): entry.resource_version for entry in self.informer.store}
        assert {key: version for key, version in shown.items() if key not in unreadable} == {
            key: version for key, version in expected.items() if key not in unreadable
        }
        assert unreadable <= expected.keys()
        for witness, registration in self.witnesses:
            assert witness.illegal == []
            assert witness.invented == []
            if registration.active:
                assert witness.versions() == shown
                unheard = {uid for uid, at in self.written.items() if at > witness.added_at} - witness.uids
                assert unheard == set()


async def run(chance: Random, steps: int, trouble: float, scopes: int = 1, **options: Any) -> World:
    world = World(chance, scopes, **options)
    task = asyncio.create_task(world.informer.run())
    world.witness()
    for world.step in range(1, steps + 1):
        luck = chance.random()
        if luck < 0.02:
            await world.rest()
        elif luck < 0.03:
            world.witness()
        elif luck < 0.035 and len(world.witnesses) > 3:
            chance.choice(world.witnesses[1:])[1].remove()
        elif luck < 0.04 and scopes > 1:
            world.move_source()
        elif luck < 0.08:
            chance.choice([*world.servers.values()]).bookmark()
        elif luck < 0.08 + trouble:
            world.trouble()
        else:
            world.change()
        if chance.random() < 0.6:
            await asyncio.sleep(chance.choice([0, 0, 0, 0.01, 1.0, 30.0]))
    await world.rest()
    await asyncio.sleep(700)
    assert world.informer.condition is Condition.LIVE
    world.informer.stop()
    await task
    assert [server.open_watches for server in world.servers.values()] == [0] * len(world.servers)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return world


@settings(max_examples=40, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(0, 60),
    st.sampled_from([0.0, 0.1, 0.4]),
    st.sampled_from([1, 3]),
    st.booleans(),
)
def test_after_any_history_with_any_faults_store_and_handlers_agree_with_the_server(
    chance: Random, steps: int, trouble: float, scopes: int, stream: bool
) -> None:
    virtual.run(run(chance, steps, trouble, scopes, stream_initial=stream))


@pytest.mark.parametrize(("seed", "scopes", "stream"), [(1, 1, False), (2, 1, True), (3, 3, False)])
def test_in_ten_thousand_steps_with_faults_nothing_is_lost_and_nothing_made_up(
    seed: int, scopes: int, stream: bool
) -> None:
    world = virtual.run(run(Random(seed), 10_000, 0.05, scopes, stream_initial=stream))
    first = world.witnesses[0][0]
    assert len(first.deltas) > 3000
    assert len(world.witnesses) > 50
    assert len(world.written) > 500
    assert sum(isinstance(delta, Deleted) and delta.state_unknown for delta in first.deltas) > 100
