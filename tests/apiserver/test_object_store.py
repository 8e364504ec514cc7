"""The store: revisions, history, pages of the past, compaction, forks; against a model that copies everything."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.apiserver.store import Change, Compacted, Entry, Exists, Missing, Moved, Store

ROOM = "example.com/things"
KEYS = ("a/x", "a/y", "b/x", "c", "a-b/x")


def obj(value: int = 0) -> dict[str, Any]:
    return {"metadata": {}, "value": value}


def values(entries: list[Entry]) -> dict[str, tuple[int, int]]:
    return {each.key: (each.object["value"], each.revision) for each in entries}


def test_a_commit_takes_the_next_revision_and_the_object_has_it() -> None:
    store = Store()
    first = store.create(ROOM, "a", obj())
    second = store.create("other", "a", obj())
    assert (second.revision - first.revision, second.object["metadata"]["resourceVersion"]) == (1, str(second.revision))
    assert store.revision == second.revision


def test_a_key_is_taken_once() -> None:
    store = Store()
    store.create(ROOM, "a", obj())
    with pytest.raises(Exists):
        store.create(ROOM, "a", obj())


def test_who_was_slower_does_not_overwrite() -> None:
    store = Store()
    seen = store.create(ROOM, "a", obj())
    store.update(ROOM, "a", obj(1), seen)
    with pytest.raises(Moved):
        store.update(ROOM, "a", obj(2), seen)
    with pytest.raises(Moved):
        store.delete(ROOM, "a", seen)
    with pytest.raises(Missing):
        store.update(ROOM, "b", obj(), seen)


def test_a_deletion_has_a_revision_of_its_own_and_leaves_the_stored_object_alone() -> None:
    store = Store()
    seen = store.create(ROOM, "a", obj())
    last = store.delete(ROOM, "a", seen)
    assert (last.revision, seen.object["metadata"]["resourceVersion"]) == (seen.revision + 1, str(seen.revision))
    assert store.get(ROOM, "a") is None


def test_a_refused_commit_leaves_no_trace() -> None:
    def full(resource: str, change: Change) -> None:
        raise OSError("the disk is full")

    store = Store()
    seen = store.create(ROOM, "a", obj())
    before = store.revision
    store.journal = full
    writes: list[Callable[[], Entry]] = [
        lambda: store.create(ROOM, "b", obj()),
        lambda: store.update(ROOM, "a", obj(1), seen),
        lambda: store.delete(ROOM, "a", seen),
    ]
    for write in writes:
        with pytest.raises(OSError, match="full"):
            write()
    assert (store.revision, store.get(ROOM, "a"), store.get(ROOM, "b")) == (before, seen, None)


def test_a_namespace_is_one_part_of_the_keys() -> None:
    store = Store()
    for key in KEYS:
        store.create(ROOM, key, obj())
    assert [each.key for each in store.collection(ROOM).page("a/").entries] == ["a/x", "a/y"]
    assert [each.key for each in store.collection(ROOM).page().entries] == sorted(KEYS)


def test_old_history_goes_when_it_is_twice_as_long_as_its_limit() -> None:
    store = Store(history_limit=5)
    entry = store.create(ROOM, "a", obj())
    for value in range(20):
        entry = store.update(ROOM, "a", obj(value), entry)
    collection = store.collection(ROOM)
    assert len(collection.log) < 10
    with pytest.raises(Compacted) as gone:
        collection.number_after(2)
    assert gone.value.floor == collection.floor
    assert collection.changes(collection.number_after(collection.floor))[0].revision == collection.floor + 1


def test_the_json_of_an_object_takes_no_more_room_than_it_is_long() -> None:
    entry = Store().create(ROOM, "a", obj() | {"data": "x" * 1_200})
    assert sys.getsizeof(entry.json) == sys.getsizeof(b"") + len(entry.json)


def test_what_is_far_back_in_the_history_keeps_no_encodings() -> None:
    store = Store()
    first = entry = store.create(ROOM, "a", obj())
    encoded, log = first.json, store.collection(ROOM).log
    first.views = {"v2": first}
    for value in range(1_000):
        log[-1].encoded["json"] = b"an event"
        entry = store.update(ROOM, "a", obj(value), entry)
    assert log[0].encoded == {}
    assert log[1].encoded
    kept = [first.views is not None]  # the change that replaced it is not that old
    store.update(ROOM, "a", obj(1_000), entry)
    kept.append(first.views is not None)
    assert kept == [True, False]
    assert first.json == encoded


def test_compaction_forgets_the_past_and_not_the_present() -> None:
    store = Store()
    entry = store.create(ROOM, "a", obj())
    store.update(ROOM, "a", obj(1), entry)
    store.compact()
    collection = store.collection(ROOM)
    with pytest.raises(Compacted):
        collection.page(revision=entry.revision)
    assert values(collection.page(revision=store.revision).entries) == {"a": (1, store.revision)}
    assert collection.number_after(store.revision) == collection.end


def test_a_collection_that_comes_after_a_compaction_does_not_reach_behind_it() -> None:
    store = Store()
    store.create(ROOM, "a", obj())
    store.compact()
    with pytest.raises(Compacted):
        store.collection("new").page(revision=1)


class Model:
    """All states there ever were."""

    def __init__(self, revision: int) -> None:
        self.states: dict[int, dict[str, tuple[int, int]]] = {revision: {}}
        self.now: dict[str, tuple[int, int]] = {}

    def note(self, revision: int) -> None:
        self.states[revision] = dict(self.now)


Step = tuple[str, str, int]
steps = st.lists(
    st.tuples(st.sampled_from(("put", "put", "put", "delete")), st.sampled_from(KEYS), st.integers(0, 9)), max_size=40
)


def run(store: Store, model: Model, history: list[Step]) -> None:
    for what, key, value in history:
        present = store.get(ROOM, key)
        if what == "delete":
            if present is not None:
                store.delete(ROOM, key, present)
                del model.now[key]
        else:
            new = obj(value)
            made = store.create(ROOM, key, new) if present is None else store.update(ROOM, key, new, present)
            model.now[key] = (value, made.revision)
        model.note(store.revision)


@given(steps)
def test_any_older_revision_can_be_listed_as_it_was(history: list[Step]) -> None:
    store = Store()
    model = Model(store.revision)
    run(store, model, history)
    for revision, state in model.states.items():
        assert values(store.collection(ROOM).page(revision=revision).entries) == state


@given(steps, st.integers(1, 3), st.sampled_from(("", "a/")), steps)
def test_pages_of_one_revision_are_one_list_whatever_is_written_between_them(
    history: list[Step], limit: int, scope: str, later: list[Step]
) -> None:
    store = Store()
    model = Model(store.revision)
    run(store, model, history)
    revision, whole = store.revision, dict(model.now)
    found: list[Entry] = []
    page = store.collection(ROOM).page(scope, "", limit, revision)
    while True:
        found += page.entries
        assert page.remaining == len([key for key in whole if key.startswith(scope)]) - len(found)
        if not page.remaining:
            break
        run(store, model, later[:5])
        later = later[5:]
        page = store.collection(ROOM).page(scope, page.entries[-1].key, limit, revision)
    wanted = {key: each for key, each in whole.items() if key.startswith(scope)}
    assert values(found) == wanted
    assert [each.key for each in found] == sorted(wanted)


@given(steps, st.data())
def test_the_changes_since_a_revision_lead_from_what_was_to_what_is(history: list[Step], data: st.DataObject) -> None:
    store = Store()
    model = Model(store.revision)
    run(store, model, history)
    since = data.draw(st.sampled_from(sorted(model.states)))
    state = dict(model.states[since])
    collection = store.collection(ROOM)
    for change in collection.changes(collection.number_after(since)):
        key = change.entry.key
        assert (change.previous is not None) is (key in state)
        assert (change.type == "ADDED") is (change.previous is None)
        if change.type == "DELETED":
            del state[key]
        else:
            state[key] = (change.entry.object["value"], change.revision)
    assert state == model.now


@given(steps, steps, steps)
def test_a_fork_and_its_origin_go_their_own_ways(before: list[Step], here: list[Step], there: list[Step]) -> None:
    store = Store()
    model = Model(store.revision)
    run(store, model, before)
    fork, copy = store.fork(), Model(store.revision)
    copy.now, copy.states = dict(model.now), dict(model.states)
    run(store, model, here)
    run(fork, copy, there)
    for one, its in ((store, model), (fork, copy)):
        assert values(one.collection(ROOM).page().entries) == its.now
        for revision, state in its.states.items():
            assert values(one.collection(ROOM).page(revision=revision).entries) == state
