"""The list-and-watch machine: silence, conditions, backoff, the streamed initial state."""

from __future__ import annotations

from random import Random

import pytest
from machine import answer, asked_list, asked_watch, new, synced, waits
from watching import bookmark, error, event, obj, page

from kubewright.cache import (
    Condition,
    Denied,
    Expired,
    ListWatchError,
    NotInstalled,
    Rejected,
    Throttled,
    Unavailable,
)
from kubewright.cache.backoff import Backoff
from kubewright.cache.frame import Upserted
from kubewright.cache.listing import Replaced

# Silence


def test_a_watch_that_has_shown_bookmarks_and_falls_silent_is_dead() -> None:
    watcher = synced(10)
    watcher.line_received(bookmark(11), 60.0)
    assert watcher.wake_at == 240.0
    watcher.line_received(bookmark(12), 120.0)
    watcher.timer(240.0)
    first = asked_watch(watcher)
    assert watcher.wake_at == 300.0
    watcher.timer(300.0)
    assert asked_watch(watcher) is not first
    assert asked_watch(watcher).resource_version == "12"


def test_a_server_that_has_sent_bookmarks_once_is_expected_to_in_later_watches() -> None:
    """A connection may die in its first minute, before it has shown a bookmark."""
    watcher = synced(10)
    watcher.line_received(bookmark(11), 60.0)
    watcher.watch_ended(asked_watch(watcher), None, 90.0)
    second = asked_watch(watcher)
    watcher.opened(second, 90.1)
    assert watcher.wake_at == 270.0
    watcher.timer(270.0)
    assert asked_watch(watcher) is not second
    assert asked_watch(watcher).resource_version == "11"


def test_the_time_to_wake_never_moves_earlier_when_the_initial_state_is_complete() -> None:
    watcher = new(stream_initial=True, silence_seconds=5.0)
    watcher.line_received(event("ADDED", obj("a", 1)), 1.0)
    assert watcher.wake_at == 6.0
    watcher.line_received(bookmark(5, initial_events_end=True), 2.0)
    assert watcher.wake_at == 7.0


def test_a_server_without_bookmarks_may_be_silent_until_it_should_have_ended_the_watch() -> None:
    watcher = synced(10)
    first = asked_watch(watcher)
    watcher.opened(first, 0.1)
    while watcher.action is first:
        assert watcher.wake_at is not None
        now = watcher.wake_at
        watcher.timer(now)
    assert now == first.timeout_seconds + 30
    asked_watch(watcher)


def test_a_watch_that_is_not_even_accepted_fails() -> None:
    watcher = synced(10)
    watcher.timer(180.0)
    assert "nothing came" in str(watcher.problem)
    waits(watcher, 180.0)


# Conditions


@pytest.mark.parametrize(
    ("failure", "condition"),
    [
        (Denied("no"), Condition.FORBIDDEN),
        (NotInstalled("404"), Condition.NOT_INSTALLED),
        (Unavailable("refused"), Condition.FAILING),
        (Throttled("busy"), Condition.FAILING),
        (Rejected("what"), Condition.FAILING),
    ],
)
def test_a_failure_shows_until_the_server_has_answered_well_again(
    failure: ListWatchError, condition: Condition
) -> None:
    watcher = new()
    watcher.page_failed(asked_list(watcher), failure, 0.0)
    assert watcher.condition is condition
    assert watcher.problem is failure
    waits(watcher, 0.0)
    assert watcher.condition is condition
    answer(watcher, page([], 10), 2.0)
    assert watcher.condition is Condition.LIVE
    watcher.watch_ended(asked_watch(watcher), failure, 2.0)
    if isinstance(failure, NotInstalled | Rejected):
        return
    waits(watcher, 2.0)
    assert watcher.condition is condition
    watcher.opened(asked_watch(watcher), 9.0)
    assert watcher.condition is Condition.LIVE


# The initial state as a watch


def test_the_initial_state_can_be_streamed_and_is_shown_at_the_bookmark_that_ends_it() -> None:
    watcher = new(stream_initial=True)
    params = asked_watch(watcher).params()
    del params["timeoutSeconds"]
    assert params == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
    }
    for line in (
        event("ADDED", obj("a", 30)),
        event("ADDED", obj("b", 20)),
        event("ADDED", obj("c", 25, generation="x")),
        bookmark(5),
        event("MODIFIED", obj("a", 31)),
        event("DELETED", obj("b", 32)),
    ):
        assert watcher.line_received(line, 1.0) is None
        assert watcher.resource_version == ""
        assert not watcher.synced
    found = watcher.line_received(bookmark(40, initial_events_end=True), 2.0)
    assert isinstance(found, Replaced)
    assert [(entry.name, entry.resource_version) for entry in found.entries] == [("a", "31")]
    assert [item.key for item in found.unreadable] == [("ns", "c")]
    assert watcher.resource_version == "40"
    assert isinstance(watcher.line_received(event("ADDED", obj("d", 41)), 3.0), Upserted)


def test_where_the_server_cannot_stream_the_state_lists_are_used_for_good() -> None:
    watcher = new(stream_initial=True)
    watcher.watch_ended(asked_watch(watcher), Rejected("sendInitialEvents is forbidden"), 0.0)
    answer(watcher, page([], 10))
    watcher.line_received(error(410, "Expired"), 1.0)
    asked_list(watcher)


def test_a_server_that_ignores_the_wish_for_a_stream_is_noticed_by_its_silence() -> None:
    watcher = new(stream_initial=True)
    watcher.opened(asked_watch(watcher), 0.1)
    watcher.line_received(event("ADDED", obj("a", 1)), 10.0)
    assert watcher.wake_at == 40.0
    watcher.timer(40.0)
    asked_list(watcher)


@pytest.mark.parametrize("failure", [None, Unavailable("reset"), Expired("too large")])
def test_a_stream_that_ends_before_its_state_is_complete_starts_again_after_a_pause(
    failure: ListWatchError | None,
) -> None:
    watcher = new(stream_initial=True)
    watcher.line_received(event("ADDED", obj("a", 1)), 10.0)
    watcher.watch_ended(asked_watch(watcher), failure, 20.0)
    assert waits(watcher, 20.0) >= 0.8
    assert asked_watch(watcher).initial
    watcher.line_received(event("ADDED", obj("b", 2)), 30.0)
    found = watcher.line_received(bookmark(5, initial_events_end=True), 31.0)
    assert isinstance(found, Replaced)
    assert [entry.name for entry in found.entries] == ["b"]


def test_a_state_streamed_again_is_not_older_than_what_was_seen() -> None:
    watcher = new(stream_initial=True)
    watcher.line_received(bookmark(5, initial_events_end=True), 1.0)
    watcher.line_received(event("ADDED", obj("a", 9)), 2.0)
    watcher.line_received(error(410, "Expired"), 3.0)
    assert asked_watch(watcher).initial
    assert asked_watch(watcher).resource_version == "9"


# Backoff


def test_waits_double_from_0_8_to_30_s_and_are_stretched_by_up_to_the_double() -> None:
    backoff = Backoff(Random(3))
    waited, now = [], 0.0
    for _ in range(12):
        waited.append(backoff.wait_seconds(now))
        now += waited[-1]
    base = [0.8 * 2**n for n in range(6)] + [30.0] * 6
    assert all(least <= wait < 2 * least for least, wait in zip(base, waited, strict=True))
    assert len({round(wait / least, 3) for least, wait in zip(base, waited, strict=True)}) > 8


def test_after_two_quiet_minutes_waits_start_again_at_0_8_s() -> None:
    backoff = Backoff(Random(3))
    for _ in range(8):
        backoff.wait_seconds(0.0)
    last = backoff.wait_seconds(0.0)
    assert backoff.wait_seconds(last + 119.0) >= 30
    backoff = Backoff(Random(3))
    for _ in range(8):
        last = backoff.wait_seconds(0.0)
    assert backoff.wait_seconds(last + 120.0) < 1.6
