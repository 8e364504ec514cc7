"""The conditions of a status: their generation, and the time of their last change."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from kubewright import set_condition
from kubewright.model import Condition, find_condition
from running import NOON
from webs import Web, web

from .status_passes import STATUS, condition, run_on, write_status


def conditions_after(change: Callable[[Web], object], **options: Any) -> dict[str, Condition]:
    api, raised = run_on(web(), change, **options)
    assert raised == []
    found = api.get(Web, "a")
    assert found is not None
    return {each.type: each for each in found.status.conditions}


def test_a_new_condition_gets_the_generation_and_a_time() -> None:
    ready = conditions_after(lambda web: web.status.conditions.append(condition()))["Ready"]
    assert ready.observed_generation == 1
    assert ready.last_transition_time == NOON


def test_a_new_condition_keeps_the_generation_and_the_time_that_it_was_given() -> None:
    earlier = datetime(2020, 1, 1, tzinfo=NOON.tzinfo)
    given = condition(observed_generation=7, last_transition_time=earlier)
    ready = conditions_after(lambda web: web.status.conditions.append(given))["Ready"]
    assert (ready.observed_generation, ready.last_transition_time) == (7, earlier)


def test_a_condition_whose_status_stays_keeps_its_time_when_its_reason_changes() -> None:
    reasons = iter(("One", "Two"))
    ready = conditions_after(
        lambda web: web.status.conditions.__setitem__(slice(None), [condition(reason=next(reasons))]), passes=2
    )["Ready"]
    assert (ready.reason, ready.last_transition_time) == ("Two", NOON)


def test_a_condition_whose_status_changes_gets_the_time_of_the_change() -> None:
    statuses = iter(("True", "False"))
    ready = conditions_after(
        lambda web: web.status.conditions.__setitem__(slice(None), [condition(status=next(statuses))]), passes=2
    )["Ready"]
    assert (ready.status, ready.last_transition_time) == ("False", NOON + timedelta(hours=1))


def test_a_condition_that_is_set_again_at_a_new_generation_says_so_and_keeps_its_time() -> None:
    specs = iter((5, 5, 6))
    ready = conditions_after(
        lambda web: set_condition(web.status.conditions, condition(), now=NOON),
        meanwhile=lambda api: api.change(Web, "a", {"spec": {"replicas": next(specs)}}),
        passes=3,
    )["Ready"]
    # At the third pass the generation is 2; what it becomes meanwhile is for the fourth.
    assert (ready.observed_generation, ready.last_transition_time) == (2, NOON)


def test_a_condition_that_is_set_again_at_the_same_generation_is_not_written() -> None:
    api, _ = run_on(web(), lambda web: set_condition(web.status.conditions, condition(), now=NOON), passes=3)
    assert api.writes == [STATUS]


def test_a_condition_that_is_not_touched_stays_as_it_is() -> None:
    theirs = [{"type": "Audited", "status": "True", "reason": "Fine", "message": "", "observedGeneration": 99}]
    found = conditions_after(
        lambda web: set_condition(web.status.conditions, condition()),
        before=write_status(conditions=theirs),
    )
    assert found["Audited"].observed_generation == 99
    assert found["Audited"].last_transition_time is None


def test_a_condition_that_is_removed_goes_and_those_of_others_stay() -> None:
    both = [
        {"type": "Ready", "status": "True", "reason": "Up", "message": ""},
        {"type": "Audited", "status": "True", "reason": "Fine", "message": ""},
    ]

    def drop(web: Web) -> None:
        ready = find_condition(web.status.conditions, "Ready")
        assert ready is not None
        web.status.conditions.remove(ready)

    found = conditions_after(drop, before=write_status(conditions=both))
    assert list(found) == ["Audited"]
