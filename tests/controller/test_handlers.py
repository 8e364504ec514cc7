"""Which keys a change adds, and why."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from kubewright.cache import Added, Deleted, Delta, Updated
from kubewright.cache.entry import Entry
from kubewright.cache.frame import entry_of
from kubewright.controller.cause import Cause
from kubewright.controller.handlers import owner_handler, self_handler
from kubewright.model import GroupKind, Key

WEB = GroupKind("example.com", "Web")


def owner(name: str = "a", **fields: Any) -> dict[str, Any]:
    said = {"apiVersion": "example.com/v1", "kind": "Web", "name": name, "uid": f"uid-{name}", "controller": True}
    return {**said, **fields}


def child(*owners: dict[str, Any], namespace: str = "ns", version: int = 1) -> Entry:
    meta = {"name": "c", "namespace": namespace, "uid": "u", "resourceVersion": str(version), "ownerReferences": owners}
    return entry_of(orjson.dumps({"metadata": meta}))


def owners_woken(delta: Delta, *, namespaced: bool = True) -> list[tuple[Key, str]]:
    woken: list[tuple[Key, str]] = []

    def add(key: Key, cause: Cause, priority: int = 0) -> None:
        woken.append((key, str(cause)))

    owner_handler("ConfigMap", WEB, namespaced, add)(delta)
    return woken


@pytest.mark.parametrize(
    ("delta", "cause"),
    [
        (Added(child(owner())), "added ConfigMap c"),
        (Updated(child(owner()), child(owner(), version=2)), "updated ConfigMap c"),
        (Deleted(child(owner())), "deleted ConfigMap c"),
        (Deleted(child(owner()), state_unknown=True), "deleted ConfigMap c"),
    ],
)
def test_each_change_of_a_child_wakes_its_owner_once_and_says_why(delta: Delta, cause: str) -> None:
    assert owners_woken(delta) == [(Key("ns", "a"), cause)]


def test_a_child_that_changes_owners_wakes_both() -> None:
    woken = owners_woken(Updated(child(owner("old")), child(owner("new"), version=2)))
    assert {key for key, _ in woken} == {Key("ns", "old"), Key("ns", "new")}


def test_a_child_that_is_orphaned_wakes_its_old_owner() -> None:
    assert [key for key, _ in owners_woken(Updated(child(owner()), child(version=2)))] == [Key("ns", "a")]


def test_a_child_that_is_adopted_wakes_its_new_owner() -> None:
    assert [key for key, _ in owners_woken(Updated(child(), child(owner(), version=2)))] == [Key("ns", "a")]


def test_the_version_of_the_owner_does_not_matter() -> None:
    assert owners_woken(Added(child(owner(apiVersion="example.com/v2alpha1"))))


@pytest.mark.parametrize(
    "stranger",
    [
        owner(controller=False),
        {name: value for name, value in owner().items() if name != "controller"},
        owner(kind="Site"),
        owner(apiVersion="other.io/v1"),
        owner(apiVersion="v1"),
    ],
)
def test_an_owner_that_is_not_the_controller_or_of_another_kind_is_not_woken(stranger: dict[str, Any]) -> None:
    assert owners_woken(Added(child(stranger))) == []


def test_only_the_controller_among_several_owners_is_woken() -> None:
    owners = (owner("x", controller=False), owner("y"), owner("z", kind="Site"))
    assert [key for key, _ in owners_woken(Added(child(*owners)))] == [Key("ns", "y")]


def test_an_owner_is_looked_for_in_the_namespace_of_the_child_unless_it_has_none() -> None:
    delta = Added(child(owner(), namespace="prod"))
    assert [key for key, _ in owners_woken(delta)] == [Key("prod", "a")]
    assert [key for key, _ in owners_woken(delta, namespaced=False)] == [Key("", "a")]


def test_a_child_without_owners_wakes_nobody() -> None:
    assert owners_woken(Deleted(child())) == []


@pytest.mark.parametrize(
    ("delta", "cause"),
    [
        (Added(child(), initial=True), "present at start"),
        (Added(child()), "added"),
        (Updated(child(), child(version=2)), "updated"),
        (Deleted(child()), "deleted"),
    ],
)
def test_each_change_of_an_object_adds_its_own_key_and_says_why(delta: Delta, cause: str) -> None:
    woken: list[tuple[Key, str]] = []

    def add(key: Key, cause: Cause, priority: int = 0) -> None:
        woken.append((key, str(cause)))

    self_handler(add)(delta)
    assert woken == [(Key("ns", "c"), cause)]


@pytest.mark.parametrize(
    ("delta", "priority"),
    [
        (Added(child(owner()), initial=True), -100),
        (Added(child(owner())), 0),
        (Updated(child(owner()), child(owner(), version=2)), 0),
        (Updated(child(owner()), child(owner())), -100),
        (Deleted(child(owner())), 0),
    ],
)
def test_what_was_there_at_the_start_and_what_is_told_again_comes_behind_what_changes(
    delta: Delta, priority: int
) -> None:
    woken: list[int] = []

    def add(key: Key, cause: Cause, priority: int = 0) -> None:
        woken.append(priority)

    self_handler(add)(delta)
    owner_handler("ConfigMap", WEB, True, add)(delta)
    assert woken == [priority, priority]


def test_with_any_owner_all_owners_of_the_kind_are_woken() -> None:
    woken: list[Key] = []

    def add(key: Key, cause: Cause, priority: int = 0) -> None:
        woken.append(key)

    owners = (owner("x", controller=False), owner("y"), owner("z", kind="Site"))
    owner_handler("ConfigMap", WEB, True, add, any_owner=True)(Added(child(*owners)))
    assert woken == [Key("ns", "x"), Key("ns", "y")]
