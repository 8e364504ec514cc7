"""Over what a status is written: what others wrote meanwhile stays, and an object made anew gets none."""

from __future__ import annotations

from typing import Any

import pytest

from fakeapi import FakeApi
from kubewright import set_condition
from kubewright.client import Conflict
from kubewright.model import ObjectMeta
from webs import Web, web

from .status_passes import STATUS, AnyWeb, condition, ready_is_2, run_on, status_of, write_status

THEIRS = [
    {"type": "Ready", "status": "False", "reason": "Down", "message": ""},
    {"type": "Audited", "status": "True", "reason": "Fine", "message": ""},
]
LAGS = pytest.mark.parametrize("lag_seconds", [0.0, 5.0])


@LAGS
def test_what_others_wrote_to_the_status_meanwhile_stays(lag_seconds: float) -> None:
    api, _ = run_on(web(), ready_is_2, meanwhile=write_status(seen="by another"), lag_seconds=lag_seconds)
    assert status_of(api) == {"ready": 2, "seen": "by another"}


@LAGS
def test_conditions_that_another_writer_changed_meanwhile_are_merged_by_type(lag_seconds: float) -> None:
    def ready(web: Web) -> None:
        set_condition(web.status.conditions, condition("Ready", "True"))

    api, _ = run_on(web(), ready, meanwhile=write_status(conditions=THEIRS), lag_seconds=lag_seconds)
    found = api.get(Web, "a")
    assert found is not None
    assert [(each.type, each.status) for each in found.status.conditions] == [("Ready", "True"), ("Audited", "True")]


@LAGS
def test_conditions_of_a_kind_without_a_class_are_not_overwritten_but_conflict(lag_seconds: float) -> None:
    def ready(obj: Any) -> None:
        obj["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}

    any_web = AnyWeb(metadata=ObjectMeta(name="a"), content={"spec": {"image": "x"}})
    api, raised = run_on(any_web, ready, meanwhile=write_status(conditions=THEIRS), lag_seconds=lag_seconds)
    assert [type(error) for error in raised] == [Conflict]
    assert "another writer changed status.conditions" in str(raised[0])
    assert status_of(api) == {"conditions": THEIRS}


def test_a_change_of_the_spec_meanwhile_does_not_keep_the_status_from_being_written() -> None:
    def change(web: Web) -> None:
        ready_is_2(web)
        set_condition(web.status.conditions, condition())

    api, raised = run_on(web(), change, meanwhile=lambda api: api.change(Web, "a", {"spec": {"replicas": 9}}))
    assert raised == []
    found = api.get(Web, "a")
    assert found is not None
    assert (found.spec.replicas, found.status.ready, found.metadata.generation) == (9, 2, 2)
    # What was found out is about the spec that was looked at.
    assert found.status.conditions[0].observed_generation == 1


def test_a_change_that_the_cache_knows_of_costs_no_conflict() -> None:
    api, _ = run_on(web(), ready_is_2, meanwhile=lambda api: api.change(Web, "a", {"spec": {"replicas": 9}}))
    assert api.writes == [STATUS]
    assert not [asked for asked in api.requests if asked.verb == "get"]


def test_a_writer_that_is_always_faster_makes_a_conflict_in_the_end() -> None:
    def faster(api: FakeApi) -> None:
        api.fault(
            "patch", "/status", times=1000, then=lambda: api.change(Web, "a", {"metadata": {"labels": {"n": tick()}}})
        )

    count = iter(range(1000))

    def tick() -> str:
        return str(next(count))

    api, raised = run_on(web(), ready_is_2, before=faster)
    assert [type(error) for error in raised] == [Conflict]
    assert len(api.writes) == 5


def recreate(api: FakeApi) -> None:
    api.remove(Web, "a")
    api.put(web(image="new"))


@LAGS
def test_an_object_made_anew_under_the_name_does_not_get_the_status_of_the_old_one(lag_seconds: float) -> None:
    api, raised = run_on(web(), ready_is_2, meanwhile=recreate, lag_seconds=lag_seconds)
    assert status_of(api) == {}
    assert raised == []


def test_an_object_made_anew_at_the_very_last_moment_does_not_get_it_either() -> None:
    api, raised = run_on(
        web(), ready_is_2, before=lambda api: api.fault("patch", "/status", then=lambda: recreate(api))
    )
    assert status_of(api) == {}
    assert raised == []


@LAGS
def test_pass_g4_an_object_that_goes_meanwhile_is_no_error(lag_seconds: float) -> None:
    _, raised = run_on(web(), ready_is_2, meanwhile=lambda api: api.remove(Web, "a"), lag_seconds=lag_seconds)
    assert raised == []
