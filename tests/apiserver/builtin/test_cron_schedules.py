"""When a schedule is due. The times are those of robfig/cron's own tests and of its rules."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from kubewright.apiserver.builtin.validation.cron import Schedule

NEW_YORK = ZoneInfo("America/New_York")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "schedule", "due"),
    [
        ("2012-07-09T14:45", "0/15 * * * *", "2012-07-09T15:00"),
        ("2012-07-09T14:59:59", "0/15 * * * *", "2012-07-09T15:00"),
        ("2012-07-09T15:45", "20-35/15 * * * *", "2012-07-09T16:20"),
        ("2012-07-09T23:46", "*/15 * * * *", "2012-07-10T00:00"),
        ("2012-07-09T23:35", "0 0 9 Apr-Oct ?", "2012-08-09T00:00"),
        ("2012-07-09T23:35", "0 0 * Feb Mon", "2013-02-04T00:00"),
        ("2012-07-09T23:35", "0 0 1 * Mon", "2012-07-16T00:00"),
        ("2012-07-09T23:35", "0 0 */2 * Mon", "2012-07-11T00:00"),
        ("2012-07-09T23:35", "@hourly", "2012-07-10T00:00"),
        ("2012-07-09T23:35", "@weekly", "2012-07-15T00:00"),
        ("2012-07-09T23:35", "@every 90m", "2012-07-10T01:05"),
        ("2012-07-09T23:35", "0 0 29 2 *", "2016-02-29T00:00"),
        ("2012-07-09T23:35", "0 0 30 2 *", None),
        ("2012-07-09T23:35", "TZ=Asia/Tokyo 0 9 * * *", "2012-07-10T00:00"),
    ],
)
def test_the_next_time_of_a_schedule(after: str, schedule: str, due: str | None) -> None:
    assert Schedule(schedule).next(at(after)) == (None if due is None else at(due))


def test_a_time_that_the_clocks_leave_out_is_none() -> None:
    schedule = Schedule("30 2 11 Mar ?", NEW_YORK)
    assert schedule.next(at("2012-03-01T00:00")) == at("2013-03-11T06:30")


def test_the_last_time_that_was_missed() -> None:
    schedule = Schedule("0 9 * * *")
    assert schedule.last(at("2030-01-01T10:00"), at("2030-01-05T08:59")) == at("2030-01-04T09:00")
    assert schedule.last(at("2030-01-01T10:00"), at("2030-01-02T08:59")) is None
    assert Schedule("0 0 1 1 *").last(at("2029-06-01T00:00"), at("2031-12-01T00:00")) == at("2031-01-01T00:00")
    assert Schedule("@every 1h").last(at("2030-01-01T00:30"), at("2030-01-01T03:00")) == at("2030-01-01T02:30")


def test_what_is_no_schedule_says_why() -> None:
    with pytest.raises(ValueError, match="expected exactly 5 fields"):
        Schedule("* * *")
