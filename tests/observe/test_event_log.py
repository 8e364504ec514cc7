"""Which Events are written, and when: the rules, without a server."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.observe import Registry
from kubewright.observe.events import EventLog, Outcome, Record, Subject, Write, event_name, fit
from kubewright.observe.instruments import EventMetrics

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
WEB = Subject("example.com/v1", "Web", "prod", "a", "uid-a", "7")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


class World:
    """A log, its clock, and a server that does as it is told."""

    def __init__(self) -> None:
        self.registry = Registry()
        self.log = EventLog("web-operator", "web-operator-host", metrics=EventMetrics(self.registry), random=Random(1))
        self.now = 0.0
        self.writes: list[Write] = []

    def record(
        self, note: str = "Created it.", *, about: Subject = WEB, reason: str = "Created", times: int = 1
    ) -> None:
        for _ in range(times):
            wall = NOON + timedelta(seconds=self.now)
            self.log.record(Record(about, "Normal", reason, "Reconcile", note), self.now, wall)

    def send(self, outcome: Outcome = Outcome.WRITTEN) -> list[Write]:
        """Send all that can be sent now."""
        sent = []
        while (write := self.log.take()) is not None:
            self.log.settled(outcome, self.now)
            sent.append(write)
        self.writes += sent
        return sent

    def wait(self, seconds: float) -> None:
        """Let time pass, sending what is to be sent meanwhile."""
        until = self.now + seconds
        while (at := self.log.wake_at) is not None and at <= until:
            self.now = max(self.now, at)
            self.log.timer(self.now)
            self.send()
        self.now = until

    def dropped(self, why: str) -> float | None:
        return self.registry.value("kubewright_events_dropped_total", why)


def test_an_event_is_written_once_as_the_api_wants_it() -> None:
    world = World()
    world.now = 1.5
    world.record()
    (write,) = world.send()
    assert write == Write(
        "prod",
        write.name,
        True,
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": write.name, "namespace": "prod"},
            "eventTime": "2026-06-01T12:00:01.500000Z",
            "reportingController": "web-operator",
            "reportingInstance": "web-operator-host",
            "type": "Normal",
            "reason": "Created",
            "action": "Reconcile",
            "note": "Created it.",
            "regarding": {
                "apiVersion": "example.com/v1",
                "kind": "Web",
                "namespace": "prod",
                "name": "a",
                "uid": "uid-a",
                "resourceVersion": "7",
            },
        },
    )
    assert write.name == f"a.{int((NOON.timestamp() + 1.5) * 1e9):x}"
    assert world.send() == []


def test_the_event_of_a_cluster_scoped_object_is_in_the_default_namespace() -> None:
    world = World()
    world.record(about=Subject("v1", "Node", "", "n1"))
    (write,) = world.send()
    assert write.namespace == write.body["metadata"]["namespace"] == "default"
    assert "namespace" not in write.body["regarding"]


def test_the_second_of_two_same_events_counts_into_the_first() -> None:
    world = World()
    world.record()
    world.send()
    world.now = 5
    world.record()
    (write,) = world.send()
    assert not write.create
    assert write.name == world.writes[0].name
    assert write.body == {"series": {"count": 2, "lastObservedTime": "2026-06-01T12:00:05.000000Z"}}


def test_what_was_recorded_twice_before_it_was_sent_is_one_request() -> None:
    world = World()
    world.record(times=3)
    (write,) = world.send()
    assert write.create
    assert write.body["series"]["count"] == 3


def test_a_new_version_of_the_object_goes_on_with_the_series() -> None:
    world = World()
    world.record()
    world.send()
    world.record(about=Subject("example.com/v1", "Web", "prod", "a", "uid-a", "8"))
    assert [write.create for write in world.send()] == [False]


def test_an_object_that_was_created_anew_has_events_of_its_own() -> None:
    world = World()
    world.record()
    world.record(about=Subject("example.com/v1", "Web", "prod", "a", "uid-b"))
    assert [write.create for write in world.send()] == [True, True]


def test_events_that_differ_in_their_note_are_all_seen() -> None:
    world = World()
    for note in ("one", "two", "three"):
        world.record(note)
        world.send()
    assert [write.body["note"] for write in world.writes] == ["one", "two", "three"]
    assert len({write.name for write in world.writes}) == 3


def test_repetitions_cost_the_logarithm_of_their_number() -> None:
    world = World()
    for _ in range(10_000):
        world.record()
        world.send()
    assert len(world.writes) == 14  # one and its doublings up to 8192
    assert world.writes[-1].body["series"]["count"] == 8192


def test_six_minutes_without_a_repetition_end_a_series_with_its_whole_count() -> None:
    world = World()
    for _ in range(7):
        world.record()
        world.send()
    assert world.writes[-1].body["series"]["count"] == 4
    world.wait(359)
    assert world.writes[-1].body["series"]["count"] == 4
    world.wait(2)
    assert world.writes[-1].body["series"]["count"] == 7
    world.record()
    assert [write.create for write in world.send()] == [True]


def test_a_quiet_log_wakes_nobody() -> None:
    world = World()
    assert world.log.wake_at is None
    world.record()
    world.send()
    assert world.log.wake_at == 360
    world.wait(360)
    assert world.log.wake_at is None
    assert len(world.writes) == 1


def test_an_event_that_repeats_for_hours_is_written_before_the_server_forgets_it() -> None:
    world = World()
    times = []
    for _ in range(4 * 12):
        world.record()
        if world.send():
            times.append(world.now)
        world.wait(300)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert max(gaps) <= 2100  # it is forgotten after 3600


def test_an_event_that_the_server_has_forgotten_is_created_again_with_its_count() -> None:
    world = World()
    world.record()
    world.send()
    world.record()
    assert world.log.take() is not None
    world.log.settled(Outcome.MISSING, world.now)
    (again,) = world.send()
    assert again.create
    assert again.body["series"]["count"] == 2
    assert again.name != world.writes[0].name


def test_an_event_for_which_there_is_no_place_is_dropped() -> None:
    world = World()
    world.record()
    world.send(Outcome.MISSING)
    assert world.dropped("refused") == 1
    assert world.log.queued == 0


def test_an_object_has_twentyfive_events_and_one_more_every_five_minutes() -> None:
    world = World()
    for number in range(40):
        world.record(f"note {number}", reason=f"Reason{number}")
    assert len(world.send()) == 25
    assert world.dropped("spam") == 15
    world.wait(301)
    world.record("late", reason="Late")
    world.record("later", reason="Later")
    assert [write.body["note"] for write in world.send()] == ["late"]


def test_the_limit_of_one_object_is_not_that_of_another() -> None:
    world = World()
    for number in range(40):
        world.record(f"note {number}")
    world.record(about=Subject("example.com/v1", "Web", "prod", "b"))
    assert world.send()[-1].body["regarding"]["name"] == "b"


def test_beyond_the_limit_an_event_counts_into_the_newest_that_differs_only_in_its_note() -> None:
    world = World()
    for number in range(27):
        world.record(f"note {number}")
    writes = world.send()
    assert len(writes) == 25
    assert writes[-1].body["note"] == "note 24"
    assert writes[-1].body["series"]["count"] == 3
    assert world.dropped("spam") == 0


def test_of_too_many_that_wait_the_oldest_gives_way_and_is_counted() -> None:
    world = World()
    for number in range(1100):
        world.record(about=Subject("v1", "Pod", "prod", f"p{number}"))
    assert world.log.queued == 1000
    assert world.dropped("queue") == 100
    assert world.send()[0].body["regarding"]["name"] == "p100"


def test_a_write_that_fails_is_tried_again_in_ten_seconds_and_holds_up_no_other() -> None:
    world = World()
    world.record()
    world.send(Outcome.AGAIN)
    world.record(about=Subject("v1", "Pod", "prod", "p"))
    assert len(world.send()) == 1
    assert 10 <= (world.log.wake_at or 0) <= 12.5
    world.wait(13)
    assert [write.body["regarding"]["name"] for write in world.writes] == ["a", "p", "a"]


def test_after_twelve_tries_an_event_is_given_up() -> None:
    world = World()
    world.record()
    tries = 0
    while world.log.queued:
        tries += len(world.send(Outcome.AGAIN))
        world.now = world.log.wake_at or 0
        world.log.timer(world.now)
    assert tries == 12
    assert world.dropped("refused") == 1


def test_what_is_refused_is_not_tried_again_and_does_not_end_later_events() -> None:
    world = World()
    world.record()
    world.send(Outcome.REFUSED)
    world.record()
    assert [write.create for write in world.send()] == [True]


def test_records_during_a_write_are_counted_by_the_next() -> None:
    world = World()
    world.record()
    assert world.log.take() is not None
    world.record(times=4)
    assert world.log.take() is None, "one at a time"
    world.log.settled(Outcome.WRITTEN, world.now)
    (write,) = world.send()
    assert (write.create, write.body["series"]["count"]) == (False, 5)


def test_at_the_end_all_that_is_not_written_is_written() -> None:
    world = World()
    world.record(times=1)
    world.send()
    world.record(times=2)
    world.send()
    world.record()
    world.record(about=Subject("v1", "Pod", "prod", "p"))
    world.send(Outcome.AGAIN)
    world.record(about=Subject("v1", "Pod", "prod", "q"))
    world.log.finish()
    assert {write.body.get("series", {}).get("count", 1) for write in world.send()} == {4, 1}
    assert world.log.wake_at is None


@pytest.mark.parametrize(
    "record",
    [
        Record(WEB, "Error", "Failed", "Reconcile", "No."),
        Record(WEB, "Normal", "", "Reconcile", "No."),
        Record(WEB, "Normal", "Failed", "", "No."),
    ],
)
def test_what_is_no_event_is_counted_and_left_out(record: Record) -> None:
    world = World()
    assert not world.log.record(record, 0, NOON)
    assert world.dropped("invalid") == 1
    assert world.log.take() is None


def test_memory_is_bounded_whatever_is_recorded() -> None:
    world = World()
    for number in range(20_000):
        world.record(about=Subject("v1", "Pod", "prod", f"p{number}"))
        if number % 500 == 0:
            world.send()
    assert len(world.log._series) <= 4096
    assert len(world.log._newest) <= 4096
    assert len(world.log._tokens) <= 4096


def test_long_words_are_cut_to_what_the_api_takes() -> None:
    world = World()
    world.record("é" * 2000, reason="R" * 200)
    (write,) = world.send()
    assert len(write.body["note"].encode()) <= 1024
    assert write.body["note"].endswith("é...")
    assert write.body["reason"] == "R" * 125 + "..."


@given(st.text(max_size=400), st.integers(3, 300))
def test_text_is_cut_in_whole_characters(text: str, most_bytes: int) -> None:
    cut = fit(text, most_bytes)
    assert len(cut.encode()) <= most_bytes
    assert text.startswith((cut, cut.removesuffix("...")))


@given(st.text(min_size=1, max_size=300), st.integers(1, 2**63))
def test_any_object_has_events_with_valid_names(name: str, stamp: int) -> None:
    made = event_name(name, stamp)
    assert SUBDOMAIN.fullmatch(made)
    assert len(made) <= 253


def test_events_of_one_moment_have_names_of_their_own() -> None:
    world = World()
    for number in range(20):
        world.record(f"note {number}")
    assert len({write.name for write in world.send()}) == 20


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y"]), st.integers(0, 400)), max_size=60))
def test_each_record_is_counted_in_exactly_one_event_or_as_dropped(records) -> None:
    world = World()
    for name, note, seconds in records:
        world.record(note, about=Subject("v1", "Pod", "prod", name))
        world.send()
        world.wait(seconds)
    world.log.finish()
    world.send()
    counts: dict[str, int] = {}
    for write in world.writes:
        counts[write.name] = write.body.get("series", {}).get("count", 1)
    assert sum(counts.values()) + (world.dropped("spam") or 0) == len(records)
