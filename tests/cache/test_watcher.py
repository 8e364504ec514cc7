"""The list-and-watch machine, transition by transition, with the clock in the test's hand."""

from __future__ import annotations

from random import Random

import pytest
from watching import bookmark, encode, error, event, obj, page

from kubewright.cache import (
    Condition,
    Denied,
    Expired,
    ListPage,
    ListWatchError,
    NotInstalled,
    Rejected,
    Throttled,
    Unavailable,
    Unreadable,
    Watch,
    Watcher,
)
from kubewright.cache.backoff import Backoff
from kubewright.cache.frame import Removed, Upserted
from kubewright.cache.listing import Replaced
from kubewright.cache.watcher import Digest, Wait


def new(**options: object) -> Watcher:
    return Watcher(0.0, random=Random(1), **options)  # type: ignore[arg-type]


def asked_list(watcher: Watcher) -> ListPage:
    assert isinstance(watcher.action, ListPage)
    return watcher.action


def asked_watch(watcher: Watcher) -> Watch:
    assert isinstance(watcher.action, Watch)
    return watcher.action


def waits(watcher: Watcher, now: float) -> float:
    """How long the machine waits; the wait is over afterwards."""
    assert isinstance(watcher.action, Wait)
    until = watcher.action.until
    assert watcher.wake_at == until
    watcher.timer(until)
    assert not isinstance(watcher.action, Wait)
    return until - now


def answer(watcher: Watcher, body: bytes, now: float = 0.0) -> Replaced | None:
    """The server answers the list; the page is digested."""
    watcher.page_received(asked_list(watcher), body, now)
    found = None
    while isinstance(watcher.action, Digest):
        assert watcher.wake_at is None
        found = watcher.digest(2, now)
    return found


def synced(version: int = 10, now: float = 0.0, **options: object) -> Watcher:
    """A machine that watches, having listed nothing at `version`."""
    watcher = new(**options)
    assert answer(watcher, page([], version), now) is not None
    asked_watch(watcher)
    return watcher


# Lists


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
    assert 0.8 <= waits(watcher, 2.0) < 1.6
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
    waits(watcher, 2.0)
    assert asked_list(watcher).params() == {"resourceVersion": "15", "limit": "500"}


def test_a_version_that_cannot_be_watched_right_after_its_list_makes_a_list_of_the_newest() -> None:
    watcher = synced(10)
    watcher.watch_ended(asked_watch(watcher), Expired("too old"), 0.1)
    waits(watcher, 0.1)
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
    waits(watcher, 2.0)
    assert asked_list(watcher).resource_version == "11"


@pytest.mark.parametrize("line", [error(404, "NotFound"), error(400, "BadRequest")])
def test_a_collection_that_is_gone_is_listed_when_it_comes_back(line: bytes) -> None:
    watcher = synced(10)
    watcher.line_received(line, 2.0)
    waits(watcher, 2.0)
    asked_list(watcher)


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
    waits(watcher, 1.0)
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
    waits(watcher, 3.0)
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
