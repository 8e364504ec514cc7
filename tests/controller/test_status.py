"""The status difference: what is written, when, over what, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Result, Retry, Terminal, after, controller, set_condition, unstructured
from kubewright.client import Conflict, Invalid
from kubewright.controller import NotYours
from kubewright.model import Condition, LabelSelector, Model, Object, ObjectMeta, Resource, find_condition, resource
from kubewright.models.apps.v1 import Deployment, DeploymentSpec
from kubewright.models.core.v1 import ConfigMap, PodTemplateSpec
from running import NOON, Passes
from webs import Web, config, web

STATUS = "patch /apis/example.com/v1/namespaces/default/webs/a/status"
AnyWeb = unstructured("example.com/v1", "Web", plural="webs")

Reconcile = Callable[[Web, Context], Awaitable[Result | None]]


def condition(kind: str = "Ready", status: Any = "True", reason: str = "Up", **more: Any) -> Condition:
    return Condition(type=kind, status=status, reason=reason, **more)


def run_on(
    obj: Object,
    change: Callable[[Any], object],
    *,
    before: Callable[[FakeApi], object] = lambda api: None,
    meanwhile: Callable[[FakeApi], object] = lambda api: None,
    lag_seconds: float = 0.0,
    passes: int = 1,
    raises: Exception | None = None,
    result: Result | None = None,
) -> tuple[FakeApi, list[BaseException]]:
    """Passes whose reconcile changes the object by `change`; the server, and what the passes raised.

    Others do `before` before the first, and `meanwhile` during each; the watch is `lag_seconds` behind with that.
    """
    raised: list[BaseException] = []
    apis: list[FakeApi] = []

    @controller(type(obj))
    async def reconcile(obj: Any, ctx: Context) -> Result | None:
        change(obj)
        meanwhile(apis[0])
        await asyncio.sleep(0.5)
        if raises is not None:
            raise raises
        return result

    async def main() -> FakeApi:
        api = FakeApi(Web, Deployment, ConfigMap, Loose)
        apis.append(api)
        api.put(obj)
        async with Passes(api, reconcile) as run:
            before(api)
            await asyncio.sleep(0.001)
            api.lag_seconds = lag_seconds
            for _ in range(passes):
                try:
                    assert await run.run() == (result or Result())
                except Exception as error:
                    raised.append(error)
                run.now += timedelta(hours=1)
        return api

    return virtual.run(main()), raised


class LooseStatus(Model):
    ready: int = 0


@resource(group="example.com", version="v1", status=False)
class Loose(Resource[Model, LooseStatus]):
    """A kind without a status subresource."""


def status_of(api: FakeApi, name: str = "a") -> dict[str, Any]:
    found = api.get(AnyWeb, name)
    assert found is not None
    status = found.get("status", default={})
    assert isinstance(status, dict)
    return status


def ready_is_2(web: Web) -> None:
    web.status.ready = 2


# What is written


def test_pass_g2_nothing_is_written_when_nothing_changed() -> None:
    api, _ = run_on(web(), lambda web: None)
    assert api.writes == []


def test_nothing_is_written_when_a_change_was_taken_back() -> None:
    def there_and_back(web: Web) -> None:
        web.status.ready += 1
        web.status.ready -= 1

    api, _ = run_on(web(), there_and_back)
    assert api.writes == []


def test_pass_g2_what_changed_is_written_once_and_nothing_else_of_the_status() -> None:
    api, _ = run_on(web(), ready_is_2)
    assert api.writes == [STATUS]
    assert api.requests[-1].body["status"] == {"ready": 2}
    assert status_of(api) == {"ready": 2}


def test_a_second_pass_writes_nothing() -> None:
    api, _ = run_on(web(), ready_is_2, passes=2)
    assert api.writes == [STATUS]


def test_pass_g2_it_is_written_also_when_the_reconcile_raised() -> None:
    api, raised = run_on(web(), ready_is_2, raises=Terminal("no"))
    assert status_of(api) == {"ready": 2}
    assert [type(error) for error in raised] == [Terminal]


def test_it_is_written_with_after_as_well() -> None:
    api, raised = run_on(web(), ready_is_2, result=after(3))
    assert status_of(api) == {"ready": 2}
    assert raised == []


def test_a_field_that_was_emptied_is_removed() -> None:
    api, _ = run_on(
        web(),
        lambda web: setattr(web.status, "seen", ""),
        before=lambda api: api.change(Web, "a", {"status": {"ready": 1, "seen": "x"}}, at="status"),
    )
    assert status_of(api) in ({"ready": 1}, {"ready": 1, "seen": ""})


def test_fields_of_a_newer_version_of_the_type_stay() -> None:
    newer = {"status": {"shards": 7, "ready": 1}}
    api, _ = run_on(web(), ready_is_2, before=lambda api: api.change(AnyWeb, "a", newer, at="status"))
    assert status_of(api) == {"shards": 7, "ready": 2}


def test_a_kind_without_the_status_subresource_has_its_status_written_all_the_same() -> None:
    api, _ = run_on(Loose(metadata=ObjectMeta(name="a"), spec=Model()), ready_is_2, passes=2)
    assert api.writes == ["patch /apis/example.com/v1/namespaces/default/looses/a"]
    found = api.get(Loose, "a")
    assert found is not None
    assert found.status.ready == 2


def test_the_status_of_an_object_without_a_class_is_written_too() -> None:
    def change(obj: Any) -> None:
        obj["status"] = {"ready": 4}

    api, _ = run_on(AnyWeb(metadata=ObjectMeta(name="a"), content={"spec": {"image": "x"}}), change, passes=2)
    assert api.writes == [STATUS]
    assert status_of(api) == {"ready": 4}


# Over what it is written


def write_status(**status: Any) -> Callable[[FakeApi], object]:
    return lambda api: api.change(AnyWeb, "a", {"status": status}, at="status")


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


def no_status(api: FakeApi) -> None:
    api.fault("patch", "/status", status=422, reason="Invalid")


def test_a_status_that_cannot_be_written_is_the_error_of_the_pass() -> None:
    _, raised = run_on(web(), ready_is_2, before=no_status)
    assert [type(error) for error in raised] == [Invalid]


def test_a_status_that_cannot_be_written_does_not_hide_why_the_reconcile_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _, raised = run_on(web(), ready_is_2, before=no_status, raises=ZeroDivisionError())
    assert [type(error) for error in raised] == [ZeroDivisionError]
    assert "Web default/a: the status was not written" in caplog.text


@pytest.mark.parametrize("outcome", [Terminal("no"), Retry("not yet", after_seconds=3600)])
def test_a_status_that_cannot_be_written_is_tried_again_soon_whatever_the_reconcile_said(outcome: Exception) -> None:
    _, raised = run_on(web(), ready_is_2, before=no_status, raises=outcome)
    assert [type(error) for error in raised] == [Invalid]


# What is not the reconciler's


@pytest.mark.parametrize(
    ("obj", "change", "part"),
    [
        (web(), lambda web: setattr(web.spec, "replicas", 9), "spec"),
        (web(), lambda web: web.metadata.labels.update(a="b"), "metadata"),
        (web(), lambda web: web.metadata.finalizers.append("a/b"), "metadata"),
        (config("a", x="1"), lambda config: config.data.update(x="2"), "data"),
        (
            AnyWeb(metadata=ObjectMeta(name="a"), content={"spec": {"image": "x"}}),
            lambda obj: obj["spec"].update(image="y"),
            "spec",
        ),
    ],
)
def test_a_change_of_anything_but_the_status_is_an_error_that_says_what_to_call(
    obj: Object, change: Callable[[Any], object], part: str
) -> None:
    api, raised = run_on(obj, change)
    assert api.writes == []
    assert isinstance(raised[0], NotYours)
    assert isinstance(raised[0], Terminal)
    assert f"ctx.patch(obj, MergePatch({{{part!r}: ...}}))" in str(raised[0])


def test_a_status_that_changed_beside_the_spec_is_written_and_nothing_of_the_spec() -> None:
    def both(web: Web) -> None:
        ready_is_2(web)
        web.spec.replicas = 9

    api, raised = run_on(web(), both)
    found = api.get(Web, "a")
    assert found is not None
    assert (found.spec.replicas, found.status.ready) == (1, 2)
    assert isinstance(raised[0], NotYours)


def test_an_error_of_the_reconcile_is_not_hidden_by_a_changed_spec() -> None:
    _, raised = run_on(web(), lambda web: setattr(web.spec, "replicas", 9), raises=ZeroDivisionError())
    assert [type(error) for error in raised] == [ZeroDivisionError]


# Conditions


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


def test_the_status_of_a_built_in_kind_is_written_too() -> None:
    deployment = Deployment(
        metadata=ObjectMeta(name="a"),
        spec=DeploymentSpec(replicas=3, selector=LabelSelector(), template=PodTemplateSpec()),
    )

    def observed(deployment: Deployment) -> None:
        deployment.status.observed_generation = 1

    api, _ = run_on(deployment, observed, passes=2)
    assert api.writes == ["patch /apis/apps/v1/namespaces/default/deployments/a/status"]
