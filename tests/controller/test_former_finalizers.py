"""Finalizers that an earlier version of the program has set do not keep objects for ever."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.controller.finalizing import Step, next_step, remove_patch
from running import running
from webs import Web, web

NOW, OLD = "example.com/web", "example.com/old"


def being_deleted(*finalizers: str) -> Web:
    obj = web(finalizers=finalizers)
    obj.metadata.deletion_timestamp = datetime(2026, 1, 1, tzinfo=UTC)
    return obj


@pytest.mark.parametrize(
    ("obj", "finalizer", "step"),
    [
        (web(), None, Step.RECONCILE),
        (web(finalizers=(OLD,)), None, Step.RECONCILE),
        (web(finalizers=(OLD,)), NOW, Step.ADD),
        (web(finalizers=(NOW,)), NOW, Step.RECONCILE),
        (being_deleted(NOW), NOW, Step.FINALIZE),
        (being_deleted(OLD), NOW, Step.FINALIZE),
        (being_deleted(OLD), None, Step.RELEASE),
        (being_deleted("other.io/x"), None, Step.LEAVE),
        (being_deleted("other.io/x"), NOW, Step.LEAVE),
    ],
)
def test_the_cases(obj: Web, finalizer: str | None, step: Step) -> None:
    assert next_step(obj, finalizer, (OLD,)) is step


def test_only_our_names_are_removed() -> None:
    patch = remove_patch(web(finalizers=(NOW, "other.io/x", OLD)), NOW, OLD)
    assert patch["metadata"]["finalizers"] == ["other.io/x"]


def test_a_controller_whose_finalize_was_removed_lets_objects_go(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    reconciled: list[str] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        reconciled.append(web.metadata.name)

    async def main() -> None:
        api = FakeApi(Web)
        for name, finalizers in (("a", (NOW,)), ("b", (NOW, "other.io/x"))):
            api.put(web(name, finalizers=finalizers))
            api.remove(Web, name)
        async with running(api, reconcile):
            await asyncio.sleep(1)
            assert api.get(Web, "a") is None
            other = api.get(Web, "b")
            assert other is not None
            assert other.metadata.finalizers == ["other.io/x"]

    virtual.run(main())
    assert reconciled == []
    assert "Web default/a: is being deleted and has a finalizer that this controller no longer uses" in caplog.text


def test_an_object_with_a_former_finalizer_is_finalized_and_let_go() -> None:
    finalized: list[str] = []

    async def clean(web: Web, ctx: Context) -> None:
        finalized.append(web.metadata.name)

    @controller(Web, finalize=clean, finalizer="example.com/new", former_finalizers=[OLD])
    async def reconcile(web: Web, ctx: Context) -> None: ...

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web("gone", finalizers=(OLD,)))
        api.remove(Web, "gone")
        api.put(web("lives", finalizers=(OLD,)))
        async with running(api, reconcile):
            await asyncio.sleep(1)
            assert api.get(Web, "gone") is None
            api.remove(Web, "lives")
            await asyncio.sleep(1)
            assert api.get(Web, "lives") is None

    virtual.run(main())
    assert sorted(finalized) == ["gone", "lives"]
