"""The list-and-watch machine: watches, and what their ends lead to. The clock is in the test's hand."""

from __future__ import annotations

import msgspec
import pytest
from machine import answer, asked_list, asked_watch, new, synced, waits
from watching import bookmark, error, event, obj, page

from kubewright.cache import (
    Condition,
    Denied,
    Entry,
    Expired,
    ListWatchError,
    NotInstalled,
    Throttled,
    Unavailable,
    Unreadable,
)
from kubewright.cache.actions import Wait
from kubewright.cache.frame import Removed, Upserted
from kubewright.cache.listing import Replaced

# Events


def test_each_event_moves_the_version_and_comes_out() -> None:
    watcher = synced(10)
    found = watcher.line_received(event("ADDED", obj("a", 11)), 1.0)
    assert isinstance(found, Upserted)
    assert found.entry.name == "a"
    assert isinstance(watcher.line_received(event("DELETED", obj("a", 12)), 2.0), Removed)
    assert watcher.resource_version == "12"
    assert watcher.last_event_at == 2.0


def test_a_bookmark_moves_the_version_and_nothing_else() -> None:
    watcher = synced(10)
    watch = asked_watch(watcher)
    assert watcher.line_received(bookmark(99), 60.0) is None
    assert watcher.resource_version == "99"
    assert watcher.action is watch
    assert watcher.last_event_at == 60.0


def test_an_object_that_cannot_be_read_comes_out_as_such_and_the_watch_goes_on() -> None:
    watcher = synced(10)
    found = watcher.line_received(event("ADDED", obj("a", 11, generation="x")), 1.0)
    assert isinstance(found, Unreadable)
    assert watcher.resource_version == "10"
    assert isinstance(watcher.line_received(event("ADDED", obj("b", 12)), 2.0), Upserted)
    assert watcher.problem is None


def test_the_version_follows_the_server_even_backwards() -> None:
    watcher = synced(10)
    watcher.line_received(event("ADDED", obj("a", 20)), 1.0)
    watcher.line_received(event("ADDED", obj("b", 15)), 2.0)
    assert watcher.resource_version == "15"


def test_a_line_that_is_no_event_goes_back_to_the_last_sure_version_and_is_never_skipped() -> None:
    watcher = synced(10)
    watcher.line_received(event("ADDED", obj("a", 11)), 1.0)
    assert watcher.line_received(b'{"type":"ADDED","object":{"metad', 2.0) is None
    assert isinstance(watcher.action, Wait)
    assert watcher.line_received(event("ADDED", obj("b", 13)), 2.1) is None
    waits(watcher, 2.0)
    assert asked_watch(watcher).resource_version == "11"
    assert watcher.condition is Condition.FAILING
    assert isinstance(watcher.line_received(event("ADDED", obj("c", 12)), 9.0), Upserted)
    assert watcher.condition is Condition.LIVE


# The end of a watch


def test_a_watch_that_the_server_ends_is_resumed_at_once_where_it_was() -> None:
    watcher = synced(10)
    watcher.line_received(bookmark(50), 1.0)
    first = asked_watch(watcher)
    watcher.watch_ended(first, None, 400.0)
    assert asked_watch(watcher) is not first
    assert asked_watch(watcher).resource_version == "50"
    assert watcher.problem is None


def test_a_connection_that_breaks_after_events_is_resumed_at_once() -> None:
    watcher = synced(10)
    watcher.line_received(event("ADDED", obj("a", 11)), 0.1)
    watcher.watch_ended(asked_watch(watcher), Unavailable("connection reset"), 0.2)
    assert asked_watch(watcher).resource_version == "11"
    assert watcher.problem is None


def test_a_quiet_watch_that_breaks_is_resumed_at_once_if_it_was_accepted() -> None:
    watcher = synced(10)
    watcher.opened(asked_watch(watcher), 0.1)
    watcher.watch_ended(asked_watch(watcher), Unavailable("connection reset"), 60.0)
    asked_watch(watcher)
    watcher.watch_ended(asked_watch(watcher), Unavailable("connect timed out"), 90.0)
    waits(watcher, 90.0)


def test_a_very_short_watch_without_events_is_a_failure() -> None:
    watcher = synced(10)
    watcher.watch_ended(asked_watch(watcher), None, 0.5)
    assert "very short watch" in str(watcher.problem)
    assert waits(watcher, 0.5) >= 0.8
    assert asked_watch(watcher).resource_version == "10"


def test_a_short_watch_that_brought_something_is_none() -> None:
    watcher = synced(10)
    watcher.line_received(event("ADDED", obj("a", 11)), 0.1)
    watcher.watch_ended(asked_watch(watcher), None, 0.2)
    assert asked_watch(watcher).resource_version == "11"


@pytest.mark.parametrize("failure", [Throttled("busy"), Unavailable("refused"), Denied("no")])
def test_a_watch_that_is_refused_waits_and_resumes_without_a_list(failure: ListWatchError) -> None:
    watcher = synced(10)
    watcher.line_received(bookmark(50), 1.0)
    watcher.watch_ended(asked_watch(watcher), None, 400.0)
    watcher.watch_ended(asked_watch(watcher), failure, 400.0)
    assert watcher.problem is failure
    assert 0.8 <= waits(watcher, 400.0) < 1.6
    assert asked_watch(watcher).resource_version == "50"


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        (error(429, "TooManyRequests", details={"retryAfterSeconds": 20}), Throttled),
        (error(500, "InternalError"), Unavailable),
        (error(403, "Forbidden"), Denied),
        (error(0), Unavailable),
    ],
)
def test_an_error_event_ends_the_watch_as_the_same_status_would(line: bytes, failure: type[ListWatchError]) -> None:
    watcher = synced(10)
    watcher.line_received(event("ADDED", obj("a", 11)), 1.0)
    assert watcher.line_received(line, 2.0) is None
    assert type(watcher.problem) is failure
    assert waits(watcher, 2.0) >= (20 if failure is Throttled else 0.8)
    assert asked_watch(watcher).resource_version == "11"


@pytest.mark.parametrize(
    "line",
    [
        error(410, "Expired"),
        error(410, "Gone"),
        error(0, "Expired"),
        error(504, "Timeout", details={"causes": [{"reason": "ResourceVersionTooLarge"}]}),
    ],
)
def test_an_expired_version_in_an_error_event_makes_a_list_and_is_no_problem(line: bytes) -> None:
    watcher = synced(10)
    watcher.line_received(bookmark(11), 1.0)
    watcher.line_received(line, 2.0)
    assert watcher.problem is None
    assert watcher.condition is Condition.SYNCING
    assert asked_list(watcher).resource_version == "11"


def test_a_version_that_expires_again_and_again_is_listed_at_once_only_the_first_time() -> None:
    watcher = synced(10)
    watcher.line_received(error(410, "Expired"), 2.0)
    answer(watcher, page([], 20), 2.1)
    watcher.line_received(error(410, "Expired"), 2.2)
    assert 1.6 <= waits(watcher, 2.2) < 3.2
    answer(watcher, page([], 30), 6.0)
    watcher.line_received(error(410, "Expired"), 300.0)
    asked_list(watcher)


def test_after_an_outage_an_expired_version_is_not_listed_at_once() -> None:
    """All clients come back to a server that was down: it is the last thing that they should all do."""
    watcher = synced(10)
    watcher.watch_ended(asked_watch(watcher), Unavailable("refused"), 2.0)
    now = 2.0 + waits(watcher, 2.0)
    watcher.watch_ended(asked_watch(watcher), Expired("too old"), now)
    assert waits(watcher, now) >= 1.6
    asked_list(watcher)


@pytest.mark.parametrize("line", [error(404, "NotFound"), error(400, "BadRequest")])
def test_a_collection_that_is_gone_is_listed_when_it_comes_back(line: bytes) -> None:
    watcher = synced(10)
    watcher.line_received(line, 2.0)
    waits(watcher, 2.0)
    asked_list(watcher)


def test_a_collection_that_is_not_there_is_looked_for_every_ten_seconds_at_least() -> None:
    watcher, now = new(), 0.0
    for _ in range(20):
        watcher.page_failed(asked_list(watcher), NotInstalled("404"), now)
        waited = waits(watcher, now)
        now += waited
        assert waited <= 10.0
    assert waited == 10.0


def test_a_collection_that_was_there_and_is_gone_is_empty_from_its_second_absence_on() -> None:
    watcher = synced(10)
    watcher.watch_ended(asked_watch(watcher), NotInstalled("404"), 1.0)
    now = 1.0 + waits(watcher, 1.0)
    assert watcher.page_failed(asked_list(watcher), NotInstalled("404"), now) is None
    assert not watcher.is_absent
    now += waits(watcher, now)
    assert watcher.page_failed(asked_list(watcher), NotInstalled("404"), now) == Replaced([], [], "10")
    assert watcher.is_absent
    now += waits(watcher, now)
    assert watcher.page_failed(asked_list(watcher), NotInstalled("404"), now) is None
    now += waits(watcher, now)
    assert answer(watcher, page([obj("a", 30)], 40), now) is not None
    assert not watcher.is_absent


def test_an_entry_is_taken_in_before_anybody_sees_it_and_fails_alone() -> None:
    def intake(entry: Entry) -> Entry:
        if entry.name == "bad":
            raise RuntimeError("no")
        return msgspec.structs.replace(entry, data=b"{}")

    watcher = new(intake=intake)
    found = answer(watcher, page([obj("a", 1), obj("bad", 2)], 10))
    assert found is not None
    assert [entry.data for entry in found.entries] == [b"{}"]
    assert [(each.key, each.problem) for each in found.unreadable] == [(("ns", "bad"), "RuntimeError: no")]
    seen = watcher.line_received(event("MODIFIED", obj("a", 11)), 1.0)
    assert isinstance(seen, Upserted)
    assert seen.entry.data == b"{}"
    assert isinstance(watcher.line_received(event("MODIFIED", obj("bad", 12)), 2.0), Unreadable)
    gone = watcher.line_received(event("DELETED", obj("bad", 13)), 3.0)
    assert isinstance(gone, Removed)


def test_after_ten_failures_in_a_row_a_list_must_show_that_nothing_was_missed() -> None:
    watcher = synced(10)
    now = 0.0
    for _ in range(10):
        watcher.watch_ended(asked_watch(watcher), Unavailable("refused"), now)
        now += waits(watcher, now)
    assert asked_list(watcher).resource_version == "10"


def test_retry_after_is_the_least_wait_but_not_for_ever() -> None:
    watcher = synced(10)
    watcher.watch_ended(asked_watch(watcher), Throttled("busy", after_seconds=42.0), 0.0)
    assert waits(watcher, 0.0) == 42.0
    watcher.watch_ended(asked_watch(watcher), Throttled("busy", after_seconds=1e9), 50.0)
    assert waits(watcher, 50.0) == 600.0
