"""Which schedules of CronJobs are read, and what is said of the others."""

from __future__ import annotations

import pytest

from kubewright.apiserver.builtin.validation.cron import schedule_problem


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "*/5 0-23 1,15 jan-mar mon",
        "0 0 31 12 0",
        "0 0 ? * ?",
        "@daily",
        "@every 1h30m",
        "TZ=Europe/Paris 0 3 * * *",
        "CRON_TZ=UTC 0 3 * * *",
        "0-59/10 * * * *",
        "5/10 * * * *",
        "0 0 * * SUN-SAT",
    ],
)
def test_a_schedule_is_read(schedule: str) -> None:
    assert schedule_problem(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("9-5 * * * *", "beginning of range (9) beyond end of range (5): 9-5"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("@nonsense", "unrecognized descriptor: @nonsense"),
    ],
)
def test_a_schedule_that_is_none_is_told_why(schedule: str, problem: str) -> None:
    assert schedule_problem(schedule) == problem
