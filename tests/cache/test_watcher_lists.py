"""The list-and-watch machine: lists, and what their failures lead to. The clock is in the test's hand."""

from __future__ import annotations

from random import Random

import pytest
from machine import answer, asked_list, asked_watch, new, synced, waits
from watching import encode, error, event, obj, page

from kubewright.cache import (
    Condition,
    Denied,
    Expired,
    Rejected,
    Unavailable,
    Watcher,
)


def test_the_first_list_takes_any_version_in_pages_of_500() -> None:
    assert asked_list(new()).params() == {"resourceVersion": "0", "limit": "500"}


def test_pages_are_asked_for_by_their_token_alone_and_shown_when_they_are_complete() -> None:
    watcher = new()
    assert watcher.condition is Condition.SYNCING
    assert answer(watcher, page([obj("a", 1), obj("b", 2), obj("c", 3)], 10, "t1")) is None
    assert asked_list(watcher).params() == {"continue": "t1", "limit": "500"}
    assert not watcher.synced
    found = answer(watcher, page([obj("d", 4)], 10))
    assert found is not None
    assert [entry.name for entry in found.entries] == ["a", "b", "c", "d"]
    assert found.resource_version == watcher.resource_version == "10"
    assert watcher.synced
    assert watcher.condition is Condition.LIVE


def test_a_watch_starts_at_the_version_of_the_list_with_bookmarks_and_a_random_end() -> None:
    ends = set()
    for seed in range(50):
        watcher = Watcher(0.0, random=Random(seed))
        answer(watcher, page([], 10))
        params = asked_watch(watcher).params()
        ends.add(int(params.pop("timeoutSeconds")))
        assert params == {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": "10"}
    assert min(ends) >= 300
    assert max(ends) < 600
    assert len(ends) > 30


def test_an_expired_token_makes_one_list_of_everything_and_forgets_the_pages_before() -> None:
    watcher = new()
    answer(watcher, page([obj("gone", 1)], 10, "t1"))
    watcher.page_failed(asked_list(watcher), Expired("token"), 1.0)
    assert asked_list(watcher).params() == {"resourceVersion": "0"}
    found = answer(watcher, page([obj("a", 12)], 20))
    assert found is not None
    assert [entry.name for entry in found.entries] == ["a"]


def test_a_server_that_pages_and_expires_without_end_is_not_asked_without_pause() -> None:
    watcher = new()
    answer(watcher, page([], 10, "t1"))
    watcher.page_failed(asked_list(watcher), Expired("token"), 1.0)
    answer(watcher, page([], 10, "t2"))
    watcher.page_failed(asked_list(watcher), Expired("token"), 1.0)
    assert asked_list(watcher).params() == {"limit": "500"}
    watcher.page_failed(asked_list(watcher), Expired("token"), 1.0)
    assert waits(watcher, 1.0) >= 0.8
    assert watcher.condition is Condition.FAILING


def test_a_later_list_asks_for_at_least_the_last_seen_version_and_for_the_newest_only_after_410() -> None:
    watcher = synced(10)
    watcher.line_received(event("ADDED", obj("a", 15)), 1.0)
    watcher.watch_ended(asked_watch(watcher), Expired("too old"), 2.0)
    assert asked_list(watcher).params() == {"resourceVersion": "15"}
    watcher.page_failed(asked_list(watcher), Expired("too large"), 5.0)
    assert asked_list(watcher).params() == {"limit": "500"}
    assert answer(watcher, page([], 7), 6.0) is not None
    assert asked_watch(watcher).resource_version == "7"


def test_a_list_at_a_version_keeps_its_pages_where_the_server_has_no_cache() -> None:
    watcher = new()
    answer(watcher, page([], 10, "t1"))
    answer(watcher, page([], 10))
    watcher.line_received(event("ADDED", obj("a", 15)), 1.0)
    watcher.line_received(error(410, "Expired"), 2.0)
    assert asked_list(watcher).params() == {"resourceVersion": "15", "limit": "500"}


def test_a_version_that_cannot_be_watched_right_after_its_list_makes_a_list_of_the_newest() -> None:
    watcher = synced(10)
    watcher.watch_ended(asked_watch(watcher), Expired("too old"), 0.1)
    assert asked_list(watcher).params() == {"limit": "500"}


@pytest.mark.parametrize("body", [b"", encode({"kind": "Table", "rows": []}), page([], "")])
def test_what_is_no_list_to_watch_from_is_a_problem_and_asked_for_again(body: bytes) -> None:
    watcher = new()
    assert answer(watcher, body) is None
    assert isinstance(watcher.problem, Rejected)
    waits(watcher, 0.0)
    asked_list(watcher)


def test_a_list_that_is_never_answered_is_given_up_after_two_minutes() -> None:
    watcher = new()
    assert watcher.wake_at == 120.0
    watcher.timer(119.0)
    asked_list(watcher)
    watcher.timer(120.0)
    assert isinstance(watcher.problem, Unavailable)
    waits(watcher, 120.0)
    asked_list(watcher)


def test_an_answer_to_what_was_given_up_is_ignored() -> None:
    watcher = new()
    old = asked_list(watcher)
    watcher.timer(120.0)
    waits(watcher, 120.0)
    watcher.page_received(old, page([obj("a", 1)], 1), 130.0)
    watcher.page_failed(old, Denied("no"), 130.0)
    assert asked_list(watcher) is not old
    assert not isinstance(watcher.problem, Denied)
    answer(watcher, page([], 5), 131.0)
    watch = asked_watch(watcher)
    watcher.line_received(error(500), 132.0)
    waits(watcher, 132.0)
    watcher.watch_ended(watch, None, 133.0)
    watcher.opened(watch, 133.0)
    assert watcher.problem is not None
    assert asked_watch(watcher) is not watch


def test_an_object_that_cannot_be_read_does_not_stop_the_others_of_its_list() -> None:
    found = answer(new(), page([obj("a", 1), obj("b", 2, generation="x"), obj("c", 3)], 10))
    assert found is not None
    assert [entry.name for entry in found.entries] == ["a", "c"]
    assert [item.key for item in found.unreadable] == [("ns", "b")]
