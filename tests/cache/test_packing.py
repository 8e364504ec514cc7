"""Compressed objects: smaller, and otherwise the same."""

from __future__ import annotations

import builtins
import json
from random import Random
from typing import Any

import pytest
from fakeserver import FakeServer
from histories import Seen, in_virtual_time, running
from watching import encode, obj

from kubewright.cache import Added, CacheOptions, Entry, KindCache, Store, Updated, drop
from kubewright.cache.frame import entry_of
from kubewright.cache.packing import NoCompression, PackedEntry, Packer
from kubewright.cache.transform import intake_of


def pod(number: int, version: int = 1) -> Entry:
    chance = Random(number)
    spec = {
        "nodeName": f"node-{chance.randrange(100)}",
        "containers": [
            {"name": "main", "image": f"registry/app:{chance.randrange(50)}", "args": ["--one", "--two"] * 9}
        ],
    }
    conditions = [{"type": each, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"} for each in "abcdefgh"]
    made = {**obj(f"pod-{number}", version), "spec": spec, "status": {"conditions": conditions, "podIP": "10.0.0.1"}}
    return entry_of(encode(made))


def packed(count: int = 200) -> tuple[list[Entry], list[Entry]]:
    """Entries, and what a packer makes of them that has seen others before."""
    packer = Packer(samples=100)
    for number in range(1000, 1100):
        assert packer.pack(pod(number)) == pod(number)
    plain = [pod(number) for number in range(count)]
    return plain, [packer.pack(each) for each in plain]


def test_an_entry_reads_as_it_did_and_takes_a_fifth_of_the_bytes_at_most() -> None:
    plain, small = packed()
    assert all(isinstance(each, PackedEntry) for each in small)
    assert [each.data for each in small] == [each.data for each in plain]
    assert [each.key for each in small] == [each.key for each in plain]
    assert sum(each.stored_bytes for each in small) * 5 < sum(each.stored_bytes for each in plain)


def test_the_first_objects_are_kept_as_they_are() -> None:
    packer = Packer(samples=100)
    found = [packer.pack(pod(number)) for number in range(101)]
    assert [type(each) for each in found] == [Entry] * 100 + [PackedEntry]


def test_a_store_counts_what_it_keeps() -> None:
    _, small = packed()
    store = Store()
    for each in small:
        store.upsert(each)
    assert store.size_bytes == sum(each.stored_bytes for each in small)
    store.remove(small[0])
    store.upsert(pod(1, 2))
    assert store.size_bytes == sum(each.stored_bytes for each in store)


def test_it_packs_what_a_transform_has_left() -> None:
    packer = Packer(samples=100)
    intake = packer.after(intake_of(drop("status")))
    found = [intake(pod(number)) for number in range(120)]
    assert isinstance(found[-1], PackedEntry)
    assert "status" not in json.loads(found[-1].data)


@in_virtual_time
async def test_handlers_and_the_store_of_an_informer_see_what_they_would_without_it() -> None:
    server = FakeServer()
    for number in range(300):
        server.put(f"o{number}", annotations={"text": "the same in each of them " * 10})
    async with running(server, intake=Packer(samples=100).pack) as informer:
        seen = Seen(informer)
        informer.add_handler(seen)
        await informer.wait_synced()
        server.put("o299", annotations={"text": "changed"})
        server.put("new")
        await informer.wait_version(server.version, 5)
        assert len(seen.deltas) == 302
        changed, new = seen.deltas[-2:]
        assert isinstance(changed, Updated)
        assert b"the same" in changed.old.data
        assert b"changed" in changed.entry.data
        assert isinstance(new, Added)
        assert all(json.loads(each.data)["metadata"]["name"] == each.name for each in informer.store)
        assert seen.illegal == []


def test_without_zstd_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name in ("compression", "zstandard"):
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for make in (Packer, lambda: CacheOptions(compress=True), lambda: KindCache(compress=True)):
        with pytest.raises(NoCompression, match=r"pip install 'kubewright\[compression\]'"):
            make()
