"""The status difference: what is written, when, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakeapi import FakeApi
from kubewright import Retry, Terminal, after
from kubewright.client import Invalid
from kubewright.controller import NotYours
from kubewright.model import LabelSelector, Model, Object, ObjectMeta
from kubewright.models.apps.v1 import Deployment, DeploymentSpec
from kubewright.models.core.v1 import PodTemplateSpec
from webs import Web, config, web

from .status_passes import STATUS, AnyWeb, Loose, ready_is_2, run_on, status_of


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


def test_the_status_of_a_built_in_kind_is_written_too() -> None:
    deployment = Deployment(
        metadata=ObjectMeta(name="a"),
        spec=DeploymentSpec(replicas=3, selector=LabelSelector(), template=PodTemplateSpec()),
    )

    def observed(deployment: Deployment) -> None:
        deployment.status.observed_generation = 1

    api, _ = run_on(deployment, observed, passes=2)
    assert api.writes == ["patch /apis/apps/v1/namespaces/default/deployments/a/status"]
