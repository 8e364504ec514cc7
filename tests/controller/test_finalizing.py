from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubewright.controller.finalizing import Step, add_patch, next_step, remove_patch
from kubewright.model import Object, ObjectMeta, resource

OURS = "example.com/web"
DELETED = datetime(2026, 1, 1, tzinfo=UTC)


@resource(group="example.com", version="v1")
class Web(Object):
    pass


def web(*finalizers: str, deleting: bool = False) -> Web:
    meta = ObjectMeta(
        name="a",
        resource_version="7",
        finalizers=list(finalizers),
        deletion_timestamp=DELETED if deleting else None,
    )
    return Web(metadata=meta)


@pytest.mark.parametrize(
    ("obj", "finalizer", "step"),
    [
        (web(OURS), OURS, Step.RECONCILE),
        (web(), OURS, Step.ADD),
        (web("other"), OURS, Step.ADD),
        (web(OURS, deleting=True), OURS, Step.FINALIZE),
        (web("other", deleting=True), OURS, Step.LEAVE),
        (web(), None, Step.RECONCILE),
        (web(OURS, deleting=True), None, Step.LEAVE),
    ],
)
def test_two_facts_make_four_cases(obj: Web, finalizer: str | None, step: Step) -> None:
    assert next_step(obj, finalizer) is step


def test_adding_keeps_the_finalizers_of_others_and_holds_for_this_version_only() -> None:
    assert add_patch(web("other"), OURS) == {"metadata": {"resourceVersion": "7", "finalizers": ["other", OURS]}}


def test_removing_keeps_the_finalizers_of_others() -> None:
    patch = remove_patch(web("a/1", OURS, "b/2", deleting=True), OURS)
    assert patch == {"metadata": {"resourceVersion": "7", "finalizers": ["a/1", "b/2"]}}


def test_removing_the_last_one_removes_the_field() -> None:
    assert remove_patch(web(OURS), OURS) == {"metadata": {"resourceVersion": "7", "finalizers": None}}
