"""The store: entries, indexes, sizes, and the differences that each change makes."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from watching import encode, obj

from kubewright.cache import Added, Deleted, Entry, Store, Updated, labels_of
from kubewright.cache.frame import entry_of
from kubewright.model import Key


def entry(name: str, version: int = 1, *, uid: str = "", namespace: str = "ns", **labels: str) -> Entry:
    return entry_of(encode(obj(name, version, uid=uid, namespace=namespace, labels=labels)))


def by_app(each: Entry) -> Iterable[str]:
    app = labels_of(each.data).get("app")
    return app.split("-") if app else ()


def test_an_object_appears_changes_and_goes() -> None:
    store = Store()
    first, second, last = entry("a", 1), entry("a", 2), entry("a", 3)
    assert store.upsert(first) == (Added(first),)
    assert store.upsert(second) == (Updated(first, second),)
    assert store.get(("ns", "a")) is second
    assert store.remove(last) == (Deleted(last),)
    assert store.get(("ns", "a")) is None
    assert len(store) == store.size_bytes == 0


def test_the_same_version_once_more_is_no_change() -> None:
    store = Store()
    store.upsert(entry("a", 1))
    assert store.upsert(entry("a", 1)) == ()
    assert store.replace([entry("a", 1)]) == []


def test_a_deletion_of_what_is_not_there_is_no_change() -> None:
    assert Store().remove(entry("a")) == ()
    assert Store().discard(Key("ns", "a")) == ()


def test_an_object_made_again_under_its_name_is_a_deletion_and_an_addition() -> None:
    store = Store()
    old, new = entry("a", 1, uid="u1"), entry("a", 5, uid="u2")
    store.upsert(old)
    assert store.upsert(new) == (Deleted(old, state_unknown=True), Added(new))
    assert store.replace([old]) == [Deleted(new, state_unknown=True), Added(old)]


def test_a_deletion_of_another_object_of_that_name_shows_the_one_that_was_known() -> None:
    store = Store()
    old = entry("a", 1, uid="u1")
    store.upsert(old)
    assert store.remove(entry("a", 5, uid="u2")) == (Deleted(old, state_unknown=True),)


def test_a_replacement_deletes_what_is_missing_with_its_last_known_state() -> None:
    store = Store()
    stays, goes, changes = entry("a", 1), entry("b", 2), entry("c", 3)
    store.replace([stays, goes, changes])
    changed, new = entry("c", 4), entry("d", 5)
    assert store.replace([new, changed, stays]) == [
        Deleted(goes, state_unknown=True),
        Added(new),
        Updated(changes, changed),
    ]
    assert sorted(each.name for each in store) == ["a", "c", "d"]


def test_a_replacement_keeps_what_could_not_be_read() -> None:
    store = Store()
    kept = entry("a", 1)
    store.upsert(kept)
    assert store.replace([], keep={Key("ns", "a")}) == []
    assert store.get(("ns", "a")) is kept


def test_objects_are_listed_by_namespace_and_by_labels() -> None:
    store = Store()
    store.replace([entry("a", app="x"), entry("b", app="y"), entry("a", namespace="other", app="x"), entry("c")])
    assert len(store.list()) == 4
    assert {each.name for each in store.list("ns")} == {"a", "b", "c"}
    assert store.list("absent") == []
    assert {each.key for each in store.list(labels=lambda labels: labels.get("app") == "x")} == {
        ("ns", "a"),
        ("other", "a"),
    }
    assert [each.name for each in store.list("ns", lambda labels: "app" not in labels)] == ["c"]


def test_labels_that_are_no_labels_match_nothing() -> None:
    store = Store()
    store.upsert(entry_of(encode(obj("a", 1, labels=["x"]))))
    assert store.list(labels=lambda _: True) == []


def test_an_object_is_found_by_each_value_of_an_index_in_the_order_of_their_coming() -> None:
    store = Store({"app": by_app})
    store.replace([entry("b", app="x-y"), entry("a", app="x"), entry("c", namespace="other", app="x")])
    assert [each.name for each in store.by_index("app", "x")] == ["b", "a", "c"]
    assert store.index_keys("app", "x", "ns") == [("ns", "b"), ("ns", "a")]
    assert store.index_values("app") == ["x", "y"]
    store.upsert(entry("b", 2, app="z"))
    assert [each.name for each in store.by_index("app", "x", "ns")] == ["a"]
    assert store.by_index("app", "y") == []
    assert [each.resource_version for each in store.by_index("app", "z")] == ["2"]
    store.remove(entry("b", 3))
    assert store.index_values("app") == ["x"]


def test_an_index_can_be_added_when_there_are_objects() -> None:
    store = Store()
    store.upsert(entry("a", app="x"))
    store.add_index("app", by_app)
    store.add_index("app", by_app)
    assert [each.name for each in store.by_index("app", "x")] == ["a"]


def test_two_functions_cannot_have_one_index_name() -> None:
    store = Store({"app": by_app})
    with pytest.raises(ValueError, match="'app' is taken"):
        store.add_index("app", lambda _: ())


def test_an_index_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(KeyError, match=r"'owner' does not exist \(there are: app\)"):
        Store({"app": by_app}).by_index("owner", "x")


def test_an_index_function_that_fails_loses_one_object_in_one_index(caplog: pytest.LogCaptureFixture) -> None:
    def fragile(each: Entry) -> list[str]:
        if each.resource_version == "2":
            raise RuntimeError("no")
        return ["x"]

    store = Store({"fragile": fragile, "app": by_app})
    store.upsert(entry("a", 1, app="y"))
    with caplog.at_level(logging.ERROR):
        store.upsert(entry("a", 2, app="y"))
    assert "fragile" in caplog.text
    assert store.by_index("fragile", "x") == []
    assert len(store.by_index("app", "y")) == 1


entries = st.builds(
    entry,
    st.sampled_from("abc"),
    st.integers(1, 9),
    uid=st.sampled_from(["u1", "u2"]),
    namespace=st.sampled_from(["", "n"]),
    app=st.sampled_from(["x", "y", "x-y", ""]),
)
changes = st.one_of(
    st.tuples(st.just("upsert"), entries),
    st.tuples(st.just("remove"), entries),
    st.tuples(st.just("replace"), st.lists(entries, max_size=4)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(changes, max_size=25))
def test_deltas_indexes_and_sizes_always_agree_with_the_entries(steps: list[tuple[str, object]]) -> None:
    store = Store({"app": by_app})
    shown: dict[Key, Entry] = {}  # what somebody knows who only hears of the deltas
    for step, argument in steps:
        for delta in getattr(store, step)(argument):
            if isinstance(delta, Added):
                assert delta.key not in shown
                shown[delta.key] = delta.entry
            elif isinstance(delta, Updated):
                assert shown[delta.key] == delta.old
                assert delta.old.uid == delta.entry.uid
                shown[delta.key] = delta.entry
            else:
                known = shown.pop(delta.key)
                assert known.uid == delta.entry.uid
                assert known == delta.entry or not delta.state_unknown
        assert {(key, each.uid, each.resource_version) for key, each in shown.items()} == {
            (each.key, each.uid, each.resource_version) for each in store
        }
        assert len(store) == len(shown)
        assert store.size_bytes == sum(len(each.data) for each in store)
        for value in ("x", "y"):
            expected = {each.key for each in store if value in by_app(each)}
            assert set(store.index_keys("app", value)) == expected
        assert set(store.index_values("app")) == {value for each in store for value in by_app(each)}
        for namespace in ("", "n"):
            assert {each.key for each in store.list(namespace)} == {key for key in shown if key.namespace == namespace}
